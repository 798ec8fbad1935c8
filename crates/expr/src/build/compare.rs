//! Equality and order: rules 5, 7, 16 and 17.

use super::term::{Term, constant_of, make, ordered};
use super::{choose, constant, eq, not};
use crate::bits::{mask, sign_bit, sign_extend, signed, slice};
use crate::eval;
use crate::store::{Label, Store};
use parallax_abi::Op;

fn truth<S: Store + ?Sized>(s: &mut S, value: bool) -> Label {
    constant(s, 1, u128::from(value))
}

pub(super) fn equal<S: Store + ?Sized>(s: &mut S, x: Term, y: Term) -> Label {
    let (mut x, mut y) = (x, y);
    loop {
        (x, y) = ordered(x, y);
        if x.label == y.label {
            return truth(s, true);
        }
        if let Some(k) = y.constant() {
            return equal_constant(s, x, k);
        }
        match peel_equal(s, &x, &y) {
            Some((a, b)) if a != 0 && b != 0 => {
                x = Term::get(s, a);
                y = Term::get(s, b);
            }
            Some(_) => return 0,
            None => return make::binary(s, Op::Eq, x, y),
        }
    }
}

/// Two simpler terms that are equal exactly if `x` and `y` are.
fn peel_equal<S: Store + ?Sized>(s: &mut S, x: &Term, y: &Term) -> Option<(Label, Label)> {
    if x.op == y.op {
        match x.op {
            Op::Not | Op::Neg | Op::ByteSwap | Op::BitReverse => return Some((x.a, y.a)),
            Op::ZExt | Op::SExt => return narrow_both(s, x, y),
            Op::Add | Op::Xor => {
                if let Some(rest) = drop_common(x, y) {
                    return Some(rest);
                }
                let (p, q) = (constant_of(s, x.b), constant_of(s, y.b));
                if let (Some(p), Some(q)) = (p, q) {
                    let k = if x.op == Op::Add {
                        q.wrapping_sub(p)
                    } else {
                        p ^ q
                    };
                    let k = constant(s, x.width, k);
                    return Some((x.a, super::binary(s, x.op, y.a, k)));
                }
            }
            Op::Sub if x.a == y.a => return Some((x.b, y.b)),
            Op::Sub if x.b == y.b => return Some((x.a, y.a)),
            Op::Concat if x.a == y.a => return Some((x.b, y.b)),
            Op::Concat if x.b == y.b => return Some((x.a, y.a)),
            _ => {}
        }
    }
    for (sum, part) in [(x, y), (y, x)] {
        if matches!(sum.op, Op::Add | Op::Xor) && (sum.a == part.label || sum.b == part.label) {
            let rest = if sum.a == part.label { sum.b } else { sum.a };
            return Some((rest, constant(s, x.width, 0)));
        }
        if sum.op == Op::Sub && sum.a == part.label {
            return Some((sum.b, constant(s, x.width, 0)));
        }
    }
    None
}

fn drop_common(x: &Term, y: &Term) -> Option<(Label, Label)> {
    if x.a == y.a {
        Some((x.b, y.b))
    } else if x.a == y.b {
        Some((x.b, y.a))
    } else if x.b == y.a {
        Some((x.a, y.b))
    } else if x.b == y.b {
        Some((x.a, y.a))
    } else {
        None
    }
}

/// What two extensions of one kind extend; the narrower value of two zero
/// extensions is widened to the other's width.
fn narrow_both<S: Store + ?Sized>(s: &mut S, x: &Term, y: &Term) -> Option<(Label, Label)> {
    let (p, q) = (u32::from(s.node(x.a).width), u32::from(s.node(y.a).width));
    if p == q {
        return Some((x.a, y.a));
    }
    let width = p.max(q);
    let a = super::unary(s, x.op, x.a, width, 0);
    let b = super::unary(s, y.op, y.a, width, 0);
    Some((a, b))
}

