//! Which alternative to try next for the sake of new code.
//!
//! Three orders take turns, because each is blind for something. By *place*: sides of branches that nothing has covered
//! yet come first, then those that are new in their calling context or for what they compare. By *nearness*: alternatives of runs that
//! came by something that nothing has reached. By *mode*: runs that executed the same code of `main` are of one mode (the same
//! options, the same error), and modes take turns, with what is new in the mode first; so every combination of options is explored
//! with everything else, although each step to it is nothing new by itself.
//!
//! Each alternative is in all orders; one that was taken in another order is skipped when its turn comes.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::identity;
use crate::core::alternative::Alternative;
use crate::core::corpus::EntryId;
use crate::core::frontier::Frontier;
use crate::core::limits::Limits;
use crate::core::random::mix;

/// Calls between `main` and a place beyond which one more makes no difference.
const MOST_CALLS: u32 = 8;
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
/// Alternatives that are looked at for each that is chosen.
const LOOKS: usize = 4;

/// What orders alternatives of one group: calls from `main`, whether nothing about it is new, chance.
type Merit = (u32, bool, u64);
/// What orders groups: how new it is, what was tried there, chance.
type Rank = (u8, u32, u64);

/// See the module's description.
pub struct Orders {
    all: Vec<Alternative>,
    is_taken: Vec<bool>,
    by_place: Frontier<Merit, Rank, u32>,
    by_run: Frontier<Merit, Rank, u32>,
    by_mode: ByMode,
    known: Knowledge,
    /// Alternatives that have been offered: each is tried once.
    offered: FxHashSet<u64>,
    open: usize,
    /// Whose turn it is.
    turn: u64,
    /// Places that nothing has reached and that are being tried.
    under_way: FxHashSet<u64>,
    seed: u64,
}

/// What ranks are made of.
#[derive(Default)]
struct Knowledge {
    covered: FxHashSet<u64>,
    attempts: FxHashMap<u64, u32>,
    entries: FxHashMap<EntryId, Standing>,
    /// Of what runs came by and nothing had taken: what has been taken since.
    closed: FxHashSet<u64>,
    /// By a place in its context: the place.
    places: FxHashMap<u64, u64>,
}

/// Alternatives by mode: modes take turns, whatever they have.
#[derive(Default)]
struct ByMode {
    modes: FxHashMap<u64, Mode>,
    /// Turns that modes have had, those with alternatives.
    order: BTreeSet<(u32, u64)>,
}

#[derive(Default)]
struct Mode {
    frontier: Frontier<Merit, Rank, u32>,
    taken: u32,
}

impl ByMode {
    /// The alternatives of a mode, to which some are added.
    fn of(&mut self, mode: u64) -> &mut Frontier<Merit, Rank, u32> {
        let own = self.modes.entry(mode).or_default();
        self.order.insert((own.taken / TURN, mode));
        &mut own.frontier
    }

    fn take(&mut self, rank: impl Fn(u64, &Merit) -> Rank) -> Option<u32> {
        while let Some(first) = self.order.pop_first() {
            let (turns, mode) = first;
            let Some(own) = self.modes.get_mut(&mode) else {
                continue;
            };
            // A mode is in the order once; an entry from before its last turn is stale.
            if turns != own.taken / TURN {
                continue;
            }
            if let Some(number) = own.frontier.take(&rank) {
                own.taken += 1;
                self.order.insert((own.taken / TURN, mode));
                return Some(number);
            }
        }
        None
    }
}

/// What is known about a run.
#[derive(Default)]
struct Standing {
    /// What it came by and nothing had taken then.
    open: Vec<u64>,
    mode: u64,
}

impl Orders {
    pub fn new(seed: u64) -> Orders {
        Orders {
            all: Vec::new(),
            is_taken: Vec::new(),
            by_place: Frontier::default(),
            by_run: Frontier::default(),
            by_mode: ByMode::default(),
            known: Knowledge::default(),
            offered: FxHashSet::default(),
            open: 0,
            turn: 0,
            under_way: FxHashSet::default(),
            seed,
        }
    }

