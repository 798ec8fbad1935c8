//! Sums, products and quotients: rules 3 to 7, 11 and 15.

use super::term::{Term, constant_of, make, ordered};
use super::{add as sum, and, assemble, bitwise, choose, constant, extract, neg, shift, sub, zext};
use crate::bits::{mask, sign_bit};
use crate::store::{Label, Store};
use parallax_abi::Op;

fn add_constant<S: Store + ?Sized>(s: &mut S, x: Label, width: u32, k: u128) -> Label {
    let k = constant(s, width, k);
    sum(s, x, k)
}

fn constant_minus<S: Store + ?Sized>(s: &mut S, width: u32, k: u128, x: Label) -> Label {
    let k = constant(s, width, k);
    sub(s, k, x)
}

pub(super) fn add<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (x, y) = ordered(x, y);
    let width = x.width;
    if width == 1 {
        return bitwise::xor(s, x, y);
    }
    if let Some(k) = y.constant() {
        return add_to_constant(s, x, y, k);
    }
    if let Some(k) = x.with_constant(s, Op::Add) {
        let rest = sum(s, x.a, y.label);
        return add_constant(s, rest, width, k);
    }
    if let Some(k) = y.with_constant(s, Op::Add) {
        let rest = sum(s, x.label, y.a);
        return add_constant(s, rest, width, k);
    }
    if y.op == Op::Neg {
        return sub(s, x.label, y.a);
    }
    if x.op == Op::Neg {
        return sub(s, y.label, x.a);
    }
    if x.op == Op::Sub && x.b == y.label {
        return x.a;
    }
    if y.op == Op::Sub && y.b == x.label {
        return y.a;
    }
    match assemble::disjoint(s, x, y) {
        Some(label) => label,
        None => make::binary(s, Op::Add, x, y),
    }
}

fn add_to_constant<S: Store + ?Sized>(s: &mut S, x: Term, y: Term, k: u128) -> Label {
    let width = x.width;
    if k == 0 {
        return x.label;
    }
    match x.op {
        Op::Add => {
            if let Some(inner) = constant_of(s, x.b) {
                return add_constant(s, x.a, width, inner.wrapping_add(k));
            }
        }
        Op::Sub => {
            if let Some(inner) = constant_of(s, x.a) {
                return constant_minus(s, width, inner.wrapping_add(k), x.b);
            }
        }
        // ~x is -1 - x.
        Op::Not => return constant_minus(s, width, k.wrapping_sub(1), x.a),
        Op::Neg => return constant_minus(s, width, k, x.a),
        _ => {}
    }
    make::binary(s, Op::Add, x, y)
}

pub(super) fn subtract<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let width = x.width;
    if x.label == y.label {
        return constant(s, width, 0);
    }
    if width == 1 {
        return bitwise::xor(s, x, y);
    }
    if let Some(k) = y.constant() {
        return add_constant(s, x.label, width, k.wrapping_neg());
    }
    if let Some(k) = x.constant() {
        return subtract_from_constant(s, x, y, k);
    }
    if y.op == Op::Neg {
        return sum(s, x.label, y.a);
    }
    if let Some(label) = common_addend(s, &x, &y) {
        return label;
    }
    let outer_x = x.with_constant(s, Op::Add);
    let outer_y = y.with_constant(s, Op::Add);
    if outer_x.is_some() || outer_y.is_some() {
        let left = if outer_x.is_some() { x.a } else { x.label };
        let right = if outer_y.is_some() { y.a } else { y.label };
        let rest = sub(s, left, right);
        let k = outer_x.unwrap_or(0).wrapping_sub(outer_y.unwrap_or(0));
        return add_constant(s, rest, width, k);
    }
    make::binary(s, Op::Sub, x, y)
}

fn subtract_from_constant<S: Store + ?Sized>(s: &mut S, x: Term, y: Term, k: u128) -> Label {
    let width = x.width;
    if k == 0 {
        return neg(s, y.label);
    }
    if k == mask(width) {
        return choose::not(s, y);
    }
    match y.op {
        Op::Add => {
            if let Some(inner) = constant_of(s, y.b) {
                return constant_minus(s, width, k.wrapping_sub(inner), y.a);
            }
        }
        Op::Sub => {
            if let Some(inner) = constant_of(s, y.a) {
                return add_constant(s, y.b, width, k.wrapping_sub(inner));
            }
        }
        Op::Neg => return add_constant(s, y.a, width, k),
        Op::Not => return add_constant(s, y.a, width, k.wrapping_add(1)),
        _ => {}
    }
    make::binary(s, Op::Sub, x, y)
}

