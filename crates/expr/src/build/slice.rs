//! Taking values apart and putting them together: rules 8 to 10.
//!
//! Memory is bytes, so every store and load goes through here: what was taken apart must come
//! back as the value that it was.

use super::term::{Term, constant_of, make};
use super::{binary, concat as join, constant, extract as cut, ite, sext, unary, zext};
use crate::bits::{mask, shift_left, slice};
use crate::store::{Label, Store};
use parallax_abi::Op;

pub(super) fn zero_extend<S: Store + ?Sized>(s: &mut S, x: Term, to: u32) -> Label {
    if to <= x.width {
        return x.label;
    }
    match x.op {
        Op::Const => constant(s, to, x.value),
        Op::ZExt => zext(s, x.a, to),
        _ => make::unary(s, Op::ZExt, x, to, 0),
    }
}

pub(super) fn sign_extend<S: Store + ?Sized>(s: &mut S, x: Term, to: u32) -> Label {
    if to <= x.width {
        return x.label;
    }
    match x.op {
        Op::SExt => sext(s, x.a, to),
        Op::ZExt => zext(s, x.a, to),
        _ if super::assemble::known_zeros(s, &x) >> (x.width - 1) & 1 == 1 => zero_extend(s, x, to),
        _ => make::unary(s, Op::SExt, x, to, 0),
    }
}

pub(super) fn extract<S: Store + ?Sized>(s: &mut S, x: Term, low: u32, length: u32) -> Label {
    let (mut x, mut low) = (x, low);
    // A loop, not recursion: chains of operators can be as deep as the trace allows.
    loop {
        if length >= x.width {
            return x.label;
        }
        match x.op {
            Op::Const => return constant(s, length, slice(x.value, low, length)),
            Op::Extract => {
                low += x.c;
                x = Term::get(s, x.a);
            }
            Op::ZExt | Op::SExt => {
                let inner = Term::get(s, x.a);
                if low + length > inner.width {
                    return extract_extension(s, x.op, inner, low, length);
                }
                x = inner;
            }
            Op::Concat => {
                let below = u32::from(s.node(x.b).width);
                if low >= below {
                    low -= below;
                    x = Term::get(s, x.a);
                } else if low + length <= below {
                    x = Term::get(s, x.b);
                } else if comes_apart(s, &x, low, length) {
                    let high = cut(s, x.a, 0, low + length - below);
                    let rest = cut(s, x.b, low, below - low);
                    return join(s, high, rest);
                } else {
                    break;
                }
            }
            Op::Shl => match constant_of(s, x.b) {
                Some(amount) if u128::from(low) >= amount => {
                    low -= amount as u32;
                    x = Term::get(s, x.a);
                }
                Some(amount) if u128::from(low + length) <= amount => {
                    return constant(s, length, 0);
                }
                _ => break,
            },
            Op::ByteSwap if length == 8 && low.is_multiple_of(8) => {
                low = x.width - 8 - low;
                x = Term::get(s, x.a);
            }
            Op::And | Op::Or | Op::Xor => match trivial_slice(s, &x, low, length) {
                Trivial::Constant(value) => return constant(s, length, value),
                Trivial::Operand => x = Term::get(s, x.a),
                Trivial::No => break,
            },
            _ => break,
        }
    }
    if moves_down(s, &x, low, length, FUEL) {
        return match x.op.arity() {
            1 => {
                let a = cut(s, x.a, low, length);
                unary(s, x.op, a, 0, 0)
            }
            2 => {
                let a = cut(s, x.a, low, length);
                let b = cut(s, x.b, low, length);
                binary(s, x.op, a, b)
            }
            _ => {
                let a = cut(s, x.b, low, length);
                let b = cut(s, x.c, low, length);
                ite(s, x.a, a, b)
            }
        };
    }
    make::unary(s, Op::Extract, x, length, low)
}

