//! Inputs that show the same thing, with the one that shows it best.

use std::collections::HashMap;

use super::interface::Phase;
use super::triage::{Class, Golden, Shown};
use super::walk::Place;
use crate::compare::Difference;
use crate::scenario::{Bytes, Scenario};

/// What several inputs show.
#[derive(Clone, Debug)]
pub struct Cluster {
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
    pub fn rank(&self) -> (Class, Option<Golden>, u64, usize) {
        let size = size(&self.scenario);
        (self.shown.class, self.shown.golden, self.distance, size)
    }
}

/// All clusters of a comparison.
#[derive(Debug, Default)]
pub struct Clusters {
    known: HashMap<(String, Option<u64>), usize>,
    pub list: Vec<Cluster>,
}

impl Clusters {
    /// Whether nothing like it is known. Errors are the same wherever the versions parted; other differences are told apart
    /// by where they come from.
    pub fn is_new(&self, shown: &Shown, origin: Option<u64>) -> bool {
        !self.known.contains_key(&key(shown, origin))
    }

    /// Takes in an input; gives the cluster's index.
    pub fn add(&mut self, cluster: Cluster, origin: Option<u64>) -> usize {
        let key = key(&cluster.shown, origin);
        match self.known.get(&key) {
            Some(at) => {
                let known = &mut self.list[*at];
                known.count += 1;
                if weight(&cluster) < weight(known) {
                    *known = Cluster {
                        count: known.count,
                        seconds: known.seconds,
                        ..cluster
                    };
                }
                *at
            }
            None => {
                self.list.push(cluster);
                self.known.insert(key, self.list.len() - 1);
                self.list.len() - 1
            }
        }
    }
}

fn key(shown: &Shown, origin: Option<u64>) -> (String, Option<u64>) {
    // A message or another end say what they are about; other output does not.
    let only_stdout = |difference: &Difference| matches!(difference, Difference::Stdout(_));
    let tells = shown.class == Class::Difference && shown.differences.iter().all(only_stdout);
    let origin = origin.filter(|_| tells);
    (shown.key(), origin)
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
