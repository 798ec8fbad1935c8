//! What an amplification is given, and what it gives back.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parallax_abi::SiteId;
use parallax_solver::{Config, Statistics};
use serde::{Deserialize, Serialize};

use super::sample::Sample;
use crate::explore::{Ended, Programs};
use parallax_exec::execute::Settings;
use parallax_exec::finding::{Finding, Kind};
use parallax_scenario::Scenario;
use parallax_trace::region::{Limits, Symbolic};
use parallax_trace::sensitive::Failure;

/// A test that is amplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// As the report calls it.
    pub name: String,
    pub scenario: Scenario,
}

/// A program with its tests.
#[derive(Clone, Debug)]
pub struct Target {
    /// As the report calls it.
    pub name: String,
    pub programs: Programs,
    pub seeds: Vec<Seed>,
    pub symbolic: Symbolic,
    pub settings: Settings,
}

/// How to amplify.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only so many of all seeds.
    pub sample: Option<Sample>,
    /// The largest distance; 0 checks the seeds' own paths only, `None` goes on while there is time.
    pub max_distance: Option<usize>,
    /// A path that leaves at distance D is followed over this many times D points.
    pub depth_factor: usize,
    /// Traced runs of all programs at most.
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    /// Nothing is done after this, whatever time is left.
    pub deadline: Option<Instant>,
    /// Threads.
    pub jobs: usize,
    /// Chooses the sample.
    pub seed: u64,
    /// Of each trace.
    pub limits: Limits,
    pub solver: Config,
    /// Memory for traces that may be needed again.
    pub trace_memory: u64,
    /// Says whether somebody wants an end; asked often, by all threads.
    pub halt: Option<fn() -> bool>,
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
    /// A new error of the program with this index, confirmed.
    fn finding(&mut self, target: usize, found: &Amplified);
    /// Whether to end now.
    fn stop(&self) -> bool;
    /// What an earlier process had done is known; up to here nothing was new.
    fn caught_up(&mut self, _progress: &Progress) {}
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The distance that is being explored.
    pub distance: usize,
    /// Tests that were run, and those whose own paths have been checked.
    pub tests: u64,
    pub checked: u64,
    /// Traced runs.
    pub runs: u64,
    pub paths: u64,
    /// Checks made.
    pub checks: u64,
    pub findings: u64,
    /// Runs of this distance that are not followed yet.
    pub open: u64,
}

impl Progress {
    /// Of several programs together.
    pub fn add(&mut self, other: &Progress) {
        self.distance = self.distance.max(other.distance);
        self.tests += other.tests;
        self.checked += other.checked;
        self.runs += other.runs;
        self.paths += other.paths;
        self.checks += other.checks;
        self.findings += other.findings;
        self.open += other.open;
    }
}

/// A finding, with how far it is from the test that it was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amplified {
    pub finding: Finding,
    /// Points between where its path left the test's and the operation that it was looked for; 0 on the test's own path.
    pub distance: usize,
    /// Index into the seeds.
    pub seed: usize,
    /// Other kinds of errors that the same place showed: one defect is often noticed in several ways.
    pub also: Vec<Kind>,
    /// How many tests showed it.
    pub tests: u64,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl Checks {
    pub fn add(&mut self, more: Checks) {
        self.made += more.made;
        self.safe += more.safe;
        self.confirmed += more.confirmed;
        self.unconfirmed += more.unconfirmed;
        self.undecided += more.undecided;
        self.skipped += more.skipped;
    }
}

/// A site and what can go wrong there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    #[serde(with = "site_number")]
    pub site: SiteId,
    pub failure: Failure,
}

/// Sites in journals.
pub mod site_number {
    use parallax_abi::SiteId;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(site: &SiteId, serializer: S) -> Result<S::Ok, S::Error> {
        site.0.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SiteId, D::Error> {
        u64::deserialize(deserializer).map(SiteId)
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub ended: Ended,
    pub progress: Progress,
    pub seconds: f64,
    /// For each program, in the order in which they were given.
    pub targets: Vec<Amplification>,
}

/// What came out for one program.
#[derive(Clone, Debug, Default)]
pub struct Amplification {
    pub progress: Progress,
    pub findings: Vec<Amplified>,
    pub checks: Checks,
    /// Sensitive sites that any run came by, with the number of checks there.
    pub sites: BTreeMap<Place, u64>,
    /// Sites that only accessed memory at concrete addresses.
    pub concrete_sites: u64,
    /// Where checks could not be decided, and how many.
    pub undecided: BTreeMap<Place, u64>,
    /// Where failing inputs were made that did not fail natively, and on how many paths.
    pub unconfirmed: BTreeMap<Place, u64>,
    /// Indices of the seeds that were run, in the order in which they were.
    pub order: Vec<usize>,
    /// How many seeds were given, and how many of them were to be run.
    pub given: usize,
    pub planned: usize,
    /// Seeds that could not be run, and why.
    pub unusable: Vec<(usize, String)>,
    /// Tests that did not end by themselves, and were not run natively therefore.
    pub hanging: u64,
    /// For each test whose own path was checked and that shows no error itself: the CPU time that this took, all runs
    /// and the solver included, as a multiple of what the plain program's own process took.
    pub overheads: Vec<f64>,
    /// No run left a trace.
    pub is_untraced: bool,
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
