//! From an alternative of a run to an input that takes it, and from a new run to whether it did.

use std::collections::BTreeSet;

use parallax_abi::SiteId;
use parallax_exec::sites::SiteMap;
use parallax_scenario::{Bytes, Component, Scenario};
use parallax_solver::{Answer, Constraint, Holds, Model, Path};
use parallax_trace::Trace;
use parallax_trace::path::{self, Choice, Decision};
use parallax_trace::sensitive;

use super::alternative::Change;
use crate::worker::{Inquiry, Sources, Traced, Worker};

/// What input grows by: a letter is text, and the next run tells what else it could be.
pub const MORE: u8 = b'A';

/// What is to be otherwise in a run, and how hard to try.
pub struct Turn<'t> {
    pub traced: &'t Traced,
    pub sites: &'t SiteMap,
    pub change: Change,
    /// Values that a fixed thing is known to have had.
    pub known: &'t [(u128, u128)],
    /// Whether an alternative that contradicts what was decided before is tried without what it contradicts.
    pub regenerate: bool,
}

/// What came of asking for an input.
pub enum Asked {
    /// No input takes the alternative: it contradicts what was decided at these sites.
    Infeasible { against: Vec<SiteId> },
    /// The solver could not tell.
    Undecided,
    /// The scenario cannot be changed so, or inputs that take the alternative are not wanted.
    Impossible,
    Input {
        scenario: Box<Scenario>,
        /// What it contradicts of what had been decided before, if some of that was given up for it.
        gave_up: Option<Vec<SiteId>>,
    },
}

/// What must be asked for a change.
enum Query {
    /// Nothing: the scenario's structure changes.
    Structure,
    /// The first decisions as they were, and one of these, the first that there is an input for.
    Solve {
        prefix: usize,
        goals: Vec<Vec<Constraint>>,
    },
    Impossible,
}