    pub fn len(&self) -> usize {
        self.open
    }

    pub fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// An entry whose alternatives will be offered: its mode, and what it came by and nothing has taken.
    pub fn add_entry(&mut self, entry: EntryId, mode: u64, open: Vec<u64>) {
        self.known.entries.insert(entry, Standing { open, mode });
    }

    /// Something that runs came by has been taken.
    pub fn close(&mut self, edge: u64) {
        self.known.closed.insert(edge);
    }

    /// A run has decided so.
    pub fn reached_by(&mut self, entry: EntryId, levels: [u64; 3]) {
        self.known.covered.extend(levels);
        let mode = self.known.mode(entry);
        self.known.covered.insert(in_mode(levels[1], mode));
    }

    /// A place, or a place in its context, has been reached.
    pub fn reached(&mut self, place: u64) {
        self.known.covered.insert(place);
    }

    /// Adds an alternative, unless the same change of the same path was offered before.
    pub fn offer(&mut self, alternative: Alternative, limits: &mut Limits) {
        if !self.offered.insert(identity(&alternative)) {
            return;
        }
        let number = self.all.len() as u32;
        self.all.push(alternative);
        self.is_taken.push(false);
        self.open += 1;
        let known = &mut self.known;
        let [place, here, again] = alternative.levels;
        let mode = known.mode(alternative.entry);
        let mode_key = in_mode(here, mode);
        known.places.insert(here, place);
        let merit = (
            alternative.calls.min(MOST_CALLS),
            known.covered.contains(&again),
            mix(self.seed ^ alternative.path),
        );
        let known = &self.known;
        self.by_place.offer(
            here,
            merit,
            number,
            |key, merit| known.of_place(key, merit),
            limits,
        );
        let rank = |key, merit: &Merit| known.in_mode(key, merit);
        let of_mode = self.by_mode.of(mode);
        of_mode.offer(mode_key, merit, number, rank, limits);
        if known.nearest(alternative.entry).is_some() {
            let key = alternative.entry as u64;
            self.by_run.offer(
                key,
                merit,
                number,
                |key, merit| known.of_run(key, merit),
                limits,
            );
        }
    }

    /// The best alternatives, at most so many; of a place that nothing has reached, one at a time.
    pub fn take(&mut self, most: usize) -> Vec<Alternative> {
        self.turn += 1;
        let mut taken = Vec::new();
        let mut later = Vec::new();
        let mut looks = most * LOOKS;
        while taken.len() < most && looks > 0 {
            looks -= 1;
            let Some(number) = self.next() else {
                break;
            };
            let alternative = self.all[number as usize];
            let [place, here, _] = alternative.levels;
            let is_unreached = !self.known.covered.contains(&place);
            if is_unreached && !self.under_way.insert(place) {
                later.push(number);
                continue;
            }
            self.is_taken[number as usize] = true;
            self.open -= 1;
            self.known.attempt(&alternative, place, here);
            taken.push(alternative);
        }
        let mut limits = Limits::default();
        for number in later {
            let alternative = self.all[number as usize];
            let merit = (
                alternative.calls.min(MOST_CALLS),
                false,
                mix(self.seed ^ alternative.path),
            );
            let known = &self.known;
            let key = alternative.levels[1];
            self.by_place.offer(
                key,
                merit,
                number,
                |key, merit| known.of_place(key, merit),
                &mut limits,
            );
        }
        taken
    }

