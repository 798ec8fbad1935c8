//! What a path is after: its targets move along the graph as it comes to them (Algorithm 2 of the paper, figure 7).
//!
//! Deviations: what counts as reached by somebody is a *step*, a target after the node before it and all the changes executed until then, not
//! the target alone. Otherwise it would be of no interest in which company and order changes are executed once each of them has been. An
//! output that is come to does not end a path, since programs print more than once; its targets stay what they were.
//!
//! In isolation ([`Course::isolated`], RQ2 of the paper) the targets are a flat set: a change that was reached is none any more,
//! outputs always are.

use std::collections::{BTreeSet, HashMap};

use parallax_analysis::dependence::{Dependences, StatementId};
use parallax_analysis::sequence::{ChangeGraph, Role};

/// Number of a step; see [`Course::step`].
pub type StepId = u32;

/// Where a path is in the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Station {
    /// The last node that it came to; `None` at the start, and always in isolation.
    pub node: Option<usize>,
    /// Number of the set of changes that it executed.
    pub set: u32,
}

/// Which targets paths have, and what was reached.
pub struct Course<'g> {
    graph: &'g ChangeGraph,
    /// The flat set, if changes are taken in isolation.
    flat: Option<Vec<usize>>,
    numbers: HashMap<(Station, usize), StepId>,
    is_reached: Vec<bool>,
    /// Sets of changes, and what becomes of them with one more.
    sets: HashMap<BTreeSet<usize>, u32>,
    with: HashMap<(u32, usize), u32>,
    members: Vec<BTreeSet<usize>>,
    nodes_reached: BTreeSet<usize>,
    /// Edges of the graph, also in isolation.
    made: BTreeSet<(Option<usize>, usize)>,
}

