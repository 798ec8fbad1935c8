//! Where the values come from that a branch depends on.
//!
//! When a condition is concrete in every run, its variables have to be given other values: by other definitions. For each side of a
//! branch this names the variables that it reads, the values that they need to have, and all statements that may
//! define them, those first that are known to do what is needed (KATCH's definition switching). Right-hand sides that are no
//! constants read variables themselves, so one can go on from there.
//!
//! Local variables whose address stays in the function are followed along the control flow; all other memory by the points-to
//! analysis.

mod reaching;
mod reads;
mod writes;

use std::sync::Arc;

use crate::calls::Calls;
use crate::effects::{Effects, Variable};
use crate::pointsto::{Object, Place, PointsTo};
use crate::preconditions::{Atom, Conditions, Values};
use crate::program::{BlockId, FunctionId, Operand, Operation, Program, Spot, Terminator};
pub use reads::{Alternative, Read, Value};
pub use writes::Writes;

/// A variable, parameter or result that a side of a branch depends on.
#[derive(Clone, Debug)]
pub struct Need {
    pub read: Read,
    /// What it has to be, if that is known.
    pub values: Option<Values>,
    /// Bits of it that matter; all of them if the values say so or nothing is known.
    pub mask: u64,
    /// The best first.
    pub definitions: Vec<Definition>,
}

/// A statement that may give a variable its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The store, call or return; `None` for what a variable holds at first.
    pub spot: Option<Spot>,
    pub alternative: Alternative,
    /// Whether the value is one that is needed; `None` if that cannot be told from the code.
    pub fits: Option<bool>,
}

/// All that is needed to find definitions.
pub struct Definitions<'a> {
    program: &'a Program,
    calls: &'a Calls,
    points: &'a PointsTo,
    effects: &'a Effects<'a>,
    writes: Arc<Writes>,
}

