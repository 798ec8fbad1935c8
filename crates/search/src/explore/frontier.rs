//! What to try next: every way in which an explored path could have gone otherwise, best first.
//!
//! Three orders take turns, because each is blind for something. By *place*: sides of branches that nothing has covered
//! yet come first, then those that are new in their calling context or for what they compare,
//! then ways of runs that came by something that nothing has reached, then the rest; each place in its turn, what
//! is new after so many turns of a loop first. By *mode*: runs that
//! executed the same code of `main` are of one mode (the same options, the same error), and modes take turns, with what is
//! new in the mode first; so every combination of options is explored with everything else, although
//! each step to it is nothing new by itself. *Parts* of one run's input in another's have a small share of their own.
//!
//! How good a way is changes while others are explored, so it is computed again when its turn comes.

use std::cmp::Reverse;
use std::collections::hash_map::Entry;
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
    /// How many calls are between `main` and the place.
    pub calls: u32,
}

/// What ways are chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Places,
    Modes,
    Parts,
}

/// Lower is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    class: u8,
    cost: u32,
    /// Attempts at the place.
    attempts: u32,
    /// Nothing about it is new.
    is_known: bool,
    shuffled: u64,
}

type Queue = BinaryHeap<Reverse<(Rank, Candidate)>>;

/// All ways that were not tried yet.
#[derive(Debug, Default)]
pub struct Frontier {
    /// The same ways in both orders; who is taken in one stays in the other until its turn comes there.
    by_place: Queue,
    by_mode: Queue,
    /// Those that take over parts; in none of the others.
    parts: Queue,
    parts_tried: u64,
    /// Paths that have been offered: each is tried once.
    offered: HashSet<u64>,
    /// Those of them that have been tried.
    tried: HashSet<u64>,
    covered: HashSet<u64>,
    attempts: HashMap<u64, u32>,
    runs: HashMap<RunId, Standing>,
    /// Attempts in each mode.
    modes: HashMap<u64, u32>,
    /// Of what runs came by and nothing had taken: what has been taken since.
    closed: HashSet<u64>,
    seed: u64,
}

/// What is known about a run.
#[derive(Debug, Default)]
struct Standing {
    /// What it came by and nothing had taken then.
    open: Vec<u64>,
    /// See [`Frontier`].
    mode: u64,
}

