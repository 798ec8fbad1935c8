//! Inversion: which changes of input bytes give an expression a wanted value.
//!
//! Walks from the expression down to the input, undoing one operator after the other; the other operand of a
//! two-operand operator keeps its present value. Whatever comes out is a proposal, to be evaluated: rules may
//! be incomplete or optimistic.

use super::domains::{Domain, Domains};
use crate::constraint::{Constraint, Holds};
use crate::layer::Changes;
use crate::overlay::{operands, operator};
use crate::sets::{SetId, VarId};
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::bits::{mask, sign_bit, sign_extend, signed, slice};
use parallax_expr::{Label, Node, Op, Store, eval};

/// Proposals per expression.
const WIDTH: usize = 6;
/// Operators between the expression and the input.
const DEPTH: u32 = 200;

/// Works on the input that is assigned in `terms`.
pub(super) struct Inverter<'i, 'p, S> {
    pub terms: &'i mut Terms<'p, S>,
    pub domains: &'i mut Domains,
    pub domain: &'i Domain,
    /// Bytes that must stay as they are.
    pub locked: &'i [VarId],
    /// Operators that may still be looked at.
    pub budget: u32,
}

/// Alternatives, the most promising first.
type Proposals = Vec<Changes>;

impl<S: Store> Inverter<'_, '_, S> {
    /// Changes under which the constraint may hold.
    pub fn constraint(&mut self, constraint: Constraint) -> Proposals {
        let width = u32::from(self.terms.store.node(constraint.label).width);
        let all = mask(width);
        let present = self.value(constraint.label).unwrap_or(0);
        let wanted: Vec<u128> = match constraint.holds {
            Holds::Equals(value) => vec![value],
            Holds::Differs(value) => others(value, all),
            Holds::Within(low, high) => vec![present.clamp(low, high.max(low)), low, high],
            Holds::Outside(low, high) => {
                let below = low.checked_sub(1);
                let above = high.checked_add(1).filter(|&above| above <= all);
                below.into_iter().chain(above).chain([all, 0]).collect()
            }
        };
        let mut proposals = Vec::new();
        for value in wanted {
            if constraint.holds.of(value) && value <= all {
                self.extend(&mut proposals, constraint.label, value, 0);
            }
        }
        proposals
    }

    fn value(&mut self, label: Label) -> Option<u128> {
        self.terms.value(label)
    }

    fn extend(&mut self, proposals: &mut Proposals, label: Label, wanted: u128, depth: u32) {
        if proposals.len() < WIDTH {
            let more = self.want(label, wanted, depth);
            for proposal in more {
                if proposals.len() < WIDTH && !proposals.contains(&proposal) {
                    proposals.push(proposal);
                }
            }
        }
    }

    /// Changes under which the expression may have the wanted value.
    fn want(&mut self, label: Label, wanted: u128, depth: u32) -> Proposals {
        if depth > DEPTH || self.budget == 0 {
            return Vec::new();
        }
        self.budget -= 1;
        if self.value(label) == Some(wanted) {
            return vec![Vec::new()];
        }
        let set = self.terms.fact(label).set;
        if set == SetId::EMPTY {
            return Vec::new();
        }
        if let Some(byte) = self.terms.sets.only(set) {
            return self.single(label, byte, wanted);
        }
        let node = self.terms.store.node(label);
        let (all, arity) = operands(label, &node);
        if all[..arity].contains(&0) {
            return Vec::new();
        }
        match arity {
            1 => self.unary(&node, wanted, depth + 1),
            2 if node.width == 1 => self.truth(&node, wanted != 0, depth + 1),
            2 => self.binary(&node, wanted, depth + 1),
            3 => self.conditional(&node, wanted, depth + 1),
            _ => Vec::new(),
        }
    }

