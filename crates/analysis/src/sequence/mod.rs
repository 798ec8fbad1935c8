//! The change sequence graph (Böhme, Oliveira, Roychoudhury: "Regression Tests to Expose Change Interaction Errors", FSE 2013,
//! Algorithm 1): in which order changed statements can be executed, where they can interact, and where their effect can be seen.
//!
//! A statement that depends on two or more changes is a potential interaction location. Only *important* ones are kept unless
//! all are asked for: those where changes meet, not those that merely pass on what met before.
//!
//! Deviations: a beginning of the program is a node of its own, so that the first changes are those that can come first, even if a loop
//! leads back to them; deleted code counts through what depended on it ([`changes`]); a function that is called is walked through, and
//! over if it can be passed without coming to a node ([`walk`]).

pub mod changes;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use crate::Analysis;
use crate::dependence::slice::Influences;
use crate::dependence::{Dependences, Meaning, Node, StatementId, calls_outside, library};
use crate::program::Terminator;
pub use changes::{Cause, Changes, FileChange, same_lines};
use walk::Walks;

/// What a statement is in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Role {
    Change(Cause),
    /// Depends on these changes, by place in [`ChangeGraph::nodes`].
    Interaction(Vec<usize>),
    Output,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    pub statement: StatementId,
    pub role: Role,
    /// A change that is an output, too.
    pub is_output: bool,
}

/// The graph. Changes come first, then interactions, then outputs, each in the order of the source.
#[derive(Clone, Debug, Default)]
pub struct ChangeGraph {
    pub nodes: Vec<GraphNode>,
    /// Per node, what can come next.
    pub next: Vec<Vec<usize>>,
    /// What can come first.
    pub first: Vec<usize>,
    /// Potential interaction locations, those that are not in the graph included.
    pub interactions: usize,
}

/// Which interaction locations are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interactions {
    Important,
    All,
}

impl ChangeGraph {
    pub fn new(
        analysis: &Analysis,
        dependences: &Dependences,
        changes: &Changes,
        wanted: Interactions,
    ) -> ChangeGraph {
        let statements = &dependences.statements;
        let ids: Vec<StatementId> = changes.statements.keys().copied().collect();
        let sets: Vec<Vec<Node>> = ids
            .iter()
            .map(|id| statements.get(*id).nodes.clone())
            .collect();
        let meeting = Meeting {
            dependences,
            ids: &ids,
            influences: dependences.influences(&sets),
        };
        let outputs = outputs(analysis, dependences);
        let mut interactions: BTreeMap<StatementId, Vec<usize>> = BTreeMap::new();
        let mut count = 0;
        for id in statements.ids() {
            if changes.statements.contains_key(&id) {
                continue;
            }
            let on = meeting.of(id);
            if on.len() < 2 {
                continue;
            }
            count += 1;
            let is_kept = wanted == Interactions::All || meeting.is_important(id);
            if is_kept && !outputs.contains(&id) {
                interactions.insert(id, on);
            }
        }
        let mut graph = build(
            analysis,
            dependences,
            changes,
            &ids,
            &interactions,
            &outputs,
        );
        graph.interactions = count;
        graph
    }

    /// Whether a node is a change.
    pub fn is_change(&self, node: usize) -> bool {
        matches!(self.nodes[node].role, Role::Change(_))
    }
}

/// Where changes meet.
struct Meeting<'m> {
    dependences: &'m Dependences,
    ids: &'m [StatementId],
    influences: Influences,
}

impl Meeting<'_> {
    /// The changes that a node depends on, other than its own statement.
    fn of_node(&self, node: Node) -> Vec<usize> {
        let own = self.dependences.statements.of(node);
        let mut on = self.influences.of(node);
        on.retain(|change| Some(self.ids[*change]) != own);
        on
    }

    fn of(&self, id: StatementId) -> Vec<usize> {
        let nodes = &self.dependences.statements.get(id).nodes;
        let all: BTreeSet<usize> = nodes.iter().flat_map(|node| self.of_node(*node)).collect();
        all.into_iter().collect()
    }

    /// Whether some node of the statement is one at which changes meet that did not meet before.
    fn is_important(&self, id: StatementId) -> bool {
        let nodes = &self.dependences.statements.get(id).nodes;
        nodes.iter().any(|node| self.meets_first(*node))
    }

    fn meets_first(&self, node: Node) -> bool {
        let own = self.dependences.statements.of(node);
        let on = self.of_node(node);
        if on.len() < 2 {
            return false;
        }
        let mut brings = false;
        for edge in self.dependences.on(node) {
            let statement = self.dependences.statements.of(edge.to);
            let is_change = statement.is_some_and(|id| self.ids.contains(&id)) && statement != own;
            if self.influences.is_mutual(node, edge.to) {
                brings |= is_change;
                continue;
            }
            let before = self.of_node(edge.to);
            if before == on {
                // They met there already.
                return false;
            }
            brings |= is_change || !before.is_empty();
        }
        brings
    }
}

