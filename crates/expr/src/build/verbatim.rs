//! Nodes exactly as asked for, without any rule: for what must be kept as it was written (tests of the
//! rules, proofs that they hold, text read back).

use super::term::{Term, make};
use crate::store::{Label, Store};
use parallax_abi::Op;

/// As [`build::unary`](super::unary), without rewriting.
pub fn unary<S: Store + ?Sized>(s: &mut S, op: Op, a: Label, to: u32, extra: u32) -> Label {
    if a == 0 {
        return 0;
    }
    let extra = if matches!(op, Op::Extract | Op::FRound) {
        extra
    } else {
        0
    };
    let a = Term::get(s, a);
    make::unary(s, op, a, to, extra)
}

/// As [`build::binary`](super::binary), without rewriting.
pub fn binary<S: Store + ?Sized>(s: &mut S, op: Op, a: Label, b: Label) -> Label {
    if a == 0 || b == 0 {
        return 0;
    }
    let (a, b) = (Term::get(s, a), Term::get(s, b));
    make::binary(s, op, a, b)
}

/// As [`build::ite`](super::ite), without rewriting.
pub fn ite<S: Store + ?Sized>(s: &mut S, c: Label, a: Label, b: Label) -> Label {
    if c == 0 || a == 0 || b == 0 {
        return 0;
    }
    let (c, a, b) = (Term::get(s, c), Term::get(s, a), Term::get(s, b));
    make::ite(s, c, a, b)
}
