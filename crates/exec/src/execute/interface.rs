//! How programs are run, and why they could not be.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::play::AddressError;
#[cfg(doc)]
use crate::run::End;
use crate::run::{Launch, RunError};
use crate::sandbox::{Limits, Policy, SandboxError};

/// How the program is run, the same for all scenarios.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the program sees as its name; its path if empty.
    pub argv0: OsString,
    /// Wall-clock time of a run.
    pub timeout: Duration,
    /// Memory of all processes of a run together, trace included.
    pub memory: u64,
    /// The environment, without what scenarios add. Locale and time zone are fixed unless they are set here.
    pub environment: Vec<(OsString, OsString)>,
    pub sandbox: Policy,
    /// Other limits of a run.
    pub limits: Limits,
    /// How much of each output stream is kept.
    pub output: usize,
    /// What a run may write to its standard streams before it is ended; no limit but that of time if nothing.
    pub written: Option<u64>,
    /// Whether a run server may be used: a program that is started once and forks for every run. Where a program cannot be
    /// served, runs are of fresh processes all the same. What is reported should be seen without one: see
    /// [`RunOptions::fresh`].
    pub server: bool,
    /// When it is set, the run that is under way ends within 100 ms, and none begins: [`End::Interrupted`].
    pub cancel: Option<Arc<AtomicBool>>,
    /// Files and directories that the program needs besides itself and its libraries.
    pub readable: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            argv0: OsString::new(),
            timeout: Launch::DEFAULT_TIMEOUT,
            memory: 2 << 30,
            environment: Vec::new(),
            sandbox: Policy::Required,
            limits: Limits::default(),
            output: 1 << 20,
            written: None,
            server: true,
            cancel: None,
            readable: Vec::new(),
        }
    }
}

/// How one run is made, besides what all runs of an executor have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// In a process that was executed for it, never by a server. Constructors of a served program have run before, so their
    /// environment and arguments were others: what is about to be reported must be seen in a fresh process.
    pub fresh: bool,
    /// Wall-clock time of this run, if it is less than that of the settings.
    pub timeout: Option<Duration>,
}

impl RunOptions {
    /// Of a fresh process.
    pub const FRESH: RunOptions = RunOptions {
        fresh: true,
        timeout: None,
    };
}

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot use the scratch directory")]
    Scratch(#[source] io::Error),
    #[error("cannot lay out the scenario's file {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Only files below the working directory are the scenario's.
    #[error("{} cannot be laid out: it is not below the scenario's root, or behind one of its links", .0.display())]
    Outside(PathBuf),
    /// Somebody killed its first process, or it does not answer. The next run gets another one.
    #[error("the sandbox was lost: {0}")]
    Lost(&'static str),
    /// Servers and their clients need a network that nobody else is in.
    #[error("a server is run only in a network namespace, and there are none here")]
    NoNetwork,
    #[error(transparent)]
    Address(#[from] AddressError),
    /// More than a run can be given.
    #[error("{0} pieces of shared memory are too many")]
    TooMuchShared(usize),
}
