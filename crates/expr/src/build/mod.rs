//! Canonical construction: the only way in which expressions are made.
//!
//! Every function returns the label of a node that equals the requested
//! expression for *all* inputs (rules never look at the concrete values of
//! anything but constants), and never a larger one (operators and
//! constants counted, complements of one bit not). The result may be
//! an operand or a constant. Callers pass nonzero labels and make constants
//! themselves; the result is 0 if the store is full, if an operand was 0, or if a
//! conversion from floating point has no value (see [`eval`]).
//!
//! # Canonical form
//!
//! Written with C operators; `k`, `k1`, `k2` are constants, `~0` has all bits set.
//!
//! 1. *Folding.* An operator whose operands are constants is a constant.
//! 2. *Order.* Commutative integer operators and equality have their constant on the right,
//!    otherwise the lower label on the left. (Floating-point `+` and `*` keep their
//!    order: NaN payloads depend on it.)
//! 3. *Constants gather.* `(x+k1)+k2`, and the same for `*`, `&`, `|`, `^`, is one operation;
//!    `x-k` is `x+(-k)`; constants in sums move outward, `(x+k)+y` is `(x+y)+k`.
//! 4. *Neutral and absorbing operands.* `x+0`, `x*1`, `x*0`, `x&0`, `x&~0`, `x|0`, `x|~0`, `x^0`,
//!    `x/1`, `x%1`, shifts by 0 and by the width or more, shifts of 0.
//! 5. *Same operand twice.* `x-x`, `x^x`, `x&x`, `x|x`, `x&~x`, `x|~x`, `x==x`, `x<x`, `x<=x`;
//!    also one level down: `(x+y)-x`, `(x-y)+y`, `(x^y)^x`, `(x&y)&x`, `(x|y)|x`.
//! 6. *Negation.* `0-x` and `x*-1` are `-x`; `-(-x)` is `x`; `-(x-y)` is `y-x`; `x+(-y)` is `x-y`;
//!    `~(~x)` is `x`; `x^~0` is `~x`; `~(x^k)` is `x^~k`; `!(x<y)` is `y<=x` and `!(x<=y)` is
//!    `y<x`. `!(x==y)` stays.
//! 7. *One bit.* On one bit `+` and `-` are `^`, `*` is `&`, `x==1` is `x`, `x==0` is `!x`.
//! 8. *Extract of* a constant, extract, extension, concatenation, constant shift, byte swap
//!    picks from its operand. Through `& | ^ ~`, `+ - *` (low bits only) and
//!    the conditional it moves down where no extract stays behind.
//! 9. *Concat* nests to the right; adjacent extracts of one value fuse; adjacent constants
//!    fuse; a zero high part is a zero extension; extensions of the high part move outward.
//! 10. *Extension* of an extension is one extension; a sign extension whose sign is 0 is a zero extension;
//!     copies of the top bit above a value are a sign extension.
//! 11. *Shifts by constants* to the right are extensions of extracts; to the left (also as
//!     multiplication by a power of two) they are a concatenation with zeros where the operand comes apart.
//! 12. *Masks.* `& k` of an extension or concatenation works on the parts; a mask of whole low bytes is
//!     the extension of an extract.
//! 13. *Disjoint bits.* `|`, `^`, `+` of values that cannot both have a bit set, made of extensions,
//!     concatenations and constant shifts or masks, are concatenations: `b[0] | b[1]<<8` is `b[1]` above `b[0]`.
//! 14. *Bitwise operators and conditionals on extensions* work on the narrow values.
//! 15. *Division of a zero extension by a constant* is narrow and unsigned; by a power of two a shift or mask.
//! 16. *Equality with a constant* is solved for the operand of `+`, `-`, `^`, `~`, odd `*`, byte and
//!     bit reversal, extension, concatenation with a constant part, conditional of constants;
//!     `x-y==0` and `x^y==0` are `x==y`; equal parts of both sides are dropped.
//! 17. *Order comparison* of extensions, of a concatenation with a constant part and of a conditional of constants with a constant is
//!     narrower; at the ends of the range it is an equality or a constant.
//! 18. *Conditionals.* A constant or negated condition, equal sides, a side that repeats the
//!     condition; `c?1:0` is `c` (extended), `c?~0:0` its sign extension; on one bit a constant
//!     side makes it `&` or `|`.
//! 19. *Byte swap* of bytes is their concatenation in the other order; swapping or reversing twice is nothing.
//! 20. *Table reads* at a constant address are the table's bytes.

mod arith;
mod assemble;
mod bitwise;
mod choose;
mod compare;
mod float;
mod leaf;
mod shift;
mod slice;
mod term;
pub mod verbatim;

pub use float::{FloatPredicate, fcmp};
pub use leaf::{bytes, constant, input, object, table};

use crate::eval;
use crate::store::{Label, Store};
use parallax_abi::Op;
use term::{Term, make};

