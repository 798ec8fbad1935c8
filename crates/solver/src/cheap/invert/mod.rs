//! Inversion: which changes of input bytes give an expression a wanted value.
//!
//! Walks from the expression down to the input, undoing one operator after the other; the other operand of a
//! two-operand operator keeps its present value. Whatever comes out is a proposal, to be evaluated: rules may
//! be incomplete or optimistic.

mod arithmetic;
mod logic;
mod tables;

use super::domains::{Domain, Domains};
use crate::constraint::{Constraint, Holds};
use crate::layer::Changes;
use crate::overlay::{operands, operator};
use crate::sets::{SetId, VarId};
use crate::terms::Terms;
use parallax_expr::bits::{mask, sign_extend};
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
        let room = WIDTH.saturating_sub(proposals.len());
        proposals.extend(join(&first, &second).into_iter().take(room));
    }
}

/// Changes of one list together with changes of another, where they do not contradict.
fn join(first: &[Changes], second: &[Changes]) -> Proposals {
    let mut joined = Vec::new();
    for one in first {
        for other in second {
            let agree = one
                .iter()
                .all(|(byte, value)| other.iter().all(|(same, new)| same != byte || new == value));
            if agree && joined.len() < WIDTH {
                let mut both = one.clone();
                both.extend(other.iter().filter(|change| !one.contains(change)));
                joined.push(both);
            }
        }
    }
    joined
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
