//! What to try next: every way in which an explored path could have gone otherwise, best first.
//!
//! Sides of branches that nothing has covered yet come first, then those that are new in their calling context,
//! then ways of runs that came by something that nothing has reached, then the rest; each place in its turn, what
//! is new after so many turns of a loop first. How good a way is changes while others are explored, so
//! it is computed again when its turn comes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use parallax_abi::SiteId;

use crate::question::Goal;

/// Number of an explored run.
pub type RunId = u32;

/// One way, with what it is valued by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Candidate {
    pub run: RunId,
    pub goal: Goal,
    /// Where it would part from the run.
    pub site: SiteId,
    /// What would be reached: whatever path leads there, in this calling context, and after coming by so often.
    pub levels: [u64; 3],
    /// Identifies the path up to and with the change: tried once.
    pub path: u64,
    /// Length of the path up to there.
    pub depth: u32,
}

/// Lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: u8,
    attempts: u32,
    /// Nothing about it is new.
    is_known: bool,
    shuffled: u64,
}

/// All ways that were not tried yet.
#[derive(Debug, Default)]
pub struct Frontier {
    heap: BinaryHeap<Reverse<(Rank, Candidate)>>,
    /// Paths that have been offered: each is tried once.
    offered: HashSet<u64>,
    covered: HashSet<u64>,
    attempts: HashMap<u64, u32>,
    /// Sides of branches that each run came by and that nothing had taken then.
    edges: HashMap<RunId, Vec<u64>>,
    /// Those that have been taken since.
    closed: HashSet<u64>,
    seed: u64,
}

/// Attempts after which an unreached place is not worth more than others.
const MOST_NEAR: u32 = 4096;
/// So many attempts near an unreached place count as one at a place itself.
const NEAR_SHARE: u32 = 8;

/// Goals of one run that are tried together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub run: RunId,
    pub candidates: Vec<Candidate>,
}

impl Frontier {
    pub fn new(seed: u64) -> Frontier {
        Frontier {
            seed,
            ..Frontier::default()
        }
    }

    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Adds a way, unless the same change of the same path was offered before.
    pub fn offer(&mut self, candidate: Candidate) {
        if self.offered.insert(candidate.path) {
            let rank = self.rank(&candidate);
            self.heap.push(Reverse((rank, candidate)));
        }
    }

    /// A run whose ways will be offered, with the sides of branches that it could have taken and nothing has.
    pub fn add_run(&mut self, run: RunId, edges: Vec<u64>) {
        self.edges.insert(run, edges);
    }

    /// A side of a branch has been taken.
    pub fn close(&mut self, edge: u64) {
        self.closed.insert(edge);
    }

    /// The side near the run, not taken by anything, that least was tried for; and how often.
    fn nearest(&self, run: RunId) -> Option<(u32, u64)> {
        let open = self
            .edges
            .get(&run)?
            .iter()
            .filter(|edge| !self.closed.contains(edge));
        let tried = |edge: &u64| self.attempts.get(edge).copied().unwrap_or(0);
        open.map(|edge| (tried(edge), *edge)).min()
    }

    /// A target, or a target in context, has been reached.
    pub fn reached(&mut self, target: u64) -> bool {
        self.covered.insert(target)
    }

    fn rank(&self, candidate: &Candidate) -> Rank {
        let attempts = |key| self.attempts.get(key).copied().unwrap_or(0);
        let is_new = |level: &u64| !self.covered.contains(level);
        let class = candidate.levels.iter().position(is_new);
        let is_known = class.is_none();
        // A run that came close to something that nothing has reached is worth more than others: what decides there
        // may have been decided long before, by other input.
        let near = self.nearest(candidate.run).map(|(tried, _)| tried);
        let tried = attempts(&candidate.levels[0]);
        let (class, attempts) = match (class, near) {
            (Some(class @ (0 | 1)), _) => (class as u8, tried),
            // What is new only for its turn of a loop has no precedence over other places: loops make such
            // news without end.
            (_, Some(near)) if near < MOST_NEAR => (2, near / NEAR_SHARE + tried),
            _ => (3, tried),
        };
        Rank {
            class,
            attempts,
            is_known,
            shuffled: mix(self.seed ^ candidate.path),
        }
    }