/// Bits of an extension of `inner` that reach into the part that was added.
fn extract_extension<S: Store + ?Sized>(
    s: &mut S,
    op: Op,
    inner: Term,
    low: u32,
    length: u32,
) -> Label {
    if op == Op::ZExt && low >= inner.width {
        return constant(s, length, 0);
    }
    let low = low.min(inner.width - 1);
    let kept = extract(s, inner, low, inner.width - low);
    unary(s, op, kept, length, 0)
}

/// What a bitwise operator with a constant does to some of the bits.
enum Trivial {
    Constant(u128),
    Operand,
    No,
}

fn trivial_slice<S: Store + ?Sized>(s: &S, x: &Term, low: u32, length: u32) -> Trivial {
    let Some(k) = constant_of(s, x.b) else {
        return Trivial::No;
    };
    let k = slice(k, low, length);
    let ones = mask(length);
    match x.op {
        Op::And if k == 0 => Trivial::Constant(0),
        Op::Or if k == ones => Trivial::Constant(ones),
        Op::And if k == ones => Trivial::Operand,
        Op::Or | Op::Xor if k == 0 => Trivial::Operand,
        _ => Trivial::No,
    }
}

/// How far [`comes_apart`] looks: a concatenation of sixteen bytes, or two
/// levels of operators.
const FUEL: u32 = 20;
const OPERATOR_FUEL: u32 = 8;

/// Whether these bits of `x` can be had without leaving an extract where there was none.
pub(super) fn comes_apart<S: Store + ?Sized>(s: &S, x: &Term, low: u32, length: u32) -> bool {
    apart(s, *x, low, length, FUEL)
}

fn apart<S: Store + ?Sized>(s: &S, x: Term, low: u32, length: u32, fuel: u32) -> bool {
    let (mut x, mut low, mut length, mut fuel) = (x, low, length, fuel);
    loop {
        if length >= x.width {
            return true;
        }
        if fuel == 0 {
            return false;
        }
        fuel -= 1;
        match x.op {
            Op::Const | Op::Extract => return true,
            Op::ZExt | Op::SExt => {
                let inner = Term::get(s, x.a);
                if low + length > inner.width {
                    if low == 0 || (x.op == Op::ZExt && low >= inner.width) {
                        return true;
                    }
                    low = low.min(inner.width - 1);
                    length = inner.width - low;
                }
                x = inner;
            }
            Op::Concat => {
                let below = Term::get(s, x.b);
                if low >= below.width {
                    low -= below.width;
                    x = Term::get(s, x.a);
                } else if low + length <= below.width {
                    x = below;
                } else {
                    let above = Term::get(s, x.a);
                    if !apart(s, above, 0, low + length - below.width, fuel) {
                        return false;
                    }
                    length = below.width - low;
                    x = below;
                }
            }
            Op::Shl => match constant_of(s, x.b) {
                Some(amount) if u128::from(low) >= amount => {
                    low -= amount as u32;
                    x = Term::get(s, x.a);
                }
                Some(amount) => return u128::from(low + length) <= amount,
                None => return false,
            },
            Op::ByteSwap if length == 8 && low.is_multiple_of(8) => {
                low = x.width - 8 - low;
                x = Term::get(s, x.a);
            }
            Op::And | Op::Or | Op::Xor => match trivial_slice(s, &x, low, length) {
                Trivial::Constant(_) => return true,
                Trivial::Operand => x = Term::get(s, x.a),
                Trivial::No => return moves_down(s, &x, low, length, fuel),
            },
            _ => return moves_down(s, &x, low, length, fuel),
        }
    }
}

