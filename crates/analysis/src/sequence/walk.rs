//! Which marked statements can come next: the control flow between statements, across functions.
//!
//! A call leads into what it calls, and over it if that can be passed without coming to a marked statement. A return leads to
//! wherever the function is called from, unless the walk itself entered it. Coming back into the middle of a statement is not
//! executing it once more.

use std::collections::HashSet;

use crate::Analysis;
use crate::calls::Call;
use crate::dependence::{Dependences, Meaning, Node, StatementId};
use crate::program::{BlockId, FunctionId, Spot, Terminator};

/// What a walk knows of where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct At {
    spot: Spot,
    /// The statement that it is in the middle of.
    inside: Option<StatementId>,
    /// The function was entered on this walk.
    entered: bool,
}

/// Walks through one program, between marked statements.
pub struct Walks<'w> {
    analysis: &'w Analysis,
    dependences: &'w Dependences,
    is_marked: Vec<bool>,
    /// Statements that end walks, whereas what they call comes before them: `puts(name(x))`.
    is_end: Vec<bool>,
    /// Per function: can be passed without coming to a mark.
    passes: Vec<bool>,
}

impl<'w> Walks<'w> {
    pub fn new(
        analysis: &'w Analysis,
        dependences: &'w Dependences,
        is_marked: Vec<bool>,
        is_end: Vec<bool>,
    ) -> Walks<'w> {
        let functions = analysis.program.functions.len();
        let mut walks = Walks {
            analysis,
            dependences,
            is_marked,
            is_end,
            passes: vec![false; functions],
        };
        loop {
            let mut changed = false;
            for id in analysis.program.function_ids() {
                if !walks.passes[id.index()] && walks.can_pass(id) {
                    walks.passes[id.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                return walks;
            }
        }
    }

    fn can_pass(&self, id: FunctionId) -> bool {
        let Some(entry) = self.analysis.program.function(id).entry() else {
            return false;
        };
        let mut returned = false;
        self.walk(vec![start_of(entry)], None, true, |_| {}, &mut |block| {
            let code = self.analysis.program.block(block);
            returned |= code.function == id;
        });
        returned
    }

    /// Statements that can come next after one.
    pub fn after(&self, statement: StatementId) -> Vec<StatementId> {
        self.found(self.spots(statement).collect(), Some(statement), false)
    }

    fn spots(&self, statement: StatementId) -> impl Iterator<Item = Spot> {
        let nodes = self.dependences.statements.get(statement).nodes.iter();
        let meaning = |node: &Node| {
            let nodes = &self.dependences.nodes;
            nodes.meaning(&self.analysis.program, *node)
        };
        nodes.filter_map(move |node| match meaning(node) {
            Meaning::Spot(spot) => Some(spot),
            _ => None,
        })
    }

    fn call(&self, spot: Spot) -> Option<&Call> {
        let mut calls = self.analysis.calls.of_block(spot.block).iter();
        calls.find(|call| call.spot == spot)
    }

    /// Where a walk is that enters what is called at a spot.
    fn entries(&self, spot: Spot) -> impl Iterator<Item = At> {
        let callees = self.call(spot).into_iter().flat_map(|call| &call.callees);
        let entries = callees.filter_map(|callee| self.analysis.program.function(*callee).entry());
        entries.map(|entry| At {
            spot: start_of(entry),
            inside: None,
            entered: true,
        })
    }

    /// Statements that can come first.
    pub fn first(&self, entry: BlockId) -> Vec<StatementId> {
        self.found(vec![start_of(entry)], None, false)
    }

    fn found(
        &self,
        from: Vec<Spot>,
        inside: Option<StatementId>,
        entered: bool,
    ) -> Vec<StatementId> {
        let mut found = Vec::new();
        self.walk(from, inside, entered, |next| found.push(next), &mut |_| {});
        found.sort_unstable();
        found.dedup();
        found
    }

    fn statement(&self, spot: Spot) -> Option<StatementId> {
        let node = self.dependences.nodes.spot(&self.analysis.program, spot);
        self.dependences.statements.of(node)
    }

    /// Goes on from spots until marked statements; `returned` hears of blocks at whose end the walk would leave what it entered.
    fn walk(
        &self,
        from: Vec<Spot>,
        inside: Option<StatementId>,
        entered: bool,
        mut found: impl FnMut(StatementId),
        returned: &mut dyn FnMut(BlockId),
    ) {
        let program = &self.analysis.program;
        let mut seen: HashSet<At> = HashSet::new();
        let mut work: Vec<At> = from
            .into_iter()
            .map(|spot| At {
                spot,
                inside,
                entered,
            })
            .collect();
        while let Some(mut at) = work.pop() {
            if let Some(here) = self.statement(at.spot) {
                if at.inside != Some(here) && self.is_marked[here.index()] {
                    found(here);
                    if self.is_end[here.index()] {
                        let spots = self.spots(here);
                        work.extend(spots.flat_map(|spot| self.entries(spot)));
                    }
                    continue;
                }
                at.inside = Some(here);
            }
            if !seen.insert(at) {
                continue;
            }
            let block = program.block(at.spot.block);
            if (at.spot.number as usize) < block.instructions.len() {
                let goes_over = self.call(at.spot).is_none_or(|call| {
                    let mut callees = call.callees.iter();
                    call.outside || callees.any(|callee| self.passes[callee.index()])
                });
                work.extend(self.entries(at.spot));
                if goes_over {
                    work.push(At {
                        spot: behind(at.spot),
                        ..at
                    });
                }
                continue;
            }
            for successor in &block.successors {
                work.push(At {
                    spot: start_of(*successor),
                    ..at
                });
            }
            if matches!(block.terminator, Terminator::Return(_)) {
                match at.entered {
                    true => returned(at.spot.block),
                    false => {
                        for call in self.analysis.calls.callers_of(block.function) {
                            work.push(At {
                                spot: behind(call.spot),
                                inside: self.statement(call.spot),
                                entered: false,
                            });
                        }
                    }
                }
            }
        }
    }
}

fn start_of(block: BlockId) -> Spot {
    Spot { block, number: 0 }
}

fn behind(spot: Spot) -> Spot {
    Spot {
        number: spot.number + 1,
        ..spot
    }
}
