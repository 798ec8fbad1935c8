//! One input on both versions, with the expressions of both runs in one pool: questions are asked here.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parallax_expr::{Label, MemoryStore, Op, Store, build, value};
use parallax_solver::{Answer, Constraint, Holds, Model, Path, Solver};

use super::extremes::extremes;
use super::pool::{Components, Import, Pool};
use super::visits::{MOST_DECISIONS, Visit, What, visits};
use super::walk::{Ask, Both, Place, Question, Version, Walk, walk};
use crate::worker::{Rigour, Traced};
use parallax_scenario::{Scenario, Variable, apply};
use parallax_trace::path::{self, Choice, Decision};

use super::Versions;

/// Cases of a `switch` that are asked for one by one.
const MOST_CASES: usize = 64;

/// An input and what both versions did with it.
#[derive(Debug)]
pub struct Pair {
    pub scenario: Scenario,
    pub runs: Both<Arc<Traced>>,
}

/// A pair, ready for questions.
pub struct Lockstep {
    pool: Pool,
    names: Vec<u32>,
    /// Of each decision: what all inputs have in common that decide the same; nothing if that cannot be said.
    decided: Both<Vec<Vec<Constraint>>>,
    visits: Both<Vec<Visit>>,
}

impl Lockstep {
    pub fn new(pair: &Pair, versions: &Versions<'_>, components: &mut Components) -> Lockstep {
        let mut pool = Pool::default();
        let mut decided: Both<Vec<Vec<Constraint>>> = Both::default();
        let mut lists: Both<Vec<Visit>> = Both::default();
        for version in [Version::Old, Version::New] {
            let run = pair.runs.get(version);
            let sites = versions.sites.get(version);
            let mut import = Import::new(components.of(&run.sources));
            let of = |decision: &Decision| {
                let label = import.take(&mut pool, &run.trace, decision.label);
                in_pool(decision.constraints(sites), label)
            };
            *decided.get_mut(version) = run.decisions.iter().take(MOST_DECISIONS).map(of).collect();
            let places = match version {
                Version::Old => &versions.correspondence.old,
                Version::New => &versions.correspondence.new,
            };
            let mut list = visits(run, sites, places);
            for visit in &mut list {
                if let What::Output { labels } = &mut visit.what {
                    for label in labels {
                        *label = import.take(&mut pool, &run.trace, *label);
                    }
                }
            }
            *lists.get_mut(version) = list;
        }
        Lockstep {
            pool,
            names: components.names(),
            decided,
            visits: lists,
        }
    }

    /// Where the versions part, and what could be asked before that.
    pub fn walk(&self) -> Walk {
        let same = |old: usize, new: usize| {
            let (a, b) = (&self.decided.old[old], &self.decided.new[new]);
            !a.is_empty() && a == b
        };
        let mut found = walk(&self.visits.old, &self.visits.new, &same);
        // Values that are put out are the same if their expressions are.
        found.questions.retain(|question| match question.ask {
            Ask::Differ { labels } => labels.old != labels.new,
            _ => true,
        });
        found
    }

    /// Where the versions put out different values, if they did.
    pub fn differing(&self, walk: &Walk) -> Option<Place> {
        let now = |label: Label| value(&self.pool.store.node(label));
        let differ = |question: &&Question| match question.ask {
            Ask::Differ { labels } => now(labels.old) != now(labels.new),
            Ask::Flip { .. } | Ask::Otherwise { .. } => false,
        };
        let question = walk.questions.iter().find(differ);
        question.map(|question| question.place)
    }

    /// The constraints of the decisions that each version had made.
    pub fn held(&self, decisions: Both<usize>, version: Version) -> Held {
        let list = self.decided.get(version);
        let before = list.iter().take(*decisions.get(version)).flatten();
        let mut pool = Pool::default();
        let mut import = Import::same_sources();
        let constraints = before.map(|constraint| Constraint {
            label: import.take(&mut pool, &self.pool.store, constraint.label),
            ..*constraint
        });
        let constraints = constraints.collect();
        Held { pool, constraints }
    }

    /// Opens questions.
    pub fn asker<'l>(&'l self, pair: &'l Pair, solver: &'l Solver) -> Asker<'l> {
        let begin = |rigour| Prefix {
            path: solver.path(&self.pool.store, &self.names),
            at: Both::default(),
            rigour,
        };
        Asker {
            lockstep: self,
            pair,
            exact: begin(Rigour::Exact),
            ways: begin(Rigour::Ways),
        }
    }
}

