//! What a comparison of two versions is given, and what it gives back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::clusters::Cluster;
use super::walk::{Both, Place};
use crate::explore;
use crate::replay::ReplayError;
use crate::scenario::Scenario;

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from.
    pub seeds: Vec<Scenario>,
    /// Everything that an exploration is given, too; its budget is that of the whole comparison.
    pub explore: explore::Options,
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct Subjects {
    pub programs: Both<explore::Programs>,
    /// A version that is known to be right: plain and checked.
    pub golden: Option<(PathBuf, Option<PathBuf>)>,
}

/// Why a comparison could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DivergeError {
    #[error(transparent)]
    Explore(#[from] explore::ExploreError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Who watches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress);
    /// Something that no input before has shown.
    fn found(&mut self, cluster: &Cluster);
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Traced runs of either version.
    pub runs: u64,
    /// Inputs on which the versions go different ways.
    pub divergences: u64,
    /// Different things that these show.
    pub clusters: u64,
    /// Divergences from which there is something left to explore.
    pub open: u64,
}

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Inputs that the comparison was given.
    #[default]
    Given,
    /// Where the versions could have parted is asked about.
    Concolic,
    /// What the new version does after they have parted.
    Bounded,
    /// Other paths that both take together.
    Common,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Concolic => "concolic",
            Phase::Bounded => "bounded",
            Phase::Common => "common",
        }
    }
}

/// Why it ended.
pub use crate::explore::Ended;

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub ended: Ended,
    /// What inputs showed, the worst first.
    pub clusters: Vec<Cluster>,
    /// Inputs by phase: those on which the versions went different ways.
    pub divergences: BTreeMap<Phase, u64>,
    /// Of these, how many showed nothing.
    pub silent: u64,
    /// Where these parted, most often first.
    pub silent_places: Vec<(Place, u64)>,
    /// Divergent inputs that were run natively: all of them.
    pub replayed: u64,
    /// Inputs that were to part the versions and did not.
    pub together: u64,
    /// Scenarios that were given.
    pub scenarios: u64,
    /// Different paths on which the versions were compared.
    pub paths: u64,
    /// Traced runs.
    pub runs: u64,
    /// Runs of any build.
    pub executions: u64,
    pub queries: u64,
    /// Questions that could not be decided.
    pub undecided: u64,
    /// Conditions that differ in their form only.
    pub proved_equal: u64,
    /// Times that a condition was not asked about because it had been often enough on the same path.
    pub left_out: u64,
    /// Runs of which only the first decisions were looked at.
    pub cut: u64,
    /// What was seen but not each time.
    pub flaky: u64,
    /// Functions whose code is not the same.
    pub changed: Vec<String>,
    pub losses: BTreeMap<String, u64>,
    pub time: Duration,
}
