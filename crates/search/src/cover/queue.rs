//! Ways to be tried, the nearest to the target first.
//!
//! The whole tree of paths is kept, not only the last one: a way that was not taken stays, and comes back when nearer
//! ones have failed. Each attempt at the same branch in the same calling context counts as a
//! decision more between it and the target, so that the search does not stay where it cannot get on.
//!
//! Branches that can be turned and changes that no solver makes take turns: the latter are many, and more with every run, and
//! what they promise cannot be compared with decisions that are left.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use parallax_abi::SiteId;
use rustc_hash::{FxHashMap, FxHashSet};

use super::ways::UNKNOWN;
use crate::explore::frontier::Candidate;
use crate::question::Goal;

/// What orders ways, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    cost: u32,
    /// Steps from a seed.
    generation: u32,
    /// Late decisions first: they keep most of what is known to lead there.
    depth: Reverse<u32>,
    number: u64,
}

type Heap = BinaryHeap<Reverse<(Rank, Way)>>;

/// See the module's description.
#[derive(Debug, Default)]
pub struct Queue {
    /// Branches that can be turned.
    turns: Heap,
    /// Other inputs, and turns that are not known to lead anywhere.
    changes: Heap,
    /// Whether it is a change's turn.
    is_change_next: bool,
    offered: FxHashSet<u64>,
    attempts: FxHashMap<u64, u32>,
    next: u64,
    dropped: u64,
}

/// Ways that can be open; of more, the better half stays. No search comes to try as many.
const MOST_OPEN: usize = 200_000;

/// A way, with what is expected behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    pub candidate: Candidate,
    /// Decisions from there to the target.
    pub distance: u32,
    pub generation: u32,
    /// Number of the aim that it is for.
    pub aim: u32,
    /// Where it would part from the run, in the program's own code.
    pub place: SiteId,
}

impl Queue {
    pub fn len(&self) -> usize {
        self.turns.len() + self.changes.len()
    }

    /// Adds a way, unless the same change of the same path was added before.
    pub fn offer(&mut self, way: Way) {
        if self.offered.insert(way.candidate.path) {
            self.push(way);
        }
    }

    fn push(&mut self, way: Way) {
        self.next += 1;
        let rank = Rank {
            cost: self.cost(&way),
            generation: way.generation,
            depth: Reverse(way.candidate.depth),
            number: self.next,
        };
        let goal = way.candidate.goal;
        let is_decided = goal.has_place() || matches!(goal, Goal::Otherwise { .. });
        let is_turn = is_decided && way.distance < UNKNOWN;
        let heap = match is_turn {
            true => &mut self.turns,
            false => &mut self.changes,
        };
        heap.push(Reverse((rank, way)));
        if heap.len() > MOST_OPEN {
            let mut all = std::mem::take(heap).into_vec();
            // Reversed: the best are the greatest.
            all.select_nth_unstable_by(MOST_OPEN / 2, |a, b| b.cmp(a));
            self.dropped += (all.len() - MOST_OPEN / 2) as u64;
            all.truncate(MOST_OPEN / 2);
            *heap = all.into();
        }
    }

    /// Ways that were given up because there were too many.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Attempts after coming by so often count whole, others at the same branch a quarter.
    fn cost(&self, way: &Way) -> u32 {
        let attempts = |level: usize| {
            let level = way.candidate.levels[level];
            self.attempts.get(&level).copied().unwrap_or(0)
        };
        way.distance + attempts(2) + attempts(1) / 4
    }

    /// The best turn and the best change, in turns.
    fn pop(&mut self) -> Option<Reverse<(Rank, Way)>> {
        let order = match self.is_change_next {
            true => [&mut self.changes, &mut self.turns],
            false => [&mut self.turns, &mut self.changes],
        };
        order.into_iter().find_map(BinaryHeap::pop)
    }

    /// The best ways, at most so many.
    pub fn take(&mut self, most: usize) -> Vec<Way> {
        let mut taken = Vec::new();
        while taken.len() < most
            && let Some(Reverse((rank, way))) = self.pop()
        {
            // It may have become worse since it was added.
            if self.cost(&way) > rank.cost {
                self.push(way);
                continue;
            }
            for level in &way.candidate.levels[1..] {
                *self.attempts.entry(*level).or_default() += 1;
            }
            self.is_change_next = !self.is_change_next;
            taken.push(way);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn way(path: u64, place: u64, distance: u32) -> Way {
        Way {
            candidate: Candidate {
                run: 0,
                goal: Goal::Side { decision: 0 },
                site: SiteId(place),
                levels: [place; 3],
                path,
                depth: 0,
                calls: 0,
            },
            distance,
            generation: 0,
            aim: 0,
            place: SiteId(place),
        }
    }

    #[test]
    fn changes_of_the_input_leave_every_other_turn_to_branches() {
        let mut queue = Queue::default();
        for path in 1..=6 {
            let mut change = way(path, path, 0);
            change.candidate.goal = Goal::Edit { number: 0 };
            queue.offer(change);
        }
        for path in 7..=8 {
            queue.offer(way(path, path, 5));
        }
        assert_eq!(paths(queue.take(6)), [7, 1, 8, 2, 3, 4]);
    }

    fn paths(ways: Vec<Way>) -> Vec<u64> {
        ways.iter().map(|way| way.candidate.path).collect()
    }

    #[test]
    fn of_too_many_ways_the_best_stay() {
        let mut queue = Queue::default();
        let count = MOST_OPEN as u64 + 1;
        for path in 1..=count {
            queue.offer(way(path, path, (count - path) as u32 % 500));
        }
        assert_eq!(queue.len(), MOST_OPEN / 2);
        assert_eq!(queue.dropped(), count - MOST_OPEN as u64 / 2);
        assert!(queue.take(300).iter().all(|way| way.distance <= 1));
    }

    #[test]
    fn the_nearest_way_comes_first_and_each_once() {
        let mut queue = Queue::default();
        for (path, distance) in [(1, 3), (2, 1), (3, 2), (2, 0)] {
            queue.offer(way(path, path, distance));
        }
        assert_eq!(paths(queue.take(2)), [2, 3]);
        assert_eq!(paths(queue.take(2)), [1]);
    }

    #[test]
    fn attempts_at_one_branch_let_others_come_first() {
        let mut queue = Queue::default();
        for path in 1..=8 {
            queue.offer(way(path, 7, 1));
        }
        queue.offer(way(9, 8, 4));
        assert!(paths(queue.take(5)).contains(&9));
    }
}
