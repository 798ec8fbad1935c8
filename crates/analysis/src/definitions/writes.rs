//! Which statements may write to a place in memory.

use std::collections::HashMap;

use crate::effects::{Variable, base_of};
use crate::pointsto::{Object, Place, PointsTo};
use crate::program::{Callee, FunctionId, Operand, Operation, Program, Spot};

/// Pointers to more places than this say nothing about any of them.
const MAX_PLACES: usize = 64;

/// All statements that write, by where they write to.
#[derive(Debug, Default)]
pub struct Writes {
    by_place: HashMap<Place, Vec<Spot>>,
    /// Copies, fills and functions outside: some or all of the object.
    by_object: HashMap<Object, Vec<Spot>>,
}

impl Writes {
    pub fn new(program: &Program, points: &PointsTo) -> Writes {
        let mut writes = Writes::default();
        for block in program.block_ids() {
            let code = program.block(block);
            for (number, instruction) in (0..).zip(&code.instructions) {
                let spot = Spot { block, number };
                let function = code.function;
                match &instruction.operation {
                    Operation::Store { address, .. } => {
                        for place in places(program, points, function, *address) {
                            writes.by_place.entry(place).or_default().push(spot);
                        }
                    }
                    Operation::Copy { to, .. } | Operation::Fill { to, .. } => {
                        writes.whole(program, points, function, *to, spot);
                    }
                    Operation::Call {
                        callee: Callee::Function(index),
                        arguments,
                        ..
                    } if !program.functions[*index as usize].is_defined() => {
                        // Only what is handed over by name: `scanf ("%d", &x)`.
                        for argument in arguments {
                            if base_of(program, function, *argument).is_some() {
                                writes.whole(program, points, function, *argument, spot);
                            }
                        }
                    }
                    _ => {}
                }
            }
        }
        writes
    }

    fn whole(
        &mut self,
        program: &Program,
        points: &PointsTo,
        function: FunctionId,
        operand: Operand,
        spot: Spot,
    ) {
        for place in places(program, points, function, operand) {
            let spots = self.by_object.entry(place.object).or_default();
            if spots.last() != Some(&spot) {
                spots.push(spot);
            }
        }
    }

    /// The statements that may write to a place, in the program's order.
    pub fn to(&self, place: Place) -> impl Iterator<Item = Spot> {
        let exact = self.by_place.get(&place).into_iter().flatten();
        let whole = self.by_object.get(&place.object).into_iter().flatten();
        exact.chain(whole).copied()
    }
}

fn places(
    program: &Program,
    points: &PointsTo,
    function: FunctionId,
    address: Operand,
) -> Vec<Place> {
    if let Some((variable, offset)) = base_of(program, function, address) {
        let object = match variable {
            Variable::Local(function, value) => Object::Local(function, value),
            Variable::Global(global) => Object::Global(global),
        };
        let begin = Place { object, offset: 0 };
        if let Some(offset) = offset {
            return vec![points.shifted(program, begin, offset)];
        }
    }
    let places = points.places(program, function, address);
    if places.len() > MAX_PLACES {
        return Vec::new();
    }
    places
}
