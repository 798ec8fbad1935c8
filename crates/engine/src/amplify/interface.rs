//! What an amplification is given, and what it gives back.

use std::collections::BTreeMap;
use std::time::Duration;

use parallax_abi::SiteId;
use parallax_solver::{Config, Statistics};

use super::sample::Sample;
use crate::execute::Settings;
use crate::explore::Ended;
use crate::finding::Finding;
use crate::region::{Limits, Symbolic};
use crate::scenario::Scenario;
use crate::sensitive::Failure;

/// A test that is amplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// As the report calls it.
    pub name: String,
    pub scenario: Scenario,
}

/// How to amplify.
#[derive(Clone, Debug)]
pub struct Options {
    pub seeds: Vec<Seed>,
    /// Only so many of the seeds.
    pub sample: Option<Sample>,
    pub symbolic: Symbolic,
    /// The largest distance; 0 checks the seeds' own paths only, `None` goes on while there is time.
    pub max_distance: Option<usize>,
    /// A path that leaves at distance D is followed over this many times D points.
    pub depth_factor: usize,
    /// Traced runs at most.
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    /// Threads.
    pub jobs: usize,
    /// Chooses the sample.
    pub seed: u64,
    /// Of each trace.
    pub limits: Limits,
    pub settings: Settings,
    pub solver: Config,
    /// Memory for traces that may be needed again.
    pub trace_memory: u64,
}

impl Options {
    /// The paper's f: how many points a path is followed that left at a distance.
    pub fn depth_bound(&self, distance: usize) -> usize {
        self.depth_factor * distance
    }
}

/// Who watches.
pub trait Observer {
    /// After every round.
    fn progress(&mut self, progress: &Progress);
    /// A new error, confirmed.
    fn finding(&mut self, found: &Amplified);
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The distance that is being explored.
    pub distance: usize,
    /// Traced runs.
    pub runs: u64,
    pub paths: u64,
    /// Checks made.
    pub checks: u64,
    pub findings: u64,
    /// Runs of this distance that are not followed yet.
    pub open: u64,
}

/// A finding, with how far it is from the test that it was made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Amplified {
    pub finding: Finding,
    /// Points between where its path left the test's and the operation that it was looked for; 0 on the test's own path.
    pub distance: usize,
    /// Index into the seeds.
    pub seed: usize,
}

/// A point at which a test's path was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Index into the seeds.
    pub seed: usize,
    pub distance: usize,
    pub depth: usize,
    pub site: SiteId,
}

/// What became of the checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Asked of the solver.
    pub made: u64,
    /// Nothing on the path makes the operation fail.
    pub safe: u64,
    /// An input that makes it fail was found, and did fail natively.
    pub confirmed: u64,
    /// Such an input was found, but did not fail natively.
    pub unconfirmed: u64,
    /// The solver could not tell.
    pub undecided: u64,
    /// Not asked: too many of the same place on one path, or the time was over.
    pub skipped: u64,
}

/// A place that a check could not be decided at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Undecided {
    pub site: SiteId,
    pub failure: Failure,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub ended: Ended,
    pub progress: Progress,
    pub seconds: f64,
    pub findings: Vec<Amplified>,
    pub checks: Checks,
    /// Sensitive sites that any run came by, with the number of checks there.
    pub sites: BTreeMap<(SiteId, Failure), u64>,
    /// Sites that only accessed memory at concrete addresses.
    pub concrete_sites: u64,
    /// Where checks could not be decided, and how many.
    pub undecided: BTreeMap<Undecided, u64>,
    /// Indices of the seeds that were run, in the order in which they were.
    pub order: Vec<usize>,
    /// How many of the seeds were given.
    pub given: usize,
    /// Where the tests' paths were left, in order; the first of them if they are many.
    pub divergences: Vec<Divergence>,
    /// Flips that went elsewhere than the solver said.
    pub missed: u64,
    /// Function or instruction → how often labels were lost there.
    pub losses: BTreeMap<String, u64>,
    pub solver: Statistics,
    /// Runs of all builds.
    pub executions: u64,
    /// Errors that were seen, but not every time: no findings.
    pub flaky: u64,
}
