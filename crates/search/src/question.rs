//! From a goal to what must be asked, and from a new run to whether it got there.

use std::collections::{BTreeSet, HashMap};

use parallax_abi::SiteId;
use parallax_solver::{Constraint, Holds, Path};

use crate::worker::{Sources, Traced};
use parallax_exec::sites::SiteMap;
use parallax_scenario::{Bytes, Component, Scenario};
use parallax_trace::Trace;
use parallax_trace::path::{self, Choice, Decision};
use parallax_trace::sensitive;

/// How a path could go otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Goal {
    /// The branch with this index takes its other side.
    Side { decision: u32 },
    /// What was fixed at the decision with this index has another value than any before.
    Otherwise { decision: u32 },
    /// The decision has this value.
    Value { decision: u32, value: u64 },
    /// The decision has none of the case values of its `switch`.
    Default { decision: u32 },
    /// The operation with this index fails.
    Fail { operation: u32 },
    /// An input gets one byte more at its end: the source with this index.
    Grow { source: u32 },
    /// An input ends earlier: it keeps this many bytes.
    Cut { source: u32, length: u32 },
    /// The argument with this number is left out.
    Drop { argument: u32 },
    /// There is one more argument, before the one with this index; it looks like an option or like a word.
    Insert { argument: u32, is_option: bool },
    /// A part of the input of the run with this number is taken over.
    Take { from: u32, part: Part },
    /// The change with this number in a list of them.
    Edit { number: u32 },
}

/// What is taken over from another input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The argument with this index, in place of the one that is there.
    Instead(u32),
    /// The argument with this index, before the one that is there.
    Before(u32),
    /// Standard input and files.
    Data,
}

impl Goal {
    /// Whether there is a place in the program that is reached when the goal is: then runs tell whether
    /// it has been. Others count as reached once they were tried.
    pub fn has_place(self) -> bool {
        matches!(
            self,
            Goal::Side { .. } | Goal::Value { .. } | Goal::Default { .. }
        )
    }
}

/// What must be asked for a goal.
pub enum Question {
    /// Nothing: the scenario's structure changes.
    Structure,
    /// The first decisions as they were, and this.
    Solve {
        prefix: usize,
        goal: Vec<Constraint>,
    },
    Impossible,
}

pub struct Wanted<'w> {
    pub traced: &'w Traced,
    pub sites: &'w SiteMap,
    pub fixed: &'w Known,
}

impl Wanted<'_> {
    fn decision(&self, index: u32) -> Option<&Decision> {
        self.traced.decisions.get(index as usize)
    }

    /// What the solver is to be asked.
    pub fn question(&self, goal: Goal, path: &mut Path<'_, Trace>) -> Question {
        match goal {
            Goal::Side { decision } | Goal::Otherwise { decision } => self.otherwise(decision),
            Goal::Value { decision, value } => match self.decision(decision) {
                Some(known) => Question::Solve {
                    prefix: decision as usize,
                    goal: vec![Constraint::equals(known.label, value.into())],
                },
                None => Question::Impossible,
            },
            Goal::Default { decision } => match self.decision(decision) {
                Some(known) => Question::Solve {
                    prefix: decision as usize,
                    goal: path::no_case(self.sites, known),
                },
                None => Question::Impossible,
            },
            Goal::Fail { operation } => {
                let Some(operation) = self.traced.operations.get(operation as usize) else {
                    return Question::Impossible;
                };
                match sensitive::condition(path.expressions(), operation) {
                    Some(condition) => Question::Solve {
                        prefix: operation.position,
                        goal: vec![Constraint::is(condition.any, true)],
                    },
                    None => Question::Impossible,
                }
            }
            Goal::Grow { .. }
            | Goal::Cut { .. }
            | Goal::Drop { .. }
            | Goal::Insert { .. }
            | Goal::Take { .. }
            | Goal::Edit { .. } => Question::Structure,
        }
    }

    fn otherwise(&self, index: u32) -> Question {
        let Some(decision) = self.decision(index) else {
            return Question::Impossible;
        };
        let other_than = |low: u128, high: u128| Constraint {
            label: decision.label,
            holds: Holds::Outside(low, high),
        };
        let mut goal = vec![other_than(decision.value, decision.high)];
        if decision.choice != Choice::Side {
            let key = fixed_key(&self.traced.decisions, index as usize);
            let known = self.fixed.get(&key).into_iter().flatten();
            goal.extend(known.map(|(low, high)| other_than(*low, *high)));
        }
        Question::Solve {
            prefix: index as usize,
            goal,
        }
    }

    /// Whether a run went where the goal wanted it; `None` if it wanted nothing of a decision.
    pub fn went(&self, goal: Goal, child: &Traced) -> Option<bool> {
        let (Goal::Side { decision }
        | Goal::Otherwise { decision }
        | Goal::Value { decision, .. }
        | Goal::Default { decision }) = goal
        else {
            return None;
        };
        let old = self.decision(decision)?;
        let is_wanted = |new: u128| match goal {
            Goal::Value { value, .. } => new == u128::from(value),
            Goal::Default { .. } => new == path::DEFAULT,
            _ => new != old.value,
        };
        let index = decision as usize;
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
}

impl Wanted<'_> {
    /// Where a run first decided otherwise than the one that it was made from.
    pub fn parting(&self, child: &Traced) -> Option<SiteId> {
        let pairs = path::shared(&self.traced.decisions).zip(path::shared(&child.decisions));
        let mut different = pairs.filter(|(old, new)| old.prefix != new.prefix);
        different.next().map(|(old, _)| old.site)
    }

    /// Where both runs lost track of the input. What happened before they parted happened in both.
    pub fn losses(&self, child: &Traced) -> Vec<String> {
        let [old, new] = [self.traced, child].map(|run| losses(&run.trace));
        old.intersection(&new)
            .map(|(_, name)| name.clone())
            .collect()
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

/// What fixed things and pointers have been, by [`fixed_key`]: ranges of values.
pub type Known = HashMap<u64, Vec<(u128, u128)>>;

/// Names the place of a fixed value, whatever value it has.
pub fn fixed_key(decisions: &[Decision], index: usize) -> u64 {
    let before = match index.checked_sub(1) {
        Some(last) => decisions[last].exact,
        None => path::START,
    };
    path::extend(before, decisions[index].site.0, Choice::Fixed, 0)
}

/// The scenario with another structure, if it has what is to be changed.
pub fn restructured(scenario: &Scenario, goal: Goal, sources: &Sources) -> Option<Scenario> {
    /// What input grows by: a letter is text, and the next run tells what else it could be.
    const MORE: u8 = b'A';
    let mut changed = scenario.clone();
    let component = |source: u32| sources.get(source as usize)?.as_ref();
    match goal {
        Goal::Grow { source } => contents(&mut changed, component(source)?)?.push(MORE),
        Goal::Cut { source, length } => {
            let bytes = contents(&mut changed, component(source)?)?;
            if bytes.len() <= length as usize {
                return None;
            }
            bytes.truncate(length as usize);
        }
        Goal::Drop { argument } => {
            let index = (argument as usize).checked_sub(1)?;
            if index >= changed.argv.len() {
                return None;
            }
            changed.argv.remove(index);
        }
        Goal::Insert {
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
