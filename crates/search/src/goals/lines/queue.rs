//! What is to be tried for an aim, the nearest to it first.
//!
//! The whole tree of paths is kept, not only the last one: an alternative that was not taken stays, and comes back when nearer
//! ones have failed. Each attempt at the same branch in the same calling context counts as a decision more between it and the aim,
//! so that the search does not stay where it cannot get on.
//!
//! Branches that can be turned and changes that no solver makes are kept apart: the latter are many, and more with every run, and
//! what they promise cannot be compared with decisions that are left.

use std::cmp::Reverse;
use std::rc::Rc;

use parallax_abi::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Means;
use super::ways::UNKNOWN;
use crate::core::alternative::Alternative;
use crate::core::corpus::EntryId;
use crate::core::frontier::Frontier;
use crate::core::limits::Limits;
use crate::edit::Edit;
use crate::sources::splice::Part;

/// What is worth trying for different reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A branch that is turned, after which the aim is so many decisions away.
    Turn,
    /// Another input that no solver makes.
    Change,
    /// A branch that is turned, and is not known to lead to the aim.
    Other,
}

/// What is to be otherwise in an entry.
#[derive(Clone, Debug)]
pub enum What {
    Turn(Alternative),
    Edit(Rc<Edit>, Means),
    /// A part of another entry is taken over.
    Take {
        from: EntryId,
        part: Part,
    },
}

/// Something to try, with what is expected beyond it.
#[derive(Clone, Debug)]
pub struct Way {
    pub entry: EntryId,
    pub what: What,
    /// What it is an attempt at, after coming by so often, and wherever.
    pub here: u64,
    pub place: u64,
    /// Identifies the path up to and with the change, or the change of the input: tried once.
    pub path: u64,
    /// Decisions from there to the aim.
    pub distance: u32,
    /// Steps from a given input.
    pub generation: u32,
    pub depth: u32,
    /// Number of the aim that it is for.
    pub aim: usize,
    /// Where it would part from the run, in the program's own code; 0 if nowhere.
    pub site: SiteId,
}

/// Distance, steps from a given input, late decisions first (they keep most of what is known to lead there), arrival; and what else it
/// is an attempt at.
type Merit = (u32, u32, Reverse<u32>, u64, u64);
type Rank = (u32, u32, Reverse<u32>, u64);
type Ways = Frontier<Merit, Rank, Way>;

/// See the module's description.
#[derive(Debug, Default)]
pub struct Queue {
    /// By kind.
    ways: [Ways; 3],
    offered: FxHashSet<u64>,
    attempts: FxHashMap<u64, u32>,
    arrivals: u64,
}

/// Attempts after coming by so often count whole, others at the same branch a quarter.
fn rank(attempts: &FxHashMap<u64, u32>, here: u64, merit: &Merit) -> Rank {
    let count = |what: u64| attempts.get(&what).copied().unwrap_or(0);
    let (distance, generation, depth, arrival, place) = *merit;
    let cost = distance + count(here) + count(place) / 4;
    (cost, generation, depth, arrival)
}

impl Queue {
    pub fn len(&self) -> usize {
        self.ways.iter().map(Ways::len).sum()
    }

    /// Adds a way, unless the same change of the same path was added before.
    pub fn offer(&mut self, way: Way, limits: &mut Limits) {
        if !self.offered.insert(way.path) {
            return;
        }
        self.arrivals += 1;
        let depth = Reverse(way.depth);
        let merit = (
            way.distance,
            way.generation,
            depth,
            self.arrivals,
            way.place,
        );
        let kind = match way.what {
            What::Turn(_) if way.distance < UNKNOWN => Kind::Turn,
            What::Turn(_) => Kind::Other,
            What::Edit(..) | What::Take { .. } => Kind::Change,
        };
        let attempts = &self.attempts;
        let rank = |here, merit: &Merit| rank(attempts, here, merit);
        self.ways[kind as usize].offer(way.here, merit, way, rank, limits);
    }

    /// The best way of a kind.
    pub fn take(&mut self, kind: Kind) -> Option<Way> {
        let attempts = &self.attempts;
        let rank = |here, merit: &Merit| rank(attempts, here, merit);
        let way = self.ways[kind as usize].take(rank)?;
        for what in [way.here, way.place] {
            *self.attempts.entry(what).or_default() += 1;
        }
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(path: u64, place: u64, distance: u32) -> Way {
        let change = crate::core::alternative::Change::Side { decision: 0 };
        Way {
            entry: 0,
            what: What::Turn(Alternative {
                entry: 0,
                change,
                site: SiteId(1),
                levels: [place; 3],
                path,
                depth: 0,
                calls: 0,
            }),
            here: place,
            place,
            path,
            distance,
            generation: 0,
            depth: 0,
            aim: 0,
            site: SiteId(1),
        }
    }

    fn paths(ways: Vec<Way>, most: usize) -> Vec<u64> {
        let (mut queue, mut limits) = (Queue::default(), Limits::default());
        for way in ways {
            queue.offer(way, &mut limits);
        }
        let taken = std::iter::from_fn(|| queue.take(Kind::Turn)).take(most);
        taken.map(|way| way.path).collect()
    }

    #[test]
    fn turns_are_kept_apart_from_other_changes_and_from_what_leads_nowhere() {
        let (mut queue, mut limits) = (Queue::default(), Limits::default());
        let part = What::Take {
            from: 1,
            part: Part::Data,
        };
        let change = Way {
            what: part,
            ..way(1, 1, 0)
        };
        for way in [change, way(2, 2, 5), way(3, 3, UNKNOWN)] {
            queue.offer(way, &mut limits);
        }
        assert_eq!(queue.len(), 3);
        let kinds = [Kind::Turn, Kind::Change, Kind::Other, Kind::Turn];
        let taken = kinds.map(|kind| queue.take(kind).map(|way| way.path));
        assert_eq!(taken, [Some(2), Some(1), Some(3), None]);
    }

    #[test]
    fn the_nearest_way_comes_first_and_each_once() {
        let all = [(1, 3), (2, 1), (3, 2), (2, 0)];
        let all = all.map(|(path, distance)| way(path, path, distance));
        assert_eq!(paths(all.into(), 9), [2, 3, 1]);
    }

    #[test]
    fn attempts_at_one_branch_let_others_come_first() {
        let mut all: Vec<Way> = (1..=8).map(|path| way(path, 7, 1)).collect();
        all.push(way(9, 8, 4));
        assert!(paths(all, 5).contains(&9));
    }
}