    /// An expression of one byte: all values that the byte may have are tried.
    fn single(&mut self, label: Label, byte: VarId, wanted: u128) -> Proposals {
        if self.locked.contains(&byte) {
            return Vec::new();
        }
        let Some(image) = self.domains.image(self.terms, label, byte) else {
            return Vec::new();
        };
        let mut values = super::values::Values::NONE;
        for (value, result) in (0..=255).zip(image.iter()) {
            if *result == Some(wanted) {
                values.insert(value);
            }
        }
        values
            .and(self.domain.of(byte))
            .by_preference(self.terms.seed(byte))
            .into_iter()
            .take(WIDTH)
            .map(|value| vec![(byte, value)])
            .collect()
    }

    fn width(&self, label: Label) -> u32 {
        u32::from(self.terms.store.node(label).width)
    }

    fn unary(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let op = operator(node);
        let (from, to) = (self.width(node.a), u32::from(node.width));
        let below = match op {
            Op::Not => !wanted & mask(to),
            Op::Neg => wanted.wrapping_neg() & mask(to),
            Op::ZExt if wanted <= mask(from) => wanted,
            Op::SExt if sign_extend(from, to, wanted & mask(from)) == wanted => wanted & mask(from),
            Op::Extract => {
                let part = mask(to) << node.c;
                let Some(present) = self.value(node.a) else {
                    return Vec::new();
                };
                present & !part | wanted << node.c
            }
            Op::ByteSwap | Op::BitReverse => match eval::unary(op, to, to, 0, wanted) {
                Some(reversed) => reversed,
                None => return Vec::new(),
            },
            Op::Table => return self.table(node, wanted, depth),
            // From floating point and back, where nothing is lost on the way.
            Op::SToF | Op::UToF | Op::FToF | Op::FToS | Op::FToU | Op::FSqrt => {
                let back = match op {
                    Op::SToF => eval::unary(Op::FToS, to, from, 0, wanted),
                    Op::UToF => eval::unary(Op::FToU, to, from, 0, wanted),
                    Op::FToS => eval::unary(Op::SToF, to, from, 0, wanted),
                    Op::FToU => eval::unary(Op::UToF, to, from, 0, wanted),
                    Op::FSqrt => eval::binary(Op::FMul, to, wanted, wanted),
                    _ => eval::unary(Op::FToF, to, from, 0, wanted),
                };
                match back {
                    Some(back) => back,
                    None => return Vec::new(),
                }
            }
            _ => return Vec::new(),
        };
        self.want(node.a, below, depth)
    }

    /// Entries of a table that have the wanted value.
    fn table(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let view = self.terms.store.table(node.b);
        let length = usize::from(node.width / 8);
        let positions = (view.bytes.len() + 1).saturating_sub(length);
        let mut addresses = Vec::new();
        for position in 0..positions {
            let range = position..position + length;
            let labelled = view.labels.is_some_and(|words| {
                let inside = &words[range.clone()];
                inside.iter().any(|word| word >> LABEL_BYTE_BITS != 0)
            });
            let bytes = view.bytes[range].iter().rev();
            let entry = bytes.fold(0, |sum, &byte| sum << 8 | u128::from(byte));
            if !labelled && entry == wanted {
                addresses.push(view.base.wrapping_add(position as u64));
                if addresses.len() == 64 {
                    break;
                }
            }
        }
        let mut proposals = Vec::new();
        for address in addresses {
            self.extend(&mut proposals, node.a, u128::from(address), depth);
        }
        proposals
    }

