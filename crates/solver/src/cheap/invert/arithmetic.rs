//! Undoing two-operand arithmetic, integer and floating point.

use super::{Inverter, Proposals, WIDTH};
use crate::overlay::operator;
use parallax_expr::bits::{mask, slice};
use parallax_expr::{Label, Node, Op, Store, eval};

impl<S: Store> Inverter<'_, '_, S> {
    pub(super) fn binary(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
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
