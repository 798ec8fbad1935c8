//! What a path is after: its targets move along the graph as it comes to them (Algorithm 2 of the paper, figure 7).
//!
//! Deviations: what counts as reached by somebody is a *step*, a target after the node before it, not the target alone. Otherwise the order
//! of changes would be of no interest once each of them has been executed. An output that is come to does not end a path, since
//! programs print more than once; its targets stay what they were.
//!
//! In isolation ([`Course::isolated`], RQ2 of the paper) the targets are a flat set that does not move.

use std::collections::{BTreeSet, HashMap};

use parallax_analysis::dependence::{Dependences, StatementId};
use parallax_analysis::sequence::{ChangeGraph, Role};

/// Number of a step; see [`Course::step`].
pub type StepId = u32;

/// A target after the node before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Step {
    /// `None` at the start; always so in isolation.
    pub from: Option<usize>,
    pub to: usize,
}

/// Which targets paths have, and what was reached.
pub struct Course<'g> {
    graph: &'g ChangeGraph,
    /// The flat set, if changes are taken in isolation.
    flat: Option<Vec<usize>>,
    steps: Vec<Step>,
    numbers: HashMap<Step, StepId>,
    is_reached: Vec<bool>,
    nodes_reached: BTreeSet<usize>,
    /// Steps along the graph, also in isolation.
    made: BTreeSet<Step>,
}

impl<'g> Course<'g> {
    pub fn along(graph: &'g ChangeGraph) -> Course<'g> {
        Course {
            graph,
            flat: None,
            steps: Vec::new(),
            numbers: HashMap::new(),
            is_reached: Vec::new(),
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
    pub fn after(&self, at: Option<usize>, node: usize) -> Option<usize> {
        match self.graph.nodes[node].role {
            Role::Output => at,
            Role::Change(_) | Role::Interaction(_) => Some(node),
        }
    }

    /// The targets of a path that is there.
    pub fn targets(&self, at: Option<usize>) -> &[usize] {
        match (&self.flat, at) {
            (Some(flat), _) => flat,
            (None, Some(at)) => &self.graph.next[at],
            (None, None) => &self.graph.first,
        }
    }

    /// The step from where a path is to a target.
    pub fn step(&mut self, at: Option<usize>, to: usize) -> StepId {
        let from = at.filter(|_| self.flat.is_none());
        let step = Step { from, to };
        let next = self.steps.len() as StepId;
        let number = *self.numbers.entry(step).or_insert(next);
        if number == next {
            self.steps.push(step);
            self.is_reached.push(false);
        }
        number
    }

    /// Takes in a path; how many of its steps nobody had made.
    pub fn walk(&mut self, nodes: &[usize]) -> usize {
        let mut at = None;
        let mut fresh = 0;
        for node in nodes {
            let step = self.step(at, *node) as usize;
            fresh += usize::from(!self.is_reached[step]);
            self.is_reached[step] = true;
            self.nodes_reached.insert(*node);
            self.made.insert(Step {
                from: at,
                to: *node,
            });
            at = self.after(at, *node);
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

    /// Nodes of the graph that some path came to.
    pub fn nodes_reached(&self) -> usize {
        self.nodes_reached.len()
    }

    /// Edges of the graph that some path went along, and all of them.
    pub fn edges(&self) -> (u64, u64) {
        let first = self.graph.first.iter().map(|to| (None, *to));
        let next = self.graph.next.iter().enumerate();
        let next = next.flat_map(|(from, list)| list.iter().map(move |to| (Some(from), *to)));
        let all: Vec<Step> = first
            .chain(next)
            .map(|(from, to)| Step { from, to })
            .collect();
        let made = all.iter().filter(|step| self.made.contains(step)).count();
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
        let course = Course::along(&graph);
        assert_eq!(course.targets(None), [0]);
        let at = course.after(None, 0);
        assert_eq!(course.targets(at), [1]);
        let at = course.after(course.after(at, 1), 2);
        assert_eq!(course.targets(at), [1, 3]);
        // An output is no place to go on from.
        assert_eq!(course.targets(course.after(at, 3)), [1, 3]);
    }

    #[test]
    fn a_target_after_another_node_is_another_step() {
        let graph = graph();
        let mut course = Course::along(&graph);
        assert_eq!(course.walk(&[0, 1, 2, 3]), 4);
        assert_eq!(course.edges(), (4, 5));
        assert_eq!(course.walk(&[0, 1, 2, 1, 2, 3]), 1);
        assert_eq!(course.edges(), (5, 5));
        assert_eq!(course.walk(&[0, 1, 2, 3]), 0);
    }
}
