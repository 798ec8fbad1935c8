//! Conditions, backwards over single instructions and edges.
//!
//! A condition behind an instruction becomes one before it: results are replaced by what they are computed from, what is stored
//! to a variable by the stored value, and whatever may have changed in a way that is not understood is forgotten.

use std::ops::Range;

use super::condition::{Atom, Condition, Key};
use super::require::{require, whole};
use super::values::{Values, unsigned};
use crate::effects::{Effects, Variable, base_of};
use crate::program::{
    BlockId, Conversion, FunctionId, Instruction, Operand, Operation, Program, Spot, Terminator,
};

/// Offsets of two accesses further apart than this do not overlap.
const WIDEST: i64 = 16;

pub struct Transfer<'a> {
    pub program: &'a Program,
    pub effects: &'a Effects<'a>,
}

impl Transfer<'_> {
    /// What must hold before an instruction that is no call, given what must hold behind it. `None`: nothing can
    /// make that true.
    pub fn before(
        &self,
        block: BlockId,
        number: u32,
        instruction: &Instruction,
        condition: Condition,
    ) -> Option<Condition> {
        if condition.is_trivial() {
            return Some(condition);
        }
        let code = self.program.block(block);
        let function = code.function;
        match &instruction.operation {
            Operation::Store {
                address,
                value,
                width,
                size,
            } => self.before_store(
                Spot { block, number },
                *address,
                (*value, *width, *size),
                condition,
            ),
            Operation::Copy { to, .. } | Operation::Fill { to, .. } => {
                Some(self.before_unknown_write(function, *to, condition))
            }
            Operation::Phi { .. } => Some(condition),
            operation => {
                let value = code.first_value + number;
                let mut condition =
                    self.before_definition(function, value, operation, condition)?;
                if let Operation::Other { operands, .. } = operation {
                    for operand in operands {
                        condition = self.before_unknown_write(function, *operand, condition);
                    }
                }
                Some(condition)
            }
        }
    }

    /// What must hold before the first of some instructions of a block for what must hold behind the last: contradictions
    /// between a branch and what is behind it show when both have been traced back to variables.
    pub fn back_over(
        &self,
        block: BlockId,
        instructions: Range<usize>,
        mut condition: Condition,
    ) -> Option<Condition> {
        for number in instructions.rev() {
            let instruction = &self.program.block(block).instructions[number];
            let number = number as u32;
            condition = match instruction.operation {
                Operation::Call { .. } => self.before_call(Spot { block, number }, condition),
                _ => self.before(block, number, instruction, condition)?,
            };
        }
        Some(condition)
    }

    /// What must hold before a call that comes back, given what must hold behind it.
    pub fn before_call(&self, spot: Spot, mut condition: Condition) -> Condition {
        let code = self.program.block(spot.block);
        let result = code.first_value + spot.number;
        let memory = self.effects.call_changes_memory(spot);
        condition.forget(|key| match key.atom {
            Atom::Value(function, value) | Atom::BehindValue(function, value, _) => {
                function == code.function && value == result
                    || memory && matches!(key.atom, Atom::BehindValue(..))
            }
            Atom::Memory(variable, _) => self.effects.call_changes(spot, variable),
            Atom::Behind(variable, ..) => memory || self.effects.call_changes(spot, variable),
        });
        condition
    }

    /// What must hold before a call, for what must hold at the begin of the callee.
    pub fn entering(
        &self,
        spot: Spot,
        callee: FunctionId,
        mut condition: Condition,
    ) -> Option<Condition> {
        let code = self.program.block(spot.block);
        let caller = code.function;
        let Operation::Call { arguments, .. } = &code.instructions[spot.number as usize].operation
        else {
            return Some(Condition::default());
        };
        let said: Vec<(Key, Values)> = condition.take(|key| match key.atom {
            Atom::Value(..) | Atom::BehindValue(..) => true,
            // The callee's variables are new; all others belong to functions that it knows nothing of.
            Atom::Memory(variable, _) | Atom::Behind(variable, ..) => {
                matches!(variable, Variable::Local(..))
            }
        });
        for (key, values) in said {
            let (parameter, behind) = match key.atom {
                Atom::Value(function, value) if function == callee => (value, None),
                Atom::BehindValue(function, value, offset) if function == callee => {
                    (value, Some(offset))
                }
                _ => continue,
            };
            let Some(argument) = arguments.get(parameter as usize) else {
                continue;
            };
            let parameters = self.program.function(callee).parameters.len();
            if parameter as usize >= parameters {
                continue;
            }
            condition = match behind {
                None => require(caller, *argument, key, &values, condition)?,
                Some(offset) => match self.behind(caller, *argument, offset) {
                    Some(atom) => condition.and(Key { atom, ..key }, &values)?,
                    None => condition,
                },
            };
        }
        Some(condition)
    }

    /// What must hold at the end of a block for going on to a successor, given what must hold there.
    pub fn along(&self, from: BlockId, to: BlockId, mut condition: Condition) -> Option<Condition> {
        let code = self.program.block(from);
        let function = code.function;
        let target = self.program.block(to);
        for (number, instruction) in (0..).zip(&target.instructions) {
            let Operation::Phi { incoming, .. } = &instruction.operation else {
                break;
            };
            let value = target.first_value + number;
            let here = from.0 - self.program.function(function).blocks.start;
            let Some((_, operand)) = incoming.iter().find(|(block, _)| *block == here) else {
                continue;
            };
            condition = self.replace(function, value, condition, |key, values, condition| {
                require(function, *operand, key, values, condition)
            })?;
            condition = self.rebase(function, value, *operand, condition)?;
        }
        let number = |block: u32| self.program.successor(function, block);
        match &code.terminator {
            Terminator::Branch {
                condition: operand,
                then,
                otherwise,
            } if then != otherwise => {
                let side = Values::one(u64::from(number(*then) == to), 1);
                require(function, *operand, whole(function, 1), &side, condition)
            }
            Terminator::Switch {
                value,
                width,
                default,
                cases,
            } => {
                let mut values = if number(*default) == to {
                    Values::all(*width)
                } else {
                    Values::none(*width)
                };
                let mut there = Values::none(*width);
                let mut elsewhere = Values::none(*width);
                for (case, block) in cases {
                    let one = Values::one(unsigned(*case, *width), *width);
                    if number(*block) == to {
                        there = there.union(&one);
                    } else {
                        elsewhere = elsewhere.union(&one);
                    }
                }
                values = values.intersection(&elsewhere.complement()).union(&there);
                require(
                    function,
                    *value,
                    whole(function, *width),
                    &values,
                    condition,
                )
            }
            _ => Some(condition),
        }
    }

    /// Replaces what is said about a value.
    fn replace(
        &self,
        function: FunctionId,
        value: u32,
        mut condition: Condition,
        by: impl Fn(Key, &Values, Condition) -> Option<Condition>,
    ) -> Option<Condition> {
        let said = condition.take(|key| key.atom == Atom::Value(function, value));
        for (key, values) in said {
            condition = by(key, &values, condition)?;
        }
        Some(condition)
    }

    /// Replaces what is said about memory behind a value that is an operand, whatever the operand is.
    fn rebase(
        &self,
        function: FunctionId,
        value: u32,
        operand: Operand,
        mut condition: Condition,
    ) -> Option<Condition> {
        let said = condition.take(
            |key| matches!(key.atom, Atom::BehindValue(f, v, _) if f == function && v == value),
        );
        for (key, values) in said {
            let Atom::BehindValue(_, _, offset) = key.atom else {
                continue;
            };
            if let Some(atom) = self.behind(function, operand, offset) {
                condition = condition.and(Key { atom, ..key }, &values)?;
            }
        }
        Some(condition)
    }

    /// The memory at an offset from where an operand points to.
    pub(super) fn behind(
        &self,
        function: FunctionId,
        operand: Operand,
        offset: i64,
    ) -> Option<Atom> {
        match base_of(self.program, function, operand) {
            Some((variable, Some(begin))) => Some(Atom::Memory(variable, begin + offset)),
            Some((_, None)) => None,
            None => match operand {
                Operand::Value(value) => Some(Atom::BehindValue(function, value, offset)),
                _ => None,
            },
        }
    }

    fn before_definition(
        &self,
        function: FunctionId,
        value: u32,
        operation: &Operation,
        condition: Condition,
    ) -> Option<Condition> {
        let condition = self.replace(function, value, condition, |key, values, condition| {
            self.require_result(function, operation, key, values, condition)
        })?;
        match operation {
            Operation::Offset {
                base,
                constant,
                scaled,
                ..
            } if scaled.is_empty() => {
                let mut condition = condition;
                let said = condition.take(|key| {
                    matches!(key.atom, Atom::BehindValue(f, v, _) if f == function && v == value)
                });
                for (key, values) in said {
                    let Atom::BehindValue(_, _, offset) = key.atom else {
                        continue;
                    };
                    if let Some(atom) = self.behind(function, *base, offset + constant) {
                        condition = condition.and(Key { atom, ..key }, &values)?;
                    }
                }
                Some(condition)
            }
            Operation::Convert {
                kind: Conversion::Same,
                value: operand,
                ..
            } => self.rebase(function, value, *operand, condition),
            Operation::Load { address, .. } => {
                let mut condition = condition;
                let said = condition.take(|key| {
                    matches!(key.atom, Atom::BehindValue(f, v, _) if f == function && v == value)
                });
                let Some((variable, Some(begin))) = base_of(self.program, function, *address)
                else {
                    return Some(condition);
                };
                for (key, values) in said {
                    if let Atom::BehindValue(_, _, offset) = key.atom {
                        let atom = Atom::Behind(variable, begin, offset);
                        condition = condition.and(Key { atom, ..key }, &values)?;
                    }
                }
                Some(condition)
            }
            _ => {
                let mut condition = condition;
                condition.forget(|key| {
                    matches!(key.atom, Atom::BehindValue(f, v, _) if f == function && v == value)
                });
                Some(condition)
            }
        }
    }

    fn before_store(
        &self,
        spot: Spot,
        address: Operand,
        (value, width, size): (Operand, u16, u32),
        mut condition: Condition,
    ) -> Option<Condition> {
        let function = self.program.block(spot.block).function;
        let target = base_of(self.program, function, address);
        let place = match target {
            Some((variable, Some(offset))) => Some(Atom::Memory(variable, offset)),
            Some((_, None)) => None,
            None => self.path_of(spot, address),
        };
        // Nobody knows the pointer's value here but by its name, so exactly that name is replaced.
        let exact = |key: &Key| match (key.atom, place) {
            (Atom::BehindValue(f, v, 0), _) => f == function && address == Operand::Value(v),
            (atom, Some(place)) => atom == place,
            _ => false,
        };
        let said = condition.take(|key| width != 0 && key.width == width && exact(key));
        // Pointers that are stored: what was behind the variable is behind the stored value.
        let pointers = match target {
            Some((variable, Some(offset))) => condition.take(
                |key| matches!(key.atom, Atom::Behind(v, o, _) if v == variable && o == offset),
            ),
            _ => Vec::new(),
        };
        let size = i64::from(size);
        condition.forget(|key| match key.atom {
            Atom::Value(..) => false,
            Atom::Memory(variable, offset) => match target {
                Some((stored, at)) => {
                    stored == variable
                        && at.is_none_or(|at| offset < at + size && at < offset + WIDEST)
                }
                None => self
                    .effects
                    .store_changes(function, address, variable, offset),
            },
            Atom::Behind(variable, at, offset) => match (target, place) {
                (Some((stored, _)), _) => stored == variable || self.effects.escapes(stored),
                // The same pointer, another field.
                (None, Some(Atom::Behind(v, a, o))) if v == variable && a == at => {
                    offset < o + size && o < offset + WIDEST
                }
                _ => true,
            },
            Atom::BehindValue(..) => target.is_none_or(|(stored, _)| self.effects.escapes(stored)),
        });
        for (key, values) in said {
            condition = require(function, value, key, &values, condition)?;
        }
        for (key, values) in pointers {
            if let Atom::Behind(_, _, offset) = key.atom
                && let Some(atom) = self.behind(function, value, offset)
            {
                condition = condition.and(Key { atom, ..key }, &values)?;
            }
        }
        Some(condition)
    }

    /// The memory that an address leads to through a variable that is loaded just before in the same block.
    fn path_of(&self, spot: Spot, address: Operand) -> Option<Atom> {
        let code = self.program.block(spot.block);
        let mut distance = 0;
        let mut operand = address;
        loop {
            let Operand::Value(value) = operand else {
                return None;
            };
            let number = value.checked_sub(code.first_value)?;
            if number >= spot.number {
                return None;
            }
            match &code.instructions[number as usize].operation {
                Operation::Offset {
                    base,
                    constant,
                    scaled,
                    ..
                } if scaled.is_empty() => {
                    distance += constant;
                    operand = *base;
                }
                Operation::Load { address, .. } => {
                    let (variable, Some(offset)) = base_of(self.program, code.function, *address)?
                    else {
                        return None;
                    };
                    let between = &code.instructions[number as usize..spot.number as usize];
                    let is_quiet = between.iter().all(|instruction| {
                        !matches!(
                            instruction.operation,
                            Operation::Store { .. }
                                | Operation::Call { .. }
                                | Operation::Copy { .. }
                                | Operation::Fill { .. }
                                | Operation::Other { .. }
                        )
                    });
                    return is_quiet.then_some(Atom::Behind(variable, offset, distance));
                }
                _ => return None,
            }
        }
    }

    fn before_unknown_write(
        &self,
        function: FunctionId,
        address: Operand,
        mut condition: Condition,
    ) -> Condition {
        let target = base_of(self.program, function, address);
        condition.forget(|key| match key.atom {
            Atom::Value(..) => false,
            Atom::Memory(variable, offset) => match target {
                Some((written, _)) => written == variable,
                None => {
                    matches!(address, Operand::Value(_))
                        && self
                            .effects
                            .store_changes(function, address, variable, offset)
                }
            },
            Atom::Behind(..) | Atom::BehindValue(..) => true,
        });
        condition
    }
}
