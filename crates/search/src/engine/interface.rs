//! What a search is given, and what it gives back.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use parallax_abi::SiteId;
use parallax_exec::finding::{Finding, Problem};
use parallax_exec::replay::ReplayError;
use parallax_exec::run::End;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;

use crate::core::goal::Examiner;
use crate::diverge::Versions;
use crate::diverge::clusters::Cluster;
use crate::explore;
use crate::journal::JournalError;
use crate::sources::vocabulary::Vocabulary;

pub use crate::explore::Ended;

/// The programs as they were built.
#[derive(Clone, Debug)]
pub struct Natives {
    pub new: PathBuf,
    /// Without it there is one version only, and what is looked for are its errors.
    pub old: Option<PathBuf>,
    /// A version that is known to be right.
    pub golden: Option<PathBuf>,
}

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from.
    pub seeds: Vec<Scenario>,
    /// Kinds of work that are left out.
    pub without: Vec<Phase>,
    /// How programs are run, the budget, and what inputs may be made.
    pub explore: explore::Options,
    /// What is known of the patch, where there are two versions.
    pub patch: Patch,
}

/// What is known of a patch before anything is run.
#[derive(Clone, Debug, Default)]
pub struct Patch {
    /// Files that it changes, as debug information names them: an error of both versions counts if it is in one of them.
    pub files: Vec<PathBuf>,
    /// Scenarios to start from, from this number on, that run nothing of it: to compare their traces would show nothing.
    pub beside: Option<usize>,
}

impl Patch {
    /// Whether an error is in a file that the patch changes.
    pub fn has(&self, problem: &Problem) -> bool {
        let place = problem.location.as_ref();
        place.is_some_and(|place| {
            self.files
                .iter()
                .any(|file| *file == Path::new(&place.file))
        })
    }

    /// Whether a given scenario may run something of it.
    pub fn is_run_by(&self, given: usize) -> bool {
        self.beside.is_none_or(|first| given < first)
    }
}

/// What is derived from the programs, and may come while the search is under way.
pub struct Prepared<'v> {
    pub new: explore::Programs,
    pub old: Option<explore::Programs>,
    /// The golden version, built with sanitizers.
    pub golden_checked: Option<PathBuf>,
    /// Of the new version's traced variant.
    pub sites: &'v SiteMap,
    /// Of the new version's covered variant.
    pub tables: &'v [ModuleSites],
    /// What corresponds in the two versions: without it they are only compared natively.
    pub versions: Option<Versions<'v>>,
    pub vocabulary: Vocabulary,
    /// Looks at traced and confirmed inputs for a goal.
    pub examiner: Option<&'v dyn Examiner>,
}

/// Prepared by somebody else: `None` in it says that nothing comes; then given inputs are run natively, and that is all.
pub type Preparation<'v> = OnceLock<Option<Prepared<'v>>>;

/// Why a search could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Explore(#[from] explore::ExploreError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl SearchError {
    /// Whether it is only this input that cannot be run.
    pub fn is_about_the_input(&self) -> bool {
        match self {
            SearchError::Explore(error) => error.is_about_the_input(),
            SearchError::Replay(ReplayError::Execute(error)) => explore::is_about_the_input(error),
            SearchError::Replay(ReplayError::Shared(_)) | SearchError::Journal(_) => false,
        }
    }
}

/// Who watches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress);
    /// Something that no input before has shown, where there are two versions.
    fn found(&mut self, _cluster: &Cluster) {}
    /// An error that no input before has shown, where there is one version.
    fn error(&mut self, _finding: &Finding) {}
    /// An input that is worth keeping.
    fn test(&mut self, _scenario: &Scenario) {}
    /// One of the scenarios that were given, by number, has been compared on: everything about it was asked.
    fn settled(&mut self, _seed: usize) {}
    /// One of them cannot be run.
    fn left_out(&mut self, _seed: usize, _why: &dyn std::fmt::Display) {}
    /// What an earlier process had done is done again; up to here nothing was new.
    fn caught_up(&mut self, _progress: &Progress) {}
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Inputs that were run natively.
    pub inputs: u64,
    /// Traced runs of either version.
    pub runs: u64,
    /// Different paths that were traced.
    pub paths: u64,
    pub queries: u64,
    /// Counters of blocks and branch sides of the new version that are not zero.
    pub covered: u64,
    /// Inputs on which the versions go different ways.
    pub divergences: u64,
    /// Different things that inputs showed.
    pub findings: u64,
    /// Alternatives that are not tried yet, and divergences from which there is something left to explore.
    pub open: u64,
}

/// What is being done, or where an input comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Inputs that the search was given.
    #[default]
    Given,
    /// Single connections of servers' inputs.
    Connections,
    /// Other options and words.
    Words,
    /// Other surroundings: files, streams, environment.
    World,
    /// Other contents of what is read.
    Data,
    /// Other numbers.
    Numbers,
    /// Parts of one input in another.
    Splice,
    /// Random changes, guided by coverage.
    Mutate,
    /// Branches that are turned, operations that are made to fail.
    Branches,
    /// Where the versions could have parted is asked about.
    Concolic,
    /// What the new version does after they have parted.
    Bounded,
    /// Branches that are turned to reach lines.
    Lines,
    /// Paths near tests that are made to fail.
    Near,
    /// Branches that are turned to run changes in another order.
    Orders,
}

impl Phase {
    /// All that can be left out: goals are asked for.
    pub const ALL: [Phase; 11] = [
        Phase::Given,
        Phase::Connections,
        Phase::Words,
        Phase::World,
        Phase::Data,
        Phase::Numbers,
        Phase::Splice,
        Phase::Mutate,
        Phase::Branches,
        Phase::Concolic,
        Phase::Bounded,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Connections => "connections",
            Phase::Words => "words",
            Phase::World => "world",
            Phase::Data => "data",
            Phase::Numbers => "numbers",
            Phase::Splice => "splice",
            Phase::Mutate => "mutate",
            Phase::Branches => "branches",
            Phase::Concolic => "concolic",
            Phase::Bounded => "bounded",
            Phase::Lines => "lines",
            Phase::Near => "near tests",
            Phase::Orders => "orders",
        }
    }
}

/// CPU time, that of the programs included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of tracing one version.
    pub one: Duration,
    /// Of tracing both on the same inputs and bringing them side by side.
    pub both: Duration,
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

/// What a run had too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Excess {
    Memory,
    Processes,
    Output,
}

impl Excess {
    /// What an end says about limits.
    pub fn of(end: End) -> Option<Excess> {
        match end {
            End::OutOfMemory => Some(Excess::Memory),
            End::TooManyProcesses => Some(Excess::Processes),
            End::TooMuchOutput => Some(Excess::Output),
            End::Exit(_) | End::Signal(_) | End::Timeout | End::Interrupted => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Excess::Memory => "memory",
            Excess::Processes => "processes",
            Excess::Output => "output",
        }
    }
}
