//! Layer five: any SMT-LIB program, for floating point and for what bit-blasting gave up on.

mod allowance;
mod backend;
mod process;
mod translate;

pub(crate) use backend::Backend;

use crate::config::Limits;
use crate::constraint::Why;
use crate::layer::{Changes, Layer, Outcome, Query, Reply, satisfies, take_back, tidy};
use crate::shared::{Shared, locked};
use crate::terms::Terms;
use backend::Said;
use parallax_expr::Store;
use process::Failure;
use std::sync::Arc;
use std::time::Instant;
use translate::{Script, script, variable_name};

pub(crate) struct Smt {
    shared: Arc<Shared>,
}

impl Smt {
    pub fn new(shared: Arc<Shared>) -> Smt {
        Smt { shared }
    }

    pub fn solve<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Reply {
        let start = Instant::now();
        let outcome = self.decide(terms, query);
        self.shared.spent(Layer::Smt, start.elapsed());
        Reply::new(Layer::Smt, outcome)
    }

    fn decide<S: Store>(&mut self, terms: &mut Terms<'_, S>, query: &Query<'_>) -> Outcome {
        if !locked(&self.shared.smt).available() {
            return Outcome::Unknown(Why::Unsupported);
        }
        let Some(script) = script(terms, query.facts) else {
            return Outcome::Unknown(Why::TooLarge);
        };
        let constants: Vec<String> = script.bytes.iter().map(|&b| variable_name(b)).collect();
        let Some(limits) = locked(&self.shared.smt).allowed(&query.limits) else {
            return Outcome::Unknown(Why::Limit);
        };
        let query = &Query { limits, ..*query };
        let said = locked(&self.shared.smt).check(&script.text(), &constants, &query.limits);
        match said {
            Ok(Said::Sat(values)) => {
                let changes: Changes = script.bytes.iter().copied().zip(values).collect();
                if satisfies(terms, query, &changes) {
                    let changes = take_back(terms, query, changes);
                    return Outcome::Sat(tidy(terms, query, changes));
                }
                self.shared.count(|statistics| statistics.wrong_models += 1);
                let floating = query
                    .facts
                    .iter()
                    .any(|fact| terms.fact(fact.label).floating);
                if !floating {
                    // Without floating point, where the payload of NaN is open, that is a lie.
                    self.failed("wrong model");
                }
                Outcome::Unknown(Why::WrongModel)
            }
            Ok(Said::Unsat) if script.stronger => Outcome::Unknown(Why::Unsupported),
            Ok(Said::Unsat) => Outcome::Unsat(self.core(&script, query)),
            Ok(Said::Unknown) => Outcome::Unknown(Why::Limit),
            Err(failure) => {
                let what = failure.to_string();
                let kind = match failure {
                    Failure::Nonsense(_) => "not understood",
                    Failure::Start(_) => "cannot start",
                    Failure::Hangs => "no answer in time",
                    Failure::Ended(_) => "ended",
                    Failure::Endless => "said too much",
                };
                self.failed(kind);
                Outcome::Unknown(Why::BackEnd(what))
            }
        }
    }

    /// The contradiction, if the program can tell it in a fraction of the time; else all constraints.
    fn core(&self, script: &Script, query: &Query<'_>) -> Vec<usize> {
        let all: Vec<usize> = (0..query.facts.len()).collect();
        if all.len() == 1 {
            return all;
        }
        let limits = Limits {
            conflicts: query.limits.conflicts / 4,
            time: query.limits.time / 4,
            ..query.limits
        };
        let answer = locked(&self.shared.smt).core(&script.named_text(), &limits);
        match answer {
            Ok(Some(mut core)) if core.iter().all(|position| *position < all.len()) => {
                core.sort_unstable();
                core.dedup();
                core
            }
            _ => all,
        }
    }

    fn failed(&self, kind: &str) {
        let given_up = locked(&self.shared.smt).failed();
        self.shared.count(|statistics| {
            *statistics.failures.entry(kind.to_owned()).or_default() += 1;
            if let Some((name, times)) = given_up {
                statistics.switched_off =
                    Some(format!("{name}: {times} failures in a row, last: {kind}"));
            }
        });
    }
}
