//! Layer two: answers of earlier queries, of this path and of others.
//!
//! Constraints are compared by structural hash with the sources' stable ids, so that what was learned from one trace
//! serves the next. Three things are remembered:
//!
//! * the answer to exactly the same set of constraints, "too hard" being one;
//! * contradictions: a query that contains one is unsatisfiable;
//! * the last models: they often satisfy the next query, too.
//!
//! A remembered model is complete for the bytes that it is about, because another path has another seed; it is evaluated
//! before it is believed.

use crate::cheap::{Cheap, Values};
use crate::config::Limits;
use crate::constraint::{Constraint, Holds, Variable, Why};
use crate::hash::{self, Hash};
use crate::layer::{Changes, Layer, Outcome, Query, Reply, satisfies, take_back};
use crate::sets::{SetId, VarId};
use crate::shared::{Shared, locked};
use crate::terms::Terms;
use parallax_expr::Store;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// Answers, contradictions and value sets that are kept; when there are more, all are forgotten.
const MAX_ENTRIES: usize = 200_000;
/// Contradictions that are looked at per constraint.
const CORES_PER_FACT: usize = 16;
/// Models that are tried.
const MODELS: usize = 16;
/// Bytes of a model that is worth keeping.
const MODEL_BYTES: usize = 256;
/// A remembered model that changes more bytes than this is not close enough to the seed to be preferred.
const CLOSE: usize = 4;
/// Evaluating more constraints than this for each remembered model costs too much.
const MAX_FACTS: usize = 500;

/// A model: all bytes of its slice.
type Assignment = Arc<[(Variable, u8)]>;

/// What all paths remember.
#[derive(Default)]
pub(crate) struct Memory {
    answers: FxHashMap<Hash, Remembered>,
    /// By a constraint of it: the whole contradiction.
    cores: FxHashMap<Hash, Vec<Arc<[Hash]>>>,
    models: VecDeque<Assignment>,
}

#[derive(Clone)]
enum Remembered {
    Sat(Assignment),
    Unsat(Arc<[Hash]>),
    /// Given up within these limits.
    Unknown(Limits, Why),
}

/// Allowed values of bytes, by constraint.
#[derive(Default)]
pub(crate) struct AllowedValues(FxHashMap<(Hash, Holds), Values>);

impl AllowedValues {
    pub fn get(&self, hash: Hash, holds: Holds) -> Option<Values> {
        self.0.get(&(hash, holds)).copied()
    }

    pub fn insert(&mut self, hash: Hash, holds: Holds, values: Values) {
        if self.0.len() >= MAX_ENTRIES {
            self.0.clear();
        }
        self.0.insert((hash, holds), values);
    }
}

pub(crate) struct Cache {
    shared: Arc<Shared>,
    below: Cheap,
}

/// A query's constraints as hashes.
struct Key {
    facts: Vec<Hash>,
    /// The set of them, whatever the order.
    whole: Hash,
}

impl Cache {
    pub fn new(shared: Arc<Shared>) -> Cache {
        Cache {
            below: Cheap::new(Arc::clone(&shared)),
            shared,
        }
    }

    pub fn solve<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Reply {
        if !self.shared.config.cache {
            return self.below.solve(terms, query);
        }
        let start = Instant::now();
        let key = key(terms, query);
        let outcome = self.recall(terms, query, &key);
        self.shared.spent(Layer::Cache, start.elapsed());
        match outcome {
            Some(outcome) => {
                let reply = Reply::new(Layer::Cache, outcome);
                if self.shared.config.oracle {
                    let below = self.below.solve(terms, query);
                    return self.shared.compare(reply, below);
                }
                reply
            }
            None => {
                let reply = self.below.solve(terms, query);
                let start = Instant::now();
                self.remember(terms, query, &key, &reply.outcome);
                self.shared.spent(Layer::Cache, start.elapsed());
                reply
            }
        }
    }

    fn recall<S: Store>(
        &self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
        key: &Key,
    ) -> Option<Outcome> {
        let (exact, core, models) = {
            let memory = locked(&self.shared.memory);
            let exact = memory.answers.get(&key.whole).cloned();
            let core = memory.contradiction(query, key);
            let models: Vec<Assignment> = if query.facts.len() <= MAX_FACTS {
                memory.models.iter().cloned().collect()
            } else {
                Vec::new()
            };
            (exact, core, models)
        };
        match exact {
            Some(Remembered::Unsat(core)) => return Some(Outcome::Unsat(positions(key, &core))),
            Some(Remembered::Sat(model)) => {
                let changes = apply(terms, &model, |_| true);
                if satisfies(terms, query, &changes) {
                    return Some(Outcome::Sat(take_back(terms, query, changes)));
                }
            }
            Some(Remembered::Unknown(limits, why)) if query.limits.within(&limits) => {
                return Some(Outcome::Unknown(why));
            }
            Some(Remembered::Unknown(..)) | None => {}
        }
        if let Some(core) = core {
            return Some(Outcome::Unsat(positions(key, &core)));
        }
        let set = query.goal().iter().fold(SetId::EMPTY, |set, fact| {
            let own = terms.fact(fact.label).set;
            terms.sets.union(set, own)
        });
        for model in models {
            // The goal's own bytes are the least that a model must change.
            let goal: FxHashSet<VarId> = terms.sets.members(set).take(MODEL_BYTES).collect();
            let changes = apply(terms, &model, |byte| goal.contains(&byte));
            if !changes.is_empty() && changes.len() <= CLOSE && satisfies(terms, query, &changes) {
                return Some(Outcome::Sat(take_back(terms, query, changes)));
            }
        }
        None
    }

