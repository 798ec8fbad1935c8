//! What a comparison of two versions came to.

use std::collections::BTreeMap;
use std::time::Duration;

use super::clusters::{self, Cluster};
use super::interface::{Cost, Ended, Phase};
use super::walk::Place;

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
    /// Inputs that were run natively on both versions.
    pub inputs: u64,
    /// What each kind of work cost and yielded.
    pub yields: Vec<Yield>,
    /// Inputs that were left out because those like them do not come to an end.
    pub avoided: u64,
    /// Time of runs that had to be ended.
    pub hanging: Duration,
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
            sum.inputs += one.inputs;
            sum.avoided += one.avoided;
            sum.hanging += one.hanging;
            for more in one.yields {
                match sum.yields.iter_mut().find(|known| known.name == more.name) {
                    Some(known) => known.add(&more),
                    None => sum.yields.push(more),
                }
            }
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