    fn binary(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let op = operator(node);
        let width = u32::from(node.width);
        let all = mask(width);
        let (a, b) = (node.a, node.b);
        if op == Op::Concat {
            let below = self.width(b);
            let (high, low) = (slice(wanted, below, width - below), wanted & mask(below));
            return self.both((a, high), (b, low), depth);
        }
        let (Some(x), Some(y)) = (self.value(a), self.value(b)) else {
            return Vec::new();
        };
        let mut proposals = Vec::new();
        match op {
            Op::Add => {
                self.extend(&mut proposals, a, wanted.wrapping_sub(y) & all, depth);
                self.extend(&mut proposals, b, wanted.wrapping_sub(x) & all, depth);
                self.digits(&mut proposals, node, wanted, depth);
            }
            Op::Sub => {
                self.extend(&mut proposals, a, wanted.wrapping_add(y) & all, depth);
                self.extend(&mut proposals, b, x.wrapping_sub(wanted) & all, depth);
            }
            Op::Xor => {
                self.extend(&mut proposals, a, wanted ^ y, depth);
                self.extend(&mut proposals, b, wanted ^ x, depth);
            }
            Op::Mul => {
                for (this, other) in [(a, y), (b, x)] {
                    if let Some(factor) = cofactor(width, wanted, other) {
                        self.extend(&mut proposals, this, factor, depth);
                    }
                }
            }
            Op::And => {
                for (this, present, other) in [(a, x, y), (b, y, x)] {
                    if wanted & !other == 0 {
                        self.extend(&mut proposals, this, present & !other | wanted, depth);
                    }
                }
                let (p, q) = ((a, x | wanted), (b, y & !x | wanted));
                self.pair(&mut proposals, p, q, depth);
            }
            Op::Or => {
                for (this, present, other) in [(a, x, y), (b, y, x)] {
                    if other & !wanted == 0 {
                        let value = present & other | wanted & !other;
                        self.extend(&mut proposals, this, value, depth);
                    }
                }
                self.pair(&mut proposals, (a, wanted), (b, y & wanted), depth);
            }
            Op::Shl | Op::LShr | Op::AShr if y < u128::from(width) => {
                let amount = y as u32;
                let value = match op {
                    Op::Shl => x & !(all >> amount) | wanted >> amount,
                    _ => (wanted << amount) & all | x & mask(amount),
                };
                if eval::binary(op, width, value, y) == Some(wanted) {
                    self.extend(&mut proposals, a, value, depth);
                }
            }
            Op::UDiv | Op::SDiv if y != 0 => {
                let rest = eval::binary(
                    if op == Op::UDiv { Op::URem } else { Op::SRem },
                    width,
                    x,
                    y,
                );
                let exact = wanted.wrapping_mul(y) & all;
                let near = exact.wrapping_add(rest.unwrap_or(0)) & all;
                for value in [near, exact] {
                    if eval::binary(op, width, value, y) == Some(wanted) {
                        self.extend(&mut proposals, a, value, depth);
                    }
                }
            }
            Op::URem | Op::SRem if y != 0 => {
                let rest = eval::binary(op, width, x, y).unwrap_or(0);
                let near = x.wrapping_sub(rest).wrapping_add(wanted) & all;
                for value in [near, wanted, wanted.wrapping_add(y) & all] {
                    if eval::binary(op, width, value, y) == Some(wanted) {
                        self.extend(&mut proposals, a, value, depth);
                    }
                }
            }
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv => {
                self.float(&mut proposals, node, wanted, (x, y), depth);
            }
            _ => {}
        }
        proposals
    }

    /// Floating-point arithmetic, undone by its opposite.
    fn float(
        &mut self,
        proposals: &mut Proposals,
        node: &Node,
        wanted: u128,
        (x, y): (u128, u128),
        depth: u32,
    ) {
        let width = u32::from(node.width);
        let (left, right) = match operator(node) {
            Op::FAdd => ((Op::FSub, wanted, y), (Op::FSub, wanted, x)),
            Op::FSub => ((Op::FAdd, wanted, y), (Op::FSub, x, wanted)),
            Op::FMul => ((Op::FDiv, wanted, y), (Op::FDiv, wanted, x)),
            _ => ((Op::FMul, wanted, y), (Op::FDiv, x, wanted)),
        };
        if node.a == node.b {
            // A square, or twice something.
            let half = match operator(node) {
                Op::FMul => eval::unary(Op::FSqrt, width, width, 0, wanted),
                _ => eval::unary(Op::SToF, 8, width, 0, 2)
                    .and_then(|two| eval::binary(Op::FDiv, width, wanted, two)),
            };
            if let Some(half) = half {
                self.extend(proposals, node.a, half, depth);
            }
            return;
        }
        for (label, (op, p, q)) in [(node.a, left), (node.b, right)] {
            if let Some(value) = eval::binary(op, width, p, q) {
                self.extend(proposals, label, value, depth);
            }
        }
    }

