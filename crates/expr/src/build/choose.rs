//! Complement and conditional: rules 6 and 18.

use super::term::{Term, constant_of, make};
use super::{and, binary, constant, ite as choice, not as complement, or, sext, unary, zext};
use crate::bits::{mask, sign_extend};
use crate::store::{Label, Store};
use parallax_abi::Op;

pub(super) fn not<S: Store + ?Sized>(s: &mut S, x: Term) -> Label {
    match x.op {
        Op::Not => return x.a,
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
            let flipped = match x.op {
                Op::Ult => Op::Ule,
                Op::Ule => Op::Ult,
                Op::Slt => Op::Sle,
                _ => Op::Slt,
            };
            let (a, b) = (Term::get(s, x.a), Term::get(s, x.b));
            return make::binary(s, flipped, b, a);
        }
        Op::Xor => {
            if let Some(k) = constant_of(s, x.b) {
                let k = constant(s, x.width, !k);
                return binary(s, Op::Xor, x.a, k);
            }
        }
        // ~x is -1 - x.
        Op::Add => {
            if let Some(k) = constant_of(s, x.b) {
                let k = constant(s, x.width, !k);
                return binary(s, Op::Sub, k, x.a);
            }
        }
        Op::Sub => {
            if let Some(k) = constant_of(s, x.a) {
                let k = constant(s, x.width, !k);
                return binary(s, Op::Add, x.b, k);
            }
        }
        Op::Neg => {
            let minus_one = constant(s, x.width, mask(x.width));
            return binary(s, Op::Add, x.a, minus_one);
        }
        _ => {}
    }
    make::unary(s, Op::Not, x, 0, 0)
}

pub(super) fn ite<S: Store + ?Sized>(s: &mut S, c: Term, x: Term, y: Term) -> Label {
    if let Some(k) = c.constant() {
        return if k != 0 { x.label } else { y.label };
    }
    if x.label == y.label {
        return x.label;
    }
    if c.op == Op::Not {
        return choice(s, c.a, y.label, x.label);
    }
    if x.op == Op::Ite && x.a == c.label {
        return choice(s, c.label, x.b, y.label);
    }
    if y.op == Op::Ite && y.a == c.label {
        return choice(s, c.label, x.label, y.c);
    }
    if x.width == 1 {
        return choose_bit(s, c, x, y);
    }
    match (x.constant(), y.constant()) {
        (Some(p), Some(q)) => {
            let ones = mask(x.width);
            match (p, q) {
                (1, 0) => return zext(s, c.label, x.width),
                (p, 0) if p == ones => return sext(s, c.label, x.width),
                (0, 1) => {
                    let negated = complement(s, c.label);
                    return zext(s, negated, x.width);
                }
                (0, q) if q == ones => {
                    let negated = complement(s, c.label);
                    return sext(s, negated, x.width);
                }
                _ => {}
            }
        }
        _ => {
            if let Some((op, p, q)) = narrow_sides(s, &x, &y) {
                let narrow = choice(s, c.label, p, q);
                return unary(s, op, narrow, x.width, 0);
            }
        }
    }
    make::ite(s, c, x, y)
}

/// A conditional on one bit with a constant or repeated side is `&` or `|`.
fn choose_bit<S: Store + ?Sized>(s: &mut S, c: Term, x: Term, y: Term) -> Label {
    if x.label == c.label || x.constant() == Some(1) {
        return or(s, c.label, y.label);
    }
    if y.label == c.label || y.constant() == Some(0) {
        return and(s, c.label, x.label);
    }
    if x.constant() == Some(0) {
        let negated = complement(s, c.label);
        return and(s, negated, y.label);
    }
    if y.constant() == Some(1) {
        let negated = complement(s, c.label);
        return or(s, negated, x.label);
    }
    make::ite(s, c, x, y)
}

/// The values that both sides are extensions of: the same extension of the same
/// width, or one extension and a constant that is one too.
fn narrow_sides<S: Store + ?Sized>(s: &mut S, x: &Term, y: &Term) -> Option<(Op, Label, Label)> {
    let extension = if x.op == Op::Const { y } else { x };
    let op = extension.op;
    if !matches!(op, Op::ZExt | Op::SExt) {
        return None;
    }
    let inner = u32::from(s.node(extension.a).width);
    let mut side = |t: &Term| -> Option<Label> {
        match t.constant() {
            Some(k) => {
                let narrow = k & mask(inner);
                let widened = match op {
                    Op::ZExt => narrow,
                    _ => sign_extend(inner, t.width, narrow),
                };
                (widened == k).then(|| constant(s, inner, narrow))
            }
            None => (t.op == op && u32::from(s.node(t.a).width) == inner).then_some(t.a),
        }
    };
    Some((op, side(x)?, side(y)?))
}
