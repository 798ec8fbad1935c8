//! A scenario: everything that one run of a program is given.
//!
//! Arguments, standard input, files, chosen environment variables, what arrives on sockets and
//! pipes, and memory objects that the program itself declares as input: together, because programs use
//! them together. Files are relative to the working directory of the run.

mod bytes;
mod change;
pub mod ktest;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use bytes::Bytes;
pub use change::{Component, Variable, apply};

/// Input of one run. In JSON as all commands share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Scenario {
    /// Without the program's name.
    pub argv: Vec<Bytes>,
    pub stdin: Bytes,
    /// Path relative to the working directory → contents.
    #[serde(with = "bytes::map")]
    pub files: BTreeMap<Bytes, Bytes>,
    /// Set in addition to the environment that every run gets.
    #[serde(with = "bytes::map")]
    pub env: BTreeMap<Bytes, Bytes>,
    /// What sockets and pipes deliver, in the order in which the program first reads them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Bytes>,
    /// Objects that the program declares as input, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Object>,
}

/// A memory object that the program declared as input (`klee_make_symbolic` and the like).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Object {
    pub name: Bytes,
    pub bytes: Bytes,
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
