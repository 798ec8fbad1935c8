//! Where generated inputs are run: a place in which a program can do no harm.
//!
//! `rm`, `mv` and `dd` are programs under test too. With *namespaces* a program sees the whole file system,
//! read-only, but for its working directory and the usual places for temporary files, which are private and limited in size; it
//! has no network, sees no process but its own, and has no capabilities. *Landlock* forbids writing elsewhere once
//! more, and is all there is where namespaces are not to be had. In either case resources are limited, and all
//! processes end with the first one, [`init`], which the engine talks to.
//!
//! | threat | answer |
//! |---|---|
//! | writing elsewhere | all mounts read-only and without devices; Landlock (from ABI 2 on) once more |
//! | filling the disk | one size-limited file system in memory for the working directory, `/tmp`, `/var/tmp`, `/run`, `/dev/shm`; `RLIMIT_FSIZE` |
//! | network | a namespace in which not even loopback is up, unless the scenario is a server's |
//! | permissions of devices | mounted read-only, which still lets programs write to them |
//! | other processes | a pid namespace; its first process cannot be signalled from inside |
//! | fork bombs | `RLIMIT_NPROC`, `pid_max` of the namespace (Linux 6.14), and the engine counts |
//! | memory, time, output | the engine looks every 10 ms, and asks the first process to end the run |
//! | daemons | orphans come to the first process, which ends them after each run |
//! | leftovers for the next run | the engine empties the file system in memory and restores the permissions of its directories |
//! | a sandbox in which nothing can be laid out or started any more | the run is repeated, once, in a fresh sandbox |
//! | leftovers of a killed engine | directories in use are locked; others are removed by the next process (`exec::temporary`) |
//!
//! Users have the same numbers inside and outside; root has no capabilities inside. The working directory is `/tmp/parallax-work` in every sandbox, because programs
//! print where they are. Programs are started as by `vfork`: the first process has a copy of the engine's memory, and copying its page tables for each run
//! cost more than most runs.
//!
//! Bubblewrap is not used: it needs the same namespaces, adds an `exec` to each run (about the cost of a run), and leaves limits, ending everything that was started,
//! clearing away, process numbers and sockets of the inner network to its caller.

mod first;
mod groups;
mod init;
mod landlock;
mod limits;
mod mounts;
mod place;
mod program;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

pub(crate) use init::Init;
pub(crate) use mounts::{PRIVATE, Private, WORK, WORK_MODE};
pub(crate) use place::Place;

use crate::temporary::Temporary;

/// Whether programs may be run without confinement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Without confinement nothing is run.
    #[default]
    Required,
    /// The best confinement that there is, even if it is none.
    BestEffort,
    /// No confinement: the user said so.
    Off,
}

/// How much a run may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of one file.
    pub file_bytes: u64,
    /// All files together, where the sandbox has a file system of its own.
    pub disk_bytes: u64,
    /// Number of files, likewise.
    pub files: u64,
    /// Processes at a time.
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            file_bytes: 64 << 20,
            disk_bytes: 128 << 20,
            files: 16 << 10,
            processes: 256,
        }
    }
}

/// What confines a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confinement {
    /// Namespaces, and Landlock if this kernel has it.
    Namespaces {
        landlock: bool,
    },
    /// Landlock alone: no writing outside the scratch directory, no signals to others, no TCP.
    Landlock,
    Nothing,
}

impl Confinement {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Confinement::Namespaces { landlock: true } => {
                "user, mount, pid, network, ipc and uts namespaces, and Landlock"
            }
            Confinement::Namespaces { landlock: false } => {
                "user, mount, pid, network, ipc and uts namespaces"
            }
            Confinement::Landlock => "Landlock: files and TCP only, other programs stay visible",
            Confinement::Nothing => "none",
        }
    }
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The kernel, or whoever runs this container, offers nothing that confines.
    #[error(
        "generated inputs are not run without a sandbox, and there is none: {namespaces}; Landlock is not available either"
    )]
    Unavailable { namespaces: String },
    #[error("cannot set up the sandbox: {what}")]
    SetUp {
        what: &'static str,
        #[source]
        source: io::Error,
    },
    #[error("the sandbox cannot hold the path {}", .0.display())]
    Path(PathBuf),
}

/// What this machine offers.
#[derive(Debug)]
pub struct Offer {
    /// Why there are no namespaces, if there are none.
    pub namespaces: Result<(), String>,
    /// Version of Landlock; 0 if there is none.
    pub landlock: u32,
}

/// Tries what this machine offers, once per process.
pub fn detect() -> &'static Offer {
    static OFFER: OnceLock<Offer> = OnceLock::new();
    OFFER.get_or_init(|| Offer {
        namespaces: try_namespaces().map_err(|error| complete(&error)),
        landlock: landlock::version(),
    })
}

fn try_namespaces() -> Result<(), SandboxError> {
    let set_up = |source| SandboxError::SetUp {
        what: "make a directory",
        source,
    };
    let directory = Temporary::new().map_err(set_up)?;
    let confinement = Confinement::Namespaces { landlock: false };
    let place = Place::new(confinement, directory.path(), &[])?;
    Init::start(confinement, &place, Limits::default(), false).map(drop)
}

/// The message with its causes.
fn complete(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// What a policy comes to on this machine.
pub fn choose(policy: Policy) -> Result<Confinement, SandboxError> {
    if policy == Policy::Off {
        return Ok(Confinement::Nothing);
    }
    let offer = detect();
    let landlock = offer.landlock >= landlock::RENAMES;
    match &offer.namespaces {
        Ok(()) => Ok(Confinement::Namespaces { landlock }),
        Err(_) if offer.landlock > 0 => Ok(Confinement::Landlock),
        Err(_) if policy == Policy::BestEffort => Ok(Confinement::Nothing),
        Err(namespaces) => Err(SandboxError::Unavailable {
            namespaces: namespaces.clone(),
        }),
    }
}

/// Directories for temporary files that get private contents in the sandbox. Where they lead to, so that
/// paths can be compared.
fn private_directories() -> Vec<PathBuf> {
    mounts::PRIVATE
        .iter()
        .filter_map(|private| fs::canonicalize(private.path.to_str().ok()?).ok())
        .collect()
}
