//! What a comparison of two versions is given, and what it gives back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::clusters::{self, Cluster};
use super::walk::{Both, Place};
use crate::explore;
use parallax_exec::replay::ReplayError;
use parallax_scenario::Scenario;

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
    /// One of the scenarios that were given, by number, has been compared on: everything about it was asked.
    fn settled(&mut self, _seed: usize) {}
    /// One of them cannot be run.
    fn left_out(&mut self, _seed: usize, _error: &DivergeError) {}
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
    /// Other numbers in the inputs that the comparison was given.
    Numbers,
}

impl Phase {
    pub fn name(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Concolic => "concolic",
            Phase::Bounded => "bounded",
            Phase::Common => "common",
            Phase::Numbers => "numbers",
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
    pub cost: Cost,
    pub time: Duration,
}

/// CPU time, that of the programs included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of tracing one version.
    pub one: Duration,
    /// Of tracing both on the same inputs and bringing them side by side.
    pub both: Duration,
}

impl Summary {
    /// What comparisons of the same versions came to together; `None` of none.
    pub fn join(list: Vec<Summary>) -> Option<Summary> {
        let mut rest = list.into_iter();
        let mut sum = rest.next()?;
        let mut clusters = vec![std::mem::take(&mut sum.clusters)];
        let mut places: BTreeMap<u64, (Place, u64)> = BTreeMap::new();
        let mut silent = std::mem::take(&mut sum.silent_places);
        for one in rest {
            sum.ended = lesser(sum.ended, one.ended);
            clusters.push(one.clusters);
            for (phase, count) in one.divergences {
                *sum.divergences.entry(phase).or_default() += count;
            }
            silent.extend(one.silent_places);
            sum.silent += one.silent;
            sum.replayed += one.replayed;
            sum.together += one.together;
            sum.scenarios += one.scenarios;
            sum.paths += one.paths;
            sum.runs += one.runs;
            sum.executions += one.executions;
            sum.queries += one.queries;
            sum.undecided += one.undecided;
            sum.proved_equal += one.proved_equal;
            sum.left_out += one.left_out;
            sum.cut += one.cut;
            sum.flaky += one.flaky;
            for (name, count) in one.losses {
                *sum.losses.entry(name).or_default() += count;
            }
            sum.cost.one += one.cost.one;
            sum.cost.both += one.cost.both;
            sum.time = sum.time.max(one.time);
        }
        for (place, count) in silent {
            places.entry(place.name).or_insert((place, 0)).1 += count;
        }
        sum.silent_places = places.into_values().collect();
        sum.silent_places
            .sort_by_key(|(place, count)| (std::cmp::Reverse(*count), place.name));
        sum.clusters = clusters::join(clusters);
        Some(sum)
    }
}

/// How two comparisons ended together: exhausted only if both were.
fn lesser(one: Ended, other: Ended) -> Ended {
    let order = [Ended::Stopped, Ended::Time, Ended::Runs];
    let mut first = order.into_iter();
    first
        .find(|end| [one, other].contains(end))
        .unwrap_or(Ended::Exhausted)
}