/// Calls between `main` and a place beyond which one more makes no difference.
const MOST_CALLS: u32 = 8;
/// One run in so many is made from parts of others.
const PART_SHARE: u64 = 8;
/// Attempts in a mode until it has had its turn.
const TURN: u32 = 16;
/// So many attempts at a place anywhere count as one in a calling context or for what is compared.
const CONTEXT_SHARE: u32 = 8;
/// What was reached in a mode before is tried so much later than what was not.
const REACHED_BEFORE: u32 = 4;
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
        self.offered.len() - self.tried.len()
    }

    /// Adds a way, unless the same change of the same path was offered before.
    pub fn offer(&mut self, candidate: Candidate) {
        if self.offered.insert(candidate.path) {
            let orders = match candidate.goal {
                Goal::Take { .. } => &[Order::Parts][..],
                _ => &[Order::Places, Order::Modes],
            };
            for order in orders {
                let rank = self.rank(*order, &candidate);
                self.queue(*order).push(Reverse((rank, candidate)));
            }
        }
    }

    /// A run whose ways will be offered: its mode, and what it came by and nothing has taken. Whether the
    /// mode is new.
    pub fn add_run(&mut self, run: RunId, mode: u64, open: Vec<u64>) -> bool {
        self.runs.insert(run, Standing { open, mode });
        match self.modes.entry(mode) {
            Entry::Occupied(_) => false,
            Entry::Vacant(new) => {
                new.insert(0);
                true
            }
        }
    }

    /// Something that runs came by has been taken.
    pub fn close(&mut self, edge: u64) {
        self.closed.insert(edge);
    }

    /// What the run came by, not taken by anything, that least was tried for; and how often.
    fn nearest(&self, run: RunId) -> Option<(u32, u64)> {
        let open = self.runs.get(&run)?.open.iter();
        let open = open.filter(|edge| !self.closed.contains(edge));
        let tried = |edge: &u64| self.attempts.get(edge).copied().unwrap_or(0);
        open.map(|edge| (tried(edge), *edge)).min()
    }

    /// A run has decided so.
    pub fn reached_by(&mut self, run: RunId, levels: [u64; 3]) {
        self.covered.extend(levels);
        self.covered.insert(in_mode(levels[1], self.mode(run)));
    }

    /// A target, or a target in context, has been reached.
    pub fn reached(&mut self, target: u64) -> bool {
        self.covered.insert(target)
    }

    fn rank(&self, order: Order, candidate: &Candidate) -> Rank {
        let attempts = |key| self.attempts.get(key).copied().unwrap_or(0);
        let is_new = |level: &u64| !self.covered.contains(level);
        let class = candidate.levels.iter().position(is_new);
        let is_known = class.is_none();
        // A run that came close to something that nothing has reached is worth more than others: what decides there
        // may have been decided long before, by other input.
        let near = self.nearest(candidate.run).map(|(tried, _)| tried);
        let tried = attempts(&candidate.levels[0]);
        let weight = |attempts: u32| {
            let weight = 1 << candidate.calls.min(MOST_CALLS);
            attempts.saturating_add(1).saturating_mul(weight)
        };
        let shuffled = mix(self.seed ^ candidate.path);
        let (class, cost, attempts) = match (order, class, near) {
            (Order::Modes, _, _) => {
                let mode = self.mode(candidate.run);
                let turns = self.modes.get(&mode).copied().unwrap_or(0) / TURN;
                let place = in_mode(candidate.levels[1], mode);
                let before = u32::from(self.covered.contains(&place)) * REACHED_BEFORE;
                (0, turns, weight(attempts(&place) + before))
            }
            (Order::Parts, _, _) => (0, tried, 0),
            (_, Some(0), _) => (0, weight(tried), 0),
            (_, Some(1), _) => {
                let here = attempts(&candidate.levels[1]);
                (1, weight(here + tried / CONTEXT_SHARE), 0)
            }
            // What is new only for its turn of a loop has no precedence over other places: loops make such
            // news without end.
            (_, _, Some(near)) if near < MOST_NEAR => (2, weight(near / NEAR_SHARE + tried), 0),
            _ => (3, weight(tried), 0),
        };
        Rank {
            class,
            cost,
            attempts,
            is_known,
            shuffled,
        }
    }

    fn mode(&self, run: RunId) -> u64 {
        self.runs.get(&run).map_or(0, |standing| standing.mode)
    }

    /// Takes the best ways: at most `groups` runs, at most `size` ways of each, at most `total` in all. There have been
    /// so many `runs`.
    pub fn take(&mut self, runs: u64, groups: usize, size: usize, total: usize) -> Vec<Group> {
        let mut taken = Vec::new();
        let mut targets = HashSet::new();
        let mut count = 0;
        let parts = usize::from(self.parts_tried * PART_SHARE <= runs);
        let shares = [
            (Order::Places, groups.div_ceil(2), size),
            (Order::Parts, parts.min(groups / 4), size / 2),
            (Order::Modes, groups, size),
        ];
        for (order, most, size) in shares {
            let most = most.min(groups - taken.len());
            let room = (most * size).min(total - count);
            let list = self.take_by(order, most, size, room, &mut targets);
            let more: usize = list.iter().map(|group| group.candidates.len()).sum();
            count += more;
            if order == Order::Parts {
                self.parts_tried += more as u64;
            }
            taken.extend(list);
        }
        taken
    }

    /// The same in one order. `targets` are places not reached yet that are tried already.
    fn take_by(
        &mut self,
        order: Order,
        groups: usize,
        size: usize,
        total: usize,
        targets: &mut HashSet<u64>,
    ) -> Vec<Group> {
        let mut queue = std::mem::take(self.queue(order));
        let mut taken: BTreeMap<RunId, Vec<Candidate>> = BTreeMap::new();
        let mut order_of_runs = Vec::new();
        let mut later = Vec::new();
        let mut count = 0;
        // Looking further than this would cost more than a worse choice.
        let mut looks = groups * size * 4;
        while count < total && looks > 0 {
            let Some(Reverse((known, candidate))) = queue.pop() else {
                break;
            };
            if self.tried.contains(&candidate.path) {
                continue;
            }
            let rank = self.rank(order, &candidate);
            if rank > known {
                queue.push(Reverse((rank, candidate)));
                // Each comes back at most once per change of its rank.
                continue;
            }
            looks -= 1;
            let has_room = match taken.get(&candidate.run) {
                Some(list) => list.len() < size,
                None => taken.len() < groups,
            };
            // One attempt at a time for a place that is not reached yet.
            let is_unreached = !self.covered.contains(&candidate.levels[0]);
            if !has_room || is_unreached && !targets.insert(candidate.levels[0]) {
                later.push(Reverse((rank, candidate)));
                continue;
            }
            self.tried.insert(candidate.path);
            *self.attempts.entry(candidate.levels[0]).or_default() += 1;
            if candidate.levels[1] != candidate.levels[0] {
                *self.attempts.entry(candidate.levels[1]).or_default() += 1;
            }
            let is_near = order == Order::Places && rank.class == 2;
            if let (true, Some((_, edge))) = (is_near, self.nearest(candidate.run)) {
                *self.attempts.entry(edge).or_default() += 1;
            }
            let mode = self.mode(candidate.run);
            let place = in_mode(candidate.levels[1], mode);
            *self.attempts.entry(place).or_default() += 1;
            *self.modes.entry(mode).or_default() += 1;
            if !taken.contains_key(&candidate.run) {
                order_of_runs.push(candidate.run);
            }
            taken.entry(candidate.run).or_default().push(candidate);
            count += 1;
        }
        queue.extend(later);
        *self.queue(order) = queue;
        let group = |run: RunId| {
            let mut candidates = taken.remove(&run).unwrap_or_default();
            // In path order the solver can build each question on the last.
            candidates.sort_by_key(|candidate| (candidate.depth, candidate.goal));
            Group { run, candidates }
        };
        order_of_runs.into_iter().map(group).collect()
    }

    fn queue(&mut self, order: Order) -> &mut Queue {
        match order {
            Order::Places => &mut self.by_place,
            Order::Modes => &mut self.by_mode,
            Order::Parts => &mut self.parts,
        }
    }
}

