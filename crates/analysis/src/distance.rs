//! How many decisions lie between any point of the program and a target.
//!
//! Two measures, after KATCH and its predecessor. [`OverCalls::Free`] is KATCH's C-flow distance: a call and its return
//! belong together and cost nothing. With [`OverCalls::Shortest`] going over a call costs the decisions of the shortest way through
//! it, as in SPIN'12. In both, targets behind the return of the present function are found with the call
//! stack ([`Distances::with_stack`]), since the graph has no return edges.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use crate::graph::{End, FAR, Graph, Node};
use crate::program::{BlockId, FunctionId, Program, Spot};

/// What going over a call costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverCalls {
    /// Nothing, as long as the callee can return.
    Free,
    /// The decisions of the shortest way through it.
    Shortest,
}

/// Edges that cannot lead to the target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// From the end of a block to a successor.
    pub sides: HashSet<(BlockId, BlockId)>,
    /// From a call into a callee.
    pub calls: HashSet<(Spot, FunctionId)>,
}

impl Pruned {
    pub fn is_empty(&self) -> bool {
        self.sides.is_empty() && self.calls.is_empty()
    }
}

/// Distances of all points of a program from one set of blocks.
#[derive(Clone, Debug)]
pub struct Distances {
    to_target: Vec<u32>,
}

impl Distances {
    /// Measures from every node, backwards from the targets.
    pub fn measure(
        program: &Program,
        graph: &Graph,
        targets: &[BlockId],
        pruned: &Pruned,
        over: OverCalls,
    ) -> Distances {
        let mut far = vec![FAR; graph.len()];
        let mut queue = BinaryHeap::new();
        for target in targets {
            far[graph.start(*target)] = 0;
            queue.push(Reverse((0, graph.start(*target))));
        }
        while let Some(Reverse((length, node))) = queue.pop() {
            if far[node] < length {
                continue;
            }
            let mut offer = |to: Node, length: u32| {
                if length < far[to] {
                    far[to] = length;
                    queue.push(Reverse((length, to)));
                }
            };
            let block = graph.block(node);
            if node != graph.start(block) {
                let through = match graph.end(node - 1) {
                    End::Call {
                        callees, outside, ..
                    } => graph.through(callees, *outside),
                    End::Block { .. } => FAR,
                };
                if through != FAR {
                    let cost = match over {
                        OverCalls::Free => 0,
                        OverCalls::Shortest => through,
                    };
                    offer(node - 1, length.saturating_add(cost));
                }
                continue;
            }
            for predecessor in &program.block(block).predecessors {
                if !pruned.sides.contains(&(*predecessor, block)) {
                    let cost = u32::from(program.block(*predecessor).branches());
                    offer(graph.last(*predecessor), length + cost);
                }
            }
            let function = program.block(block).function;
            if graph.entry(function) == Some(node) {
                for caller in graph.callers_of(function) {
                    let End::Call { spot, .. } = graph.end(caller) else {
                        continue;
                    };
                    if !pruned.calls.contains(&(*spot, function)) {
                        offer(caller, length);
                    }
                }
            }
        }
        Distances { to_target: far }
    }

    /// The decisions on the shortest way from a node to the target, as blocks and where they have to lead. Without returning from
    /// the node's function; empty if no way is known.
    pub fn way(
        &self,
        program: &Program,
        graph: &Graph,
        pruned: &Pruned,
        from: Node,
    ) -> Vec<(BlockId, BlockId)> {
        /// A way cannot be longer without going in circles, unless calls of no cost are many.
        const MOST: usize = 100_000;
        let mut decisions = Vec::new();
        let mut node = from;
        let mut seen = HashSet::new();
        for _ in 0..MOST {
            let length = self.to_target[node];
            if length == FAR || !seen.insert(node) {
                break;
            }
            let block = graph.block(node);
            let next = match graph.end(node) {
                End::Call { spot, callees, .. } => {
                    let entered = callees
                        .iter()
                        .filter(|callee| !pruned.calls.contains(&(*spot, **callee)))
                        .filter_map(|callee| graph.entry(*callee));
                    let nodes = entered.chain([node + 1]);
                    nodes
                        .filter(|next| self.to_target[*next] <= length)
                        .min_by_key(|next| (self.to_target[*next], seen.contains(next)))
                }
                End::Block { .. } => {
                    let code = program.block(block);
                    let cost = u32::from(code.branches());
                    let open = code.successors.iter().filter(|successor| {
                        let far = self.to_target[graph.start(**successor)];
                        far.saturating_add(cost) <= length
                            && !pruned.sides.contains(&(block, **successor))
                    });
                    let best = open.min_by_key(|successor| {
                        let start = graph.start(**successor);
                        (self.to_target[start], seen.contains(&start))
                    });
                    if let Some(successor) = best
                        && code.branches()
                    {
                        decisions.push((block, *successor));
                    }
                    best.map(|successor| graph.start(*successor))
                }
            };
            let Some(next) = next else { break };
            node = next;
        }
        decisions
    }

    /// From a node, without returning from its function.
    pub fn at_node(&self, node: Node) -> Option<u32> {
        Some(self.to_target[node]).filter(|length| *length != FAR)
    }

    /// From the begin of a block, without returning from its function.
    pub fn at(&self, graph: &Graph, block: BlockId) -> Option<u32> {
        self.at_node(graph.start(block))
    }

    /// From the begin of a block under a call stack, given as the calls that have not returned, the outermost first
    /// (SPIN'12's context-sensitive distance).
    pub fn with_stack(&self, graph: &Graph, block: BlockId, stack: &[Spot]) -> Option<u32> {
        self.under_stack(graph, graph.start(block), stack)
    }

    /// The same from any node.
    pub fn under_stack(&self, graph: &Graph, node: Node, stack: &[Spot]) -> Option<u32> {
        let inside = self.at_node(node);
        let outside = self.after_returning(graph, node, stack);
        inside.into_iter().chain(outside).min()
    }

    /// From a node by returning from its function, at least.
    pub fn after_returning(&self, graph: &Graph, node: Node, stack: &[Spot]) -> Option<u32> {
        let mut best = FAR;
        let mut returning = graph.to_return(node);
        for call in stack.iter().rev() {
            if returning == FAR {
                break;
            }
            let behind = graph.behind(*call);
            best = best.min(returning.saturating_add(self.to_target[behind]));
            returning = returning.saturating_add(graph.to_return(behind));
        }
        Some(best).filter(|length| *length != FAR)
    }
}