/// Constraints on their own, to be held in questions about other runs.
#[derive(Debug, Default)]
pub struct Held {
    pub pool: Pool,
    pub constraints: Vec<Constraint>,
}

impl Held {
    /// Memory that it takes, roughly.
    pub fn bytes(&self) -> u64 {
        // A node, its entry in the index, and tables.
        const NODE: usize = 96;
        (self.pool.store.len() * NODE + size_of_val(self.constraints.as_slice())) as u64
    }
}

fn in_pool(constraints: Vec<Constraint>, label: Label) -> Vec<Constraint> {
    let there = |constraint: Constraint| Constraint {
        label,
        ..constraint
    };
    match label {
        0 => Vec::new(),
        _ => constraints.into_iter().map(there).collect(),
    }
}

/// What both versions have decided up to some point.
struct Prefix<'l> {
    path: Path<'l, MemoryStore>,
    at: Both<usize>,
    rigour: Rigour,
}

/// Asks questions about a pair, in the order of the walk.
pub struct Asker<'l> {
    lockstep: &'l Lockstep,
    pair: &'l Pair,
    exact: Prefix<'l>,
    ways: Prefix<'l>,
}

/// What a question came to.
#[derive(Debug)]
pub enum Reply {
    /// Inputs that may show it.
    Inputs(Vec<Model>),
    /// Both conditions are the same for all inputs, on whatever path.
    Equal,
    Impossible,
    Undecided,
}

impl Asker<'_> {
    pub fn ask(&mut self, question: &Question, equals: &mut Equals) -> Reply {
        let alternatives = match question.ask {
            Ask::Flip {
                version,
                decision,
                against,
            } => {
                if let Some(against) = against
                    && self.is_equal(version, decision, against, equals)
                {
                    return Reply::Equal;
                }
                self.otherwise(version, decision)
            }
            Ask::Differ { labels } => {
                let widths = [labels.old, labels.new].map(|label| self.node(label).width);
                if widths[0] != widths[1] {
                    return Reply::Impossible;
                }
                if equals.knows(&self.lockstep.pool, labels.old, labels.new) == Some(true) {
                    return Reply::Equal;
                }
                let differ = |prefix: &mut Prefix<'_>| {
                    let expressions = prefix.path.expressions();
                    let equal = build::eq(expressions, labels.old, labels.new);
                    vec![vec![Constraint::is(equal, false)]]
                };
                let exact = differ(&mut self.exact);
                let ways = differ(&mut self.ways);
                return self.solve(question, exact, ways);
            }
            Ask::Otherwise { label, .. } => {
                let now = value(&self.node(label));
                vec![vec![Constraint::differs(label, now)]]
            }
        };
        self.solve(question, alternatives.clone(), alternatives)
    }

    fn node(&self, label: Label) -> parallax_expr::Node {
        self.lockstep.pool.store.node(label)
    }

    /// The ways in which a decision can go otherwise.
    fn otherwise(&self, version: Version, decision: usize) -> Vec<Vec<Constraint>> {
        let decided = &self.lockstep.decided.get(version)[decision];
        let choice = &self.pair.runs.get(version).decisions[decision];
        match choice.choice {
            Choice::Case if choice.value == path::DEFAULT => {
                let cases = decided.iter().take(MOST_CASES);
                cases
                    .map(|constraint| vec![constraint.opposite()])
                    .collect()
            }
            _ => decided
                .iter()
                .map(|constraint| vec![constraint.opposite()])
                .collect(),
        }
    }

    /// Whether two branches decide the same for all inputs.
    fn is_equal(
        &mut self,
        version: Version,
        own: usize,
        other: usize,
        equals: &mut Equals,
    ) -> bool {
        let of = |version: Version, index: usize| match self.lockstep.decided.get(version)[index]
            .as_slice()
        {
            [
                Constraint {
                    label,
                    holds: Holds::Equals(value),
                },
            ] => Some((*label, *value)),
            _ => None,
        };
        let (Some((a, _)), Some((b, _))) = (of(version, own), of(version.other(), other)) else {
            return false;
        };
        if self.node(a).width != 1 || self.node(b).width != 1 {
            return false;
        }
        // The runs took the same side or did not: only what is the same condition, not its opposite, is looked for.
        let pool = &self.lockstep.pool;
        if let Some(known) = equals.knows(pool, a, b) {
            return known;
        }
        let expressions = self.exact.path.expressions();
        let differ = build::binary(expressions, Op::Xor, a, b);
        let answer = self
            .exact
            .path
            .solve(0, &[Constraint::is(differ, true)], None);
        let equal = answer.is_unsat();
        equals.note(pool, a, b, equal);
        equal
    }

    fn solve(
        &mut self,
        question: &Question,
        exact: Vec<Vec<Constraint>>,
        ways: Vec<Vec<Constraint>>,
    ) -> Reply {
        let mut undecided = false;
        let mut models: Vec<Model> = Vec::new();
        let both: &[Version] = &[Version::Old, Version::New];
        // What only one version decides may be long before the versions come together again, if they do: what the other one
        // decides until then, on another input, is then too much to ask for.
        let alone = match question.ask {
            Ask::Flip {
                version,
                against: None,
                ..
            } if !question.kept.get(version.other()).is_empty() => Some(version),
            _ => None,
        };
        let mut rounds = vec![
            (Rigour::Exact, both, exact),
            (Rigour::Ways, both, ways.clone()),
        ];
        let alone = alone.map(|version| [version]);
        rounds.extend(
            alone
                .iter()
                .map(|own| (Rigour::Ways, &own[..], ways.clone())),
        );
        for (rigour, kept, alternatives) in rounds {
            let prefix = match rigour {
                Rigour::Exact => &mut self.exact,
                Rigour::Ways => &mut self.ways,
            };
            prefix.advance(self.lockstep, self.pair, question.before);
            for goal in alternatives {
                let mut goal = goal;
                if goal.iter().any(|constraint| constraint.label == 0) {
                    continue;
                }
                for version in kept {
                    for index in question.kept.get(*version) {
                        goal.extend(prefix.constraints(self.lockstep, self.pair, *version, *index));
                    }
                }
                match prefix.path.solve(prefix.path.len(), &goal, None) {
                    Answer::Sat(model) => {
                        models.push(model);
                        let ends = extremes(&mut prefix.path, &goal);
                        models.extend(ends);
                    }
                    Answer::Unsat(_) => {}
                    Answer::Unknown(_) => undecided = true,
                }
            }
            // What holds with every address and size holds without them.
            if !models.is_empty() {
                break;
            }
        }
        match (models.is_empty(), undecided) {
            (false, _) => Reply::Inputs(models),
            (true, true) => Reply::Undecided,
            (true, false) => Reply::Impossible,
        }
    }
}

