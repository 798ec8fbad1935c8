//! Whether a node's recorded value follows from its operands' recorded values.

use parallax_abi::Op;
use parallax_abi::trace::Node;
use parallax_expr::{eval, value};

use super::{Fault, What};
use crate::trace::Trace;

pub(super) fn check(trace: &Trace, label: u32, node: &Node) -> Option<Fault> {
    let op = Op::from_byte(node.op)?;
    let expected = evaluate(trace, op, node);
    let actual = value(node);
    (expected != Some(actual)).then_some(Fault {
        what: What::Node,
        label,
        site: None,
        op: Some(op),
        expected,
        actual,
    })
}

/// The node's value according to its operator, from its operands' recorded values.
fn evaluate(trace: &Trace, op: Op, node: &Node) -> Option<u128> {
    let operand = |label: u32| trace.node(label);
    match op {
        // An input byte's value is compared with the input, not computed.
        Op::Const | Op::Input => Some(value(node)),
        Op::Nothing => None,
        Op::Object => trace.object(node.a).map(|object| object.base.into()),
        Op::Table => read_table(trace, node),
        Op::Ite => {
            let chosen = if operand(node.a)?.lo != 0 {
                node.b
            } else {
                node.c
            };
            Some(value(operand(chosen)?))
        }
        _ if op.arity() == 1 => {
            let a = operand(node.a)?;
            eval::unary(op, a.width.into(), node.width.into(), node.c, value(a))
        }
        _ => {
            let (a, b) = (operand(node.a)?, operand(node.b)?);
            eval::binary(op, b.width.into(), value(a), value(b))
        }
    }
}

/// The bytes at the recorded address; a labelled byte must be its label's byte.
fn read_table(trace: &Trace, node: &Node) -> Option<u128> {
    let address = trace.node(node.a)?.lo;
    let table = trace.table(node.b)?;
    let (bytes, labels) = table.read(address, usize::from(node.width) / 8)?;
    let mut result = 0;
    for (index, byte) in bytes.iter().enumerate() {
        let word = labels.map_or(0, |labels| labels[index]);
        let expected = if word == 0 {
            *byte
        } else {
            let source = trace.node(word >> parallax_abi::layout::LABEL_BYTE_BITS)?;
            let shift = 8 * (word & ((1 << parallax_abi::layout::LABEL_BYTE_BITS) - 1));
            (value(source) >> shift) as u8
        };
        if expected != *byte {
            return None;
        }
        result |= u128::from(expected) << (8 * index);
    }
    Some(result)
}