/// A place in one mode.
fn in_mode(place: u64, mode: u64) -> u64 {
    mix(place ^ mix(mode ^ 0x6d6f_6465))
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
            calls: 0,
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
        assert_eq!(paths(&frontier.take(0, 1, 1, 1)), [2]);
        assert_eq!(paths(&frontier.take(0, 1, 1, 1)), [1]);
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
        assert_eq!(paths(&frontier.take(0, 4, 4, 16)).len(), 1);
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
        let first_two = paths(&frontier.take(0, 1, 2, 2));
        assert!(first_two.contains(&9), "{first_two:?}");
    }

    #[test]
    fn modes_take_turns_however_many_runs_they_have() {
        let mut frontier = Frontier::new(1);
        for run in 1..=9 {
            assert_eq!(
                frontier.add_run(run, u64::from(run == 9), Vec::new()),
                run == 1 || run == 9
            );
            for way in 1..=32 {
                let path = u64::from(run) * 100 + way;
                frontier.reached(path);
                frontier.offer(candidate(run, path, path));
            }
        }
        let mut taken = [0, 0];
        while taken[0] + taken[1] < 48 {
            for group in frontier.take_by(Order::Modes, 1, 16, 16, &mut HashSet::new()) {
                taken[usize::from(group.run == 9)] += group.candidates.len();
            }
        }
        assert!(taken[1] >= 16, "{taken:?}");
    }

    #[test]
    fn what_is_new_in_a_mode_comes_first_there() {
        let mut frontier = Frontier::new(1);
        frontier.add_run(1, 7, Vec::new());
        let (old, new) = (candidate(1, 10, 1), candidate(1, 20, 2));
        frontier.reached_by(1, old.levels);
        frontier.reached(new.levels[0]);
        frontier.offer(old);
        frontier.offer(new);
        assert_eq!(
            paths(&frontier.take_by(Order::Modes, 1, 1, 1, &mut HashSet::new())),
            [2]
        );
    }

    #[test]
    fn a_place_many_calls_away_comes_later() {
        let mut frontier = Frontier::new(1);
        frontier.offer(Candidate {
            calls: 5,
            ..candidate(1, 10, 1)
        });
        frontier.offer(candidate(1, 20, 2));
        assert_eq!(
            paths(&frontier.take_by(Order::Places, 1, 1, 1, &mut HashSet::new())),
            [2]
        );
    }

    #[test]
    fn a_way_is_taken_in_one_order_only() {
        let mut frontier = Frontier::new(1);
        frontier.add_run(1, 0, Vec::new());
        for path in 1..=20 {
            frontier.offer(candidate(1, path, path));
        }
        let mut all = paths(&frontier.take(0, 4, 16, 64));
        all.sort_unstable();
        assert_eq!(all, (1..=20).collect::<Vec<u64>>());
        assert_eq!(frontier.len(), 0);
    }

    #[test]
    fn groups_hold_ways_of_one_run_in_path_order() {
        let mut frontier = Frontier::new(1);
        for path in [5, 3, 4] {
            frontier.offer(candidate(1, path, path));
        }
        frontier.offer(candidate(2, 8, 8));
        let groups = frontier.take(0, 1, 16, 16);
        assert_eq!(groups.len(), 1);
        let list = paths(&groups);
        assert!(list.is_sorted(), "{list:?}");
    }
}