    /// Sums as numbers are read: a multiple of something plus a digit. The digit's byte takes whichever
    /// of its values leaves the right remainder.
    fn digits(&mut self, proposals: &mut Proposals, node: &Node, wanted: u128, depth: u32) {
        let all = mask(u32::from(node.width));
        for (high, low) in [(node.a, node.b), (node.b, node.a)] {
            let set = self.terms.fact(low).set;
            let Some(byte) = self.terms.sets.only(set) else {
                continue;
            };
            let Some(factor) = self.factor(high) else {
                continue;
            };
            if factor < 2 || self.locked.contains(&byte) {
                continue;
            }
            let Some(image) = self.domains.image(self.terms, low, byte) else {
                continue;
            };
            let seed = self.terms.seed(byte);
            for value in self.domain.of(byte).by_preference(seed) {
                let Some(digit) = image[usize::from(value)] else {
                    continue;
                };
                let rest = wanted.wrapping_sub(digit) & all;
                // A number that wrapped around is none that was read.
                if rest.is_multiple_of(factor) && rest <= all / 2 {
                    for mut proposal in self.want(high, rest, depth) {
                        if proposal.iter().all(|&(other, _)| other != byte) {
                            proposal.push((byte, value));
                            proposals.push(proposal);
                        }
                    }
                    if proposals.len() >= WIDTH {
                        return;
                    }
                }
            }
        }
    }

    /// The constant that an expression is a multiple of.
    fn factor(&self, label: Label) -> Option<u128> {
        let node = self.terms.store.node(label);
        let constant = |label: Label| {
            let node = self.terms.store.node(label);
            (node.op == Op::Const as u8).then(|| parallax_expr::value(&node))
        };
        match operator(&node) {
            Op::Mul => constant(node.b),
            Op::Shl => constant(node.b).filter(|&by| by < 64).map(|by| 1 << by),
            Op::Concat if constant(node.b) == Some(0) => Some(self.width(node.b))
                .filter(|&by| by < 64)
                .map(|by| 1 << by),
            Op::ZExt | Op::SExt => self.factor(node.a),
            _ => None,
        }
    }

    /// Both expressions get their values.
    fn both(&mut self, p: (Label, u128), q: (Label, u128), depth: u32) -> Proposals {
        let mut proposals = Vec::new();
        self.pair(&mut proposals, p, q, depth);
        proposals
    }

    fn pair(&mut self, proposals: &mut Proposals, p: (Label, u128), q: (Label, u128), depth: u32) {
        let first = self.want(p.0, p.1, depth);
        if first.is_empty() {
            return;
        }
        let second = self.want(q.0, q.1, depth);
        for one in &first {
            for other in &second {
                let agree = one.iter().all(|(byte, value)| {
                    other.iter().all(|(same, new)| same != byte || new == value)
                });
                if agree && proposals.len() < WIDTH {
                    let mut joined = one.clone();
                    joined.extend(other.iter().filter(|change| !one.contains(change)));
                    proposals.push(joined);
                }
            }
        }
    }

