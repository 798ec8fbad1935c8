//! Inputs that show the same thing, with the one that shows it best.

use std::collections::HashMap;

use super::triage::{Class, Shown};
use super::walk::Place;
use crate::engine::Phase;
use parallax_exec::compare::Difference;
use parallax_scenario::{Bytes, Golden, Scenario, Sink};

/// What several inputs show.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The same for the same thing, also in other comparisons.
    pub key: String,
    /// The smallest input.
    pub scenario: Scenario,
    pub shown: Shown,
    /// How far it is from the scenario that it was made from: bytes that differ.
    pub distance: u64,
    /// Where the versions parted, or what was put out differently.
    pub place: Option<Place>,
    pub phase: Phase,
    /// Inputs that show it.
    pub count: u64,
    /// Seconds after which the first of them was found.
    pub seconds: f64,
}

impl Cluster {
    pub fn class(&self) -> Class {
        self.shown.class
    }

    /// What comes first is worse, and then nearer to what was given.
    pub fn rank(&self) -> (Class, Option<Golden>, bool, u64, usize) {
        let size = size(&self.scenario);
        let in_part = is_seen_in_part(&self.scenario);
        let shown = &self.shown;
        (shown.class, shown.golden, in_part, self.distance, size)
    }
}

/// All clusters of a comparison.
#[derive(Debug, Default)]
pub struct Clusters {
    known: HashMap<String, usize>,
    pub list: Vec<Cluster>,
}

impl Clusters {
    /// Whether nothing with this key is known.
    pub fn is_new(&self, key: &str) -> bool {
        !self.known.contains_key(key)
    }

    /// Takes in an input; gives the cluster's index.
    pub fn add(&mut self, cluster: Cluster) -> usize {
        match self.known.get(&cluster.key) {
            Some(at) => {
                let known = &mut self.list[*at];
                let count = known.count + cluster.count;
                let seconds = known.seconds.min(cluster.seconds);
                if weight(&cluster) < weight(known) {
                    *known = cluster;
                }
                (known.count, known.seconds) = (count, seconds);
                *at
            }
            None => {
                self.known.insert(cluster.key.clone(), self.list.len());
                self.list.push(cluster);
                self.list.len() - 1
            }
        }
    }
}

/// What tells clusters apart. Errors are the same wherever the versions parted; other differences are told apart by where they come
/// from, too.
pub fn key(shown: &Shown, origin: Option<u64>) -> String {
    // A message or another end say what they are about; other output does not.
    let only_stdout = |difference: &Difference| matches!(difference, Difference::Stdout(_));
    let tells = shown.class == Class::Difference && shown.differences.iter().all(only_stdout);
    match origin.filter(|_| tells) {
        Some(origin) => format!("{}|from {origin:016x}", shown.key()),
        None => shown.key(),
    }
}

/// The clusters of several comparisons, the worst first: each thing once, and each smallest input once. What becomes of the output
/// (closed, full) changes what can be seen of a difference, not the difference.
pub fn join(lists: impl IntoIterator<Item = Vec<Cluster>>) -> Vec<Cluster> {
    let mut all = Clusters::default();
    for cluster in lists.into_iter().flatten() {
        all.add(cluster);
    }
    all.list.sort_by_key(Cluster::rank);
    let mut list: Vec<Cluster> = Vec::new();
    for cluster in all.list {
        let is_same = |known: &&mut Cluster| {
            known.class() == cluster.class()
                && known.shown.golden == cluster.shown.golden
                && seen_whole(&known.scenario) == seen_whole(&cluster.scenario)
        };
        match list.iter_mut().find(is_same) {
            Some(known) => known.count += cluster.count,
            None => list.push(cluster),
        }
    }
    list
}

/// An input whose output is read.
pub(crate) fn seen_whole(scenario: &Scenario) -> Scenario {
    Scenario {
        stdout: Sink::Read,
        stderr: Sink::Read,
        ..scenario.clone()
    }
}

/// Whether some of what the program prints is lost.
pub(crate) fn is_seen_in_part(scenario: &Scenario) -> bool {
    scenario.stdout != Sink::Read || scenario.stderr != Sink::Read
}

fn weight(cluster: &Cluster) -> (usize, u64, &Scenario) {
    (size(&cluster.scenario), cluster.distance, &cluster.scenario)
}

/// Bytes of everything that a program is given.
pub fn size(scenario: &Scenario) -> usize {
    parts(scenario).iter().map(|part| part.len() + 1).sum()
}

/// Bytes that differ.
pub fn distance(from: &Scenario, to: &Scenario) -> u64 {
    let (a, b) = (parts(from), parts(to));
    let mut sum = 0;
    for index in 0..a.len().max(b.len()) {
        let part = |parts: &[&'_ Bytes]| parts.get(index).map_or(Vec::new(), |part| part.to_vec());
        let (x, y) = (part(&a), part(&b));
        let differ = x.iter().zip(y.iter()).filter(|(x, y)| x != y).count();
        sum += (differ + x.len().abs_diff(y.len())) as u64;
    }
    sum + a.len().abs_diff(b.len()) as u64
}

fn parts(scenario: &Scenario) -> Vec<&Bytes> {
    let objects = scenario.objects.iter().map(|object| &object.bytes);
    let rest = std::iter::once(&scenario.stdin)
        .chain(scenario.files.values())
        .chain(scenario.env.values())
        .chain(&scenario.streams)
        .chain(objects);
    rest.chain(&scenario.argv).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(argument: &str) -> Scenario {
        Scenario {
            argv: vec![argument.as_bytes().into()],
            ..Scenario::default()
        }
    }

    #[test]
    fn the_distance_is_the_number_of_bytes_that_differ() {
        assert_eq!(distance(&with("abc"), &with("abc")), 0);
        assert_eq!(distance(&with("abc"), &with("axc")), 1);
        assert_eq!(distance(&with("abc"), &with("axcd")), 2);
        assert_eq!(distance(&Scenario::default(), &with("a")), 2);
    }
}
