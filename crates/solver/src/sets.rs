//! Sets of input bytes, shared.
//!
//! Every node has the set of bytes that it depends on. There are far fewer distinct sets than nodes,
//! so sets are interned and unions remembered. A set is a list of ranges of
//! [`VarId`]s; ids are given out in the order in which bytes are met, so that what is read
//! in sequence is one range. A set with too many ranges closes its smallest gaps: it
//! then holds bytes too many, which costs precision of slicing and nothing else.

use rustc_hash::FxHashMap;

/// An input byte, numbered within one path.
pub(crate) type VarId = u32;

/// A set, numbered within one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SetId(pub u32);

impl SetId {
    pub const EMPTY: SetId = SetId(0);
}

/// First id and the one after the last.
type Range = (VarId, VarId);

const MAX_RANGES: usize = 64;

pub(crate) struct Sets {
    sets: Vec<Box<[Range]>>,
    ids: FxHashMap<Box<[Range]>, SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
}

impl Default for Sets {
    fn default() -> Self {
        let empty: Box<[Range]> = Box::new([]);
        Sets {
            sets: vec![empty.clone()],
            ids: [(empty, SetId::EMPTY)].into_iter().collect(),
            unions: FxHashMap::default(),
        }
    }
}

impl Sets {
    pub fn single(&mut self, variable: VarId) -> SetId {
        self.intern(vec![(variable, variable + 1)])
    }

    pub fn union(&mut self, a: SetId, b: SetId) -> SetId {
        if a == b || b == SetId::EMPTY {
            return a;
        }
        if a == SetId::EMPTY {
            return b;
        }
        let key = (a.min(b), a.max(b));
        if let Some(&known) = self.unions.get(&key) {
            return known;
        }
        let result = self.intern(merge(&self.sets[a.0 as usize], &self.sets[b.0 as usize]));
        self.unions.insert(key, result);
        result
    }

    fn intern(&mut self, ranges: Vec<Range>) -> SetId {
        let ranges: Box<[Range]> = ranges.into();
        if let Some(&known) = self.ids.get(&ranges) {
            return known;
        }
        let id = SetId(self.sets.len() as u32);
        self.sets.push(ranges.clone());
        self.ids.insert(ranges, id);
        id
    }

    /// Number of distinct sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    pub fn members(&self, set: SetId) -> impl Iterator<Item = VarId> + '_ {
        self.sets[set.0 as usize]
            .iter()
            .flat_map(|&(first, end)| first..end)
    }

    /// How many bytes are in the set.
    pub fn size(&self, set: SetId) -> usize {
        self.sets[set.0 as usize]
            .iter()
            .map(|&(first, end)| (end - first) as usize)
            .sum()
    }

    pub fn contains(&self, set: SetId, variable: VarId) -> bool {
        let ranges = &self.sets[set.0 as usize];
        let after = ranges.partition_point(|&(first, _)| first <= variable);
        after > 0 && variable < ranges[after - 1].1
    }

    /// The only member of a set.
    pub fn only(&self, set: SetId) -> Option<VarId> {
        match self.sets[set.0 as usize][..] {
            [(first, end)] if end == first + 1 => Some(first),
            _ => None,
        }
    }
}

fn merge(a: &[Range], b: &[Range]) -> Vec<Range> {
    let mut all: Vec<Range> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    let mut result: Vec<Range> = Vec::with_capacity(all.len());
    for (first, end) in all {
        match result.last_mut() {
            Some(last) if first <= last.1 => last.1 = last.1.max(end),
            _ => result.push((first, end)),
        }
    }
    while result.len() > MAX_RANGES {
        let smallest = (1..result.len())
            .min_by_key(|&at| result[at].0 - result[at - 1].1)
            .unwrap_or(1);
        result[smallest - 1].1 = result[smallest].1;
        result.remove(smallest);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(sets: &mut Sets, members: &[VarId]) -> SetId {
        members.iter().fold(SetId::EMPTY, |set, &member| {
            let single = sets.single(member);
            sets.union(set, single)
        })
    }

    #[test]
    fn equal_sets_are_one_and_neighbours_one_range() {
        let mut sets = Sets::default();
        let a = set(&mut sets, &[5, 3, 4, 9]);
        let b = set(&mut sets, &[9, 4, 5, 3]);
        assert_eq!(a, b);
        assert_eq!(&*sets.sets[a.0 as usize], &[(3, 6), (9, 10)]);
        assert_eq!(sets.members(a).collect::<Vec<_>>(), [3, 4, 5, 9]);
        assert!(sets.contains(a, 9) && !sets.contains(a, 6) && !sets.contains(a, 2));
        assert_eq!((sets.size(a), sets.only(a)), (4, None));
    }

    #[test]
    fn scattered_sets_grow_by_their_smallest_gaps_only() {
        let mut sets = Sets::default();
        let members: Vec<VarId> = (0..200).map(|n| n * n).collect();
        let all = set(&mut sets, &members);
        assert!(members.iter().all(|&member| sets.contains(all, member)));
        assert!(sets.sets[all.0 as usize].len() <= MAX_RANGES);
        assert!(!sets.contains(all, 199 * 199 - 1));
    }
}
