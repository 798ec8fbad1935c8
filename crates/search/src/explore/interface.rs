//! What an exploration is given, and what it gives back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use parallax_solver::Config;

use super::shape::Shape;
use crate::engine;
use crate::goals::code::Moment;
use crate::journal::JournalError;
use parallax_exec::execute::{ExecuteError, Settings};
use parallax_exec::run::RunError;
use parallax_exec::shared::SharedError;
use parallax_exec::sites::SitesError;
use parallax_trace::region::{Limits, RegionError, Symbolic};

/// The program in its variants.
#[derive(Clone, Debug)]
pub struct Programs {
    pub plain: PathBuf,
    pub traced: PathBuf,
    /// Without it, what is new is judged by branches on the input alone.
    pub covered: Option<PathBuf>,
    /// Without it, only what the plain program shows is found.
    pub checked: Option<PathBuf>,
    /// Traced variants of captured libraries.
    pub traced_libraries: Vec<PathBuf>,
    pub covered_libraries: Vec<PathBuf>,
}

/// How to explore.
#[derive(Clone, Debug)]
pub struct Options {
    pub shape: Shape,
    pub symbolic: Symbolic,
    /// Traced runs at most.
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    /// How often inputs are made from inputs that were made.
    pub generations: Option<u32>,
    /// Threads.
    pub jobs: usize,
    /// Orders what is equally good.
    pub seed: u64,
    /// Of each trace.
    pub limits: Limits,
    pub settings: Settings,
    pub solver: Config,
    /// Whether the observer gets an input of every path, not only those that ran something new.
    pub keep_paths: bool,
    /// Memory for traces that may be needed again.
    pub trace_memory: u64,
    /// Whether an input on which a single version does not end is an error.
    pub hangs: bool,
    /// Whether inputs of errors keep the lengths that they or the given inputs next to them have, instead of being made small.
    pub keep_lengths: bool,
}

/// Why an exploration could not go on.
#[derive(Debug, thiserror::Error)]
pub enum ExploreError {
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Region(#[from] RegionError),
    #[error(transparent)]
    Shared(#[from] SharedError),
    #[error(transparent)]
    Sites(#[from] SitesError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The first run left no trace.
    #[error("the program could not be traced")]
    Untraced,
}

impl ExploreError {
    /// Whether it is only this input that cannot be run: parts of several can be at odds with each other (a file where
    /// another has a directory), or too much together.
    pub fn is_about_the_input(&self) -> bool {
        match self {
            ExploreError::Execute(error) => is_about_the_input(error),
            _ => false,
        }
    }

    /// An answer could not be noted.
    pub(crate) fn note(error: serde_json::Error) -> ExploreError {
        ExploreError::Journal(JournalError(error.into()))
    }
}

/// See [`ExploreError::is_about_the_input`].
pub fn is_about_the_input(error: &ExecuteError) -> bool {
    matches!(
        error,
        ExecuteError::File { .. }
            | ExecuteError::Outside(_)
            | ExecuteError::Run(RunError::TooLong | RunError::Nul | RunError::Directory { .. })
    )
}

/// Why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing is left to try.
    Exhausted,
    Runs,
    Time,
    Stopped,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub search: engine::Summary,
    /// By source file: when something of it was last covered for the first time.
    pub latest: BTreeMap<String, Moment>,
}
