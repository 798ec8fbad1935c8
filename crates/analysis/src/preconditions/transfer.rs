//! Conditions, backwards over single instructions and edges.
//!
//! A condition behind an instruction becomes one before it: results are replaced by what they are computed from, what is stored
//! to a variable by the stored value, and whatever may have changed in a way that is not understood is forgotten.

use super::condition::{Atom, Condition, Key};
use super::values::{Values, largest, unsigned};
use crate::effects::{Effects, Variable, base_of};
use crate::program::{
    Arithmetic, BlockId, Conversion, FunctionId, Instruction, Operand, Operation, Predicate,
    Program, Spot, Terminator,
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
    fn behind(&self, function: FunctionId, operand: Operand, offset: i64) -> Option<Atom> {
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

    /// What must hold for the result of an operation to be in a set.
    fn require_result(
        &self,
        function: FunctionId,
        operation: &Operation,
        key: Key,
        values: &Values,
        condition: Condition,
    ) -> Option<Condition> {
        let require = |operand: Operand, width: u16, mask: u64, values: &Values| {
            let key = Key { width, mask, ..key };
            require(function, operand, key, values, condition.clone())
        };
        let is_whole = key.mask == largest(key.width);
        match operation {
            Operation::Load { address, width, .. } if *width == key.width => {
                match self.behind(function, *address, 0) {
                    Some(atom) => condition.and(Key { atom, ..key }, values),
                    None => Some(condition),
                }
            }
            Operation::Compare {
                predicate,
                left,
                right,
                width,
            } if *width != 0 => {
                let (operand, predicate, constant) = match (left, right) {
                    (operand, Operand::Constant(constant)) => (operand, *predicate, *constant),
                    (Operand::Constant(constant), operand) => {
                        (operand, mirrored(*predicate), *constant)
                    }
                    _ => return Some(condition),
                };
                let satisfying = Values::satisfying(predicate, constant, *width);
                match (values.contains(1), values.contains(0)) {
                    (true, true) => Some(condition),
                    (true, false) => require(*operand, *width, largest(*width), &satisfying),
                    (false, true) => {
                        let other = satisfying.complement();
                        require(*operand, *width, largest(*width), &other)
                    }
                    (false, false) => None,
                }
            }
            Operation::Convert {
                kind, value, from, ..
            } => match kind {
                Conversion::ZeroExtend => {
                    let narrow = values.before_zero_extension(*from);
                    require(*value, *from, key.mask & largest(*from), &narrow)
                }
                Conversion::SignExtend if is_whole => {
                    let narrow = values.before_sign_extension(*from);
                    require(*value, *from, largest(*from), &narrow)
                }
                Conversion::SignExtend => Some(condition),
                Conversion::Truncate => require(*value, *from, key.mask, &values.widened(*from)),
                Conversion::Same => require(*value, *from, key.mask, values),
            },
            Operation::Arithmetic {
                operator,
                left,
                right,
                width,
            } => {
                let (operand, constant) = match (left, right, operator) {
                    (operand, Operand::Constant(constant), _) => (*operand, *constant),
                    (
                        Operand::Constant(constant),
                        operand,
                        Arithmetic::And | Arithmetic::Or | Arithmetic::Xor | Arithmetic::Add,
                    ) => (*operand, *constant),
                    _ => return Some(condition),
                };
                let constant = unsigned(constant, *width);
                let single = values.single();
                match operator {
                    Arithmetic::And => require(operand, *width, key.mask & constant, values),
                    Arithmetic::Or if key.mask & constant == 0 => {
                        require(operand, *width, key.mask, values)
                    }
                    Arithmetic::Or if key.mask & !constant == 0 => {
                        values.contains(key.mask).then_some(condition)
                    }
                    Arithmetic::Or => match single {
                        Some(value) if value & constant & key.mask != constant & key.mask => None,
                        Some(value) => {
                            let rest = Values::one(value & !constant, *width);
                            require(operand, *width, key.mask & !constant, &rest)
                        }
                        None => Some(condition),
                    },
                    Arithmetic::Xor => match single {
                        Some(value) => {
                            let other = Values::one((value ^ constant) & key.mask, *width);
                            require(operand, *width, key.mask, &other)
                        }
                        None => Some(condition),
                    },
                    Arithmetic::Add if is_whole => {
                        let before = values.shifted(constant.wrapping_neg());
                        require(operand, *width, key.mask, &before)
                    }
                    Arithmetic::Subtract if is_whole => {
                        require(operand, *width, key.mask, &values.shifted(constant))
                    }
                    Arithmetic::ShiftRightLogical if constant < u64::from(*width) => {
                        let bits = largest(*width) >> constant & key.mask;
                        match single {
                            Some(value) if value & !bits != 0 => None,
                            Some(value) => {
                                let before = Values::one(value << constant, *width);
                                require(operand, *width, bits << constant, &before)
                            }
                            None => Some(condition),
                        }
                    }
                    _ => Some(condition),
                }
            }
            Operation::Select {
                condition: chosen,
                then: Operand::Constant(then),
                otherwise: Operand::Constant(otherwise),
                width,
            } if *width != 0 => {
                let fits = |value: i64| values.contains(unsigned(value, *width) & key.mask);
                match (fits(*then), fits(*otherwise)) {
                    (true, true) => Some(condition),
                    (true, false) => require(*chosen, 1, 1, &Values::one(1, 1)),
                    (false, true) => require(*chosen, 1, 1, &Values::one(0, 1)),
                    (false, false) => None,
                }
            }
            _ => Some(condition),
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

/// The key of a whole value, to be completed by [`require`].
fn whole(function: FunctionId, width: u16) -> Key {
    Key {
        atom: Atom::Value(function, 0),
        width,
        mask: largest(width),
    }
}

/// Adds that some bits of an operand must be in a set; the key's atom does not matter.
fn require(
    function: FunctionId,
    operand: Operand,
    key: Key,
    values: &Values,
    condition: Condition,
) -> Option<Condition> {
    match operand {
        Operand::Constant(constant) => values
            .contains(unsigned(constant, key.width) & key.mask)
            .then_some(condition),
        // Addresses of variables and functions are not null.
        Operand::Global { .. } | Operand::Function(_) => {
            (values.single() != Some(0) || key.mask != largest(key.width)).then_some(condition)
        }
        Operand::Unknown => Some(condition),
        Operand::Value(value) => {
            let atom = Atom::Value(function, value);
            let values = possible(values, key.mask, key.width);
            condition.and(Key { atom, ..key }, &values)
        }
    }
}

/// Leaves out what masking makes impossible, where that is cheap to say.
fn possible(values: &Values, mask: u64, width: u16) -> Values {
    match mask.count_ones() {
        0 => values.intersection(&Values::one(0, width)),
        1 => {
            let bit = Values::one(mask, width).union(&Values::one(0, width));
            values.intersection(&bit)
        }
        _ => values.clone(),
    }
}

/// The predicate with its sides exchanged.
fn mirrored(predicate: Predicate) -> Predicate {
    match predicate {
        Predicate::Equal => Predicate::Equal,
        Predicate::Different => Predicate::Different,
        Predicate::UnsignedLess => Predicate::UnsignedGreater,
        Predicate::UnsignedLessOrEqual => Predicate::UnsignedGreaterOrEqual,
        Predicate::UnsignedGreater => Predicate::UnsignedLess,
        Predicate::UnsignedGreaterOrEqual => Predicate::UnsignedLessOrEqual,
        Predicate::SignedLess => Predicate::SignedGreater,
        Predicate::SignedLessOrEqual => Predicate::SignedGreaterOrEqual,
        Predicate::SignedGreater => Predicate::SignedLess,
        Predicate::SignedGreaterOrEqual => Predicate::SignedLessOrEqual,
    }
}
