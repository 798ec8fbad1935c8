//! What has not been tried yet, the best first.
//!
//! How good an alternative is changes while others are tried: every attempt at a branch makes the other alternatives there
//! worse. To rank each of a million again would cost more than the runs. So alternatives whose rank changes together are one
//! *group* (those of one branch in one calling context, for instance): the heap holds groups, ranked by their best member, and only a
//! group that comes to the top is ranked again. A choice then costs a few heap operations, however many members wait.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::limits::{Limit, Limits};

/// See the module's description. `M` orders the members of a group, `R` the groups; lower is better.
#[derive(Debug)]
pub struct Frontier<M, R, T> {
    groups: FxHashMap<u64, Group<M, T>>,
    /// A group has one entry that counts, the one with its number; others are stale.
    heap: BinaryHeap<Reverse<(R, u64, u64)>>,
    /// Entries that were made.
    entries: u64,
    open: usize,
    arrivals: u64,
    most: usize,
}

#[derive(Debug)]
struct Group<M, T> {
    members: BinaryHeap<Reverse<Member<M, T>>>,
    /// Number of its entry in the heap.
    entry: u64,
}

#[derive(Debug)]
struct Member<M, T> {
    merit: M,
    arrival: u64,
    item: T,
}

impl<M: Ord, T> Ord for Member<M, T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (&self.merit, self.arrival).cmp(&(&other.merit, other.arrival))
    }
}

impl<M: Ord, T> PartialOrd for Member<M, T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<M: Ord, T> PartialEq for Member<M, T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<M: Ord, T> Eq for Member<M, T> {}

impl<M: Ord, R: Ord + Copy, T> Default for Frontier<M, R, T> {
    fn default() -> Self {
        Frontier::bounded(Limit::OpenAlternatives.value() as usize)
    }
}

impl<M: Ord, R: Ord + Copy, T> Frontier<M, R, T> {
    /// One that holds so many alternatives at most.
    pub fn bounded(most: usize) -> Self {
        Frontier {
            groups: FxHashMap::default(),
            heap: BinaryHeap::new(),
            entries: 0,
            open: 0,
            arrivals: 0,
            most,
        }
    }

    pub fn len(&self) -> usize {
        self.open
    }

    pub fn is_empty(&self) -> bool {
        self.open == 0
    }

    /// Adds an alternative to a group. `rank` ranks a group by its key and the merit of its best member; what it gives for one
    /// group must only grow while nothing is added to it.
    pub fn offer(
        &mut self,
        key: u64,
        merit: M,
        item: T,
        rank: impl Fn(u64, &M) -> R,
        limits: &mut Limits,
    ) {
        if self.open >= self.most {
            self.thin_out(limits);
        }
        self.arrivals += 1;
        let member = Member {
            merit,
            arrival: self.arrivals,
            item,
        };
        let group = self.groups.entry(key).or_insert_with(|| Group {
            members: BinaryHeap::new(),
            entry: 0,
        });
        let is_best = group
            .members
            .peek()
            .is_none_or(|Reverse(best)| member < *best);
        if is_best {
            self.entries += 1;
            group.entry = self.entries;
            let ranked = rank(key, &member.merit);
            self.heap.push(Reverse((ranked, key, group.entry)));
        }
        group.members.push(Reverse(member));
        self.open += 1;
    }

    /// Takes the best alternative.
    pub fn take(&mut self, rank: impl Fn(u64, &M) -> R) -> Option<T> {
        loop {
            let Reverse((ranked, key, entry)) = self.heap.pop()?;
            let Some(group) = self.groups.get_mut(&key) else {
                continue;
            };
            if group.entry != entry {
                continue;
            }
            let Some(Reverse(best)) = group.members.peek() else {
                self.groups.remove(&key);
                continue;
            };
            let now = rank(key, &best.merit);
            if now > ranked {
                self.heap.push(Reverse((now, key, entry)));
                continue;
            }
            let Reverse(taken) = group.members.pop()?;
            self.open -= 1;
            match group.members.peek() {
                Some(Reverse(next)) => {
                    let next = rank(key, &next.merit);
                    self.heap.push(Reverse((next, key, entry)));
                }
                None => {
                    self.groups.remove(&key);
                }
            }
            return Some(taken.item);
        }
    }

