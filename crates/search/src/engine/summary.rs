//! What a search came to.

use std::collections::BTreeMap;
use std::time::Duration;

use parallax_exec::coverage::Coverage;
use parallax_exec::finding::Finding;
use parallax_solver::Statistics;

use super::interface::{Cost, Ended, Excess, Flips, Miss, Phase, Progress};
use crate::core::limits::Limits;
use crate::diverge::clusters::{self, Cluster};
use crate::diverge::walk::Place;

/// What one kind of work cost and yielded.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    pub name: &'static str,
    pub turns: u64,
    /// Seconds of all threads together; without a time limit, a count.
    pub cost: f64,
    /// Inputs that showed something new.
    pub new: u64,
    /// Findings.
    pub found: u64,
}

impl Yield {
    fn add(&mut self, other: &Yield) {
        self.turns += other.turns;
        self.cost += other.cost;
        self.new += other.new;
        self.found += other.found;
    }
}

/// What came out of a search, beside what its goals know.
#[derive(Clone, Debug)]
pub struct Summary {
    pub ended: Ended,
    pub progress: Progress,
    pub time: Duration,
    /// Where there are two versions: what inputs showed, the worst first.
    pub clusters: Vec<Cluster>,
    /// Where there is one: its errors.
    pub findings: Vec<Finding>,
    /// What the new version's runs covered together.
    pub coverage: Coverage,
    /// What each kind of work cost and yielded.
    pub yields: Vec<Yield>,
    pub flips: Flips,
    /// The first inputs that did not take the branch they were made for.
    pub misses: Vec<Miss>,
    /// Inputs by phase: those on which the versions went different ways.
    pub divergences: BTreeMap<Phase, u64>,
    /// Of these, how many showed nothing.
    pub silent: u64,
    /// Where these parted, most often first.
    pub silent_places: Vec<(Place, u64)>,
    /// Inputs that were judged natively on all builds.
    pub replayed: u64,
    /// Inputs that were to part the versions and did not.
    pub together: u64,
    /// Scenarios that were given.
    pub scenarios: u64,
    /// Pairs of paths on which the versions were compared.
    pub pairs: u64,
    /// Inputs that were left out because those like them do not come to an end.
    pub avoided: u64,
    /// Time of runs that had to be ended.
    pub hanging: Duration,
    /// Runs of any build.
    pub executions: u64,
    pub solver: Statistics,
    /// Queries about both versions that could not be decided.
    pub undecided: u64,
    /// Conditions that differ in their form only.
    pub proved_equal: u64,
    /// Times that a condition was not asked about because it had been often enough on the same path.
    pub left_out: u64,
    /// Tests that were kept.
    pub tests: u64,
    /// Errors of single runs that were not seen again.
    pub unconfirmed: u64,
    /// What was seen but not each time.
    pub flaky: u64,
    /// Functions whose code is not the same.
    pub changed: Vec<String>,
    /// Function or instruction → how often labels were lost there.
    pub losses: BTreeMap<String, u64>,
    /// Which limits were hit.
    pub limits: Limits,
    /// Traced runs that were stopped, by what they had too much of. Tracing itself takes memory, so that is not an error.
    pub limited: BTreeMap<Excess, u64>,
    pub cost: Cost,
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
            sum.findings.extend(one.findings);
            sum.progress.inputs += one.progress.inputs;
            sum.progress.runs += one.progress.runs;
            sum.progress.paths += one.progress.paths;
            sum.progress.queries += one.progress.queries;
            sum.progress.divergences += one.progress.divergences;
            sum.progress.open = one.progress.open;
            for (phase, count) in one.divergences {
                *sum.divergences.entry(phase).or_default() += count;
            }
            silent.extend(one.silent_places);
            sum.silent += one.silent;
            sum.replayed += one.replayed;
            sum.together += one.together;
            sum.scenarios += one.scenarios;
            sum.pairs += one.pairs;
            sum.avoided += one.avoided;
            sum.hanging += one.hanging;
            for more in one.yields {
                match sum.yields.iter_mut().find(|known| known.name == more.name) {
                    Some(known) => known.add(&more),
                    None => sum.yields.push(more),
                }
            }
            sum.executions += one.executions;
            sum.solver.absorb(one.solver);
            sum.undecided += one.undecided;
            sum.proved_equal += one.proved_equal;
            sum.left_out += one.left_out;
            sum.flaky += one.flaky;
            sum.limits.absorb(&one.limits);
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

/// How two searches ended together: exhausted only if both were.
fn lesser(one: Ended, other: Ended) -> Ended {
    let order = [Ended::Stopped, Ended::Time, Ended::Runs];
    let mut first = order.into_iter();
    first
        .find(|end| [one, other].contains(end))
        .unwrap_or(Ended::Exhausted)
}
