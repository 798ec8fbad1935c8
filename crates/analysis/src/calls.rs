//! Who calls whom.
//!
//! Direct calls are in the code. Calls through pointers come from the points-to analysis, joined with what was seen
//! in runs. A function outside of the program that is handed a function calls it back.

use std::collections::{BTreeSet, HashMap};

use parallax_abi::SiteId;

use crate::program::{BlockId, Callee, FunctionId, Operation, Program, Spot};

/// One call that can enter code of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    pub spot: Spot,
    /// Functions of the program that it can enter, in order.
    pub callees: Vec<FunctionId>,
    /// It can also be answered outside of the program: by a library, or by a function that nobody could name.
    pub outside: bool,
}

/// Where calls that are not written down lead: the result of an analysis, or an observation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Calls through pointers.
    pub indirect: HashMap<Spot, BTreeSet<FunctionId>>,
    /// Calls of functions outside of the program that call back.
    pub callbacks: HashMap<Spot, BTreeSet<FunctionId>>,
}

impl Resolution {
    /// Adds that the call at a site was seen to enter a function. Names that the program does not have, or has more than
    /// once, are no use.
    pub fn observe(&mut self, program: &Program, call: SiteId, callee: &str) {
        let Some(callee) = program.function_named(callee) else {
            return;
        };
        for spot in program.instructions_of(call) {
            let block = program.block(spot.block);
            let operation = block.instructions.get(spot.number as usize);
            let known = match operation.map(|instruction| &instruction.operation) {
                Some(Operation::Call {
                    callee: Callee::Pointer(_),
                    ..
                }) => &mut self.indirect,
                Some(Operation::Call { .. }) => &mut self.callbacks,
                _ => continue,
            };
            known.entry(*spot).or_default().insert(callee);
        }
    }

    /// Adds what another one knows.
    pub fn join(&mut self, other: &Resolution) {
        for (spot, functions) in &other.indirect {
            self.indirect.entry(*spot).or_default().extend(functions);
        }
        for (spot, functions) in &other.callbacks {
            self.callbacks.entry(*spot).or_default().extend(functions);
        }
    }
}

/// All calls of a program that enter code of the program.
#[derive(Debug, Default)]
pub struct Calls {
    list: Vec<Call>,
    /// Per block, where its calls begin in the list; one more at the end.
    first: Vec<u32>,
    /// Per function, the calls that can enter it.
    callers: Vec<Vec<u32>>,
    /// Calls through pointers for which no callee is known.
    unresolved: Vec<Spot>,
}

impl Calls {
    pub fn new(program: &Program, resolution: &Resolution) -> Calls {
        let mut calls = Calls {
            callers: vec![Vec::new(); program.functions.len()],
            ..Calls::default()
        };
        for block in program.block_ids() {
            calls.first.push(calls.list.len() as u32);
            for (number, instruction) in (0..).zip(&program.block(block).instructions) {
                let Operation::Call { callee, .. } = &instruction.operation else {
                    continue;
                };
                let spot = Spot { block, number };
                calls.add(program, spot, *callee, resolution);
            }
        }
        calls.first.push(calls.list.len() as u32);
        calls
    }

    fn add(&mut self, program: &Program, spot: Spot, callee: Callee, resolution: &Resolution) {
        let is_defined = |function: &FunctionId| program.function(*function).is_defined();
        let (callees, outside): (Vec<FunctionId>, bool) = match callee {
            Callee::Function(index) if is_defined(&FunctionId(index)) => {
                (vec![FunctionId(index)], false)
            }
            Callee::Function(_) => {
                let back = resolution.callbacks.get(&spot).into_iter().flatten();
                (back.copied().filter(is_defined).collect(), true)
            }
            Callee::Pointer(_) => {
                let Some(known) = resolution.indirect.get(&spot) else {
                    self.unresolved.push(spot);
                    return;
                };
                let callees: Vec<FunctionId> = known.iter().copied().filter(is_defined).collect();
                let outside = callees.len() < known.len();
                (callees, outside)
            }
            Callee::Assembly => return,
        };
        if callees.is_empty() {
            return;
        }
        let number = self.list.len() as u32;
        for callee in &callees {
            self.callers[callee.index()].push(number);
        }
        self.list.push(Call {
            spot,
            callees,
            outside,
        });
    }

    pub fn all(&self) -> &[Call] {
        &self.list
    }

    /// The calls of a block that enter code of the program, in order.
    pub fn of_block(&self, block: BlockId) -> &[Call] {
        let from = self.first[block.index()] as usize;
        &self.list[from..self.first[block.index() + 1] as usize]
    }

    /// The calls that can enter a function.
    pub fn callers_of(&self, function: FunctionId) -> impl Iterator<Item = &Call> {
        let numbers = self.callers[function.index()].iter();
        numbers.map(|number| &self.list[*number as usize])
    }

    /// Calls through pointers for which no callee is known.
    pub fn unresolved(&self) -> &[Spot] {
        &self.unresolved
    }
}
