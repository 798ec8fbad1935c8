//! Which scenarios a search for a target starts from.
//!
//! Of the scenarios of a program, those that run the same are one: the smallest. They are ranked by how many decisions lie
//! between what they run and the target. A few dozen at most are taken, from as many different places as there are: what
//! is equally far at another branch is a better help than more of the same.

use std::collections::{BTreeSet, HashMap};

use parallax_analysis::BlockId;
use parallax_analysis::seeds::{Closest, Executed};
use parallax_scenario::Scenario;
use parallax_search::cover::map::Target;
use parallax_search::cover::{Counts, Coverer};
use parallax_store::Store;

use crate::failure::Failure;
use crate::patch::{Suite, Test};

/// Scenarios that a search starts from at most.
const MOST: usize = 24;
/// Of these, how many that no way is known from.
const MOST_LOST: usize = 4;

/// A scenario with what it runs.
pub struct Candidate {
    pub test: Test,
    pub scenario: Scenario,
}

impl Candidate {
    /// How much there is to run: connections, which are waited for one after the other, count more than bytes.
    pub fn weight(&self) -> (usize, usize) {
        (self.scenario.streams.len(), self.scenario.size())
    }

    /// For programs that nothing was recorded of: no arguments, no input.
    pub fn nothing() -> Candidate {
        Candidate {
            test: Test {
                id: String::new(),
                ran: BTreeSet::new(),
                is_given: true,
            },
            scenario: Scenario::default(),
        }
    }
}

/// A scenario to start from.
pub struct Seed<'c> {
    pub candidate: &'c Candidate,
    /// Decisions to the target.
    pub distance: Option<u32>,
}

/// The scenarios of a suite, without those that run the same as a smaller one.
pub fn candidates(store: &Store, suite: Suite) -> Result<Vec<Candidate>, Failure> {
    let mut distinct: Vec<Candidate> = Vec::new();
    let mut known: HashMap<Vec<(u64, u32)>, usize> = HashMap::new();
    for test in suite.tests {
        let scenario = store.get(&test.id)?.recorded.scenario;
        let ran = test.ran.iter();
        let ran: Vec<_> = ran.map(|one| (one.module, one.index)).collect();
        let candidate = Candidate { scenario, test };
        match known.entry(ran) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(distinct.len());
                distinct.push(candidate);
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                let same = &mut distinct[*entry.get()];
                if candidate.weight() < same.weight() {
                    *same = candidate;
                }
            }
        }
    }
    Ok(distinct)
}

/// The best scenarios to start from, the nearest first.
pub fn rank<'c>(
    coverer: &Coverer<'_>,
    counts: &Counts<'_>,
    target: &Target,
    candidates: &'c [Candidate],
) -> Vec<Seed<'c>> {
    let seen: Vec<_> = candidates
        .iter()
        .map(|candidate| counts.seen(&candidate.test.ran))
        .collect();
    let runs = seen.iter().map(|seen| seen as &dyn Executed);
    let closest = coverer.closest(target, runs);
    let sizes: Vec<_> = candidates.iter().map(Candidate::weight).collect();
    let order = order(&closest, &sizes);
    let seeds = order.into_iter().map(|index| Seed {
        candidate: &candidates[index],
        distance: closest[index].map(|closest| closest.distance),
    });
    seeds.collect()
}

/// Numbers of the best, the nearest first; places take turns at the same distance.
fn order<W: Ord + Copy>(closest: &[Option<Closest>], sizes: &[W]) -> Vec<usize> {
    let mut all: Vec<usize> = (0..closest.len()).collect();
    all.sort_by_key(|index| (distance(closest[*index]), sizes[*index]));
    let mut taken: HashMap<Option<BlockId>, usize> = HashMap::new();
    let mut turns: Vec<(u32, usize, usize, usize)> = Vec::new();
    for (place, index) in all.into_iter().enumerate() {
        let block = closest[index].map(|closest| closest.block);
        let turn = taken.entry(block).or_default();
        if block.is_some() || *turn < MOST_LOST {
            turns.push((distance(closest[index]), *turn, place, index));
        }
        *turn += 1;
    }
    turns.sort_unstable();
    turns.truncate(MOST);
    turns.into_iter().map(|(_, _, _, index)| index).collect()
}

fn distance(closest: Option<Closest>) -> u32 {
    closest.map_or(u32::MAX, |closest| closest.distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(block: u32, distance: u32) -> Option<Closest> {
        Some(Closest {
            block: BlockId(block),
            distance,
        })
    }

    #[test]
    fn the_nearest_come_first_and_places_take_turns() {
        let closest = [at(1, 3), at(1, 2), at(2, 2), at(1, 2), None];
        assert_eq!(order(&closest, &[0, 1, 2, 3, 0]), [1, 2, 3, 0, 4]);
    }

    #[test]
    fn what_no_way_is_known_from_fills_few_places() {
        let closest = vec![None; 100];
        assert_eq!(order(&closest, &[0; 100]).len(), MOST_LOST);
        let closest = vec![at(1, 1); 100];
        assert_eq!(order(&closest, &[0; 100]).len(), MOST);
    }
}