/// Rule 5 for differences: an addend that both sides share goes.
fn common_addend<S: Store + ?Sized>(s: &mut S, x: &Term, y: &Term) -> Option<Label> {
    if x.op == Op::Add {
        if x.a == y.label {
            return Some(x.b);
        }
        if x.b == y.label {
            return Some(x.a);
        }
        if y.op == Op::Add {
            if x.a == y.a {
                return Some(sub(s, x.b, y.b));
            }
            if x.a == y.b {
                return Some(sub(s, x.b, y.a));
            }
            if x.b == y.a {
                return Some(sub(s, x.a, y.b));
            }
            if x.b == y.b {
                return Some(sub(s, x.a, y.a));
            }
        }
    }
    if y.op == Op::Add {
        if y.a == x.label {
            return Some(neg(s, y.b));
        }
        if y.b == x.label {
            return Some(neg(s, y.a));
        }
    }
    if x.op == Op::Sub && x.a == y.label {
        return Some(neg(s, x.b));
    }
    if y.op == Op::Sub && y.a == x.label {
        return Some(y.b);
    }
    None
}

pub(super) fn negate<S: Store + ?Sized>(s: &mut S, x: Term) -> Label {
    if x.width == 1 {
        return x.label;
    }
    match x.op {
        Op::Neg => return x.a,
        Op::Sub => return sub(s, x.b, x.a),
        Op::Add => {
            if let Some(k) = constant_of(s, x.b) {
                return constant_minus(s, x.width, k.wrapping_neg(), x.a);
            }
        }
        Op::Not => return add_constant(s, x.a, x.width, 1),
        Op::ZExt if s.node(x.a).width == 1 => return super::sext(s, x.a, x.width),
        Op::SExt if s.node(x.a).width == 1 => return zext(s, x.a, x.width),
        _ => {}
    }
    make::unary(s, Op::Neg, x, 0, 0)
}

pub(super) fn multiply<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (x, y) = ordered(x, y);
    let width = x.width;
    if width == 1 {
        return bitwise::and(s, x, y);
    }
    let Some(k) = y.constant() else {
        return make::binary(s, Op::Mul, x, y);
    };
    if k == 0 {
        return y.label;
    }
    if k == 1 {
        return x.label;
    }
    if k == mask(width) {
        return negate(s, x);
    }
    if let Some(inner) = x.with_constant(s, Op::Mul) {
        let k = constant(s, width, inner.wrapping_mul(k));
        return super::binary(s, Op::Mul, x.a, k);
    }
    if x.op == Op::Neg {
        let k = constant(s, width, k.wrapping_neg());
        return super::binary(s, Op::Mul, x.a, k);
    }
    if k.is_power_of_two()
        && let Some(label) = shift::left_as_concat(s, x, k.trailing_zeros())
    {
        return label;
    }
    make::binary(s, Op::Mul, x, y)
}

pub(super) fn divide<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, y: Term) -> Label {
    let Some(k) = y.constant() else {
        return make::binary(s, op, x, y);
    };
    let width = x.width;
    let remainder = matches!(op, Op::URem | Op::SRem);
    let signed = matches!(op, Op::SDiv | Op::SRem);
    if k == 0 {
        return divide_by_zero(s, op, x, y);
    }
    if k == 1 || (signed && k == mask(width)) {
        return match (remainder, k == 1) {
            (true, _) => constant(s, width, 0),
            (false, true) => x.label,
            (false, false) => negate(s, x),
        };
    }
    let unsigned = !signed || (x.op == Op::ZExt && k & sign_bit(width) == 0);
    if !unsigned {
        return make::binary(s, op, x, y);
    }
    if k.is_power_of_two() {
        let low = k.trailing_zeros();
        return if remainder {
            let ones = constant(s, width, k - 1);
            and(s, x.label, ones)
        } else {
            let high = extract(s, x.label, low, width - low);
            zext(s, high, width)
        };
    }
    if x.op == Op::ZExt {
        let inner = u32::from(s.node(x.a).width);
        if k > mask(inner) {
            return if remainder {
                x.label
            } else {
                constant(s, width, 0)
            };
        }
        let k = constant(s, inner, k);
        let narrow = super::binary(s, if remainder { Op::URem } else { Op::UDiv }, x.a, k);
        return zext(s, narrow, width);
    }
    make::binary(s, op, x, y)
}

/// SMT-LIB's meaning of division by the constant 0.
fn divide_by_zero<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, y: Term) -> Label {
    match op {
        Op::UDiv => constant(s, x.width, mask(x.width)),
        Op::SDiv => make::binary(s, op, x, y),
        _ => x.label,
    }
}