    /// Comparisons and logic.
    fn truth(&mut self, node: &Node, wanted: bool, depth: u32) -> Proposals {
        let op = operator(node);
        let (a, b) = (node.a, node.b);
        let width = self.width(a);
        let (Some(x), Some(y)) = (self.value(a), self.value(b)) else {
            return Vec::new();
        };
        let mut proposals = Vec::new();
        // Pairs of an operand and a value for it.
        let mut alternatives: Vec<(Label, u128)> = Vec::new();
        match op {
            Op::And | Op::Or if wanted == (op == Op::And) => {
                let value = u128::from(wanted);
                return self.both((a, value), (b, value), depth);
            }
            Op::And | Op::Or => {
                alternatives.extend([(a, u128::from(wanted)), (b, u128::from(wanted))]);
            }
            Op::Xor => {
                alternatives.extend([(a, y ^ u128::from(wanted)), (b, x ^ u128::from(wanted))]);
            }
            Op::Eq | Op::FEq if wanted => alternatives.extend([(a, y), (b, x)]),
            Op::Eq => {
                alternatives.extend(others(y, mask(width)).into_iter().map(|v| (a, v)));
                alternatives.extend(others(x, mask(width)).into_iter().map(|v| (b, v)));
            }
            Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                let order = matches!(op, Op::Slt | Op::Sle);
                let strict = matches!(op, Op::Ult | Op::Slt) == wanted;
                // Which operand shall be the smaller one.
                let (small, large) = if wanted {
                    ((a, x), (b, y))
                } else {
                    ((b, y), (a, x))
                };
                let (least, most) = if order {
                    (sign_bit(width), mask(width - 1))
                } else {
                    (0, mask(width))
                };
                let step = u128::from(strict);
                if !(strict && large.1 == least) {
                    alternatives.push((small.0, large.1.wrapping_sub(step) & mask(width)));
                }
                if !(strict && small.1 == most) {
                    alternatives.push((large.0, small.1.wrapping_add(step) & mask(width)));
                }
                alternatives.extend([(small.0, least), (large.0, most)]);
                if order && signed(width, large.1) > 0 {
                    alternatives.push((small.0, 0));
                }
            }
            Op::FLt | Op::FLe => {
                // Bit patterns of numbers of one sign are ordered as the numbers are.
                alternatives.extend([
                    (a, y),
                    (b, x),
                    (a, y.wrapping_sub(1) & mask(width)),
                    (b, x.wrapping_add(1) & mask(width)),
                    (a, y.wrapping_add(1) & mask(width)),
                    (b, x.wrapping_sub(1) & mask(width)),
                    (a, 0),
                    (b, 0),
                ]);
            }
            _ => {}
        }
        for (label, value) in alternatives {
            self.extend(&mut proposals, label, value, depth);
        }
        proposals
    }

    fn conditional(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let Some(condition) = self.value(node.a) else {
            return Vec::new();
        };
        let (present, other) = if condition != 0 {
            (node.b, node.c)
        } else {
            (node.c, node.b)
        };
        let mut proposals = Vec::new();
        self.extend(&mut proposals, present, wanted, depth);
        let turned = (node.a, u128::from(condition == 0));
        self.pair(&mut proposals, turned, (other, wanted), depth);
        proposals
    }
}

/// Values other than this one.
fn others(value: u128, all: u128) -> Vec<u128> {
    let mut values = vec![
        value.wrapping_add(1) & all,
        value.wrapping_sub(1) & all,
        value ^ 1,
        !value & all,
    ];
    values.dedup();
    values
}

/// A number whose product with `factor` is `product`: the quotient, or one modulo the width.
fn cofactor(width: u32, product: u128, factor: u128) -> Option<u128> {
    if factor == 0 {
        return None;
    }
    if product.is_multiple_of(factor) {
        return Some(product / factor);
    }
    let twos = factor.trailing_zeros();
    if product.trailing_zeros() < twos {
        return None;
    }
    let odd = factor >> twos;
    // Newton's iteration; each step doubles the number of right bits.
    let mut inverse = odd;
    for _ in 0..6 {
        inverse = inverse.wrapping_mul(2u128.wrapping_sub(odd.wrapping_mul(inverse)));
    }
    Some((product >> twos).wrapping_mul(inverse) & mask(width - twos.min(width - 1)))
}
