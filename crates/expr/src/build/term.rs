//! A node with its label, as the rules look at it, and the making of new ones.

use crate::bits::mask;
use crate::eval;
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::trace::Node;

/// A node taken apart.
#[derive(Clone, Copy)]
pub(super) struct Term {
    pub label: Label,
    pub op: Op,
    pub width: u32,
    pub depth: u16,
    pub a: u32,
    pub b: u32,
    pub c: u32,
    pub value: u128,
}

impl Term {
    #[inline]
    pub fn get<S: Store + ?Sized>(s: &S, label: Label) -> Term {
        let node = s.node(label);
        Term {
            label,
            op: Op::from_byte(node.op).unwrap_or(Op::Nothing),
            width: u32::from(node.width),
            depth: node.depth,
            a: node.a,
            b: node.b,
            c: node.c,
            value: value(&node),
        }
    }

    #[inline]
    pub fn constant(&self) -> Option<u128> {
        (self.op == Op::Const).then_some(self.value)
    }

    /// The constant second operand, if this is `op` with one.
    #[inline]
    pub fn with_constant<S: Store + ?Sized>(&self, s: &S, op: Op) -> Option<u128> {
        if self.op == op {
            constant_of(s, self.b)
        } else {
            None
        }
    }
}

/// The value of a constant node.
#[inline]
pub(super) fn constant_of<S: Store + ?Sized>(s: &S, label: Label) -> Option<u128> {
    let node = s.node(label);
    (node.op == Op::Const as u8).then(|| value(&node))
}

/// Operands of a commutative operator in canonical order: constant right, else lower label left.
#[inline]
pub(super) fn ordered(x: Term, y: Term) -> (Term, Term) {
    if x.op == Op::Const || (y.op != Op::Const && y.label < x.label) {
        (y, x)
    } else {
        (x, y)
    }
}

/// Interning of nodes as they are, values computed from the operands.
pub(super) mod make {
    use super::*;

    /// Width of a two-operand operator's result.
    #[inline]
    pub fn binary_width(op: Op, x: &Term, y: &Term) -> u32 {
        match op {
            Op::Concat => x.width + y.width,
            _ if op.is_predicate() => 1,
            _ => x.width,
        }
    }

    #[inline]
    pub fn unary<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, to: u32, extra: u32) -> Label {
        let width = eval::unary_width(op, x.width, to);
        match eval::unary(op, x.width, width, extra, x.value) {
            Some(value) => node(s, op, width, x.depth, [x.label, 0, extra], value),
            None => 0,
        }
    }

    #[inline]
    pub fn binary<S: Store + ?Sized>(s: &mut S, op: Op, x: Term, y: Term) -> Label {
        let width = binary_width(op, &x, &y);
        let operand_width = if op == Op::Concat { y.width } else { x.width };
        match eval::binary(op, operand_width, x.value, y.value) {
            Some(value) => node(
                s,
                op,
                width,
                x.depth.max(y.depth),
                [x.label, y.label, 0],
                value,
            ),
            None => 0,
        }
    }

    #[inline]
    pub fn ite<S: Store + ?Sized>(s: &mut S, c: Term, x: Term, y: Term) -> Label {
        let value = if c.value != 0 { x.value } else { y.value };
        let depth = c.depth.max(x.depth).max(y.depth);
        node(
            s,
            Op::Ite,
            x.width,
            depth,
            [c.label, x.label, y.label],
            value,
        )
    }

    /// `depth` is the deepest operand's.
    #[inline]
    pub fn node<S: Store + ?Sized>(
        s: &mut S,
        op: Op,
        width: u32,
        depth: u16,
        [a, b, c]: [u32; 3],
        value: u128,
    ) -> Label {
        debug_assert_eq!(value & !mask(width), 0);
        s.intern(Node {
            op: op as u8,
            width: width as u8,
            depth: depth.saturating_add(1),
            a,
            b,
            c,
            lo: value as u64,
            hi: (value >> 64) as u64,
        })
    }
}
