//! How far a run was from the target: the measure by which seeds are chosen.
//!
//! Of the blocks and edges that a run executed, those go that cannot lead to the target, then all that the run would not have come to
//! without them; the least distance of what remains counts (KATCH, section 3.2). Blocks that hang together only among
//! themselves go, too: KATCH would keep loops of them.

use std::collections::HashSet;

use crate::distance::{Distances, Pruned};
use crate::graph::{End, Graph};
use crate::program::{BlockId, Program};

/// What a run executed.
pub trait Executed {
    /// Whether the block ran.
    fn ran(&self, block: BlockId) -> bool;
    /// Whether control went from the end of a block to this successor. Only asked for where there is a choice.
    fn went(&self, from: BlockId, to: BlockId) -> bool;
}

/// The closest that a run came to the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closest {
    pub block: BlockId,
    pub distance: u32,
}

/// The closest block that a run came to on ways that can lead to the target. `entries` are where it began: `main`, and what the
/// C library calls by itself.
pub fn closest(
    program: &Program,
    graph: &Graph,
    distances: &Distances,
    pruned: &Pruned,
    executed: &dyn Executed,
    entries: &[BlockId],
) -> Option<Closest> {
    let mut best: Option<Closest> = None;
    let mut seen: HashSet<BlockId> = HashSet::new();
    let mut work = Vec::new();
    for entry in entries {
        if executed.ran(*entry) && seen.insert(*entry) {
            work.push(*entry);
        }
    }
    while let Some(block) = work.pop() {
        if let Some(distance) = distances.at(graph, block)
            && best.is_none_or(|best| distance < best.distance)
        {
            best = Some(Closest { block, distance });
        }
        let code = program.block(block);
        let mut next = Vec::new();
        for successor in &code.successors {
            let taken = !code.branches() || executed.went(block, *successor);
            if taken && !pruned.sides.contains(&(block, *successor)) {
                next.push(*successor);
            }
        }
        for node in graph.start(block)..graph.last(block) {
            let End::Call { spot, callees, .. } = graph.end(node) else {
                continue;
            };
            for callee in callees {
                if !pruned.calls.contains(&(*spot, *callee)) {
                    next.extend(program.function(*callee).entry());
                }
            }
        }
        for block in next {
            if executed.ran(block) && seen.insert(block) {
                work.push(block);
            }
        }
    }
    best
}