    /// Takes the best ways: at most `groups` runs, at most `size` ways of each, at most `total` in all.
    pub fn take(&mut self, groups: usize, size: usize, total: usize) -> Vec<Group> {
        let mut taken: BTreeMap<RunId, Vec<Candidate>> = BTreeMap::new();
        let mut order = Vec::new();
        let mut targets = HashSet::new();
        let mut later = Vec::new();
        let mut count = 0;
        // Looking further than this would cost more than a worse choice.
        let mut looks = groups * size * 4;
        while count < total && looks > 0 {
            let Some(Reverse((known, candidate))) = self.heap.pop() else {
                break;
            };
            let rank = self.rank(&candidate);
            if rank > known {
                self.heap.push(Reverse((rank, candidate)));
                // Each comes back at most once per change of its rank.
                continue;
            }
            looks -= 1;
            let has_room = match taken.get(&candidate.run) {
                Some(list) => list.len() < size,
                None => taken.len() < groups,
            };
            // One attempt at a time for a place that is not reached yet.
            if !has_room || rank.class == 0 && !targets.insert(candidate.levels[0]) {
                later.push(Reverse((rank, candidate)));
                continue;
            }
            *self.attempts.entry(candidate.levels[0]).or_default() += 1;
            if let (2, Some((_, edge))) = (rank.class, self.nearest(candidate.run)) {
                *self.attempts.entry(edge).or_default() += 1;
            }
            if !taken.contains_key(&candidate.run) {
                order.push(candidate.run);
            }
            taken.entry(candidate.run).or_default().push(candidate);
            count += 1;
        }
        self.heap.extend(later);
        let group = |run: RunId| {
            let mut candidates = taken.remove(&run).unwrap_or_default();
            // In path order the solver can build each question on the last.
            candidates.sort_by_key(|candidate| (candidate.depth, candidate.goal));
            Group { run, candidates }
        };
        order.into_iter().map(group).collect()
    }
}

/// Spreads numbers over the whole range.
pub fn mix(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    word ^ word >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(run: RunId, target: u64, path: u64) -> Candidate {
        Candidate {
            run,
            goal: Goal::Side {
                decision: path as u32,
            },
            site: SiteId(1),
            levels: [target, target << 32, target << 32],
            path,
            depth: path as u32,
        }
    }

    fn paths(groups: &[Group]) -> Vec<u64> {
        groups
            .iter()
            .flat_map(|group| &group.candidates)
            .map(|candidate| candidate.path)
            .collect()
    }

    #[test]
    fn what_nothing_has_reached_comes_first() {
        let mut frontier = Frontier::new(1);
        frontier.offer(candidate(1, 10, 1));
        frontier.offer(candidate(1, 20, 2));
        frontier.reached(10);
        assert_eq!(paths(&frontier.take(1, 1, 1)), [2]);
        assert_eq!(paths(&frontier.take(1, 1, 1)), [1]);
        assert_eq!(frontier.len(), 0);
    }

    #[test]
    fn the_same_change_of_the_same_path_is_tried_once() {
        let mut frontier = Frontier::new(1);
        frontier.offer(candidate(1, 10, 7));
        frontier.offer(candidate(2, 10, 7));
        assert_eq!(frontier.len(), 1);
    }

    #[test]
    fn one_attempt_at_a_time_for_a_place_that_is_not_reached() {
        let mut frontier = Frontier::new(1);
        frontier.offer(candidate(1, 10, 1));
        frontier.offer(candidate(1, 10, 2));
        assert_eq!(paths(&frontier.take(4, 4, 16)).len(), 1);
        assert_eq!(frontier.len(), 1);
    }

    #[test]
    fn places_take_turns() {
        let mut frontier = Frontier::new(1);
        for target in [10, 20] {
            frontier.reached(target);
            frontier.reached(target << 32);
        }
        for path in 1..=4 {
            frontier.offer(candidate(1, 10, path));
        }
        frontier.offer(candidate(1, 20, 9));
        let first_two = paths(&frontier.take(1, 2, 2));
        assert!(first_two.contains(&9), "{first_two:?}");
    }

    #[test]
    fn groups_hold_ways_of_one_run_in_path_order() {
        let mut frontier = Frontier::new(1);
        for path in [5, 3, 4] {
            frontier.offer(candidate(1, path, path));
        }
        frontier.offer(candidate(2, 8, 8));
        let groups = frontier.take(1, 16, 16);
        assert_eq!(groups.len(), 1);
        let list = paths(&groups);
        assert!(list.is_sorted(), "{list:?}");
    }
}