/// Statements whose effect is seen outside, and where the program ends.
fn outputs(analysis: &Analysis, dependences: &Dependences) -> BTreeSet<StatementId> {
    let program = &analysis.program;
    let main = program.function_named("main");
    let statements = &dependences.statements;
    let mut found = BTreeSet::new();
    for id in statements.ids() {
        let is_output = statements.get(id).nodes.iter().any(|node| {
            let Meaning::Spot(spot) = dependences.nodes.meaning(program, *node) else {
                return false;
            };
            let block = program.block(spot.block);
            if spot.number as usize == block.instructions.len() {
                let returns = matches!(block.terminator, Terminator::Return(_));
                return returns && Some(block.function) == main;
            }
            calls_outside(program, spot).is_some_and(|name| {
                let effect = library::effect(name);
                effect.out || effect.end
            })
        });
        if is_output {
            found.insert(id);
        }
    }
    found
}

fn build(
    analysis: &Analysis,
    dependences: &Dependences,
    changes: &Changes,
    ids: &[StatementId],
    interactions: &BTreeMap<StatementId, Vec<usize>>,
    outputs: &BTreeSet<StatementId>,
) -> ChangeGraph {
    let mut is_marked = vec![false; dependences.statements.len()];
    for id in ids.iter().chain(interactions.keys()).chain(outputs) {
        is_marked[id.index()] = true;
    }
    // Paths go on from changes and interactions.
    let is_on_the_way = |id: &StatementId| ids.contains(id) || interactions.contains_key(id);
    let mut is_end = vec![false; dependences.statements.len()];
    for id in outputs.iter().filter(|id| !is_on_the_way(id)) {
        is_end[id.index()] = true;
    }
    let walks = Walks::new(analysis, dependences, is_marked, is_end);
    let main = analysis.program.function_named("main");
    let entry = main.and_then(|main| analysis.program.function(main).entry());
    let first: Vec<StatementId> = entry.map_or(Vec::new(), |entry| walks.first(entry));
    // The walks of Algorithm 1: from changes, and on from interactions that are come to.
    let mut edges: BTreeMap<StatementId, BTreeSet<StatementId>> = BTreeMap::new();
    let mut work: Vec<StatementId> = ids.to_vec();
    let mut present: BTreeSet<StatementId> = ids.iter().copied().collect();
    while let Some(from) = work.pop() {
        for to in walks.after(from) {
            if let Some(on) = interactions.get(&to) {
                for change in on {
                    edges.entry(ids[*change]).or_default().insert(to);
                }
                if present.insert(to) {
                    work.push(to);
                }
            }
            present.insert(to);
            edges.entry(from).or_default().insert(to);
        }
    }
    let mut order: Vec<StatementId> = ids.to_vec();
    let others = |wanted: bool| {
        let rest = present
            .iter()
            .filter(|id| !changes.statements.contains_key(id));
        rest.filter(move |id| interactions.contains_key(id) == wanted)
            .copied()
    };
    order.extend(others(true));
    order.extend(others(false));
    let place: BTreeMap<StatementId, usize> = order.iter().copied().zip(0..).collect();
    let nodes = order.iter().map(|id| GraphNode {
        statement: *id,
        role: match (changes.statements.get(id), interactions.get(id)) {
            (Some(cause), _) => Role::Change(cause.clone()),
            (None, Some(on)) => Role::Interaction(on.clone()),
            (None, None) => Role::Output,
        },
        is_output: outputs.contains(id),
    });
    let next = order.iter().map(|id| {
        let to = edges.get(id).into_iter().flatten();
        let to: BTreeSet<usize> = to.map(|to| place[to]).collect();
        to.into_iter().collect()
    });
    ChangeGraph {
        nodes: nodes.collect(),
        next: next.collect(),
        first: first
            .iter()
            .filter(|id| changes.statements.contains_key(id))
            .map(|id| place[id])
            .collect(),
        interactions: 0,
    }
}
