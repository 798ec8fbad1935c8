//! What an exploration is given, and what it gives back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use parallax_abi::SiteId;
use parallax_solver::{Config, Statistics};

use super::news::Moment;
use super::shape::Shape;
use crate::journal::JournalError;
use parallax_exec::coverage::Coverage;
use parallax_exec::execute::{ExecuteError, Settings};
use parallax_exec::finding::Finding;
use parallax_exec::run::{End, RunError};
use parallax_exec::shared::SharedError;
use parallax_exec::sites::SitesError;
use parallax_scenario::Scenario;
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

/// Who watches.
pub trait Observer {
    /// After every round.
    fn progress(&mut self, progress: &Progress);
    /// A new error, confirmed.
    fn finding(&mut self, finding: &Finding);
    /// An input worth keeping.
    fn test(&mut self, scenario: &Scenario);
    /// Whether to end now.
    fn stop(&self) -> bool;
    /// What an earlier process had done is done again; up to here nothing was new.
    fn caught_up(&mut self, _progress: &Progress) {}
    /// A smaller input for an error that is known.
    fn smaller(&mut self, _finding: &Finding) {}
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Traced runs.
    pub runs: u64,
    pub paths: u64,
    pub queries: u64,
    /// Counters of blocks and branch sides that are not zero.
    pub covered: u64,
    pub findings: u64,
    /// Ways that are not tried yet.
    pub open: u64,
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
    pub ended: Ended,
    pub progress: Progress,
    pub seconds: f64,
    pub coverage: Coverage,
    /// By source file: when something of it was last covered for the first time.
    pub latest: BTreeMap<String, Moment>,
    pub findings: Vec<Finding>,
    /// Function or instruction → how often labels were lost there.
    pub losses: BTreeMap<String, u64>,
    pub flips: Flips,
    /// The first inputs that did not take the branch they were made for.
    pub misses: Vec<Miss>,
    pub solver: Statistics,
    /// Runs of all builds.
    pub executions: u64,
    /// Tests that were kept.
    pub tests: u64,
    /// Errors of single runs that were not seen again on the plain or checked program.
    pub unconfirmed: u64,
    /// Errors that were seen there, but not each time: no findings either.
    pub flaky: u64,
    /// Traced runs that were stopped, by what they had too much of. Tracing itself takes memory, so that is no error.
    pub limited: BTreeMap<Limit, u64>,
}

/// What a run had too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    Memory,
    Processes,
    Output,
}

impl Limit {
    /// What an end says about limits.
    pub(super) fn of(end: End) -> Option<Limit> {
        match end {
            End::OutOfMemory => Some(Limit::Memory),
            End::TooManyProcesses => Some(Limit::Processes),
            End::TooMuchOutput => Some(Limit::Output),
            End::Exit(_) | End::Signal(_) | End::Timeout | End::Interrupted => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Limit::Memory => "memory",
            Limit::Processes => "processes",
            Limit::Output => "output",
        }
    }
}

/// An input that did not take the branch it was made for.
#[derive(Clone, Debug)]
pub struct Miss {
    /// The branch.
    pub wanted: SiteId,
    /// Where it left the path instead.
    pub left_at: Option<SiteId>,
    pub from: Scenario,
    pub scenario: Scenario,
    /// Where both runs lost track of the input: what can explain it.
    pub losses: Vec<String>,
}

/// What became of the inputs that the solver made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flips {
    /// Went where they should.
    pub taken: u64,
    pub missed: u64,
    /// Of those that missed: made from a run that lost track of the input nowhere, so something is wrong.
    pub unexplained: u64,
    pub infeasible: u64,
    pub undecided: u64,
    pub rejected: u64,
}
