//! Floating point over few values: bytes are given values one after the other, and a value is dropped as soon as a
//! constraint whose bytes all have values does not hold.
//!
//! Bit-blasting leaves floating-point results open, and an SMT-LIB program takes seconds for what are often a handful of digits.
//! Trying them takes milliseconds, and decides the query in both directions.

use super::domains::Domain;
use super::program::Program;
use crate::layer::{Changes, Outcome, Query, satisfies, take_back};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_expr::Store;
use std::collections::BTreeSet;

/// Operations that one search may evaluate: about a second.
const MAX_STEPS: usize = 4_000_000;
/// More bytes than this are hardly ever tried out.
const MAX_BYTES: usize = 16;

/// Decides the query, if it is about floating point and there are few enough values to try.
pub(super) fn decide<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    domain: &Domain,
    others: &Changes,
) -> Option<Outcome> {
    let mut is_floating = |&position: &usize| terms.fact(query.facts[position].label).floating;
    if !domain.rest.iter().any(&mut is_floating) {
        return None;
    }
    let levels = levels(terms, query, domain)?;
    let bytes: Vec<VarId> = levels.iter().map(|level| level.byte).collect();
    // The rest of the bytes has constraints of its own only.
    let mut others = others.clone();
    others.retain(|(byte, _)| !bytes.contains(byte));
    let mut search = Search {
        query,
        levels,
        chosen: Vec::new(),
        others,
        steps: MAX_STEPS,
        refuting: BTreeSet::new(),
    };
    match search.descend(terms) {
        Ended::Found(changes) => Some(Outcome::Sat(take_back(terms, query, changes))),
        Ended::Exhausted => {
            let mut core = search.refuting;
            for position in 0..query.facts.len() {
                let set = terms.fact(query.facts[position].label).set;
                let is_about = terms.sets.only(set).is_some_and(|one| bytes.contains(&one));
                if is_about && !domain.rest.contains(&position) {
                    core.insert(position);
                }
            }
            Some(Outcome::Unsat(core.into_iter().collect()))
        }
        Ended::TooLong => None,
    }
}

/// A byte that is given a value, and what can be checked then.
struct Level {
    byte: VarId,
    values: Vec<u8>,
    /// Evaluates `checked` on this byte and those before it.
    program: Program,
    /// Positions of constraints that have all their bytes here.
    checked: Vec<usize>,
}

/// The order in which bytes are given values: first those that complete constraints, and of these the ones with the fewest values.
fn levels<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    domain: &Domain,
) -> Option<Vec<Level>> {
    let mut open: Vec<(usize, Vec<VarId>)> = Vec::new();
    // Those of the goal first: they fail most often.
    for &position in domain.rest.iter().rev() {
        let set = terms.fact(query.facts[position].label).set;
        open.push((position, terms.sets.members(set).collect()));
    }
    let mut left: BTreeSet<VarId> = open.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    if left.len() > MAX_BYTES {
        return None;
    }
    let mut order: Vec<VarId> = Vec::new();
    let mut levels = Vec::new();
    while !left.is_empty() {
        let missing = |byte: VarId| {
            let about = open.iter().filter(|(_, bytes)| bytes.contains(&byte));
            let missing = about.map(|(_, bytes)| bytes.iter().filter(|b| left.contains(b)).count());
            missing.min().unwrap_or(usize::MAX)
        };
        let next = left.iter().copied();
        let byte = next.min_by_key(|&byte| (missing(byte), domain.of(byte).len(), byte))?;
        left.remove(&byte);
        order.push(byte);
        let is_complete = |bytes: &[VarId]| bytes.iter().all(|byte| order.contains(byte));
        let (complete, rest) = open.into_iter().partition(|(_, bytes)| is_complete(bytes));
        open = rest;
        let complete: Vec<(usize, Vec<VarId>)> = complete;
        let checked: Vec<usize> = complete.into_iter().map(|(position, _)| position).collect();
        let labels: Vec<_> = checked.iter().map(|&at| query.facts[at].label).collect();
        levels.push(Level {
            byte,
            values: domain.of(byte).by_preference(terms.seed(byte)),
            program: Program::new(terms, &order, &labels)?,
            checked,
        });
    }
    Some(levels)
}

struct Search<'q> {
    query: &'q Query<'q>,
    levels: Vec<Level>,
    chosen: Vec<u8>,
    /// Bytes that are not tried.
    others: Changes,
    /// What may still be evaluated.
    steps: usize,
    /// Constraints that ruled something out: together they rule out everything, if all was tried.
    refuting: BTreeSet<usize>,
}

enum Ended {
    Found(Changes),
    Exhausted,
    TooLong,
}

impl Search<'_> {
    fn descend<S: Store>(&mut self, terms: &mut Terms<'_, S>) -> Ended {
        let depth = self.chosen.len();
        if depth == self.levels.len() {
            let tried = self.levels.iter().map(|level| level.byte);
            let tried = tried.zip(self.chosen.iter().copied());
            let changes: Changes = self.others.iter().copied().chain(tried).collect();
            // As everywhere: believed only after evaluation.
            return match satisfies(terms, self.query, &changes) {
                true => Ended::Found(changes),
                false => Ended::TooLong,
            };
        }
        for at in 0..self.levels[depth].values.len() {
            let level = &mut self.levels[depth];
            let steps = level.program.len() + 1;
            if self.steps < steps {
                return Ended::TooLong;
            }
            self.steps -= steps;
            self.chosen.push(level.values[at]);
            level.program.run(terms, &self.chosen);
            let fails = |(root, position): &(usize, &usize)| {
                let wanted = self.query.facts[**position].holds;
                !level
                    .program
                    .result(*root)
                    .is_some_and(|value| wanted.of(value))
            };
            let refuted = level.checked.iter().enumerate().find(fails);
            match refuted.map(|(_, position)| *position) {
                Some(position) => {
                    self.refuting.insert(position);
                }
                None => match self.descend(terms) {
                    Ended::Exhausted => {}
                    ended => return ended,
                },
            }
            self.chosen.pop();
        }
        Ended::Exhausted
    }
}
