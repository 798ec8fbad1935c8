//! Undoing comparisons, logic and conditionals.

use super::{Inverter, Proposals, others};
use crate::overlay::operator;
use parallax_expr::bits::{mask, sign_bit, signed};
use parallax_expr::{Label, Node, Op, Store};

impl<S: Store> Inverter<'_, '_, S> {
    /// Comparisons and logic.
    pub(super) fn truth(&mut self, node: &Node, wanted: bool, depth: u32) -> Proposals {
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

    pub(super) fn conditional(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
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