impl Turn<'_> {
    /// Whether any input takes the alternative: nothing is made of it.
    pub fn is_feasible(&self, inquiry: &mut Inquiry<'_>) -> Option<bool> {
        let Query::Solve { prefix, goals } = self.query(&mut inquiry.path) else {
            return Some(false);
        };
        // The last one is what the others are special cases of.
        match inquiry.solve(prefix, goals.last()?) {
            Answer::Sat(_) => Some(true),
            Answer::Unsat(_) => Some(false),
            Answer::Unknown(_) => None,
        }
    }

    /// Looks for an input that takes the alternative, one that is wanted.
    pub fn ask(
        &self,
        worker: &mut Worker<'_>,
        inquiry: &mut Inquiry<'_>,
        names: &[u32],
        scenario: &Scenario,
        is_wanted: &mut dyn FnMut(&Scenario) -> bool,
    ) -> Asked {
        let mut made = |scenario: Option<Scenario>, gave_up: Option<Vec<SiteId>>| {
            match (scenario.filter(|scenario| is_wanted(scenario)), gave_up) {
                (Some(scenario), gave_up) => Asked::Input {
                    scenario: Box::new(scenario),
                    gave_up,
                },
                // What was decided before still forbids it.
                (None, Some(against)) => Asked::Infeasible { against },
                (None, None) => Asked::Impossible,
            }
        };
        match self.query(&mut inquiry.path) {
            Query::Impossible => Asked::Infeasible {
                against: Vec::new(),
            },
            Query::Structure => made(
                restructured(scenario, self.change, &self.traced.sources),
                None,
            ),
            Query::Solve { prefix, goals } => {
                let mut last = None;
                // Of several the last one tells most: the others are special cases of it.
                for goal in goals {
                    match inquiry.solve(prefix, &goal) {
                        Answer::Sat(model) => {
                            let asked = made(worker.changed(scenario, &model), None);
                            if matches!(asked, Asked::Input { .. }) {
                                return asked;
                            }
                            last = Some(asked);
                        }
                        Answer::Unknown(_) => last = Some(Asked::Undecided),
                        Answer::Unsat(core) => {
                            let against = inquiry.decisions_of(&core);
                            // What makes an operation fail is known to this inquiry only.
                            let is_tried =
                                self.regenerate && !matches!(self.change, Change::Fail { .. });
                            let model = is_tried
                                .then(|| self.regenerate(worker, names, prefix, &goal, &against))
                                .flatten();
                            let site = |index: &usize| self.own_site(*index);
                            let against = against.iter().map(site).collect();
                            last = Some(match model {
                                Some(model) => {
                                    made(worker.changed(scenario, &model), Some(against))
                                }
                                None => Asked::Infeasible { against },
                            });
                        }
                    }
                }
                last.unwrap_or(Asked::Impossible)
            }
        }
    }

    fn decision(&self, index: u32) -> Option<&Decision> {
        self.traced.decisions.get(index as usize)
    }

    fn query(&self, path: &mut Path<'_, Trace>) -> Query {
        let solve = |prefix: usize, goal: Vec<Constraint>| Query::Solve {
            prefix,
            goals: vec![goal],
        };
        match self.change {
            Change::Side { decision } | Change::Otherwise { decision } => {
                match self.decision(decision) {
                    Some(known) => solve(decision as usize, self.otherwise(known)),
                    None => Query::Impossible,
                }
            }
            Change::Value { decision, value } => match self.decision(decision) {
                Some(known) => {
                    let goal = vec![Constraint::equals(known.label, value.into())];
                    solve(decision as usize, goal)
                }
                None => Query::Impossible,
            },
            Change::Default { decision } => match self.decision(decision) {
                Some(known) => solve(decision as usize, path::no_case(self.sites, known)),
                None => Query::Impossible,
            },
            Change::Fail { operation } => {
                let operation = self.traced.operations.get(operation as usize);
                let query = operation.and_then(|operation| {
                    let condition = sensitive::condition(path.expressions(), operation)?;
                    // What sanitizers are sure to notice comes first.
                    let labels = condition.near.into_iter().chain([condition.any]);
                    Some(Query::Solve {
                        prefix: operation.position,
                        goals: labels
                            .map(|label| vec![Constraint::is(label, true)])
                            .collect(),
                    })
                });
                query.unwrap_or(Query::Impossible)
            }
            Change::Grow { .. }
            | Change::Cut { .. }
            | Change::Drop { .. }
            | Change::Insert { .. } => Query::Structure,
        }
    }

    fn otherwise(&self, decision: &Decision) -> Vec<Constraint> {
        let other_than = |low: u128, high: u128| Constraint {
            label: decision.label,
            holds: Holds::Outside(low, high),
        };
        let mut goal = vec![other_than(decision.value, decision.high)];
        if decision.choice != Choice::Side {
            let known = self.known.iter();
            goal.extend(known.map(|(low, high)| other_than(*low, *high)));
        }
        goal
    }

    /// Informed path regeneration (KATCH, section 3.3): where a goal contradicts what was decided before, the last of the
    /// decisions that it contradicts is given up and the rest is kept, until there is an input. What the goal says may be
    /// something else on the new path; the run shows.
    fn regenerate(
        &self,
        worker: &mut Worker<'_>,
        names: &[u32],
        prefix: usize,
        goal: &[Constraint],
        against: &[usize],
    ) -> Option<Model> {
        /// Decisions that are given up at most, and length of a path that this is done for.
        const MOST: usize = 8;
        const LONGEST: usize = 1 << 16;
        if prefix > LONGEST {
            return None;
        }
        let mut given_up = vec![*against.last()?];
        loop {
            let mut path = worker.solver.path(&self.traced.trace, names);
            let mut owners = Vec::new();
            for (index, decision) in self.traced.decisions[..prefix].iter().enumerate() {
                if !given_up.contains(&index) {
                    for constraint in decision.constraints(self.sites) {
                        path.push(constraint);
                        owners.push(index);
                    }
                }
            }
            match path.solve(path.len(), goal, Some(worker.limits())) {
                Answer::Sat(model) => return Some(model),
                Answer::Unsat(core) if given_up.len() < MOST => {
                    given_up.push(owners[*core.constraints.last()?]);
                }
                Answer::Unsat(_) | Answer::Unknown(_) => return None,
            }
        }
    }

    /// Where a decision was made, or the call in the program that led there if that is in a model of a library function.
    fn own_site(&self, index: usize) -> SiteId {
        let decision = &self.traced.decisions[index];
        let outward = self.traced.trace.calls_outward(decision.context);
        let mut places = std::iter::once(decision.site).chain(outward);
        let own = places.find(|site| !self.sites.is_model(*site));
        own.unwrap_or(decision.site)
    }

    /// Whether a run went where the change wanted it; `None` if it wanted nothing of a decision.
    pub fn went(&self, child: &Traced) -> Option<bool> {
        let index = self.change.decision()?;
        let old = self.traced.decisions.get(index)?;
        let is_wanted = |new: u128| match self.change {
            Change::Value { value, .. } => new == u128::from(value),
            Change::Default { .. } => new == path::DEFAULT,
            _ => new != old.value,
        };
        let before = |index: usize, list: &[Decision]| match index.checked_sub(1) {
            Some(last) => list.get(last).map(|decision| decision.prefix),
            None => Some(path::START),
        };
        let rank = path::shared(&self.traced.decisions[..index]).count();
        let numbered = child.decisions.iter().enumerate();
        let mut shared = numbered.filter(|(_, new)| new.choice != Choice::Kept);
        let went = shared.nth(rank).is_some_and(|(at, new)| {
            new.site == old.site
                && is_wanted(new.value)
                && before(at, &child.decisions) == before(index, &self.traced.decisions)
        });
        Some(went)
    }

    /// Where a run first decided otherwise than the one that it was made from.
    pub fn left_at(&self, child: &Traced) -> Option<SiteId> {
        let pairs = path::shared(&self.traced.decisions).zip(path::shared(&child.decisions));
        let mut different = pairs.filter(|(old, new)| old.prefix != new.prefix);
        different.next().map(|(old, _)| old.site)
    }

    /// Where both runs lost track of the input. What happened before they parted happened in both.
    pub fn losses(&self, child: &Traced) -> Vec<String> {
        let [old, new] = [self.traced, child].map(|run| losses(&run.trace));
        let common = old.intersection(&new);
        common.map(|(_, name)| name.clone()).collect()
    }
}

