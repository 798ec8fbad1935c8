//! Layer one: only constraints that share input bytes with the goal, directly or through others.
//!
//! Constraints are kept by their *sets* of bytes, of which there are few; sets are found by byte. A query walks from the
//! goal's bytes to sets, from sets to bytes. It costs what the slice is large, however long the path is.

use crate::constraint::Constraint;
use crate::sets::{SetId, VarId};
use crate::terms::Terms;
use parallax_expr::Store;
use rustc_hash::FxHashMap;

/// A path's constraints, found by the bytes that they are about.
#[derive(Default)]
pub(crate) struct Index {
    pushed: Vec<Constraint>,
    /// First position of each constraint.
    first: FxHashMap<Constraint, usize>,
    /// By byte: sets with it, in order of their first constraint.
    sets_of: Vec<Vec<SetId>>,
    /// By set: positions of its constraints, ascending, without repetitions.
    positions: Vec<Vec<usize>>,
    /// Which byte or set was seen in which query.
    round: u32,
    seen_byte: Vec<u32>,
    seen_set: Vec<u32>,
}

/// A part of a path and a goal.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// Constraints of the path, then those of the goal.
    pub facts: Vec<Constraint>,
    /// For each constraint of the path that is in it, where it was pushed.
    pub origin: Vec<usize>,
}

impl Index {
    pub fn len(&self) -> usize {
        self.pushed.len()
    }

    pub fn push<S: Store>(&mut self, terms: &mut Terms<'_, S>, constraint: Constraint) {
        let constraint = canonical(terms, constraint);
        let position = self.pushed.len();
        self.pushed.push(constraint);
        if *self.first.entry(constraint).or_insert(position) != position {
            return;
        }
        let set = terms.fact(constraint.label).set;
        grow(&mut self.positions, set.0 as usize);
        let positions = &mut self.positions[set.0 as usize];
        positions.push(position);
        if positions.len() == 1 {
            for byte in terms.sets.members(set) {
                grow(&mut self.sets_of, byte as usize);
                self.sets_of[byte as usize].push(set);
            }
        }
    }

    /// Constraints among the first `prefix` that the goal depends on, with the goal.
    pub fn slice<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        prefix: usize,
        goal: &[Constraint],
    ) -> Slice {
        let goal: Vec<Constraint> = goal.iter().map(|&one| canonical(terms, one)).collect();
        self.round = self.round.wrapping_add(1).max(1);
        let mut origin: Vec<usize> = Vec::new();
        let mut pending: Vec<VarId> = Vec::new();
        for constraint in &goal {
            let set = terms.fact(constraint.label).set;
            self.visit(terms, set, &mut pending);
        }
        let mut found: Vec<SetId> = Vec::new();
        while let Some(byte) = pending.pop() {
            let sets = self
                .sets_of
                .get(byte as usize)
                .map_or(&[][..], Vec::as_slice);
            // Sets are in the order of their first constraints: the rest comes after the prefix.
            let early = sets.partition_point(|set| self.positions[set.0 as usize][0] < prefix);
            for at in 0..early {
                let set = self.sets_of[byte as usize][at];
                grow(&mut self.seen_set, set.0 as usize);
                if self.seen_set[set.0 as usize] != self.round {
                    self.seen_set[set.0 as usize] = self.round;
                    found.push(set);
                    self.visit(terms, set, &mut pending);
                }
            }
        }
        for set in found {
            let positions = &self.positions[set.0 as usize];
            let early = positions.partition_point(|&position| position < prefix);
            origin.extend_from_slice(&positions[..early]);
        }
        origin.sort_unstable();
        let mut facts: Vec<Constraint> = Vec::with_capacity(origin.len() + goal.len());
        // What the goal says again needs no saying twice.
        origin.retain(|&position| !goal.contains(&self.pushed[position]));
        facts.extend(origin.iter().map(|&position| self.pushed[position]));
        for (at, constraint) in goal.iter().enumerate() {
            if !goal[..at].contains(constraint) {
                facts.push(*constraint);
            }
        }
        Slice { facts, origin }
    }

    /// Notes the bytes of a set that were not seen yet.
    fn visit<S: Store>(&mut self, terms: &Terms<'_, S>, set: SetId, pending: &mut Vec<VarId>) {
        for byte in terms.sets.members(set) {
            grow(&mut self.seen_byte, byte as usize);
            if self.seen_byte[byte as usize] != self.round {
                self.seen_byte[byte as usize] = self.round;
                pending.push(byte);
            }
        }
    }
}

fn canonical<S: Store>(terms: &Terms<'_, S>, constraint: Constraint) -> Constraint {
    constraint.canonical(terms.store.node(constraint.label).width)
}

fn grow<T: Default + Clone>(vector: &mut Vec<T>, index: usize) {
    if vector.len() <= index {
        vector.resize(index + 1, T::default());
    }
}
