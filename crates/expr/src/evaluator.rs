//! The value of any node for any input.

use crate::eval;
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_abi::trace::Node;
use std::vec::Vec;

/// Where an [`Evaluator`] takes input bytes from.
pub trait Inputs {
    /// The byte, or `None` for the one that the node recorded.
    fn byte(&self, source: u32, offset: u64) -> Option<u8>;
}

/// The input that the expressions were made with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded;

impl Inputs for Recorded {
    fn byte(&self, _: u32, _: u64) -> Option<u8> {
        None
    }
}

impl<F: Fn(u32, u64) -> Option<u8>> Inputs for F {
    fn byte(&self, source: u32, offset: u64) -> Option<u8> {
        self(source, offset)
    }
}

/// Evaluates nodes on one input and remembers what it has computed.
///
/// A value can be missing (`None`): a conversion from floating point that has no result, a
/// table read outside of its table, a node that was never completely written, or anything computed from
/// one of these. Only the chosen side of a conditional counts.
///
/// Operands have lower labels than the nodes that use them. Evaluation keeps its
/// own stack: expressions are as deep as the trace allows.
pub struct Evaluator<'s, S: ?Sized, I> {
    store: &'s S,
    inputs: I,
    known: Vec<Option<Option<u128>>>,
    pending: Vec<Label>,
}

impl<'s, S: Store + ?Sized, I: Inputs> Evaluator<'s, S, I> {
    pub fn new(store: &'s S, inputs: I) -> Self {
        Evaluator {
            store,
            inputs,
            known: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// The node's value on this input.
    pub fn value(&mut self, label: Label) -> Option<u128> {
        if label == 0 {
            return None;
        }
        if self.known.len() <= label as usize {
            self.known.resize(label as usize + 1, None);
        }
        self.pending.push(label);
        while let Some(&top) = self.pending.last() {
            if self.known[top as usize].is_none() {
                match self.compute(top) {
                    Ok(value) => self.known[top as usize] = Some(value),
                    Err(Missing(operand)) => {
                        self.pending.push(operand);
                        continue;
                    }
                }
            }
            self.pending.pop();
        }
        self.known[label as usize].flatten()
    }

    /// Forgets all values and goes on with another input.
    pub fn restart(&mut self, inputs: I) {
        self.inputs = inputs;
        self.known.fill(None);
    }

    /// The node's value, if all that it needs is known.
    fn compute(&self, label: Label) -> Result<Option<u128>, Missing> {
        let node = self.store.node(label);
        let Some(op) = Op::from_byte(node.op) else {
            return Ok(None);
        };
        match op {
            Op::Nothing => Ok(None),
            Op::Const | Op::Object => Ok(Some(value(&node))),
            Op::Input => {
                let offset = u64::from(node.b) | u64::from(node.c) << 32;
                let byte = self.inputs.byte(node.a, offset);
                Ok(Some(byte.map_or(value(&node), u128::from)))
            }
            _ => of_operands(self.store, op, &node, |operand| {
                self.operand(label, operand)
            }),
        }
    }

    /// A value that `user` needs. A label that is not below its user's can only
    /// come from a damaged trace and has no value.
    fn operand(&self, user: Label, operand: Label) -> Result<Option<u128>, Missing> {
        if operand == 0 || operand >= user {
            return Ok(None);
        }
        self.known[operand as usize].ok_or(Missing(operand))
    }
}

/// The value of a node that has operands; these are asked for as they are needed. `None` if it has no value.
#[inline]
pub fn of_operands<S: Store + ?Sized, E>(
    store: &S,
    op: Op,
    node: &Node,
    operand: impl Fn(Label) -> Result<Option<u128>, E>,
) -> Result<Option<u128>, E> {
    let width = |label: Label| u32::from(store.node(label).width);
    match op {
        Op::Table => read_table(store, node, operand),
        Op::Ite => match operand(node.a)? {
            Some(0) => operand(node.c),
            Some(_) => operand(node.b),
            None => Ok(None),
        },
        _ if op.arity() == 1 => {
            let a = operand(node.a)?;
            let to = u32::from(node.width);
            Ok(a.and_then(|a| eval::unary(op, width(node.a), to, node.c, a)))
        }
        _ => {
            let (a, b) = (operand(node.a)?, operand(node.b)?);
            let (Some(a), Some(b)) = (a, b) else {
                return Ok(None);
            };
            let operand_width = width(if op == Op::Concat { node.b } else { node.a });
            Ok(eval::binary(op, operand_width, a, b))
        }
    }
}

fn read_table<S: Store + ?Sized, E>(
    store: &S,
    node: &Node,
    operand: impl Fn(Label) -> Result<Option<u128>, E>,
) -> Result<Option<u128>, E> {
    let Some(address) = operand(node.a)? else {
        return Ok(None);
    };
    let length = usize::from(node.width / 8);
    let Some((bytes, words)) = store.table(node.b).read(address as u64, length) else {
        return Ok(None);
    };
    let mut result = 0;
    for at in (0..length).rev() {
        let word = words.map_or(0, |words| words[at]);
        let byte = if word == 0 {
            u128::from(bytes[at])
        } else {
            let Some(whole) = operand(word >> LABEL_BYTE_BITS)? else {
                return Ok(None);
            };
            whole >> (8 * (word & ((1 << LABEL_BYTE_BITS) - 1))) & 0xff
        };
        result = result << 8 | byte;
    }
    Ok(Some(result))
}

/// An operand that must be computed first.
struct Missing(Label);
