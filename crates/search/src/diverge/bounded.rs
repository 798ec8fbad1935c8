//! The second phase: what the new version does once the versions have parted.
//!
//! Each divergence is a point from which the new version is explored, breadth first. Everything that both versions decided up to
//! there is held, so that every input that comes out diverges in the same way. Points take turns, the one that has had
//! the fewest runs first: what there is is shared out evenly, and again when a point has nothing left.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use parallax_expr::Label;
use parallax_solver::{Answer, Constraint, Model, Overlay, Solver};

use super::lockstep::Held;
use super::pool::{Components, Import, Pool};
use super::walk::{Both, Place};
use crate::core::alternative::{fixed_key, others};
use crate::worker::Traced;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use parallax_trace::path::{self, Choice, Decision};
use parallax_trace::sensitive::{self, Sensitive};

/// Ways of one run that are tried in one turn.
const TURN: usize = 24;
/// Ways of one run that are tried at most.
const MOST_WAYS: usize = 4096;

/// A divergence to be explored.
pub struct Point {
    pub place: Place,
    /// What it was made from.
    pub seed: Arc<Scenario>,
    /// The input that shows the divergence, and how many decisions lead there.
    pub origin: Arc<Scenario>,
    pub parted: Both<usize>,
    /// What the old version had decided, while it is in memory: of thousands of points it would be too much.
    held: Option<Held>,
    queue: VecDeque<Node>,
    /// Ways that were tried.
    tried: HashSet<u64>,
    /// Runs that it has had.
    pub runs: u64,
}

/// A run of the new version to go on from.
struct Node {
    scenario: Arc<Scenario>,
    /// While it is in memory.
    traced: Option<Arc<Traced>>,
    /// Decisions before this one are those of the divergence, or were explored by others.
    from: usize,
    /// Ways of it that were tried.
    cursor: usize,
}

/// An input that goes another way, and which decision it is about.
pub struct Turn {
    pub scenario: Scenario,
    pub model: Model,
    pub from: usize,
}

impl Point {
    pub fn new(place: Place, seed: Arc<Scenario>, origin: Scenario, parted: Both<usize>) -> Point {
        let origin = Arc::new(origin);
        let first = Node {
            scenario: Arc::clone(&origin),
            traced: None,
            from: parted.new,
            cursor: 0,
        };
        Point {
            place,
            seed,
            origin,
            parted,
            held: None,
            queue: VecDeque::from([first]),
            tried: HashSet::new(),
            runs: 0,
        }
    }

    /// Adds a run to go on from.
    pub fn add(&mut self, scenario: Scenario, traced: Arc<Traced>, from: usize) {
        self.queue.push_back(Node {
            scenario: Arc::new(scenario),
            traced: Some(traced),
            from,
            cursor: 0,
        });
    }

    /// Nothing of it can be run: there is nothing left to do.
    pub fn close(&mut self) {
        self.queue.clear();
        self.held = None;
    }

    pub fn is_open(&self) -> bool {
        !self.queue.is_empty()
    }

    pub fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// What the old version had decided, which is not in memory yet.
    pub fn hold(&mut self, held: Held) {
        self.held = Some(held);
    }

    /// The input of the next run to go on from, if that run is not in memory.
    pub fn absent(&self) -> Option<Arc<Scenario>> {
        let next = self.queue.front()?;
        next.traced.is_none().then(|| Arc::clone(&next.scenario))
    }

    /// The run that was absent.
    pub fn recall(&mut self, traced: Arc<Traced>) {
        if let Some(next) = self.queue.front_mut() {
            next.traced = Some(traced);
        }
    }

    /// Memory that it takes, roughly.
    pub fn bytes(&self) -> u64 {
        let runs = self.queue.iter().filter_map(|node| node.traced.as_ref());
        let held = self.held.as_ref().map_or(0, Held::bytes);
        held + runs.map(|traced| traced.bytes()).sum::<u64>()
    }

    /// Keeps nothing in memory but the inputs.
    pub fn forget(&mut self) {
        self.held = None;
        for node in &mut self.queue {
            node.traced = None;
        }
    }

    /// Tries some ways of the first run that is left; the inputs that go them, and how many questions stayed open.
    pub fn turn(
        &mut self,
        sites: &SiteMap,
        solver: &Solver,
        components: &mut Components,
    ) -> (Vec<Turn>, u64) {
        let (Some(held), Some(mut node)) = (&self.held, self.queue.pop_front()) else {
            return (Vec::new(), 0);
        };
        let Some(traced) = &node.traced else {
            return (Vec::new(), 0);
        };
        let ways = ways(traced, node.from, sites);
        let until = (node.cursor + TURN).min(ways.len());
        let mut made = Vec::new();
        let mut undecided = 0;
        if node.cursor < until {
            let frame = Frame::new(traced, held, sites, components, &ways[..until]);
            let names = components.names();
            let mut path = solver.path(&frame.pool.store, &names);
            for constraint in &frame.held {
                path.push(*constraint);
            }
            let mut pushed = 0;
            for (way, goals) in ways[..until].iter().zip(&frame.goals).skip(node.cursor) {
                if !self.tried.insert(way.name) {
                    continue;
                }
                for decision in &frame.decided[pushed..way.position.max(pushed)] {
                    for constraint in decision {
                        path.push(*constraint);
                    }
                }
                pushed = pushed.max(way.position);
                for goal in goals {
                    match path.solve(path.len(), goal, None) {
                        Answer::Sat(model) => {
                            made.push(Turn {
                                scenario: (*node.scenario).clone(),
                                model,
                                from: way.position + usize::from(way.is_decision()),
                            });
                            break;
                        }
                        Answer::Unsat(_) => {}
                        Answer::Unknown(_) => undecided += 1,
                    }
                }
            }
        }
        node.cursor = until;
        if until < ways.len() {
            self.queue.push_back(node);
        }
        (made, undecided)
    }
}

