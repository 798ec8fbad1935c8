//! Scenarios: everything that one run of a program is given, and what came of it.
//!
//! Arguments, standard input, files, chosen environment variables, what arrives on sockets and
//! pipes, and memory objects that the program itself declares as input: together, because programs use
//! them together. The recorder makes scenarios, the store keeps them, the engine runs and changes them, and
//! all commands print them in the same form.

mod bytes;
mod change;
pub mod commands;
mod golden;
pub mod klee;
pub mod ktest;
mod names;
mod result;
mod shell;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use bytes::Bytes;
pub use change::{Component, Variable, apply};
pub use golden::Golden;
pub use result::{Ending, Recorded};
pub use shell::{shell_word, signal_name};

/// Where the files of every run lie, as the program sees them. Programs print where they are: it has to be the same
/// in every run, on every machine. Absolute paths in recorded scenarios are made to begin here.
pub const WORK: &str = "/tmp/parallax-work";

/// Directories for temporary files, which every run has for itself. See [`Scenario::elsewhere`].
pub const PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Input of one run. In JSON as all commands share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scenario {
    /// Without the program's name.
    pub argv: Vec<Bytes>,
    #[serde(default)]
    pub stdin: Bytes,
    /// Path relative to the root of the run's files → contents.
    #[serde(default, with = "bytes::map")]
    pub files: BTreeMap<Bytes, Bytes>,
    /// Set in addition to the environment that every run gets.
    #[serde(default, with = "bytes::map")]
    pub env: BTreeMap<Bytes, Bytes>,
    /// These variables and no others are the program's environment, in this order. Their values are in `env`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env_order: Option<Vec<Bytes>>,
    /// What sockets and pipes deliver, in the order in which the program first reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Bytes>,
    /// Objects that the program declares as input, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
    /// Where the program starts, relative to the root of its files; empty: at the root.
    #[serde(default, skip_serializing_if = "is_default")]
    pub directory: Bytes,
    /// Directories that exist besides those that files lie in.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub directories: BTreeSet<Bytes>,
    /// Named pipes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub pipes: BTreeSet<Bytes>,
    /// Symbolic links: path → target.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub links: BTreeMap<Bytes, Bytes>,
    /// Permissions of files and directories where they are not the usual ones (644 and 755).
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub modes: BTreeMap<Bytes, u32>,
    /// Files that are larger than their contents here: path → size. The rest of them is zero bytes.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub sizes: BTreeMap<Bytes, u64>,
    /// Parts of files that take no room on the disk: path → beginning and end of each. They are read as zero bytes.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub holes: BTreeMap<Bytes, Vec<(u64, u64)>>,
    /// Further names of files (hard links): path → the path that the contents are under.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub hard_links: BTreeMap<Bytes, Bytes>,
    /// When files and directories were last changed, where somebody has set that: path → nanoseconds since the
    /// beginning of 1970.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub times: BTreeMap<Bytes, i64>,
    /// The order in which directories list their entries, where the program listed them: path (empty: the root) →
    /// names.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub listings: BTreeMap<Bytes, Vec<Bytes>>,
    /// Files in other [`PLACES`]: which → what is there, as in a scenario that has only files. Tests use them for a second file
    /// system.
    #[serde(
        default,
        with = "bytes::map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub elsewhere: BTreeMap<Bytes, Scenario>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub umask: Option<u32>,
    /// The program's name as it was called (`argv[0]`), where that is not its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Bytes>,
    /// Standard input is not open at all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub closed_stdin: bool,
    /// Standard input is a pipe, not a file: nobody can move in it, and what is read is gone.
    #[serde(default, skip_serializing_if = "is_default")]
    pub piped_stdin: bool,
    #[serde(default, skip_serializing_if = "is_default")]
    pub stdout: Sink,
    #[serde(default, skip_serializing_if = "is_default")]
    pub stderr: Sink,
    /// Of a server: `streams` are what its clients send, in the order in which they are accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<Listening>,
}

/// What becomes of what the program prints.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sink {
    /// Somebody reads it.
    #[default]
    Read,
    /// There is no room for it (`/dev/full`).
    Full,
    /// Nobody reads it any more: the other end of the pipe is closed.
    Broken,
    /// The descriptor is not open at all.
    Closed,
    /// It is written to a regular file: that has a position and can be one of those that the program reads.
    File(OutputFile),
}

/// A regular file that output goes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OutputFile {
    /// Which of the scenario's files it is; if empty, one that has no name there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub path: Bytes,
    /// Where writing begins.
    #[serde(default, skip_serializing_if = "is_default")]
    pub offset: u64,
    /// Whether everything is written to its end (`>>`).
    #[serde(default, skip_serializing_if = "is_default")]
    pub append: bool,
}

/// A memory object that the program declared as input (`klee_make_symbolic` and the like).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Object {
    pub name: Bytes,
    pub bytes: Bytes,
}

/// How clients reach a server, and what ends it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Listening {
    /// `tcp:PORT`, `tcp6:PORT` or `unix:PATH`.
    pub address: Bytes,
    /// For each stream the offsets at which the client waits for an answer before it goes on.
    pub pauses: Vec<Vec<u64>>,
    /// The signal that ends it; 0 if it ends by itself.
    pub end: i32,
}

impl Listening {
    /// Takes note that of a stream some bytes have gone and others come in their place: clients wait where they did, if that is
    /// still there.
    pub fn note_change(&mut self, stream: usize, at: usize, removed: usize, inserted: usize) {
        let Some(pauses) = self.pauses.get_mut(stream) else {
            return;
        };
        let (at, removed, inserted) = (at as u64, removed as u64, inserted as u64);
        for pause in pauses.iter_mut().filter(|pause| **pause > at) {
            *pause = match *pause >= at + removed {
                true => *pause - removed + inserted,
                false => at + inserted,
            };
        }
        pauses.dedup();
    }
}

impl OutputFile {
    /// Whether what is in the file stays there.
    pub fn keeps(&self) -> bool {
        self.append || self.offset > 0
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Scenario {
    /// How many bytes of input it has, a measure of its size.
    pub fn size(&self) -> usize {
        let argv = self.argv.iter().map(|argument| argument.len() + 1);
        let files = self.files.values().map(|contents| contents.len());
        let env = self.env.values().map(|value| value.len());
        let streams = self.streams.iter().map(|stream| stream.len());
        let objects = self.objects.iter().map(|object| object.bytes.len());
        self.stdin.len()
            + argv
                .chain(files)
                .chain(env)
                .chain(streams)
                .chain(objects)
                .sum::<usize>()
    }
}
