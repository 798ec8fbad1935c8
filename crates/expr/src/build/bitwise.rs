//! And, or, exclusive or: rules 3 to 7, 12 to 14.

use super::assemble::{disjoint, known_zeros};
use super::slice::comes_apart;
use super::term::{Term, constant_of, make, ordered};
use super::{binary, concat, constant, extract, not, zext};
use crate::bits::{mask, slice};
use crate::store::{Label, Store};
use parallax_abi::Op;

/// `op` of a term and a constant.
fn with_constant<S: Store + ?Sized>(s: &mut S, op: Op, x: Label, width: u32, k: u128) -> Label {
    let k = constant(s, width, k);
    binary(s, op, x, k)
}

fn width_of<S: Store + ?Sized>(s: &S, label: Label) -> u32 {
    u32::from(s.node(label).width)
}

fn is_complement(x: &Term, y: &Term) -> bool {
    (x.op == Op::Not && x.a == y.label) || (y.op == Op::Not && y.a == x.label)
}

/// Whether `x` is `op` and `y` one of its operands.
fn contains(x: &Term, op: Op, y: &Term) -> bool {
    x.op == op && (x.a == y.label || x.b == y.label)
}

/// The operator on the narrow values, if both are zero extensions from one width.
fn on_narrow<S: Store + ?Sized>(s: &mut S, op: Op, x: &Term, y: &Term) -> Option<Label> {
    if x.op == Op::ZExt && y.op == Op::ZExt && width_of(s, x.a) == width_of(s, y.a) {
        let narrow = binary(s, op, x.a, y.a);
        return Some(zext(s, narrow, x.width));
    }
    None
}

/// The operator on both parts of a concatenation, if the constant leaves one of them
/// alone or makes it constant.
fn on_parts<S: Store + ?Sized>(s: &mut S, op: Op, x: &Term, k: u128) -> Option<Label> {
    let below = width_of(s, x.b);
    let above = x.width - below;
    let (high, low) = (slice(k, below, above), slice(k, 0, below));
    let trivial = |k: u128, width: u32| k == 0 || (k == mask(width) && op != Op::Xor);
    if !trivial(high, above) && !trivial(low, below) {
        return None;
    }
    let high = with_constant(s, op, x.a, above, high);
    let low = with_constant(s, op, x.b, below, low);
    Some(concat(s, high, low))
}

pub(super) fn and<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (x, y) = ordered(x, y);
    if let Some(k) = y.constant() {
        return and_constant(s, x, y, k);
    }
    if x.label == y.label || contains(&x, Op::And, &y) || contains(&y, Op::Or, &x) {
        return x.label;
    }
    if contains(&y, Op::And, &x) || contains(&x, Op::Or, &y) {
        return y.label;
    }
    if is_complement(&x, &y) {
        return constant(s, x.width, 0);
    }
    match on_narrow(s, Op::And, &x, &y) {
        Some(label) => label,
        None => make::binary(s, Op::And, x, y),
    }
}

fn and_constant<S: Store + ?Sized>(s: &mut S, x: Term, y: Term, k: u128) -> Label {
    let width = x.width;
    if k == 0 {
        return y.label;
    }
    if mask(width) & !k & !known_zeros(s, &x) == 0 {
        return x.label;
    }
    match x.op {
        Op::And => {
            if let Some(inner) = constant_of(s, x.b) {
                return with_constant(s, Op::And, x.a, width, inner & k);
            }
        }
        Op::Or | Op::Xor if constant_of(s, x.b).is_some_and(|inner| inner & k == 0) => {
            return with_constant(s, Op::And, x.a, width, k);
        }
        Op::ZExt => {
            let inner = width_of(s, x.a);
            let narrow = with_constant(s, Op::And, x.a, inner, k);
            return zext(s, narrow, width);
        }
        Op::SExt => {
            let inner = width_of(s, x.a);
            if k <= mask(inner) {
                let narrow = with_constant(s, Op::And, x.a, inner, k);
                return zext(s, narrow, width);
            }
        }
        Op::Concat => {
            if let Some(label) = on_parts(s, Op::And, &x, k) {
                return label;
            }
        }
        _ => {}
    }
    let ones = k.trailing_ones();
    if k == mask(ones) && (ones.is_multiple_of(8) || comes_apart(s, &x, 0, ones)) {
        let low = extract(s, x.label, 0, ones);
        return zext(s, low, width);
    }
    make::binary(s, Op::And, x, y)
}