/// Any one-operand operator. `to` is the width of the result of extensions,
/// conversions and [`Op::Extract`], else ignored; `extra` is
/// `Extract`'s low bit or [`Op::FRound`]'s mode, else ignored.
pub fn unary<S: Store + ?Sized>(s: &mut S, op: Op, a: Label, to: u32, extra: u32) -> Label {
    if a == 0 {
        return 0;
    }
    let x = Term::get(s, a);
    if let Some(value) = x.constant() {
        let width = eval::unary_width(op, x.width, to);
        return match eval::unary(op, x.width, width, extra, value) {
            Some(value) => constant(s, width, value),
            None => 0,
        };
    }
    match op {
        Op::Not => choose::not(s, x),
        Op::Neg => arith::negate(s, x),
        Op::ZExt => slice::zero_extend(s, x, to),
        Op::SExt => slice::sign_extend(s, x, to),
        Op::Extract => slice::extract(s, x, extra, to),
        Op::ByteSwap => shift::byte_swap(s, x),
        Op::BitReverse if x.op == Op::BitReverse => x.a,
        Op::FToF if x.width == to => a,
        Op::FRound => make::unary(s, op, x, to, extra),
        _ => make::unary(s, op, x, to, 0),
    }
}

/// Any two-operand operator. Both operands have the same width, except [`Op::Concat`]'s.
pub fn binary<S: Store + ?Sized>(s: &mut S, op: Op, a: Label, b: Label) -> Label {
    if a == 0 || b == 0 {
        return 0;
    }
    let (x, y) = (Term::get(s, a), Term::get(s, b));
    if let (Some(p), Some(q)) = (x.constant(), y.constant()) {
        return fold(s, op, &x, &y, p, q);
    }
    match op {
        Op::Add => arith::add(s, x, y),
        Op::Sub => arith::subtract(s, x, y),
        Op::Mul => arith::multiply(s, x, y),
        Op::UDiv | Op::SDiv | Op::URem | Op::SRem => arith::divide(s, op, x, y),
        Op::Shl | Op::LShr | Op::AShr => shift::shift(s, op, x, y),
        Op::And => bitwise::and(s, x, y),
        Op::Or => bitwise::or(s, x, y),
        Op::Xor => bitwise::xor(s, x, y),
        Op::Eq => compare::equal(s, x, y),
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => compare::less(s, op, x, y),
        Op::Concat => slice::concat(s, x, y),
        Op::FEq => {
            let (x, y) = term::ordered(x, y);
            make::binary(s, op, x, y)
        }
        _ => make::binary(s, op, x, y),
    }
}

fn fold<S: Store + ?Sized>(s: &mut S, op: Op, x: &Term, y: &Term, p: u128, q: u128) -> Label {
    let operand_width = if op == Op::Concat { y.width } else { x.width };
    match eval::binary(op, operand_width, p, q) {
        Some(value) => constant(s, make::binary_width(op, x, y), value),
        None => 0,
    }
}

/// `if c then a else b`; `c` has one bit.
pub fn ite<S: Store + ?Sized>(s: &mut S, c: Label, a: Label, b: Label) -> Label {
    if c == 0 || a == 0 || b == 0 {
        return 0;
    }
    let (c, x, y) = (Term::get(s, c), Term::get(s, a), Term::get(s, b));
    choose::ite(s, c, x, y)
}

/// `length` bits of `a` from bit `low` on.
pub fn extract<S: Store + ?Sized>(s: &mut S, a: Label, low: u32, length: u32) -> Label {
    unary(s, Op::Extract, a, length, low)
}

/// `high` above `low`.
pub fn concat<S: Store + ?Sized>(s: &mut S, high: Label, low: Label) -> Label {
    binary(s, Op::Concat, high, low)
}

/// Widened with zeros to `to` bits.
pub fn zext<S: Store + ?Sized>(s: &mut S, a: Label, to: u32) -> Label {
    unary(s, Op::ZExt, a, to, 0)
}

/// Widened with the sign to `to` bits.
pub fn sext<S: Store + ?Sized>(s: &mut S, a: Label, to: u32) -> Label {
    unary(s, Op::SExt, a, to, 0)
}

/// Bitwise complement.
pub fn not<S: Store + ?Sized>(s: &mut S, a: Label) -> Label {
    unary(s, Op::Not, a, 0, 0)
}

/// Two's complement negation.
pub fn neg<S: Store + ?Sized>(s: &mut S, a: Label) -> Label {
    unary(s, Op::Neg, a, 0, 0)
}

/// Sum.
pub fn add<S: Store + ?Sized>(s: &mut S, a: Label, b: Label) -> Label {
    binary(s, Op::Add, a, b)
}

/// Difference.
pub fn sub<S: Store + ?Sized>(s: &mut S, a: Label, b: Label) -> Label {
    binary(s, Op::Sub, a, b)
}

/// Bitwise and; on one bit the logical one.
pub fn and<S: Store + ?Sized>(s: &mut S, a: Label, b: Label) -> Label {
    binary(s, Op::And, a, b)
}

/// Bitwise or; on one bit the logical one.
pub fn or<S: Store + ?Sized>(s: &mut S, a: Label, b: Label) -> Label {
    binary(s, Op::Or, a, b)
}

/// Equality, one bit.
pub fn eq<S: Store + ?Sized>(s: &mut S, a: Label, b: Label) -> Label {
    binary(s, Op::Eq, a, b)
}
