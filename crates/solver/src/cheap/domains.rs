//! Which values each byte may have, as far as constraints on that byte alone say it.

use super::program::Program;
use super::values::Values;
use crate::constraint::{Constraint, Holds};
use crate::layer::Query;
use crate::sets::{SetId, VarId};
use crate::shared::{Shared, locked};
use crate::terms::Terms;
use parallax_expr::{Label, Store};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Values of an expression by the value of the only byte that it depends on.
pub(super) type Image = Arc<[Option<u128>; 256]>;

/// Images are large; when there are so many, they are made again.
const MAX_IMAGES: usize = 1024;

pub(super) struct Domains {
    shared: Arc<Shared>,
    allowed: FxHashMap<Constraint, Option<Values>>,
    images: FxHashMap<Label, Option<Image>>,
}

/// What a query says about single bytes.
pub(super) struct Domain {
    pub values: FxHashMap<VarId, Values>,
    /// Positions of constraints on more than one byte.
    pub rest: Vec<usize>,
    /// All bytes of the query.
    pub bytes: Vec<VarId>,
}

impl Domain {
    pub fn of(&self, byte: VarId) -> Values {
        self.values.get(&byte).copied().unwrap_or(Values::ALL)
    }
}

impl Domains {
    pub fn new(shared: Arc<Shared>) -> Domains {
        Domains {
            shared,
            allowed: FxHashMap::default(),
            images: FxHashMap::default(),
        }
    }

    /// The query's domain, or constraints that leave a byte no value.
    pub fn of_query<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
    ) -> Result<Domain, Vec<usize>> {
        let mut domain = Domain {
            values: FxHashMap::default(),
            rest: Vec::new(),
            bytes: Vec::new(),
        };
        let mut set = SetId::EMPTY;
        let mut empty = None;
        for (position, &fact) in query.facts.iter().enumerate() {
            let own = terms.fact(fact.label).set;
            set = terms.sets.union(set, own);
            let single = terms.sets.only(own);
            let allowed = single.and_then(|byte| {
                let allowed = self.allowed(terms, fact, byte)?;
                Some((byte, allowed))
            });
            match allowed {
                Some((byte, allowed)) => {
                    let values = domain.values.entry(byte).or_insert(Values::ALL);
                    *values = values.and(allowed);
                    if values.is_empty() && empty.is_none() {
                        empty = Some(byte);
                    }
                }
                None => domain.rest.push(position),
            }
        }
        if let Some(byte) = empty {
            return Err(self.core(terms, query, byte));
        }
        domain.bytes = terms.sets.members(set).collect();
        Ok(domain)
    }

    /// Few constraints, the goal's first, that together leave a byte no value.
    fn core<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
        byte: VarId,
    ) -> Vec<usize> {
        let about = self.about(terms, query, byte);
        let mut left = Values::ALL;
        let mut core = Vec::new();
        for &(position, allowed) in about.iter().filter(|(at, _)| *at >= query.goal) {
            left = left.and(allowed);
            core.push(position);
        }
        // Whoever forbids most of what is left comes next; it is over after as many steps as values.
        while !left.is_empty() {
            let next = about
                .iter()
                .min_by_key(|(_, allowed)| left.and(*allowed).len());
            match next {
                Some(&(position, allowed)) if left.and(allowed) != left => {
                    left = left.and(allowed);
                    core.push(position);
                }
                _ => break,
            }
        }
        core.sort_unstable();
        core
    }

    /// Few constraints that give a byte its lowest and its highest value.
    pub fn bounding<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
        byte: VarId,
    ) -> Vec<usize> {
        let about = self.about(terms, query, byte);
        let ends = |values: Values| (values.iter().next(), values.iter().last());
        let all = about
            .iter()
            .fold(Values::ALL, |all, (_, one)| all.and(*one));
        let mut left: Vec<(usize, Values)> = about;
        let mut index = 0;
        while index < left.len() {
            let others = left.iter().enumerate().filter(|(at, _)| *at != index);
            let without = others.fold(Values::ALL, |sum, (_, (_, one))| sum.and(*one));
            if ends(without) == ends(all) {
                left.remove(index);
            } else {
                index += 1;
            }
        }
        left.into_iter().map(|(position, _)| position).collect()
    }

    /// Constraints on one byte alone, with what they allow.
    fn about<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
        byte: VarId,
    ) -> Vec<(usize, Values)> {
        let mut about: Vec<(usize, Values)> = Vec::new();
        for (position, &fact) in query.facts.iter().enumerate() {
            let set = terms.fact(fact.label).set;
            if terms.sets.only(set) == Some(byte)
                && let Some(allowed) = self.allowed(terms, fact, byte)
            {
                about.push((position, allowed));
            }
        }
        about
    }

    /// Values of its only byte under which a constraint holds.
    fn allowed<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        fact: Constraint,
        byte: VarId,
    ) -> Option<Values> {
        if let Some(&known) = self.allowed.get(&fact) {
            return known;
        }
        let hash = terms.fact(fact.label).hash;
        let shared = locked(&self.shared.allowed).get(hash, fact.holds);
        let values = match shared {
            Some(values) => Some(values),
            None => {
                let values = self.compute(terms, fact.label, fact.holds, byte);
                if let Some(values) = values {
                    locked(&self.shared.allowed).insert(hash, fact.holds, values);
                }
                values
            }
        };
        self.allowed.insert(fact, values);
        values
    }

    fn compute<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        label: Label,
        holds: Holds,
        byte: VarId,
    ) -> Option<Values> {
        let image = self.image(terms, label, byte)?;
        let mut values = Values::NONE;
        for (value, result) in (0..=255).zip(image.iter()) {
            if result.is_some_and(|result| holds.of(result)) {
                values.insert(value);
            }
        }
        Some(values)
    }

    /// The expression's value for each value of its only byte.
    pub fn image<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        label: Label,
        byte: VarId,
    ) -> Option<Image> {
        if let Some(known) = self.images.get(&label) {
            return known.clone();
        }
        let image: Option<Image> = Program::new(terms, &[byte], &[label]).map(|mut program| {
            Arc::new(std::array::from_fn(|value| {
                program.run(terms, &[value as u8]);
                program.result(0)
            }))
        });
        if self.images.len() >= MAX_IMAGES {
            self.images.clear();
        }
        self.images.insert(label, image.clone());
        image
    }
}