impl Prefix<'_> {
    fn constraints<'c>(
        &self,
        lockstep: &'c Lockstep,
        pair: &Pair,
        version: Version,
        index: usize,
    ) -> &'c [Constraint] {
        let choice = pair.runs.get(version).decisions[index].choice;
        match self.rigour == Rigour::Exact || choice != Choice::Fixed {
            true => &lockstep.decided.get(version)[index],
            false => &[],
        }
    }

    /// Takes in what was decided since the last question.
    fn advance(&mut self, lockstep: &Lockstep, pair: &Pair, to: Both<usize>) {
        for version in [Version::Old, Version::New] {
            let to = (*to.get(version)).min(lockstep.decided.get(version).len());
            for index in *self.at.get(version)..to {
                for constraint in self.constraints(lockstep, pair, version, index) {
                    self.path.push(*constraint);
                }
            }
            let at = self.at.get_mut(version);
            *at = (*at).max(to);
        }
    }
}

/// Conditions that were proved the same, or shown not to be, on whatever path: nothing is asked twice.
#[derive(Debug, Default)]
pub struct Equals {
    pool: Pool,
    known: HashMap<(Label, Label), bool>,
    /// Pairs that were proved the same.
    pub proved: usize,
}

impl Equals {
    fn key(&mut self, from: &Pool, a: Label, b: Label) -> (Label, Label) {
        let mut import = Import::same_sources();
        let mut take = |label| import.take(&mut self.pool, &from.store, label);
        (take(a), take(b))
    }

    fn knows(&mut self, from: &Pool, a: Label, b: Label) -> Option<bool> {
        let key = self.key(from, a, b);
        self.known.get(&key).copied()
    }

    fn note(&mut self, from: &Pool, a: Label, b: Label, equal: bool) {
        let key = self.key(from, a, b);
        self.known.insert(key, equal);
        self.proved += usize::from(equal);
    }
}

/// The scenario changed as a model says; `None` if it cannot be changed so.
pub fn changed(scenario: &Scenario, model: &Model, components: &Components) -> Option<Scenario> {
    let mut changes = BTreeMap::new();
    for ((source, offset), byte) in &model.bytes {
        let component = components.get(*source)?.clone();
        let offset = *offset;
        changes.insert(Variable { component, offset }, *byte);
    }
    apply(scenario, &changes)
}
