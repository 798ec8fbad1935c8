//! Neighbouring input bytes that are read as one number.

use crate::store::{Label, Store};
use parallax_abi::Op;
use parallax_abi::trace::Node;
use std::vec::Vec;

/// Consecutive bytes of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub source: u32,
    /// Offset of the first byte in the source.
    pub start: u64,
    pub count: u64,
    /// Whether the first byte is the most significant one.
    pub big_endian: bool,
}

impl Run {
    /// The bytes of `value`, if this run has it, in the source's order.
    pub fn bytes_of(&self, value: u128) -> Vec<u8> {
        let count = self.count as usize;
        let mut bytes = value.to_le_bytes()[..count].to_vec();
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}

pub(super) fn offset(node: &Node) -> u64 {
    u64::from(node.b) | u64::from(node.c) << 32
}

/// The parts of a concatenation, highest first.
pub(super) fn pieces<S: Store + ?Sized>(store: &S, label: Label) -> Vec<Label> {
    let mut result = Vec::new();
    let mut rest = label;
    loop {
        let node = store.node(rest);
        if node.op != Op::Concat as u8 {
            result.push(rest);
            return result;
        }
        result.push(node.a);
        rest = node.b;
    }
}

/// The longest run of at least two input bytes that `pieces` begins with.
pub(super) fn leading_run<S: Store + ?Sized>(store: &S, pieces: &[Label]) -> Option<Run> {
    let inputs: Vec<Node> = pieces
        .iter()
        .map(|&piece| store.node(piece))
        .take_while(|node| node.op == Op::Input as u8)
        .collect();
    let [first, second, ..] = inputs[..] else {
        return None;
    };
    let big_endian = offset(&second) == offset(&first).wrapping_add(1);
    let follows = |pair: &[Node]| {
        let step = if big_endian { 1 } else { u64::MAX };
        pair[0].a == pair[1].a && offset(&pair[1]) == offset(&pair[0]).wrapping_add(step)
    };
    let count = 1 + inputs.windows(2).take_while(|pair| follows(pair)).count() as u64;
    if count < 2 {
        return None;
    }
    let start = if big_endian {
        offset(&first)
    } else {
        offset(&first) + 1 - count
    };
    Some(Run {
        source: first.a,
        start,
        count,
        big_endian,
    })
}

/// The run that the whole value is.
pub(super) fn whole_run<S: Store + ?Sized>(store: &S, label: Label) -> Option<Run> {
    let pieces = pieces(store, label);
    leading_run(store, &pieces).filter(|run| run.count == pieces.len() as u64)
}