    /// The next alternative that was not taken, in the order whose turn it is, or else in any.
    fn next(&mut self) -> Option<u32> {
        let known = &self.known;
        loop {
            let place = |key: u64, merit: &Merit| known.of_place(key, merit);
            let in_mode = |key: u64, merit: &Merit| known.in_mode(key, merit);
            let by_run = |key: u64, merit: &Merit| known.of_run(key, merit);
            let number = if self.turn.is_multiple_of(2) {
                self.by_mode
                    .take(in_mode)
                    .or_else(|| self.by_place.take(place))
            } else {
                // What is new by its place comes first, then what is near something new, then the rest.
                let is_new = self.by_place.best().is_some_and(|rank| rank.0 < KNOWN);
                let is_near = self.by_run.best().is_some_and(|rank| rank.0 < KNOWN);
                match (is_new, is_near) {
                    (false, true) => self.by_run.take(by_run),
                    _ => self
                        .by_place
                        .take(place)
                        .or_else(|| self.by_mode.take(in_mode)),
                }
            };
            let number = number?;
            if !self.is_taken[number as usize] {
                return Some(number);
            }
        }
    }

    /// An alternative that was taken has been tried.
    pub fn tried(&mut self, alternative: &Alternative) {
        self.under_way.remove(&alternative.levels[0]);
        // Nothing tells whether it got there but that it was tried.
        if !alternative.change.has_place() {
            self.known.covered.extend(alternative.levels);
        }
    }
}

/// The class of what is new neither by its place nor by what is near it.
const KNOWN: u8 = 3;

impl Knowledge {
    fn attempts(&self, key: u64) -> u32 {
        self.attempts.get(&key).copied().unwrap_or(0)
    }

    fn mode(&self, entry: EntryId) -> u64 {
        self.entries.get(&entry).map_or(0, |standing| standing.mode)
    }

    /// What an entry came by, not taken by anything, that least was tried for; and how often.
    fn nearest(&self, entry: EntryId) -> Option<(u32, u64)> {
        let open = self.entries.get(&entry)?.open.iter();
        let open = open.filter(|edge| !self.closed.contains(edge));
        open.map(|edge| (self.attempts(*edge), *edge)).min()
    }

    fn of_place(&self, key: u64, merit: &Merit) -> Rank {
        let place = self.places.get(&key).copied().unwrap_or(key);
        let tried = self.attempts(place);
        let here = self.attempts(key);
        let (class, attempts) = if !self.covered.contains(&place) {
            (0, tried)
        } else if !self.covered.contains(&key) {
            (1, here + tried / CONTEXT_SHARE)
        } else {
            (KNOWN, tried)
        };
        (class, weight(attempts, merit.0), merit.2)
    }

    fn of_run(&self, key: u64, merit: &Merit) -> Rank {
        match self.nearest(key as EntryId) {
            Some((near, _)) if near < MOST_NEAR => {
                let own = self.attempts(run_key(key));
                (2, weight(near / NEAR_SHARE + own, merit.0), merit.2)
            }
            _ => (KNOWN, u32::MAX, merit.2),
        }
    }

    /// Within one mode: what was tried least there comes first.
    fn in_mode(&self, key: u64, merit: &Merit) -> Rank {
        let before = u32::from(self.covered.contains(&key)) * REACHED_BEFORE;
        (0, weight(self.attempts(key) + before, merit.0), merit.2)
    }

    /// An alternative is being tried.
    fn attempt(&mut self, alternative: &Alternative, place: u64, here: u64) {
        *self.attempts.entry(place).or_default() += 1;
        if here != place {
            *self.attempts.entry(here).or_default() += 1;
        }
        if let Some((_, edge)) = self.nearest(alternative.entry) {
            *self.attempts.entry(edge).or_default() += 1;
            let run = run_key(alternative.entry as u64);
            *self.attempts.entry(run).or_default() += 1;
        }
        let mode = self.mode(alternative.entry);
        *self.attempts.entry(in_mode(here, mode)).or_default() += 1;
    }
}

/// Attempts count more the deeper the calls are.
fn weight(attempts: u32, calls: u32) -> u32 {
    attempts.saturating_add(1).saturating_mul(1 << calls)
}

/// A place in one mode.
fn in_mode(place: u64, mode: u64) -> u64 {
    mix(place ^ mix(mode ^ 0x6d6f_6465))
}

