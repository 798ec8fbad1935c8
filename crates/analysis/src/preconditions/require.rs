//! What must hold of the operands for a result to be in a set.

use super::condition::{Atom, Condition, Key};
use super::transfer::Transfer;
use super::values::{Values, largest, unsigned};
use crate::program::{Arithmetic, Conversion, FunctionId, Operand, Operation, Predicate};

impl Transfer<'_> {
    /// What must hold for the result of an operation to be in a set.
    pub(super) fn require_result(
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
}

/// The key of a whole value, to be completed by [`require`].
pub fn whole(function: FunctionId, width: u16) -> Key {
    Key {
        atom: Atom::Value(function, 0),
        width,
        mask: largest(width),
    }
}

/// Adds that some bits of an operand must be in a set; the key's atom does not matter.
pub fn require(
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
