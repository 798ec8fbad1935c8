//! Everything that is known about a program, in one place, and asked for by site ids.
//!
//! [`Analysis`] holds what does not depend on a target; [`Towards`] what is known about one set of targets. Traces speak of
//! branch sites and of calling contexts, so that is how distances are asked for. A site can have several copies
//! in the program; the nearest one counts.

use parallax_abi::SiteId;

use crate::calls::{Calls, Resolution};
use crate::distance::{Distances, OverCalls, Pruned};
use crate::effects::Effects;
use crate::graph::Graph;
use crate::lines::Lines;
use crate::pointsto::PointsTo;
use crate::preconditions::Preconditions;
use crate::program::{BlockId, ModuleCode, Program, Spot, Terminator};

/// A program with what is known about it.
#[derive(Debug)]
pub struct Analysis {
    pub program: Program,
    pub lines: Lines,
    pub points: PointsTo,
    pub calls: Calls,
    pub graph: Graph,
}

/// Which way control went at a branch or switch, as site tables number it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Of a branch: whether the condition was true.
    Branch(bool),
    /// Of a switch: 0 is the default, then the cases in order.
    Case(u32),
}

impl Analysis {
    /// Links and analyses; `observed` are indirect calls that runs were seen to make.
    pub fn new(
        modules: Vec<ModuleCode>,
        observed: impl IntoIterator<Item = (SiteId, String)>,
    ) -> Analysis {
        let program = Program::link(modules);
        let lines = Lines::new(&program);
        let points = PointsTo::analyse(&program);
        let mut resolution = points.resolution().clone();
        for (call, callee) in observed {
            resolution.observe(&program, call, &callee);
        }
        Analysis::with_calls(program, lines, points, &resolution)
    }

    /// The same without calls through pointers, to see what knowing them is good for.
    pub fn without_pointers(modules: Vec<ModuleCode>) -> Analysis {
        let program = Program::link(modules);
        let lines = Lines::new(&program);
        let points = PointsTo::analyse(&program);
        Analysis::with_calls(program, lines, points, &Resolution::default())
    }

    fn with_calls(
        program: Program,
        lines: Lines,
        points: PointsTo,
        resolution: &Resolution,
    ) -> Analysis {
        let calls = Calls::new(&program, resolution);
        let graph = Graph::new(&program, &calls);
        Analysis {
            program,
            lines,
            points,
            calls,
            graph,
        }
    }

    /// What calls and stores can change.
    pub fn effects(&self) -> Effects<'_> {
        Effects::new(&self.program, &self.calls, &self.points)
    }

    /// What is known about reaching one of these blocks.
    pub fn towards(&self, targets: &[BlockId], effects: &Effects<'_>, over: OverCalls) -> Towards {
        let measure =
            |pruned: &Pruned| Distances::measure(&self.program, &self.graph, targets, pruned, over);
        let plain = measure(&Pruned::default());
        let conditions = Preconditions::analyse(
            &self.program,
            &self.graph,
            &self.calls,
            effects,
            targets,
            &plain,
        );
        Towards {
            distances: measure(conditions.pruned()),
            plain,
            conditions,
        }
    }

    /// The blocks that a side of a branch leads to, in all copies of the branch.
    pub fn sides(&self, branch: SiteId, side: Side) -> Vec<(BlockId, BlockId)> {
        let copies = self.program.instructions_of(branch).iter();
        copies
            .filter_map(|spot| {
                let block = self.program.block(spot.block);
                let number = match (&block.terminator, side) {
                    (Terminator::Branch { then, .. }, Side::Branch(true)) => *then,
                    (Terminator::Branch { otherwise, .. }, Side::Branch(false)) => *otherwise,
                    (Terminator::Switch { default, .. }, Side::Case(0)) => *default,
                    (Terminator::Switch { cases, .. }, Side::Case(case)) => {
                        cases.get(case as usize - 1)?.1
                    }
                    _ => return None,
                };
                let successor = self.program.successor(block.function, number);
                Some((spot.block, successor))
            })
            .collect()
    }

    /// The calls of a stack, given by their sites, the outermost first, with `block` on top of them. Calls that the program does
    /// not have are left out.
    fn stack(&self, block: BlockId, sites: &[SiteId]) -> Vec<Spot> {
        let mut above = self.program.block(block).function;
        let mut stack = Vec::with_capacity(sites.len());
        for site in sites.iter().rev() {
            let copies = self.program.instructions_of(*site);
            let calls_it = |spot: &&Spot| {
                let mut calls = self.calls.of_block(spot.block).iter();
                calls.any(|call| call.spot == **spot && call.callees.contains(&above))
            };
            if let Some(spot) = copies.iter().find(calls_it).or(copies.first()) {
                above = self.program.block(spot.block).function;
                stack.push(*spot);
            }
        }
        stack.reverse();
        stack
    }
}

/// What is known about reaching a set of targets.
#[derive(Debug)]
pub struct Towards {
    /// With edges pruned that cannot lead there.
    pub distances: Distances,
    /// With all edges of the graph.
    pub plain: Distances,
    pub conditions: Preconditions,
}

impl Towards {
    /// Decisions left behind a side of a branch under a call stack (the outermost call first); `None` if the target cannot be reached
    /// that way.
    pub fn behind(
        &self,
        analysis: &Analysis,
        branch: SiteId,
        side: Side,
        stack: &[SiteId],
    ) -> Option<u32> {
        let sides = analysis.sides(branch, side).into_iter();
        let measured = sides.filter_map(|(block, successor)| {
            let stack = analysis.stack(block, stack);
            let graph = &analysis.graph;
            // The target may still lie behind a return.
            if self.conditions.pruned().sides.contains(&(block, successor)) {
                return self
                    .distances
                    .after_returning(graph, graph.start(successor), &stack);
            }
            self.distances.with_stack(graph, successor, &stack)
        });
        measured.min()
    }

    /// Decisions left at the begin of a block under a call stack.
    pub fn at(&self, analysis: &Analysis, block: SiteId, stack: &[SiteId]) -> Option<u32> {
        let copies = analysis.program.blocks_of(block).into_iter();
        let measured = copies.filter_map(|block| {
            let stack = analysis.stack(block, stack);
            self.distances.with_stack(&analysis.graph, block, &stack)
        });
        measured.min()
    }
}
