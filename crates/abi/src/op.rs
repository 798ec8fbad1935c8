//! The operators of the expression language.
//!
//! Expressions are bit vectors of 1 to 128 bits; floating-point operators read
//! and produce bit vectors of 32 (`float`), 64 (`double`) or 80 (`long double`)
//! bits. All operators are total, with SMT-LIB's conventions: `x / 0` is all
//! ones unsigned (signed: 1 for negative `x`, -1 otherwise), `x % 0` is `x`,
//! and shifts by at least the width give 0 (or the sign). C gives such
//! operations no meaning, so the runtime drops the label instead of recording
//! a value that the machine did not compute; the engine still asks whether
//! they can happen.
//!
//! To add an operator: add it here, then let the compiler lead you through the
//! exhaustive matches in `expr` (construction, evaluation, text, SMT-LIB).

/// What a node computes. `a`, `b`, `c` are the fields of
/// [`Node`](crate::trace::Node); unless said otherwise they name operand nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Op {
    /// Never a valid node: label 0 means "concrete".
    Nothing = 0,
    /// The constant in the node's value.
    Const,
    /// One byte of input: `a` = source index, `b` = low and `c` = high half of
    /// the offset within the source. Always 8 bits wide.
    Input,
    /// Address of a memory object's first byte; `a` = object index. 64 bits.
    /// A constant for solving purposes; says what a pointer was derived from.
    Object,
    /// Bytes read from a table at a symbolic address: `a` = the address
    /// (64 bits), `b` = table index. Little endian, `width / 8` bytes.
    Table,

    /// Bitwise complement.
    Not,
    /// Two's complement negation.
    Neg,
    /// Widened with zeros to the node's width.
    ZExt,
    /// Widened with the sign to the node's width.
    SExt,
    /// `width` bits of `a` starting at bit `c` (a number, not a node).
    Extract,
    /// `a` above `b`.
    Concat,
    /// Number of one bits, same width as `a`.
    PopCount,
    /// Leading zeros; the width for 0.
    LeadingZeros,
    /// Trailing zeros; the width for 0.
    TrailingZeros,
    /// Bytes reversed; width is a multiple of 8.
    ByteSwap,
    /// Bits reversed.
    BitReverse,

    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    SRem,
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,

    /// Comparisons have width 1. The missing ones are written with these and
    /// [`Op::Not`].
    Eq,
    Ult,
    Ule,
    Slt,
    Sle,

    /// `a` (1 bit) chooses `b` (when 1) or `c`.
    Ite,

    /// Floating-point arithmetic, round to nearest even.
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// C's `fmod`.
    FRem,
    FSqrt,
    /// Rounded to an integral value; `c` is a [`Rounding`] (a number).
    FRound,
    /// IEEE equality (false for NaN, true for 0 and -0), width 1.
    FEq,
    /// Ordered less-than, width 1.
    FLt,
    /// Ordered less-or-equal, width 1.
    FLe,
    /// Whether `a` is NaN, width 1.
    FIsNan,
    /// Between floating-point widths.
    FToF,
    /// To a signed integer of the node's width, truncating. Out of range: the
    /// runtime drops the label (the machine's answer is not C's).
    FToS,
    /// To an unsigned integer of the node's width, truncating.
    FToU,
    /// From a signed integer.
    SToF,
    /// From an unsigned integer.
    UToF,
}

impl Op {
    /// The last operator, for decoding.
    pub const LAST: Op = Op::UToF;

    /// Decodes the byte stored in a node.
    pub fn from_byte(byte: u8) -> Option<Op> {
        if byte <= Op::LAST as u8 {
            // SAFETY: the enum is `repr(u8)` with consecutive discriminants
            // from `Nothing` = 0 to `LAST`.
            Some(unsafe { core::mem::transmute::<u8, Op>(byte) })
        } else {
            None
        }
    }

    /// How many of `a`, `b`, `c` are operand nodes (they come first).
    pub fn arity(self) -> usize {
        use Op::*;
        match self {
            Nothing | Const | Input | Object => 0,
            Table | Not | Neg | ZExt | SExt | Extract | PopCount | LeadingZeros | TrailingZeros
            | ByteSwap | BitReverse | FSqrt | FRound | FIsNan | FToF | FToS | FToU | SToF
            | UToF => 1,
            Concat | Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or
            | Xor | Eq | Ult | Ule | Slt | Sle | FAdd | FSub | FMul | FDiv | FRem | FEq | FLt
            | FLe => 2,
            Ite => 3,
        }
    }

    /// Whether the result has one bit whatever the operands' width.
    pub fn is_predicate(self) -> bool {
        use Op::*;
        matches!(self, Eq | Ult | Ule | Slt | Sle | FEq | FLt | FLe | FIsNan)
    }
}

/// How [`Op::FRound`] rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rounding {
    /// To nearest, ties to even (`rint` in the default mode, `nearbyint`, `roundeven`).
    NearestEven = 0,
    /// Toward zero (`trunc`).
    TowardZero = 1,
    /// Toward minus infinity (`floor`).
    Down = 2,
    /// Toward plus infinity (`ceil`).
    Up = 3,
    /// To nearest, ties away from zero (`round`).
    NearestAway = 4,
}