/// Rule 16: solves `x == k` for what `x` is made of.
fn equal_constant<S: Store + ?Sized>(s: &mut S, x: Term, k: u128) -> Label {
    let (mut x, mut k) = (x, k);
    loop {
        let width = x.width;
        k &= mask(width);
        if width == 1 {
            return if k == 1 { x.label } else { choose::not(s, x) };
        }
        // The next term, and its constant as `k`.
        let inner = match x.op {
            Op::Const => return truth(s, x.value == k),
            Op::Neg => {
                k = k.wrapping_neg();
                x.a
            }
            Op::Not => {
                k = !k;
                x.a
            }
            Op::ByteSwap | Op::BitReverse => {
                k = eval::unary(x.op, width, width, 0, k).unwrap_or(k);
                x.a
            }
            Op::Add | Op::Xor | Op::Mul => match constant_of(s, x.b) {
                Some(c) if x.op == Op::Add => {
                    k = k.wrapping_sub(c);
                    x.a
                }
                Some(c) if x.op == Op::Xor => {
                    k ^= c;
                    x.a
                }
                Some(c) if x.op == Op::Mul && c & 1 == 1 => {
                    k = k.wrapping_mul(inverse(c));
                    x.a
                }
                None if x.op == Op::Xor && k == 0 => return eq(s, x.a, x.b),
                _ => break,
            },
            Op::Sub => match constant_of(s, x.a) {
                Some(c) => {
                    k = c.wrapping_sub(k);
                    x.b
                }
                None if k == 0 => return eq(s, x.a, x.b),
                None => break,
            },
            Op::And if constant_of(s, x.b).is_some_and(|c| k & !c != 0) => return truth(s, false),
            Op::Or if constant_of(s, x.b).is_some_and(|c| c & !k != 0) => return truth(s, false),
            Op::ZExt | Op::SExt => {
                let narrow = u32::from(s.node(x.a).width);
                match representable(x.op, narrow, width, k) {
                    true => x.a,
                    false => return truth(s, false),
                }
            }
            Op::Concat => {
                let below = u32::from(s.node(x.b).width);
                let (high, low) = (slice(k, below, width - below), slice(k, 0, below));
                if let Some(c) = constant_of(s, x.a) {
                    if c != high {
                        return truth(s, false);
                    }
                    k = low;
                    x.b
                } else if let Some(c) = constant_of(s, x.b) {
                    if c != low {
                        return truth(s, false);
                    }
                    k = high;
                    x.a
                } else {
                    break;
                }
            }
            Op::Ite => match constant_sides(s, &x) {
                Some((p, q)) => return by_sides(s, &x, p == k, q == k),
                None => break,
            },
            _ => break,
        };
        x = Term::get(s, inner);
    }
    let k = constant(s, x.width, k);
    if k == 0 {
        return 0;
    }
    let k = Term::get(s, k);
    make::binary(s, Op::Eq, x, k)
}

/// Inverse of an odd number modulo 2^128, by Newton's iteration: each step doubles the
/// number of correct low bits, and an odd number is its own inverse modulo 8.
fn inverse(odd: u128) -> u128 {
    let mut result = odd;
    for _ in 0..6 {
        result = result.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(result)));
    }
    result
}

/// Whether the extension `op` from `narrow` to `wide` bits can give `k`.
fn representable(op: Op, narrow: u32, wide: u32, k: u128) -> bool {
    let low = k & mask(narrow);
    k == if op == Op::SExt {
        sign_extend(narrow, wide, low)
    } else {
        low
    }
}

/// Both sides of a conditional, if they are constants.
fn constant_sides<S: Store + ?Sized>(s: &S, x: &Term) -> Option<(u128, u128)> {
    Some((constant_of(s, x.b)?, constant_of(s, x.c)?))
}

/// A predicate of a conditional that is known for both sides.
fn by_sides<S: Store + ?Sized>(s: &mut S, x: &Term, first: bool, second: bool) -> Label {
    match (first, second) {
        (true, false) => x.a,
        (false, true) => not(s, x.a),
        _ => truth(s, first),
    }
}

pub(super) fn less<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, y: Term) -> Label {
    let strict = matches!(op, Op::Ult | Op::Slt);
    let signed = matches!(op, Op::Slt | Op::Sle);
    if x.label == y.label {
        return truth(s, !strict);
    }
    if let Some(k) = y.constant() {
        let answer = against_constant(s, Order { strict, signed }, x, k);
        return answer.build(s, false);
    }
    if let Some(k) = x.constant() {
        // k < x is the opposite of x <= k.
        let answer = against_constant(
            s,
            Order {
                strict: !strict,
                signed,
            },
            y,
            k,
        );
        return answer.build(s, true);
    }
    if x.op == y.op
        && matches!(x.op, Op::ZExt | Op::SExt)
        && let Some((a, b)) = narrow_both(s, &x, &y)
    {
        // Zero extensions are not negative. Sign extension keeps both orders.
        let order = Order {
            strict,
            signed: signed && x.op == Op::SExt,
        };
        return super::binary(s, order.op(), a, b);
    }
    make::binary(s, op, x, y)
}

/// `<` or `<=`, signed or not.
#[derive(Clone, Copy)]
struct Order {
    strict: bool,
    signed: bool,
}

impl Order {
    fn op(self) -> Op {
        match (self.strict, self.signed) {
            (true, false) => Op::Ult,
            (false, false) => Op::Ule,
            (true, true) => Op::Slt,
            (false, true) => Op::Sle,
        }
    }