/// A way in which a run could have gone on otherwise.
struct Way {
    /// How many decisions come before it.
    position: usize,
    what: Goal,
    /// The same for the same way on the same path.
    name: u64,
}

enum Goal {
    /// The decision at this position has this value; `None`: any other.
    Decide(Option<u128>),
    Fail(Sensitive),
}

impl Way {
    fn is_decision(&self) -> bool {
        matches!(self.what, Goal::Decide(_))
    }
}

/// All ways from where a run is to be gone on from, in the order of the path.
fn ways(traced: &Traced, from: usize, sites: &SiteMap) -> Vec<Way> {
    let decisions = &traced.decisions;
    let mut list = Vec::new();
    let operations = traced.operations.iter();
    for operation in operations.filter(|operation| operation.position >= from) {
        let before = before(decisions, operation.position);
        let place = operation.site.0.wrapping_add(operation.failure as u64 + 1);
        list.push(Way {
            position: operation.position,
            what: Goal::Fail(*operation),
            name: path::extend(before, place, Choice::Assumed, 0),
        });
    }
    for (position, decision) in decisions.iter().enumerate().skip(from) {
        if decision.repeated {
            continue;
        }
        let mut add = |value: Option<u128>, name: u64| {
            list.push(Way {
                position,
                what: Goal::Decide(value),
                name,
            });
        };
        let before = before(decisions, position);
        for (_, value) in others(sites, decision, position as u32) {
            let name = path::extend(before, decision.site.0, decision.choice, value);
            add(Some(value), name);
        }
        if matches!(decision.choice, Choice::Fixed | Choice::Object) {
            add(None, fixed_key(decisions, position));
        }
    }
    list.sort_by_key(|way| way.position);
    list.truncate(MOST_WAYS);
    list
}

fn before(decisions: &[Decision], position: usize) -> u64 {
    match position.checked_sub(1) {
        Some(last) => decisions[last].exact,
        None => path::START,
    }
}

/// A run's expressions and what is held, in one pool.
struct Frame {
    pool: Pool,
    held: Vec<Constraint>,
    decided: Vec<Vec<Constraint>>,
    /// Of each way: goals, any of which will do, the best first.
    goals: Vec<Vec<Vec<Constraint>>>,
}

impl Frame {
    fn new(
        traced: &Traced,
        held: &Held,
        sites: &SiteMap,
        components: &mut Components,
        ways: &[Way],
    ) -> Frame {
        let mut pool = Pool::default();
        let mut there = Import::same_sources();
        let taken = held.constraints.iter().map(|constraint| Constraint {
            label: there.take(&mut pool, &held.pool.store, constraint.label),
            ..*constraint
        });
        let taken: Vec<Constraint> = taken.collect();
        let mut import = Import::new(components.of(&traced.sources));
        let mut overlay = Overlay::new(&traced.trace);
        let moved = |constraint: Constraint, label: Label| Constraint {
            label,
            ..constraint
        };
        let mut decided = Vec::new();
        let most = ways.iter().map(|way| way.position + 1).max().unwrap_or(0);
        for decision in traced.decisions.iter().take(most) {
            let label = import.take(&mut pool, &overlay, decision.label);
            let constraints = decision.constraints(sites);
            decided.push(match label {
                0 => Vec::new(),
                _ => constraints
                    .into_iter()
                    .map(|one| moved(one, label))
                    .collect(),
            });
        }
        let mut goals = Vec::new();
        for way in ways {
            goals.push(match &way.what {
                Goal::Decide(value) => {
                    let decision = &traced.decisions[way.position];
                    let label = import.take(&mut pool, &overlay, decision.label);
                    let goal: Vec<Constraint> = match value {
                        Some(path::DEFAULT) if decision.choice == Choice::Case => {
                            path::no_case(sites, decision)
                        }
                        Some(value) => vec![Constraint::equals(decision.label, *value)],
                        None => {
                            let own = decision.constraints(sites).into_iter();
                            own.map(Constraint::opposite).collect()
                        }
                    };
                    vec![goal.into_iter().map(|one| moved(one, label)).collect()]
                }
                Goal::Fail(operation) => {
                    let condition = sensitive::condition(&mut overlay, operation);
                    let labels = condition.map_or(Vec::new(), |condition| {
                        condition.near.into_iter().chain([condition.any]).collect()
                    });
                    let goal = |label: Label| {
                        let label = import.take(&mut pool, &overlay, label);
                        vec![Constraint::is(label, true)]
                    };
                    labels.into_iter().map(goal).collect::<Vec<_>>()
                }
            });
        }
        for alternatives in &mut goals {
            alternatives.retain(|goal| !goal.is_empty() && goal.iter().all(|one| one.label != 0));
        }
        Frame {
            pool,
            held: taken
                .into_iter()
                .filter(|constraint| constraint.label != 0)
                .collect(),
            decided,
            goals,
        }
    }
}