pub(super) fn or<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (x, y) = ordered(x, y);
    if let Some(k) = y.constant() {
        return or_constant(s, x, y, k);
    }
    if x.label == y.label || contains(&x, Op::Or, &y) || contains(&y, Op::And, &x) {
        return x.label;
    }
    if contains(&y, Op::Or, &x) || contains(&x, Op::And, &y) {
        return y.label;
    }
    if is_complement(&x, &y) {
        return constant(s, x.width, mask(x.width));
    }
    if let Some(label) = disjoint(s, x, y) {
        return label;
    }
    match on_narrow(s, Op::Or, &x, &y) {
        Some(label) => label,
        None => make::binary(s, Op::Or, x, y),
    }
}

fn or_constant<S: Store + ?Sized>(s: &mut S, x: Term, y: Term, k: u128) -> Label {
    let width = x.width;
    if k == 0 {
        return x.label;
    }
    if k == mask(width) {
        return y.label;
    }
    match x.op {
        Op::Or => {
            if let Some(inner) = constant_of(s, x.b) {
                return with_constant(s, Op::Or, x.a, width, inner | k);
            }
        }
        Op::And if constant_of(s, x.b).is_some_and(|inner| inner | k == mask(width)) => {
            return with_constant(s, Op::Or, x.a, width, k);
        }
        Op::ZExt => {
            let inner = width_of(s, x.a);
            if k <= mask(inner) {
                let narrow = with_constant(s, Op::Or, x.a, inner, k);
                return zext(s, narrow, width);
            }
        }
        Op::Concat => {
            if let Some(label) = on_parts(s, Op::Or, &x, k) {
                return label;
            }
        }
        _ => {}
    }
    match disjoint(s, x, y) {
        Some(label) => label,
        None => make::binary(s, Op::Or, x, y),
    }
}

pub(super) fn xor<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (x, y) = ordered(x, y);
    let width = x.width;
    if x.label == y.label {
        return constant(s, width, 0);
    }
    if let Some(k) = y.constant() {
        return xor_constant(s, x, y, k);
    }
    if is_complement(&x, &y) {
        return constant(s, width, mask(width));
    }
    for (sum, part) in [(&x, &y), (&y, &x)] {
        if contains(sum, Op::Xor, part) {
            return if sum.a == part.label { sum.b } else { sum.a };
        }
    }
    if x.op == Op::Not || y.op == Op::Not {
        let left = if x.op == Op::Not { x.a } else { x.label };
        let right = if y.op == Op::Not { y.a } else { y.label };
        let plain = binary(s, Op::Xor, left, right);
        return if x.op == y.op { plain } else { not(s, plain) };
    }
    if let Some(label) = disjoint(s, x, y) {
        return label;
    }
    match on_narrow(s, Op::Xor, &x, &y) {
        Some(label) => label,
        None => make::binary(s, Op::Xor, x, y),
    }
}

fn xor_constant<S: Store + ?Sized>(s: &mut S, x: Term, y: Term, k: u128) -> Label {
    let width = x.width;
    if k == 0 {
        return x.label;
    }
    if k == mask(width) {
        return not(s, x.label);
    }
    match x.op {
        Op::Xor => {
            if let Some(inner) = constant_of(s, x.b) {
                return with_constant(s, Op::Xor, x.a, width, inner ^ k);
            }
        }
        Op::Not => return with_constant(s, Op::Xor, x.a, width, !k),
        Op::ZExt => {
            let inner = width_of(s, x.a);
            if k <= mask(inner) {
                let narrow = with_constant(s, Op::Xor, x.a, inner, k);
                return zext(s, narrow, width);
            }
        }
        Op::Concat => {
            if let Some(label) = on_parts(s, Op::Xor, &x, k) {
                return label;
            }
        }
        _ => {}
    }
    match disjoint(s, x, y) {
        Some(label) => label,
        None => make::binary(s, Op::Xor, x, y),
    }
}
