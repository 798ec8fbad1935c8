//! The ways in which a run could have gone otherwise.

use std::collections::BTreeMap;

use parallax_abi::SiteId;
use parallax_abi::trace::{EventKind, SourceKind};

use super::Explorer;
use super::frontier::{Candidate, Goal, RunId, mix};
use super::question::fixed_key;
use super::slot::Traced;
use crate::path::{self, Choice, Decision};

/// Ways of one run that are offered at most.
const MOST_WAYS: usize = 20_000;
/// Different values of one fixed thing that are tried.
const MOST_FIXED: usize = 16;

impl Explorer<'_> {
    /// Offers all ways in which the run could have gone otherwise.
    pub(super) fn offer(&mut self, run: RunId, traced: &Traced) {
        for (index, decision) in traced.decisions.iter().enumerate() {
            let value = decision.value;
            let site = self.original(decision.site);
            self.frontier.reached(target(site, value));
            self.frontier
                .reached(in_context(target(site, value), traced, decision.context));
            if index < MOST_WAYS && !decision.repeated {
                self.offer_decision(run, traced, index);
            }
        }
        for (index, operation) in traced.operations.iter().take(MOST_WAYS).enumerate() {
            let failing = mix(self.original(operation.site).0 ^ mix(operation.failure as u64 + 1));
            let in_context = in_context(failing, traced, operation.context);
            self.frontier.offer(Candidate {
                run,
                goal: Goal::Fail {
                    operation: index as u32,
                },
                target: failing,
                in_context,
                // Tried on one path of each calling context, not on all paths that lead there.
                path: in_context,
                depth: operation.position as u32,
            });
        }
        self.offer_structure(run, traced);
    }

    fn original(&self, site: SiteId) -> SiteId {
        self.sites.get(site).map_or(site, |view| view.original)
    }

    fn offer_decision(&mut self, run: RunId, traced: &Traced, index: usize) {
        let decision: &Decision = &traced.decisions[index];
        let before = match index.checked_sub(1) {
            Some(last) => traced.decisions[last].exact,
            None => path::START,
        };
        let site = self.original(decision.site);
        let number = index as u32;
        let mut offer = |goal: Goal, value: u128| {
            let target = target(site, value);
            self.frontier.offer(Candidate {
                run,
                goal,
                target,
                in_context: in_context(target, traced, decision.context),
                path: path::extend(before, decision.site.0, decision.choice, value),
                depth: number,
            });
        };
        match decision.choice {
            Choice::Assumed => {}
            Choice::Side => offer(Goal::Side { decision: number }, decision.value ^ 1),
            Choice::Case => {
                let cases = self
                    .sites
                    .get(decision.site)
                    .map_or(&[][..], |site| site.cases);
                let is_default = !cases.iter().any(|case| u128::from(*case) == decision.value);
                for case in cases {
                    if u128::from(*case) != decision.value {
                        offer(
                            Goal::Value {
                                decision: number,
                                value: *case,
                            },
                            (*case).into(),
                        );
                    }
                }
                if !is_default {
                    offer(Goal::Default { decision: number }, u128::MAX);
                }
            }
            Choice::Fixed => {
                let key = fixed_key(&traced.decisions, index);
                let values = self.fixed.entry(key).or_default();
                if !values.contains(&decision.value) {
                    values.push(decision.value);
                }
                // A new way for each value that becomes known.
                let known = values.len();
                if known <= MOST_FIXED {
                    offer(
                        Goal::Otherwise { decision: number },
                        u128::MAX - known as u128,
                    );
                }
            }
        }
    }

    /// Longer and shorter inputs, fewer arguments.
    fn offer_structure(&mut self, run: RunId, traced: &Traced) {
        let trace = &traced.trace;
        let path = traced.path();
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        for (kind, event) in trace.events() {
            if kind == EventKind::EndOfInput {
                ends.insert(event.x, event.y);
            }
        }
        let mut offer = |goal: Goal, what: u64, detail: u64| {
            let target = mix(what ^ mix(detail));
            self.frontier.offer(Candidate {
                run,
                goal,
                target,
                in_context: target,
                path: mix(target ^ path),
                depth: u32::MAX,
            });
        };
        for (source, length) in ends {
            offer(Goal::Grow { source }, 0x6772_6f77, u64::from(source));
            let length = u32::try_from(length).unwrap_or(u32::MAX);
            for shorter in [0, length / 2, length.saturating_sub(1)] {
                if shorter < length {
                    let goal = Goal::Cut {
                        source,
                        length: shorter,
                    };
                    offer(
                        goal,
                        0x6375_7400,
                        u64::from(source) << 32 | u64::from(shorter),
                    );
                }
            }
        }
        let arguments = (0..trace.source_count()).filter_map(|index| trace.source(index));
        let arguments = arguments.filter(|source| source.kind == SourceKind::Argument);
        for argument in arguments {
            let goal = Goal::Drop {
                argument: argument.index,
            };
            offer(goal, 0x6472_6f70, argument.index.into());
        }
    }
}

/// What is reached when a site decides for a value.
pub(super) fn target(site: SiteId, value: u128) -> u64 {
    mix(site.0 ^ mix(value as u64 ^ (value >> 64) as u64))
}

/// The same, reached by way of these calls.
fn in_context(target: u64, traced: &Traced, context: u32) -> u64 {
    /// Calls that tell contexts apart: recursion must not make every depth a new one.
    const CALLS: usize = 3;
    let calls = traced.trace.calls_outward(context).take(CALLS);
    calls.fold(mix(target), |sum, call| mix(sum ^ call.0))
}
