//! Layer three: what needs no general solver.
//!
//! * Constraints on one byte are sets of allowed values; if there are no others, that decides the query.
//! * Bounds of what bytes may be are bounds of what the goal may be.
//! * Queries about two bytes with few allowed values are decided by trying all; those about floating point also with more bytes,
//!   because nothing below is quick at them.
//! * Else the goal is inverted, and what that breaks is repaired by inverting it too, for a few steps. Only
//!   models come out of this, and only after all constraints were evaluated.

mod domains;
mod enumerate;
mod interval;
mod invert;
mod program;
mod values;

pub(crate) use values::Values;

use crate::blast::Sat;
use crate::layer::{Changes, Layer, Outcome, Query, Reply, satisfies, take_back};
use crate::sets::VarId;
use crate::shared::Shared;
use crate::terms::Terms;
use domains::{Domain, Domains};
use invert::Inverter;
use parallax_expr::{Label, Store};
use program::Program;
use std::sync::Arc;
use std::time::Instant;

/// Combinations of two bytes' values that are all tried.
const COMBINATIONS: usize = 600;
/// Inputs that are evaluated in one search.
const EVALUATIONS: u32 = 40;
/// Operators that inversion may look at in one search.
const OPERATORS: u32 = 3_000;
/// Constraints that are repaired one after the other.
const REPAIRS: usize = 6;
/// Evaluating more constraints than this many times over costs more than solving.
const MAX_FACTS: usize = 2_000;

pub(crate) struct Cheap {
    shared: Arc<Shared>,
    domains: Domains,
    below: Sat,
}

impl Cheap {
    pub fn new(shared: Arc<Shared>) -> Cheap {
        Cheap {
            domains: Domains::new(Arc::clone(&shared)),
            below: Sat::new(Arc::clone(&shared)),
            shared,
        }
    }

    pub fn solve<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Reply {
        if !self.shared.config.cheap {
            return self.below.solve(terms, query);
        }
        let start = Instant::now();
        let outcome = self.decide(terms, query);
        self.shared.spent(Layer::Cheap, start.elapsed());
        match outcome {
            Some(outcome) => {
                let reply = Reply::new(Layer::Cheap, outcome);
                if self.shared.config.oracle {
                    let below = self.below.solve(terms, query);
                    return self.shared.compare(reply, below);
                }
                reply
            }
            None => self.below.solve(terms, query),
        }
    }

    fn decide<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Option<Outcome> {
        let domain = match self.domains.of_query(terms, query) {
            Ok(domain) => domain,
            Err(core) => return Some(Outcome::Unsat(core)),
        };
        let changes = nearest(terms, &domain);
        if satisfies(terms, query, &changes) {
            return Some(Outcome::Sat(changes));
        }
        if let Some(core) = interval::contradiction(terms, &mut self.domains, query, &domain) {
            return Some(Outcome::Unsat(core));
        }
        if let [one, other] = domain.bytes[..] {
            let size = domain.of(one).len() * domain.of(other).len();
            if size <= COMBINATIONS
                && let Some(outcome) = exhaust(terms, query, &domain, one, other)
            {
                return Some(outcome);
            }
        }
        if query.facts.len() > MAX_FACTS {
            return None;
        }
        let mut search = Search {
            evaluations: EVALUATIONS,
            operators: OPERATORS,
        };
        let mut found = None;
        for first in query.goal..query.facts.len() {
            found = found.or_else(|| {
                search.repair(
                    terms,
                    &mut self.domains,
                    query,
                    &domain,
                    &changes,
                    first,
                    REPAIRS,
                )
            });
        }
        match found {
            Some(changes) => Some(Outcome::Sat(take_back(terms, query, changes))),
            None => enumerate::decide(terms, query, &domain, &changes),
        }
    }
}

/// Each byte as close to the seed as its own constraints allow.
fn nearest<S: Store>(terms: &Terms<'_, S>, domain: &Domain) -> Changes {
    let mut changes: Changes = domain
        .values
        .iter()
        .filter(|(byte, values)| !values.contains(terms.seed(**byte)))
        .filter_map(|(&byte, values)| Some((byte, values.best(terms.seed(byte))?)))
        .collect();
    changes.sort_unstable();
    changes
}

/// Tries all allowed values of the query's only two bytes.
fn exhaust<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    domain: &Domain,
    one: VarId,
    other: VarId,
) -> Option<Outcome> {
    let labels: Vec<Label> = domain
        .rest
        .iter()
        .map(|&position| query.facts[position].label)
        .collect();
    let mut program = Program::new(terms, &[one, other], &labels)?;
    let (seed, seed_other) = (terms.seed(one), terms.seed(other));
    let values = domain.of(other).by_preference(seed_other);
    for first in domain.of(one).by_preference(seed) {
        for &second in &values {
            program.run(terms, &[first, second]);
            let holds = |(root, &position): (usize, &usize)| {
                let wanted = query.facts[position].holds;
                program.result(root).is_some_and(|value| wanted.of(value))
            };
            if domain.rest.iter().enumerate().all(holds) {
                let changes = vec![(one, first), (other, second)];
                // As everywhere: believed only after evaluation.
                return satisfies(terms, query, &changes)
                    .then(|| Outcome::Sat(take_back(terms, query, changes)));
            }
        }
    }
    // Which of many constraints are to blame is better asked below.
    let all = 0..query.facts.len();
    (all.len() <= 3).then(|| Outcome::Unsat(all.collect()))
}

/// What a search may still cost.
struct Search {
    evaluations: u32,
    operators: u32,
}

impl Search {
    /// Inverts the constraint at `position` on top of `changes`, then the first one that is broken, and so on.
    #[allow(
        clippy::too_many_arguments,
        reason = "the state of one recursive search"
    )]
    fn repair<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        domains: &mut Domains,
        query: &Query<'_>,
        domain: &Domain,
        changes: &Changes,
        position: usize,
        steps: usize,
    ) -> Option<Changes> {
        let locked: Vec<VarId> = if steps == REPAIRS {
            Vec::new()
        } else {
            changes.iter().map(|&(byte, _)| byte).collect()
        };
        terms.assign(changes);
        let mut inverter = Inverter {
            terms,
            domains,
            domain,
            locked: &locked,
            budget: self.operators,
        };
        let proposals = inverter.constraint(query.facts[position]);
        self.operators = inverter.budget;
        for proposal in proposals {
            if self.evaluations == 0 {
                return None;
            }
            self.evaluations -= 1;
            let mut merged = changes.clone();
            merged.retain(|(byte, _)| proposal.iter().all(|(other, _)| other != byte));
            merged.extend(proposal);
            terms.assign(&merged);
            let broken = (0..query.facts.len())
                .rev()
                .find(|&at| !terms.holds(query.facts[at]));
            match broken {
                None => return Some(merged),
                Some(at) if steps > 1 && at != position => {
                    let found = self.repair(terms, domains, query, domain, &merged, at, steps - 1);
                    if found.is_some() {
                        return found;
                    }
                }
                Some(_) => {}
            }
        }
        None
    }
}