    fn remember<S: Store>(
        &self,
        terms: &mut Terms<'_, S>,
        query: &Query<'_>,
        key: &Key,
        outcome: &Outcome,
    ) {
        match outcome {
            Outcome::Sat(changes) => {
                let mut set = SetId::EMPTY;
                for fact in query.facts {
                    let own = terms.fact(fact.label).set;
                    set = terms.sets.union(set, own);
                }
                if terms.sets.size(set) > MODEL_BYTES {
                    return;
                }
                let model: Assignment = terms
                    .sets
                    .members(set)
                    .map(|byte| {
                        let changed = changes.iter().find(|(other, _)| *other == byte);
                        let value = changed.map_or(terms.seed(byte), |(_, value)| *value);
                        (terms.bytes[byte as usize].variable, value)
                    })
                    .collect();
                let mut memory = locked(&self.shared.memory);
                memory.add(key.whole, Remembered::Sat(Arc::clone(&model)));
                if !memory.models.contains(&model) {
                    if memory.models.len() == MODELS {
                        memory.models.pop_front();
                    }
                    memory.models.push_back(model);
                }
            }
            Outcome::Unsat(core) => {
                let core: Arc<[Hash]> = core.iter().map(|&at| key.facts[at]).collect();
                let mut memory = locked(&self.shared.memory);
                memory.add(key.whole, Remembered::Unsat(Arc::clone(&core)));
                for &fact in core.iter() {
                    let known = memory.cores.entry(fact).or_default();
                    if known.len() < CORES_PER_FACT && !known.contains(&core) {
                        known.push(Arc::clone(&core));
                    }
                }
            }
            Outcome::Unknown(why @ (Why::Limit | Why::TooLarge)) => {
                let answer = Remembered::Unknown(query.limits, why.clone());
                locked(&self.shared.memory).add(key.whole, answer);
            }
            // What failed once may succeed when it is started again.
            Outcome::Unknown(_) => {}
        }
    }
}

impl Memory {
    fn add(&mut self, key: Hash, answer: Remembered) {
        if self.answers.len() >= MAX_ENTRIES || self.cores.len() >= MAX_ENTRIES {
            self.answers.clear();
            self.cores.clear();
        }
        self.answers.insert(key, answer);
    }

    /// A known contradiction within the query. The path holds for its seed, so that the goal takes part in it.
    fn contradiction(&self, query: &Query<'_>, key: &Key) -> Option<Arc<[Hash]>> {
        let mut all: Option<FxHashSet<Hash>> = None;
        for fact in &key.facts[query.goal..] {
            for core in self.cores.get(fact).into_iter().flatten() {
                let all = all.get_or_insert_with(|| key.facts.iter().copied().collect());
                if core.iter().all(|fact| all.contains(fact)) {
                    return Some(Arc::clone(core));
                }
            }
        }
        None
    }
}

fn key<S: Store>(terms: &mut Terms<'_, S>, query: &Query<'_>) -> Key {
    let facts: Vec<Hash> = query
        .facts
        .iter()
        .map(|&fact| fact_key(terms, fact))
        .collect();
    let sum = facts.iter().fold(0u128, |sum, &fact| {
        sum.wrapping_add(hash::of([fact, 0x5eed]))
    });
    Key {
        whole: hash::of([sum, facts.len() as u128]),
        facts,
    }
}

fn fact_key<S: Store>(terms: &mut Terms<'_, S>, fact: Constraint) -> Hash {
    let expression = terms.fact(fact.label).hash;
    let (kind, low, high) = match fact.holds {
        Holds::Equals(value) => (0, value, 0),
        Holds::Differs(value) => (1, value, 0),
        Holds::Within(low, high) => (2, low, high),
        Holds::Outside(low, high) => (3, low, high),
    };
    hash::of([expression, kind, low, high])
}

/// Where a contradiction's constraints are in a query.
fn positions(key: &Key, core: &[Hash]) -> Vec<usize> {
    let wanted: FxHashSet<Hash> = core.iter().copied().collect();
    (0..key.facts.len())
        .filter(|&at| wanted.contains(&key.facts[at]))
        .collect()
}

/// The model's bytes, as far as the path has them and they are wanted, that differ from the seed.
fn apply<S: Store>(
    terms: &Terms<'_, S>,
    model: &[(Variable, u8)],
    wanted: impl Fn(VarId) -> bool,
) -> Changes {
    model
        .iter()
        .filter_map(|&(variable, value)| Some((terms.id(variable)?, value)))
        .filter(|&(byte, value)| terms.seed(byte) != value && wanted(byte))
        .collect()
}
