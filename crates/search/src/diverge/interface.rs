//! What a comparison of two versions is given, and what it gives back.

use std::path::PathBuf;
use std::time::Duration;

use super::clusters::Cluster;
use super::walk::Both;
use crate::explore;
use parallax_exec::replay::ReplayError;
use parallax_scenario::Scenario;

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from.
    pub seeds: Vec<Scenario>,
    /// Kinds of work that are left out.
    pub without: Vec<Phase>,
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

/// The programs as they were built.
#[derive(Clone, Debug)]
pub struct Natives {
    pub old: PathBuf,
    pub new: PathBuf,
    /// A version that is known to be right.
    pub golden: Option<PathBuf>,
}

/// Why a comparison could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DivergeError {
    #[error(transparent)]
    Explore(#[from] explore::ExploreError),
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

impl DivergeError {
    /// Whether it is only this input that cannot be run.
    pub fn is_about_the_input(&self) -> bool {
        match self {
            DivergeError::Explore(error) => error.is_about_the_input(),
            DivergeError::Replay(ReplayError::Execute(error)) => explore::is_about_the_input(error),
            DivergeError::Replay(ReplayError::Shared(_)) => false,
        }
    }
}

/// Who watches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress);
    /// Something that no input before has shown.
    fn found(&mut self, cluster: &Cluster);
    /// One of the scenarios that were given, by number, has been compared on: everything about it was asked.
    fn settled(&mut self, _seed: usize) {}
    /// One of them cannot be run.
    fn left_out(&mut self, _seed: usize, _why: &dyn std::fmt::Display) {}
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Inputs that were run natively on both versions.
    pub inputs: u64,
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
    /// Other options and words.
    Words,
    /// Other surroundings: files, streams, environment.
    World,
    /// Other contents of what is read.
    Data,
    /// Other numbers.
    Numbers,
    /// Random changes, guided by coverage.
    Mutate,
    /// Where the versions could have parted is asked about.
    Concolic,
    /// What the new version does after they have parted.
    Bounded,
    /// Other paths that both take together.
    Common,
}

impl Phase {
    /// All of them.
    pub const ALL: [Phase; 9] = [
        Phase::Given,
        Phase::Words,
        Phase::World,
        Phase::Data,
        Phase::Numbers,
        Phase::Mutate,
        Phase::Concolic,
        Phase::Bounded,
        Phase::Common,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Words => "words",
            Phase::World => "world",
            Phase::Data => "data",
            Phase::Numbers => "numbers",
            Phase::Mutate => "mutate",
            Phase::Concolic => "concolic",
            Phase::Bounded => "bounded",
            Phase::Common => "common",
        }
    }
}

/// Why it ended.
pub use crate::explore::Ended;

/// CPU time, that of the programs included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of tracing one version.
    pub one: Duration,
    /// Of tracing both on the same inputs and bringing them side by side.
    pub both: Duration,
}