/// Whether an extract of `x` can become `x`'s operator on narrower operands.
fn moves_down<S: Store + ?Sized>(s: &S, x: &Term, low: u32, length: u32, fuel: u32) -> bool {
    let (first, second) = match x.op {
        Op::Not => (x.a, x.a),
        Op::And | Op::Or | Op::Xor => (x.a, x.b),
        Op::Neg if low == 0 => (x.a, x.a),
        Op::Add | Op::Sub | Op::Mul if low == 0 => (x.a, x.b),
        Op::Ite => (x.b, x.c),
        _ => return false,
    };
    if fuel < OPERATOR_FUEL {
        return false;
    }
    let fuel = fuel - OPERATOR_FUEL;
    apart(s, Term::get(s, first), low, length, fuel)
        && (first == second || apart(s, Term::get(s, second), low, length, fuel))
}

pub(super) fn concat<S: Store + ?Sized>(s: &mut S, high: Term, low: Term) -> Label {
    let width = high.width + low.width;
    if is_copies_of_top_bit(s, &high, low) {
        return sext(s, low.label, width);
    }
    match high.op {
        Op::Const if high.value == 0 => return zext(s, low.label, width),
        Op::ZExt | Op::SExt => {
            let narrow = join(s, high.a, low.label);
            return unary(s, high.op, narrow, width, 0);
        }
        Op::Concat => {
            let rest = join(s, high.b, low.label);
            return join(s, high.a, rest);
        }
        _ => {}
    }
    let (first, rest) = match low.op {
        Op::Concat => (Term::get(s, low.a), Some(low.b)),
        _ => (low, None),
    };
    if let Some(fused) = fuse(s, &high, &first) {
        return match rest {
            Some(rest) => join(s, fused, rest),
            None => fused,
        };
    }
    if let (Some(k), Op::ZExt) = (high.constant(), low.op) {
        let inner = u32::from(s.node(low.a).width);
        let k = constant(s, width - inner, shift_left(k, low.width - inner));
        return join(s, k, low.a);
    }
    make::binary(s, Op::Concat, high, low)
}

/// Two neighbours as one, if they are constants or adjacent parts of one value.
fn fuse<S: Store + ?Sized>(s: &mut S, high: &Term, low: &Term) -> Option<Label> {
    let width = high.width + low.width;
    if let (Some(p), Some(q)) = (high.constant(), low.constant()) {
        return Some(constant(s, width, p << low.width | q));
    }
    // A part of a value may have been simplified to something that is no extract any more:
    // then the extract that would be adjacent simplifies to the same label.
    if high.op == Op::Extract && high.c >= low.width {
        let start = high.c - low.width;
        if is_part(s, high.a, start, low) {
            return Some(cut(s, high.a, start, width));
        }
    }
    if low.op == Op::Extract && low.c + width <= u32::from(s.node(low.a).width) {
        let start = low.c + low.width;
        if is_part(s, low.a, start, high) {
            return Some(cut(s, low.a, low.c, width));
        }
    }
    None
}

/// Whether `part` is the bits of `whole` from bit `start` on.
fn is_part<S: Store + ?Sized>(s: &mut S, whole: Label, start: u32, part: &Term) -> bool {
    if part.op == Op::Extract && part.a == whole {
        return part.c == start;
    }
    let whole = Term::get(s, whole);
    comes_apart(s, &whole, start, part.width) && extract(s, whole, start, part.width) == part.label
}

/// Whether every bit of `high` is the top bit of `low`.
fn is_copies_of_top_bit<S: Store + ?Sized>(s: &S, high: &Term, low: Term) -> bool {
    let bit = match high.op {
        Op::SExt => Term::get(s, high.a),
        _ => *high,
    };
    if bit.width != 1 || bit.op == Op::Const {
        return false;
    }
    let mut low = low;
    loop {
        if low.label == bit.label {
            return true;
        }
        if bit.op == Op::Extract {
            let from_whole = low.label == bit.a && bit.c == low.width - 1;
            let from_part =
                low.op == Op::Extract && low.a == bit.a && low.c + low.width - 1 == bit.c;
            if from_whole || from_part {
                return true;
            }
        }
        match low.op {
            Op::SExt | Op::Concat => low = Term::get(s, low.a),
            _ => return false,
        }
    }
}