    /// The rank of the best alternative, as it was when it was last ranked.
    pub fn best(&self) -> Option<R> {
        self.heap.peek().map(|Reverse((rank, _, _))| *rank)
    }

    /// Gives up the worse half of every group that has more than a few members.
    fn thin_out(&mut self, limits: &mut Limits) {
        const FEW: usize = 16;
        let before = self.open;
        for group in self.groups.values_mut() {
            if group.members.len() > FEW {
                let mut all = std::mem::take(&mut group.members).into_sorted_vec();
                // Sorted by what is reversed: the best come last.
                all.drain(..all.len() / 2);
                self.open -= group.members.len();
                group.members = all.into();
            }
        }
        self.open = self.groups.values().map(|group| group.members.len()).sum();
        // Groups of a few members each are as many as they are: from then on there is room for more of them.
        if self.open > before - before / 4 {
            self.most = self.most.saturating_mul(2);
        }
        limits.hit_by(Limit::OpenAlternatives, (before - self.open) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Groups are places, merits are distances, and every attempt at a place counts as one more.
    #[derive(Default)]
    struct Attempts(HashMap<u64, u32>);

    impl Attempts {
        fn rank(&self, key: u64, merit: &u32) -> u32 {
            merit + self.0.get(&key).copied().unwrap_or(0)
        }
    }

    fn filled(list: &[(u64, u32, &'static str)]) -> Frontier<u32, u32, &'static str> {
        let (attempts, mut limits) = (Attempts::default(), Limits::default());
        let mut frontier = Frontier::default();
        for (key, merit, item) in list {
            let rank = |key, merit: &u32| attempts.rank(key, merit);
            frontier.offer(*key, *merit, *item, rank, &mut limits);
        }
        frontier
    }

    #[test]
    fn the_best_comes_first_whatever_the_order_of_arrival() {
        let mut frontier = filled(&[(1, 5, "c"), (2, 3, "b"), (1, 1, "a"), (3, 9, "d")]);
        let rank = |_: u64, merit: &u32| *merit;
        let all: Vec<&str> = std::iter::from_fn(|| frontier.take(rank)).collect();
        assert_eq!(all, ["a", "b", "c", "d"]);
        assert!(frontier.is_empty());
    }

    #[test]
    fn attempts_at_one_place_let_others_come_first() {
        let list = [
            (1, 1, "a"),
            (1, 1, "b"),
            (1, 1, "c"),
            (1, 1, "d"),
            (2, 3, "x"),
        ];
        let mut frontier = filled(&list);
        let mut attempts = Attempts::default();
        let mut taken = Vec::new();
        while let Some(item) = frontier.take(|key, merit| attempts.rank(key, merit)) {
            *attempts
                .0
                .entry(if item == "x" { 2 } else { 1 })
                .or_default() += 1;
            taken.push(item);
        }
        assert_eq!(taken, ["a", "b", "c", "x", "d"]);
    }

    #[test]
    fn of_too_many_the_better_ones_of_each_place_stay_and_the_rest_is_counted() {
        let mut limits = Limits::default();
        let mut frontier: Frontier<u32, u32, u32> = Frontier::bounded(1000);
        for number in 0..1001 {
            frontier.offer(1, number % 500, number, |_, merit| *merit, &mut limits);
        }
        assert!(frontier.len() <= 501, "{}", frontier.len());
        assert!(limits.hits(Limit::OpenAlternatives) >= 499);
        assert_eq!(frontier.take(|_, merit| *merit), Some(0));
    }
}