impl<'a> Definitions<'a> {
    pub fn new(
        program: &'a Program,
        calls: &'a Calls,
        points: &'a PointsTo,
        effects: &'a Effects<'a>,
    ) -> Definitions<'a> {
        let writes = Arc::new(Writes::new(program, points));
        Definitions::with(program, calls, points, effects, writes)
    }

    /// The same for whoever keeps what is written where.
    pub fn with(
        program: &'a Program,
        calls: &'a Calls,
        points: &'a PointsTo,
        effects: &'a Effects<'a>,
        writes: Arc<Writes>,
    ) -> Definitions<'a> {
        Definitions {
            program,
            calls,
            points,
            effects,
            writes,
        }
    }

    /// What a side of a branch depends on. Empty if it depends on nothing, or cannot be taken at all.
    pub fn needs(&self, block: BlockId, successor: BlockId) -> Vec<Need> {
        let code = self.program.block(block);
        let operand = match &code.terminator {
            Terminator::Branch { condition, .. } => *condition,
            Terminator::Switch { value, .. } => *value,
            _ => return Vec::new(),
        };
        let conditions = Conditions::new(self.program, self.effects);
        if conditions.of_side(block, successor, 0).is_none() {
            return Vec::new();
        }
        let reads = reads::of_operand(self.program, code.function, operand);
        let mut needs = Vec::new();
        for read in reads {
            let from = match &read {
                Read::Memory { spot, .. } if spot.block == block => spot.number,
                Read::Result(spot) if spot.block == block => spot.number + 1,
                _ => 0,
            };
            let side = conditions.of_side(block, successor, from);
            let wanted = side.as_ref().and_then(|condition| {
                let mut parts = condition.parts().iter();
                let part = parts.find(|(key, _)| self.is_same(key.atom, &read));
                part.map(|(key, values)| (key.mask, values.clone()))
            });
            let (mask, values) = match wanted {
                Some((mask, values)) => (mask, Some(values)),
                None => (u64::MAX, None),
            };
            let mut definitions = self.of_read(&read);
            judge(&mut definitions, mask, values.as_ref());
            needs.push(Need {
                read,
                values,
                mask,
                definitions,
            });
        }
        needs
    }

    /// Whether what a condition speaks of is what was read.
    fn is_same(&self, atom: Atom, read: &Read) -> bool {
        match (atom, read) {
            (Atom::Memory(variable, offset), Read::Memory { address, spot, .. }) => {
                let function = self.program.block(spot.block).function;
                crate::effects::base_of(self.program, function, *address)
                    == Some((variable, Some(offset)))
            }
            (Atom::Value(function, value), Read::Parameter(of, number)) => {
                function == *of && value == *number
            }
            (Atom::Value(function, value), Read::Result(spot)) => {
                let block = self.program.block(spot.block);
                function == block.function && value == block.first_value + spot.number
            }
            (Atom::BehindValue(function, value, 0), Read::Memory { address, spot, .. }) => {
                *address == Operand::Value(value)
                    && self.program.block(spot.block).function == function
            }
            (Atom::Behind(variable, at, offset), Read::Memory { address, spot, .. }) => {
                reads::path(self.program, *spot, *address) == Some((variable, at, offset))
            }
            _ => false,
        }
    }

    /// All statements that may have given a value that is read. `fits` is open.
    pub fn of_read(&self, read: &Read) -> Vec<Definition> {
        let definitions = match read {
            Read::Memory {
                address,
                spot,
                size,
                ..
            } => self.of_memory(*spot, *address, *size),
            Read::Parameter(function, number) => self.of_parameter(*function, *number),
            Read::Result(spot) => self.of_result(*spot),
        };
        let open = |(spot, alternative)| Definition {
            spot,
            alternative,
            fits: None,
        };
        definitions.into_iter().map(open).collect()
    }

    fn of_memory(
        &self,
        spot: Spot,
        address: Operand,
        size: u32,
    ) -> Vec<(Option<Spot>, Alternative)> {
        let function = self.program.block(spot.block).function;
        if let Some((variable, Some(offset))) =
            crate::effects::base_of(self.program, function, address)
            && matches!(variable, Variable::Local(..))
            && !self.effects.escapes(variable)
        {
            let found = reaching::definitions(self.program, spot, variable, offset, size);
            return self.described(found.into_iter().map(Some));
        }
        let mut found: Vec<Option<Spot>> = Vec::new();
        let mut initial = Vec::new();
        for place in self.places(spot, address) {
            found.extend(self.writes.to(place).map(Some));
            initial.extend(self.initial(place));
        }
        found.sort_unstable();
        found.dedup();
        let mut definitions = self.described(found.into_iter());
        let initial = initial.into_iter();
        definitions.extend(initial.map(|value| (None, Alternative::constant(None, value))));
        definitions
    }

    /// Where an address may point to, also if only the code around it tells.
    fn places(&self, spot: Spot, address: Operand) -> Vec<Place> {
        let function = self.program.block(spot.block).function;
        if let Some((variable, Some(offset))) =
            crate::effects::base_of(self.program, function, address)
        {
            let object = match variable {
                Variable::Local(function, value) => Object::Local(function, value),
                Variable::Global(global) => Object::Global(global),
            };
            let begin = Place { object, offset: 0 };
            return vec![self.points.shifted(self.program, begin, offset)];
        }
        self.points.places(self.program, function, address)
    }

    /// What a global holds at first, if it is a number.
    fn initial(&self, place: Place) -> Option<i64> {
        let Object::Global(id) = place.object else {
            return None;
        };
        let global = self.program.global(id);
        if !global.numbers_complete || global.linkage == crate::program::Linkage::Declared {
            return None;
        }
        let number = global
            .numbers
            .iter()
            .find(|(offset, _, _)| *offset == u64::from(place.offset));
        let is_pointer = global
            .pointers
            .iter()
            .any(|(offset, _)| *offset == u64::from(place.offset));
        (!is_pointer).then(|| number.map_or(0, |(_, _, value)| *value))
    }

    fn of_parameter(&self, function: FunctionId, number: u32) -> Vec<(Option<Spot>, Alternative)> {
        let mut definitions = Vec::new();
        for call in self.calls.callers_of(function) {
            let block = self.program.block(call.spot.block);
            if let Operation::Call { arguments, .. } =
                &block.instructions[call.spot.number as usize].operation
                && let Some(argument) = arguments.get(number as usize)
            {
                let alternatives = reads::alternatives(self.program, block.function, *argument);
                definitions.extend(alternatives.into_iter().map(|one| (Some(call.spot), one)));
            }
        }
        definitions
    }

    fn of_result(&self, spot: Spot) -> Vec<(Option<Spot>, Alternative)> {
        let calls = self.calls.of_block(spot.block).iter();
        let mut definitions = Vec::new();
        for callee in calls
            .filter(|call| call.spot == spot && !call.outside)
            .flat_map(|call| &call.callees)
        {
            for block in self.program.function(*callee).block_ids() {
                let code = self.program.block(block);
                let Terminator::Return(Some(value)) = code.terminator else {
                    continue;
                };
                let end = Spot {
                    block,
                    number: code.instructions.len() as u32,
                };
                let alternatives = reads::alternatives(self.program, *callee, value);
                definitions.extend(alternatives.into_iter().map(|one| (Some(end), one)));
            }
        }
        definitions
    }

    /// What statements store, with all alternatives.
    fn described(
        &self,
        spots: impl Iterator<Item = Option<Spot>>,
    ) -> Vec<(Option<Spot>, Alternative)> {
        let mut definitions = Vec::new();
        for spot in spots.flatten() {
            let block = self.program.block(spot.block);
            match &block.instructions[spot.number as usize].operation {
                Operation::Store { value, .. } => {
                    let alternatives = reads::alternatives(self.program, block.function, *value);
                    definitions.extend(alternatives.into_iter().map(|one| (Some(spot), one)));
                }
                Operation::Fill {
                    value: Operand::Constant(0),
                    ..
                } => definitions.push((Some(spot), Alternative::constant(None, 0))),
                _ => definitions.push((Some(spot), Alternative::unknown())),
            }
        }
        definitions
    }
}

/// Says which definitions give a value that is needed, and brings these to the front.
pub fn judge(definitions: &mut [Definition], mask: u64, values: Option<&Values>) {
    for definition in definitions.iter_mut() {
        definition.fits = fits(definition.alternative.value.constant(), mask, values);
    }
    definitions.sort_by_key(|definition| match definition.fits {
        Some(true) => 0,
        None => 1,
        Some(false) => 2,
    });
}

fn fits(constant: Option<i64>, mask: u64, values: Option<&Values>) -> Option<bool> {
    let (constant, values) = (constant?, values?);
    Some(values.contains(constant as u64 & mask))
}