    fn holds(self, width: u32, a: u128, b: u128) -> bool {
        let less = if self.signed {
            signed(width, a) < signed(width, b)
        } else {
            a < b
        };
        less || (!self.strict && a == b)
    }

    fn minimum(self, width: u32) -> u128 {
        if self.signed { sign_bit(width) } else { 0 }
    }

    fn maximum(self, width: u32) -> u128 {
        if self.signed {
            mask(width - 1)
        } else {
            mask(width)
        }
    }
}

/// What a comparison with a constant comes down to.
enum Answer {
    Known(bool),
    /// A one-bit term, or its complement.
    Bit {
        label: Label,
        negated: bool,
    },
    /// `x == k`, or its complement.
    Equal {
        x: Term,
        k: u128,
        negated: bool,
    },
    /// `x < k` or `x <= k`.
    Less {
        order: Order,
        x: Term,
        k: u128,
    },
}

impl Answer {
    /// The expression, or its opposite.
    fn build<S: Store + ?Sized>(self, s: &mut S, opposite: bool) -> Label {
        match self {
            Answer::Known(value) => truth(s, value != opposite),
            Answer::Bit { label, negated } if negated != opposite => not(s, label),
            Answer::Bit { label, .. } => label,
            Answer::Equal { x, k, negated } => {
                let label = equal_constant(s, x, k);
                if negated != opposite {
                    not(s, label)
                } else {
                    label
                }
            }
            Answer::Less { order, x, k } => {
                let k = constant(s, x.width, k);
                if k == 0 {
                    return 0;
                }
                let k = Term::get(s, k);
                if opposite {
                    let order = Order {
                        strict: !order.strict,
                        ..order
                    };
                    make::binary(s, order.op(), k, x)
                } else {
                    make::binary(s, order.op(), x, k)
                }
            }
        }
    }
}

/// Rule 17: `x < k` or `x <= k`.
fn against_constant<S: Store + ?Sized>(s: &S, order: Order, x: Term, k: u128) -> Answer {
    let (mut order, mut x, mut k) = (order, x, k);
    loop {
        let width = x.width;
        let (minimum, maximum) = (order.minimum(width), order.maximum(width));
        if let Some(value) = x.constant() {
            return Answer::Known(order.holds(width, value, k));
        }
        if !order.strict && k == maximum {
            return Answer::Known(true);
        }
        if order.strict && k == minimum {
            return Answer::Known(false);
        }
        // Nothing is below the minimum: `x < minimum + 1`, `x <= minimum`.
        if k == (minimum + u128::from(order.strict)) & mask(width) {
            return Answer::Equal {
                x,
                k: minimum,
                negated: false,
            };
        }
        // Nothing is above the maximum: `x < maximum`, `x <= maximum - 1`.
        if k == maximum.wrapping_sub(u128::from(!order.strict)) & mask(width) {
            return Answer::Equal {
                x,
                k: maximum,
                negated: true,
            };
        }
        match x.op {
            Op::ZExt => {
                let inner = Term::get(s, x.a);
                if order.signed && k & sign_bit(width) != 0 {
                    return Answer::Known(false);
                }
                if k > mask(inner.width) {
                    return Answer::Known(true);
                }
                order.signed = false;
                x = inner;
            }
            Op::SExt => {
                let inner = Term::get(s, x.a);
                if !representable(Op::SExt, inner.width, width, k) {
                    if order.signed {
                        return Answer::Known(signed(width, k) > 0);
                    }
                    // Between the images of the nonnegative and of the negative values.
                    order.strict = true;
                    k = sign_bit(inner.width);
                }
                k &= mask(inner.width);
                x = inner;
            }
            Op::Concat => {
                let below = u32::from(s.node(x.b).width);
                let above = width - below;
                let (high, low) = (slice(k, below, above), slice(k, 0, below));
                if let Some(c) = constant_of(s, x.a) {
                    if c != high {
                        let strictly = Order {
                            strict: true,
                            ..order
                        };
                        return Answer::Known(strictly.holds(above, c, high));
                    }
                    order.signed = false;
                    x = Term::get(s, x.b);
                    k = low;
                } else if let Some(c) = constant_of(s, x.b) {
                    let unsigned = Order {
                        signed: false,
                        ..order
                    };
                    order.strict = !unsigned.holds(below, c, low);
                    x = Term::get(s, x.a);
                    k = high;
                } else {
                    break;
                }
            }
            Op::Ite => match constant_sides(s, &x) {
                Some((p, q)) => {
                    let (first, second) = (order.holds(width, p, k), order.holds(width, q, k));
                    if first == second {
                        return Answer::Known(first);
                    }
                    return Answer::Bit {
                        label: x.a,
                        negated: second,
                    };
                }
                None => break,
            },
            _ => break,
        }
    }
    Answer::Less { order, x, k }
}