impl<'g> Course<'g> {
    pub fn along(graph: &'g ChangeGraph) -> Course<'g> {
        Course {
            graph,
            flat: None,
            numbers: HashMap::new(),
            is_reached: Vec::new(),
            sets: HashMap::from([(BTreeSet::new(), 0)]),
            with: HashMap::new(),
            members: vec![BTreeSet::new()],
            nodes_reached: BTreeSet::new(),
            made: BTreeSet::new(),
        }
    }

    /// Outputs, and those changes that are deepest in the chain of control dependences: who comes to one of them has come to the
    /// changes that decide about it.
    pub fn isolated(graph: &'g ChangeGraph, dependences: &Dependences) -> Course<'g> {
        let mut deciding: BTreeSet<StatementId> = BTreeSet::new();
        for node in graph.nodes.iter() {
            if matches!(node.role, Role::Change(_)) {
                deciding.extend(controlling(dependences, node.statement));
            }
        }
        let is_target = |node: &usize| match &graph.nodes[*node].role {
            Role::Change(_) => !deciding.contains(&graph.nodes[*node].statement),
            Role::Interaction(_) => false,
            Role::Output => true,
        };
        Course {
            flat: Some((0..graph.nodes.len()).filter(is_target).collect()),
            ..Course::along(graph)
        }
    }

    /// Where a path is after one more node.
    pub fn after(&mut self, at: Station, node: usize) -> Station {
        match self.graph.nodes[node].role {
            _ if self.flat.is_some() => at,
            Role::Output => at,
            Role::Interaction(_) => Station {
                node: Some(node),
                ..at
            },
            Role::Change(_) => Station {
                node: Some(node),
                set: self.joined(at.set, node),
            },
        }
    }

    fn joined(&mut self, set: u32, node: usize) -> u32 {
        if let Some(known) = self.with.get(&(set, node)) {
            return *known;
        }
        let mut larger = self.members[set as usize].clone();
        larger.insert(node);
        let next = self.members.len() as u32;
        let number = *self.sets.entry(larger.clone()).or_insert(next);
        if number == next {
            self.members.push(larger);
        }
        self.with.insert((set, node), number);
        number
    }

    /// The targets of a path that is there.
    pub fn targets(&self, at: Station) -> &[usize] {
        match (&self.flat, at.node) {
            (Some(flat), _) => flat,
            (None, Some(at)) => &self.graph.next[at],
            (None, None) => &self.graph.first,
        }
    }

    /// The step from where a path is to a target.
    pub fn step(&mut self, at: Station, to: usize) -> StepId {
        let next = self.is_reached.len() as StepId;
        let number = *self.numbers.entry((at, to)).or_insert(next);
        if number == next {
            self.is_reached.push(false);
        }
        number
    }

    /// Takes in a path; how many of its steps nobody had made.
    pub fn walk(&mut self, nodes: &[usize]) -> usize {
        let mut at = Station::default();
        let mut from = None;
        let mut fresh = 0;
        for node in nodes {
            let is_output = matches!(self.graph.nodes[*node].role, Role::Output);
            let step = self.step(at, *node) as usize;
            // In isolation an output is a target of whoever comes there.
            if self.flat.is_none() || !is_output {
                fresh += usize::from(!self.is_reached[step]);
                self.is_reached[step] = true;
            }
            self.nodes_reached.insert(*node);
            self.made.insert((from, *node));
            at = self.after(at, *node);
            if !is_output {
                from = Some(*node);
            }
        }
        fresh
    }

    #[cfg(test)]
    pub fn reach(&mut self, step: StepId) {
        self.is_reached[step as usize] = true;
    }

    pub fn is_reached(&self, step: StepId) -> bool {
        self.is_reached[step as usize]
    }

    /// Whether what was reached is no target any more.
    pub fn is_flat(&self) -> bool {
        self.flat.is_some()
    }

    /// Nodes of the graph that some path came to.
    pub fn nodes_reached(&self) -> usize {
        self.nodes_reached.len()
    }

    /// Edges of the graph that some path went along, and all of them.
    pub fn edges(&self) -> (u64, u64) {
        let first = self.graph.first.iter().map(|to| (None, *to));
        let next = self.graph.next.iter().enumerate();
        let next = next.flat_map(|(from, list)| list.iter().map(move |to| (Some(from), *to)));
        let all: Vec<(Option<usize>, usize)> = first.chain(next).collect();
        let made = all.iter().filter(|edge| self.made.contains(edge)).count();
        (made as u64, all.len() as u64)
    }
}

/// All statements that decide whether one runs.
fn controlling(dependences: &Dependences, statement: StatementId) -> BTreeSet<StatementId> {
    let mut found = BTreeSet::new();
    let mut work = vec![statement];
    while let Some(at) = work.pop() {
        for (on, is_control) in dependences.statement_on(at) {
            if is_control && on != statement && found.insert(on) {
                work.push(on);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_analysis::sequence::{Cause, GraphNode};

    /// Two changes, an interaction, an output: 0 → 1 → 2 → 3, and back from 2 to 1.
    fn graph() -> ChangeGraph {
        let node = |number: u32, role: Role| GraphNode {
            statement: StatementId(number),
            role,
            is_output: false,
        };
        ChangeGraph {
            nodes: vec![
                node(0, Role::Change(Cause::Changed)),
                node(1, Role::Change(Cause::Changed)),
                node(2, Role::Interaction(vec![0, 1])),
                node(3, Role::Output),
            ],
            next: vec![vec![1], vec![2], vec![1, 3], vec![]],
            first: vec![0],
            interactions: 1,
        }
    }

    #[test]
    fn targets_move_along_the_graph() {
        let graph = graph();
        let mut course = Course::along(&graph);
        let start = Station::default();
        assert_eq!(course.targets(start), [0]);
        let mut at = course.after(start, 0);
        assert_eq!(course.targets(at), [1]);
        for node in [1, 2] {
            at = course.after(at, node);
        }
        assert_eq!(course.targets(at), [1, 3]);
        // An output is no place to go on from.
        assert_eq!(course.after(at, 3), at);
    }

    #[test]
    fn a_target_in_other_company_is_another_step() {
        let graph = graph();
        let mut course = Course::along(&graph);
        assert_eq!(course.walk(&[0, 1, 2, 3]), 4);
        assert_eq!(course.edges(), (4, 5));
        assert_eq!(course.walk(&[0, 1, 2, 1, 2, 3]), 1);
        assert_eq!(course.edges(), (5, 5));
        assert_eq!(course.walk(&[0, 1, 2, 3]), 0);
        // The same edges without the first change before.
        assert_eq!(course.walk(&[1, 2, 3]), 3);
    }

    #[test]
    fn in_isolation_nothing_moves() {
        let graph = graph();
        let mut course = Course {
            flat: Some(vec![1, 3]),
            ..Course::along(&graph)
        };
        let at = course.after(Station::default(), 0);
        assert_eq!((at, course.targets(at)), (Station::default(), &[1, 3][..]));
        course.walk(&[0, 1, 2, 3]);
        let (change, output) = (course.step(at, 1), course.step(at, 3));
        assert!(course.is_reached(change) && !course.is_reached(output));
    }
}