/// Names a run among what is attempted.
fn run_key(entry: u64) -> u64 {
    mix(entry ^ 0x7275_6e00)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::alternative::Change;
    use parallax_abi::SiteId;

    fn alternative(entry: EntryId, target: u64, path: u64) -> Alternative {
        Alternative {
            entry,
            change: Change::Side {
                decision: path as u32,
            },
            site: SiteId(1),
            levels: [target, target << 32, target << 32],
            path,
            depth: path as u32,
            calls: 0,
        }
    }

    fn offer(orders: &mut Orders, alternative: Alternative) {
        orders.offer(alternative, &mut Limits::default());
    }

    fn paths(taken: Vec<Alternative>) -> Vec<u64> {
        taken.iter().map(|alternative| alternative.path).collect()
    }

    #[test]
    fn what_nothing_has_reached_comes_first() {
        let mut orders = Orders::new(1);
        offer(&mut orders, alternative(1, 10, 1));
        offer(&mut orders, alternative(1, 20, 2));
        orders.reached(10);
        assert_eq!(paths(orders.take(1)), [2]);
        orders.turn += 1;
        assert_eq!(paths(orders.take(1)), [1]);
        assert!(orders.is_empty());
    }

    #[test]
    fn the_same_change_of_the_same_path_is_tried_once() {
        let mut orders = Orders::new(1);
        offer(&mut orders, alternative(1, 10, 7));
        offer(&mut orders, alternative(2, 10, 7));
        assert_eq!(orders.len(), 1);
    }

    #[test]
    fn one_attempt_at_a_time_for_a_place_that_is_not_reached() {
        let mut orders = Orders::new(1);
        offer(&mut orders, alternative(1, 10, 1));
        offer(&mut orders, alternative(1, 10, 2));
        let first = orders.take(16);
        assert_eq!(first.len(), 1);
        assert_eq!(orders.len(), 1);
        orders.tried(&first[0]);
        assert_eq!(orders.take(16).len(), 1);
    }

    #[test]
    fn places_take_turns() {
        let mut orders = Orders::new(1);
        for target in [10, 20] {
            orders.reached(target);
            orders.reached(target << 32);
        }
        for path in 1..=4 {
            offer(&mut orders, alternative(1, 10, path));
        }
        offer(&mut orders, alternative(1, 20, 9));
        let first_two = paths(orders.take(2));
        assert!(first_two.contains(&9), "{first_two:?}");
    }

    #[test]
    fn modes_take_turns_however_many_runs_they_have() {
        let mut orders = Orders::new(1);
        for run in 1..=9 {
            orders.add_entry(run, u64::from(run == 9), Vec::new());
            for number in 1..=32 {
                let path = run as u64 * 100 + number;
                orders.reached(path);
                orders.reached(path << 32);
                offer(&mut orders, alternative(run, path, path));
            }
        }
        let mut taken = [0, 0];
        while taken[0] + taken[1] < 48 {
            orders.turn = 1;
            for one in orders.take(16) {
                taken[usize::from(one.entry == 9)] += 1;
            }
        }
        assert!(taken[1] >= 16, "{taken:?}");
    }

    #[test]
    fn a_place_many_calls_away_comes_later() {
        let mut orders = Orders::new(1);
        offer(
            &mut orders,
            Alternative {
                calls: 5,
                ..alternative(1, 10, 1)
            },
        );
        offer(&mut orders, alternative(1, 20, 2));
        assert_eq!(paths(orders.take(1)), [2]);
    }

    #[test]
    fn each_is_taken_in_one_order_only() {
        let mut orders = Orders::new(1);
        orders.add_entry(1, 0, Vec::new());
        for path in 1..=20 {
            offer(&mut orders, alternative(1, path, path));
        }
        let mut all = Vec::new();
        for _ in 0..10 {
            all.extend(paths(orders.take(4)));
        }
        all.sort_unstable();
        assert_eq!(all, (1..=20).collect::<Vec<u64>>());
    }
}
