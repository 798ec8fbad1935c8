//! Why there is no build.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::project::ProjectError;
use crate::revision::RevisionError;

/// A build that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("building {} failed: step {} ended with {}", .0.revision, .0.step, .0.status)]
    Step(Box<FailedStep>),
    #[error("{revision} was built, but there is no {}", tree.display())]
    NoTree { revision: String, tree: PathBuf },
    #[error("{revision} was built, but no program in {} was linked with parallax-cc", tree.display())]
    NothingCaptured {
        revision: String,
        tree: PathBuf,
        /// What the compiler wrapper said about it, if it was used.
        said: Vec<String>,
        log: PathBuf,
    },
    #[error("{revision} was built with parallax-cc, but there are only libraries in {}, and no program: {}", tree.display(), libraries.join(", "))]
    OnlyLibraries {
        revision: String,
        tree: PathBuf,
        /// Their paths in the tree.
        libraries: Vec<String>,
    },
    #[error("building {revision} was ended before it was done")]
    Stopped { revision: String },
    #[error("the shell that runs the build cannot be started: {error}")]
    Shell { command: String, error: io::Error },
    #[error(transparent)]
    Revision(#[from] RevisionError),
    #[error(transparent)]
    Project(#[from] Box<ProjectError>),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// A command of a build that failed.
#[derive(Debug)]
pub struct FailedStep {
    /// Label of the revision.
    pub revision: String,
    pub step: &'static str,
    pub command: String,
    pub status: ExitStatus,
    /// What looks like an error before the end: jobs that run at the same time go on for a while.
    pub errors: Vec<String>,
    /// The end of what it printed.
    pub last_lines: Vec<String>,
    /// All of it.
    pub log: PathBuf,
}

impl BuildError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let path = path.to_owned();
        move |error| BuildError::Io { path, error }
    }
}