fn losses(trace: &Trace) -> BTreeSet<(u64, String)> {
    let records = trace.losses().map(|loss| {
        let name = match loss.name() {
            name if name.is_empty() => format!("{:?}", loss.kind).to_lowercase(),
            name => name.into_owned(),
        };
        (loss.site.0, name)
    });
    let stop = trace
        .stop()
        .map(|stop| (0, format!("{stop:?}").to_lowercase()));
    records.chain(stop).collect()
}

/// The scenario with another structure, if it has what is to be changed.
pub fn restructured(scenario: &Scenario, change: Change, sources: &Sources) -> Option<Scenario> {
    let mut changed = scenario.clone();
    let component = |source: u32| sources.get(source as usize)?.as_ref();
    match change {
        Change::Grow { source } => contents(&mut changed, component(source)?)?.push(MORE),
        Change::Cut { source, length } => {
            let bytes = contents(&mut changed, component(source)?)?;
            if bytes.len() <= length as usize {
                return None;
            }
            bytes.truncate(length as usize);
        }
        Change::Drop { argument } => {
            let index = (argument as usize).checked_sub(1)?;
            if index >= changed.argv.len() {
                return None;
            }
            changed.argv.remove(index);
        }
        Change::Insert {
            argument,
            is_option,
        } => {
            let mut word = Bytes(Vec::new());
            if is_option {
                word.push(b'-');
            }
            word.push(MORE);
            changed.argv.insert(argument as usize, word);
        }
        _ => return None,
    }
    Some(changed)
}

/// The bytes of a component.
pub fn contents<'s>(scenario: &'s mut Scenario, component: &Component) -> Option<&'s mut Bytes> {
    match component {
        Component::Stdin => Some(&mut scenario.stdin),
        Component::File(name) => scenario.files.get_mut(name),
        Component::Stream(number) => scenario.streams.get_mut(*number as usize),
        Component::Argument(number) => scenario.argv.get_mut((*number as usize).checked_sub(1)?),
        Component::Environment(name) => scenario.env.get_mut(name),
        Component::ArgumentCount | Component::Object(_) => None,
    }
}
