//! Floating-point comparison with all of LLVM's predicates.

use super::{binary, constant, not, or, unary};
use crate::store::{Label, Store};
use parallax_abi::Op;

/// LLVM's `fcmp` predicates, with LLVM's numbers. `O…` are false and `U…` true if an operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FloatPredicate {
    False = 0,
    Oeq = 1,
    Ogt = 2,
    Oge = 3,
    Olt = 4,
    Ole = 5,
    One = 6,
    /// Neither is NaN.
    Ord = 7,
    /// One is NaN.
    Uno = 8,
    Ueq = 9,
    Ugt = 10,
    Uge = 11,
    Ult = 12,
    Ule = 13,
    Une = 14,
    True = 15,
}

impl FloatPredicate {
    pub const ALL: [FloatPredicate; 16] = {
        use FloatPredicate::*;
        [
            False, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Uno, Ueq, Ugt, Uge, Ult, Ule, Une, True,
        ]
    };

    /// The predicate with LLVM's number `number`.
    pub fn from_number(number: u32) -> Option<FloatPredicate> {
        FloatPredicate::ALL.get(number as usize).copied()
    }
}

/// Compares two floating-point values; one bit.
pub fn fcmp<S: Store + ?Sized>(s: &mut S, predicate: FloatPredicate, a: Label, b: Label) -> Label {
    use FloatPredicate::*;
    match predicate {
        False => constant(s, 1, 0),
        True => constant(s, 1, 1),
        Oeq => binary(s, Op::FEq, a, b),
        Olt => binary(s, Op::FLt, a, b),
        Ole => binary(s, Op::FLe, a, b),
        Ogt => binary(s, Op::FLt, b, a),
        Oge => binary(s, Op::FLe, b, a),
        One => {
            let below = binary(s, Op::FLt, a, b);
            let above = binary(s, Op::FLt, b, a);
            or(s, below, above)
        }
        Uno => {
            let first = unary(s, Op::FIsNan, a, 1, 0);
            let second = unary(s, Op::FIsNan, b, 1, 0);
            or(s, first, second)
        }
        Ord | Ueq | Ugt | Uge | Ult | Ule | Une => {
            let opposite = fcmp(s, negated(predicate), a, b);
            not(s, opposite)
        }
    }
}

/// True where `predicate` is false.
fn negated(predicate: FloatPredicate) -> FloatPredicate {
    let index = FloatPredicate::ALL.len() - 1 - predicate as usize;
    FloatPredicate::ALL[index]
}
