//! Shifts and byte swaps: rules 4, 11 and 19.

use super::slice::comes_apart;
use super::term::{Term, make};
use super::{concat, constant, extract, sext, zext};
use crate::bits::mask;
use crate::store::{Label, Store};
use parallax_abi::Op;

pub(super) fn shift<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, y: Term) -> Label {
    let width = x.width;
    if let Some(value) = x.constant() {
        let fixed = value == 0 || (op == Op::AShr && value == mask(width));
        return if fixed {
            x.label
        } else {
            make::binary(s, op, x, y)
        };
    }
    let Some(amount) = y.constant() else {
        return make::binary(s, op, x, y);
    };
    if amount == 0 {
        return x.label;
    }
    if op == Op::AShr {
        let amount = amount.min(u128::from(width - 1)) as u32;
        let high = extract(s, x.label, amount, width - amount);
        return sext(s, high, width);
    }
    if amount >= u128::from(width) {
        return constant(s, width, 0);
    }
    let amount = amount as u32;
    if op == Op::LShr {
        let high = extract(s, x.label, amount, width - amount);
        return zext(s, high, width);
    }
    if let Some(inner) = x.with_constant(s, Op::Shl) {
        let total = constant(s, width, inner + u128::from(amount));
        return super::binary(s, Op::Shl, x.a, total);
    }
    match left_as_concat(s, x, amount) {
        Some(label) => label,
        None => make::binary(s, op, x, y),
    }
}

/// `x << amount` as a concatenation with zeros, if the low part of `x` can be
/// had without an extract.
pub(super) fn left_as_concat<S: Store + ?Sized>(s: &mut S, x: Term, amount: u32) -> Option<Label> {
    let rest = x.width - amount;
    if x.op == Op::ZExt && u32::from(s.node(x.a).width) <= rest {
        // The usual case, a byte moved to its place, without a narrower extension on the way.
        let zeros = constant(s, amount, 0);
        let placed = concat(s, x.a, zeros);
        return Some(zext(s, placed, x.width));
    }
    if !comes_apart(s, &x, 0, rest) {
        return None;
    }
    let low = extract(s, x.label, 0, rest);
    let zeros = constant(s, amount, 0);
    Some(concat(s, low, zeros))
}

pub(super) fn byte_swap<S: Store + ?Sized>(s: &mut S, x: Term) -> Label {
    if x.width == 8 {
        return x.label;
    }
    if x.op == Op::ByteSwap {
        return x.a;
    }
    if !is_single_bytes(s, x) {
        return make::unary(s, Op::ByteSwap, x, 0, 0);
    }
    // The lowest byte of the result is the highest of the operand.
    let mut result = extract(s, x.label, x.width - 8, 8);
    for byte in (0..x.width / 8 - 1).rev() {
        let piece = extract(s, x.label, 8 * byte, 8);
        result = concat(s, piece, result);
    }
    result
}

/// Whether `x` is a concatenation of bytes, each a term of its own.
fn is_single_bytes<S: Store + ?Sized>(s: &S, mut x: Term) -> bool {
    while x.op == Op::Concat {
        if s.node(x.a).width != 8 {
            return false;
        }
        x = Term::get(s, x.b);
    }
    x.width == 8
}
