//! What must hold at a point for the target to be reached, and which edges therefore cannot lead there.
//!
//! KATCH's weakest preconditions: conditions flow backwards from the target over the interprocedural graph, until nothing changes.
//! An edge whose condition contradicts what must hold behind it is pruned. KATCH gives up where two different conditions
//! meet and where anything but an assignment happens; here conditions are sets of values that are united, and
//! constants, bits, fields and arithmetic with constants are understood.
//!
//! Conditions describe the ways of the graph, which has no return edges: they say nothing about reaching the target behind
//! a return to a caller that is not on the way.

mod condition;
mod require;
mod transfer;
mod values;

use std::collections::VecDeque;

use crate::calls::Calls;
use crate::distance::{Distances, Pruned};
use crate::effects::Effects;
use crate::graph::{FAR, Graph};
use crate::program::{BlockId, Operation, Program, Spot};
pub use condition::{Atom, Condition, Key};
use transfer::Transfer;
pub use values::Values;

/// After so many visits of a block nothing is claimed about it any more: a loop that counts would go on for long.
const MAX_VISITS: u32 = 30;

/// The conditions for one set of targets.
#[derive(Debug)]
pub struct Preconditions {
    /// At the begin of each block; `None`: the target cannot be reached from here.
    begins: Vec<Option<Condition>>,
    pruned: Pruned,
}

impl Preconditions {
    /// Computes conditions and prunes; `distances` are those to the same targets with nothing pruned.
    pub fn analyse(
        program: &Program,
        graph: &Graph,
        calls: &Calls,
        effects: &Effects<'_>,
        targets: &[BlockId],
        distances: &Distances,
    ) -> Preconditions {
        let solver = Solver {
            program,
            graph,
            calls,
            transfer: Transfer { program, effects },
        };
        let begins = solver.solve(targets);
        let pruned = solver.prune(&begins, distances);
        Preconditions { begins, pruned }
    }

    /// What must hold at the begin of a block for the target to be reached from there without returning from its
    /// function; `None` if it cannot be reached so.
    pub fn at(&self, block: BlockId) -> Option<&Condition> {
        self.begins[block.index()].as_ref()
    }

    /// Edges that cannot lead to the target although the graph says so.
    pub fn pruned(&self) -> &Pruned {
        &self.pruned
    }
}

/// What single decisions need, without any target.
pub struct Conditions<'a> {
    program: &'a Program,
    transfer: Transfer<'a>,
}

impl<'a> Conditions<'a> {
    pub fn new(program: &'a Program, effects: &'a Effects<'a>) -> Conditions<'a> {
        Conditions {
            program,
            transfer: Transfer { program, effects },
        }
    }

    /// What must hold before an instruction of a block (the one with this number) for going on to a successor;
    /// `None` if that is impossible.
    pub fn of_side(&self, block: BlockId, successor: BlockId, from: u32) -> Option<Condition> {
        let end = self
            .transfer
            .along(block, successor, Condition::default())?;
        let count = self.program.block(block).instructions.len();
        self.transfer.back_over(block, from as usize..count, end)
    }
}

struct Solver<'a> {
    program: &'a Program,
    graph: &'a Graph,
    calls: &'a Calls,
    transfer: Transfer<'a>,
}

impl Solver<'_> {
    fn solve(&self, targets: &[BlockId]) -> Vec<Option<Condition>> {
        let count = self.program.blocks.len();
        let mut begins: Vec<Option<Condition>> = vec![None; count];
        let mut visits = vec![0u32; count];
        let mut queued = vec![false; count];
        let mut is_target = vec![false; count];
        let mut queue = VecDeque::new();
        for target in targets {
            is_target[target.index()] = true;
            begins[target.index()] = Some(Condition::default());
            self.wake(*target, &mut queue, &mut queued);
        }
        while let Some(block) = queue.pop_front() {
            queued[block.index()] = false;
            if is_target[block.index()] {
                continue;
            }
            visits[block.index()] += 1;
            let mut new = self.begin(block, &begins);
            if new.is_some() && visits[block.index()] > MAX_VISITS {
                new = Some(Condition::default());
            }
            if new != begins[block.index()] {
                begins[block.index()] = new;
                self.wake(block, &mut queue, &mut queued);
            }
        }
        begins
    }

    /// Queues the blocks whose conditions depend on a block's.
    fn wake(&self, block: BlockId, queue: &mut VecDeque<BlockId>, queued: &mut [bool]) {
        let code = self.program.block(block);
        let mut push = |block: BlockId| {
            if !std::mem::replace(&mut queued[block.index()], true) {
                queue.push_back(block);
            }
        };
        code.predecessors.iter().copied().for_each(&mut push);
        if self.program.function(code.function).entry() == Some(block) {
            let callers = self.calls.callers_of(code.function);
            callers.map(|call| call.spot.block).for_each(&mut push);
        }
    }

    fn begin(&self, block: BlockId, begins: &[Option<Condition>]) -> Option<Condition> {
        let code = self.program.block(block);
        let mut condition: Option<Condition> = None;
        for successor in &code.successors {
            if let Some(there) = &begins[successor.index()] {
                let here = self.transfer.along(block, *successor, there.clone());
                condition = either(condition, here);
            }
        }
        let mut calls = self.calls.of_block(block).iter().rev().peekable();
        for (number, instruction) in code.instructions.iter().enumerate().rev() {
            let number = number as u32;
            if !matches!(instruction.operation, Operation::Call { .. }) {
                condition = condition.and_then(|condition| {
                    self.transfer.before(block, number, instruction, condition)
                });
                continue;
            }
            let spot = Spot { block, number };
            let over = condition.map(|condition| self.transfer.before_call(spot, condition));
            condition = match calls.next_if(|call| call.spot == spot) {
                None => over,
                Some(call) => {
                    let comes_back = self.graph.through(&call.callees, call.outside) != FAR;
                    let mut before = over.filter(|_| comes_back);
                    for callee in &call.callees {
                        let entry = self.program.function(*callee).entry();
                        let there = entry.and_then(|entry| begins[entry.index()].clone());
                        let inside =
                            there.and_then(|there| self.transfer.entering(spot, *callee, there));
                        before = either(before, inside);
                    }
                    before
                }
            };
        }
        condition
    }

    fn prune(&self, begins: &[Option<Condition>], distances: &Distances) -> Pruned {
        let mut pruned = Pruned::default();
        let leads_there = |block: BlockId| distances.at(self.graph, block).is_some();
        for block in self.program.block_ids() {
            let code = self.program.block(block);
            for successor in &code.successors {
                let possible = || {
                    let there = begins[successor.index()].clone()?;
                    let end = self.transfer.along(block, *successor, there)?;
                    self.transfer
                        .back_over(block, 0..code.instructions.len(), end)
                };
                if leads_there(*successor) && possible().is_none() {
                    pruned.sides.insert((block, *successor));
                }
            }
            for call in self.calls.of_block(block) {
                for callee in &call.callees {
                    let Some(entry) = self.program.function(*callee).entry() else {
                        continue;
                    };
                    let possible = || {
                        let there = begins[entry.index()].clone()?;
                        let here = self.transfer.entering(call.spot, *callee, there)?;
                        self.transfer
                            .back_over(block, 0..call.spot.number as usize, here)
                    };
                    if leads_there(entry) && possible().is_none() {
                        pruned.calls.insert((call.spot, *callee));
                    }
                }
            }
        }
        pruned
    }
}

fn either(one: Option<Condition>, other: Option<Condition>) -> Option<Condition> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.or(&other)),
        (one, other) => one.or(other),
    }
}
