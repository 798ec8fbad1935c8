//! One trace's constraints, and the questions about them.

use crate::cache::Cache;
use crate::config::Limits;
use crate::constraint::{Answer, Constraint, Core, Model, Why};
use crate::layer::{Layer, Outcome, Query, Reply, satisfies};
use crate::overlay::Overlay;
use crate::shared::{Shared, locked};
use crate::slice::Index;
use crate::terms::Terms;
use parallax_expr::Store;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The constraints of one run, in order, with everything that was found out about them.
pub struct Path<'p, S: Store> {
    shared: Arc<Shared>,
    terms: Terms<'p, S>,
    index: Index,
    below: Cache,
}

impl<'p, S: Store> Path<'p, S> {
    pub(crate) fn new(shared: Arc<Shared>, store: &'p S, names: &'p [u32]) -> Self {
        Path {
            below: Cache::new(Arc::clone(&shared)),
            shared,
            terms: Terms::new(store, names),
            index: Index::default(),
        }
    }

    /// Appends what is known at the next point of the run.
    pub fn push(&mut self, constraint: Constraint) {
        self.index.push(&mut self.terms, constraint);
    }

    /// Number of constraints.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The expressions, with room for new ones: goals that no expression of the trace states.
    pub fn expressions(&mut self) -> &mut Overlay<'p, S> {
        &mut self.terms.store
    }

    /// Looks for an input that satisfies the first `prefix` constraints and all of `goal`. Without
    /// limits of its own the query has the configuration's.
    pub fn solve(&mut self, prefix: usize, goal: &[Constraint], limits: Option<Limits>) -> Answer {
        /// Back ends that are asked one after the other, each with its own time.
        const BACK_ENDS: u32 = 2;
        let start = Instant::now();
        let mut limits = limits.unwrap_or(self.shared.config.limits);
        if let Some(until) = *locked(&self.shared.until) {
            let left = until.saturating_duration_since(start);
            if left.is_zero() {
                return Answer::Unknown(Why::Limit);
            }
            limits.time = limits.time.min(left / BACK_ENDS);
        }
        let slice = self.index.slice(&mut self.terms, prefix, goal);
        let query = Query {
            facts: &slice.facts,
            goal: slice.origin.len(),
            limits,
        };
        let own = self.trivial(&query);
        self.shared.spent(Layer::Slicing, start.elapsed());
        let reply = match own {
            Some(outcome) => {
                let reply = Reply::new(Layer::Slicing, outcome);
                if self.shared.config.oracle {
                    let below = self.below.solve(&mut self.terms, &query);
                    self.shared.compare(reply, below)
                } else {
                    reply
                }
            }
            None => self.below.solve(&mut self.terms, &query),
        };
        self.count(&reply);
        let layer = reply.layer;
        let answer = match reply.outcome {
            Outcome::Sat(changes) => Answer::Sat(Model {
                bytes: changes
                    .into_iter()
                    .map(|(byte, value)| (self.terms.bytes[byte as usize].variable, value))
                    .collect(),
            }),
            Outcome::Unsat(positions) => Answer::Unsat(Core {
                with_goal: positions.iter().any(|&position| position >= query.goal),
                constraints: positions
                    .into_iter()
                    .filter_map(|position| slice.origin.get(position).copied())
                    .collect(),
            }),
            Outcome::Unknown(why) => Answer::Unknown(why),
        };
        if self.shared.config.log.is_some() {
            self.log(&query, &answer, layer, start.elapsed());
        }
        answer
    }

    fn log(&mut self, query: &Query<'_>, answer: &Answer, layer: Layer, time: Duration) {
        let mut log = locked(&self.shared.log);
        let Some(open) = log.as_mut() else {
            return;
        };
        let terms = &mut self.terms;
        if let Err(error) = open.append(terms, query.facts, query.goal, answer, (layer, time)) {
            *log = None;
            self.shared
                .count(|statistics| statistics.log_error = Some(error.to_string()));
        }
    }

    /// What needs no solving: the seed will do, or a constraint has no input in it.
    fn trivial(&mut self, query: &Query<'_>) -> Option<Outcome> {
        if satisfies(&mut self.terms, query, &[]) {
            return Some(Outcome::Sat(Vec::new()));
        }
        for (position, fact) in query.facts.iter().enumerate() {
            let empty = self.terms.fact(fact.label).set == crate::sets::SetId::EMPTY;
            if empty && !self.terms.holds(*fact) {
                return Some(Outcome::Unsat(vec![position]));
            }
        }
        None
    }

    fn count(&self, reply: &Reply) {
        self.shared.count(|statistics| {
            statistics.queries += 1;
            let layer = statistics.layers.entry(reply.layer).or_default();
            match &reply.outcome {
                Outcome::Sat(_) => layer.sat += 1,
                Outcome::Unsat(_) => layer.unsat += 1,
                Outcome::Unknown(why) => {
                    statistics.unknown += 1;
                    statistics.limits += u64::from(matches!(why, Why::Limit | Why::TooLarge));
                }
            }
        });
    }
}
