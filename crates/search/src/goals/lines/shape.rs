//! What a condition looks like, whatever bytes it is about.
//!
//! A branch that could not be turned round deserves another attempt when its operands were computed in another way: from `a - b`
//! comes what `a + b` never gives. Attempts are counted by branch and shape for this reason.

use parallax_abi::Op;
use parallax_expr::Label;

use crate::core::random::mix;
use crate::worker::Traced;

/// Operators of a condition that are gone through.
const MOST_NODES: usize = 96;

/// The same for conditions that apply the same operators, to whatever bytes and constants.
pub fn of(traced: &Traced, label: Label) -> u64 {
    let mut pending = vec![label];
    let mut shape = 0;
    let mut seen = 0;
    while let Some(label) = pending.pop()
        && seen < MOST_NODES
    {
        seen += 1;
        let Some(node) = traced.trace.node(label) else {
            continue;
        };
        let Some(op) = Op::from_byte(node.op) else {
            continue;
        };
        shape = mix(shape ^ mix(u64::from(node.op) + 1));
        if !matches!(op, Op::Input | Op::Const) {
            pending.extend([node.a, node.b, node.c].into_iter().take(op.arity()));
        }
    }
    shape
}
