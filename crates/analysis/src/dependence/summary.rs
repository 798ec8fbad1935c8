//! Which arguments a call's result depends on, by way of the called function.
//!
//! From a function's returns backwards, inside of the function, over what is known of the calls that it makes itself; whenever that
//! grows, its callers are looked at again.

use super::{Edge, Edges, Kind, Meaning, Node, Nodes};
use crate::Analysis;
use crate::program::{FunctionId, Operand, Operation, Terminator};

/// Adds edges from calls to arguments. The edges must be in order.
pub fn add(analysis: &Analysis, nodes: &Nodes, edges: &mut Vec<(Node, Edge)>) {
    let (program, calls) = (&analysis.program, &analysis.calls);
    let known = Edges::new(nodes.len(), edges);
    let mut influences: Vec<Vec<u32>> = vec![Vec::new(); program.functions.len()];
    let mut found: Vec<Vec<Node>> = vec![Vec::new(); nodes.len()];
    let mut work: Vec<FunctionId> = program
        .function_ids()
        .filter(|id| program.function(*id).is_defined())
        .collect();
    let mut queued = vec![true; program.functions.len()];
    let mut seen = vec![0u32; nodes.len()];
    let mut round = 0;
    while let Some(id) = work.pop() {
        queued[id.index()] = false;
        round += 1;
        let parameters = influence(analysis, nodes, id, &known, &found, &mut seen, round);
        if parameters == influences[id.index()] {
            continue;
        }
        for call in calls.callers_of(id) {
            let block = program.block(call.spot.block);
            let operation = &block.instructions[call.spot.number as usize].operation;
            let Operation::Call { arguments, .. } = operation else {
                continue;
            };
            let result = nodes.spot(program, call.spot);
            for parameter in &parameters {
                if let Some(Operand::Value(value)) = arguments.get(*parameter as usize) {
                    let argument = nodes.value(block.function, *value);
                    if !found[result.index()].contains(&argument) {
                        found[result.index()].push(argument);
                    }
                }
            }
            if !std::mem::replace(&mut queued[block.function.index()], true) {
                work.push(block.function);
            }
        }
        influences[id.index()] = parameters;
    }
    for node in nodes.all() {
        for to in &found[node.index()] {
            let edge = Edge {
                to: *to,
                kind: Kind::Summary,
            };
            edges.push((node, edge));
        }
    }
}

/// The parameters that a function's result depends on.
fn influence(
    analysis: &Analysis,
    nodes: &Nodes,
    id: FunctionId,
    known: &Edges,
    found: &[Vec<Node>],
    seen: &mut [u32],
    round: u32,
) -> Vec<u32> {
    let program = &analysis.program;
    let returns = program
        .function(id)
        .block_ids()
        .filter(|block| matches!(program.block(*block).terminator, Terminator::Return(_)));
    let mut work: Vec<Node> = returns
        .map(|block| nodes.terminator(program, block))
        .collect();
    let mut parameters = Vec::new();
    while let Some(node) = work.pop() {
        if std::mem::replace(&mut seen[node.index()], round) == round {
            continue;
        }
        if let Meaning::Parameter(_, number) = nodes.meaning(program, node) {
            parameters.push(number);
            continue;
        }
        let inside = known
            .of(node)
            .iter()
            .filter(|edge| matches!(edge.kind, Kind::Control | Kind::Value | Kind::Memory));
        work.extend(inside.map(|edge| edge.to));
        work.extend(&found[node.index()]);
    }
    parameters.sort_unstable();
    parameters
}
