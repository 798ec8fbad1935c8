//! What a condition compares: which part of the input with which constant.
//!
//! A loop that compares the input with one name after the other is a single branch in the program; which name it is,
//! only the constants tell. Told apart by what they compare, the names are places of their own for
//! the search: each is worth trying, as the cases of a `switch` are.

use parallax_abi::Op;
use parallax_expr::Label;

use super::random::mix;
use parallax_trace::Trace;

/// Operators of a comparison that is simple enough to be named.
const MOST_NODES: usize = 12;

/// Names an equality of input and constant; `None` if the condition is something else.
/// Positions are told apart by their order of magnitude only: a parser would make a place of each byte.
pub fn compared(trace: &Trace, condition: Label) -> Option<u64> {
    let mut label = condition;
    let mut node = trace.node(label)?;
    while Op::from_byte(node.op)? == Op::Not {
        label = node.a;
        node = trace.node(label)?;
    }
    let is_constant = |label: Label| {
        let op = trace.node(label).and_then(|node| Op::from_byte(node.op));
        op == Some(Op::Const)
    };
    let is_equality = Op::from_byte(node.op)? == Op::Eq;
    if !is_equality || is_constant(node.a) == is_constant(node.b) {
        return None;
    }
    let mut left = MOST_NODES;
    name(trace, label, &mut left)
}

fn name(trace: &Trace, label: Label, left: &mut usize) -> Option<u64> {
    *left = left.checked_sub(1)?;
    let node = trace.node(label)?;
    let op = Op::from_byte(node.op)?;
    let start = mix(u64::from(node.op) << 8 | u64::from(node.width));
    match op {
        Op::Const => Some(mix(start ^ mix(node.lo ^ node.hi.rotate_left(32)))),
        Op::Input => {
            let source = trace.source(node.a)?;
            let offset = u64::from(node.b) | u64::from(node.c) << 32;
            let of = mix(u64::from(source.index) << 8 | source.kind as u64);
            Some(mix(start ^ of ^ u64::from((offset + 1).ilog2())))
        }
        _ => {
            let detail = if op == Op::Extract { node.c } else { 0 };
            let operands = [node.a, node.b, node.c].into_iter().take(op.arity());
            operands
                .map(|operand| name(trace, operand, left))
                .try_fold(start ^ u64::from(detail), |sum, operand| {
                    Some(mix(sum ^ operand?.rotate_left(17)))
                })
        }
    }
}
