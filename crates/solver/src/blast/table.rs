//! Table reads as trees of choices over the bits of the index.

use super::gates::{Bit, Gates, TooLarge};
use super::word::Word;
use crate::overlay::operator;
use parallax_expr::{Label, Op, Store, value};

/// An address taken apart: constants, and what is added to them.
pub(super) struct Sum {
    pub constant: u64,
    pub terms: Vec<Label>,
}

/// How many summands an address is taken apart into.
const MAX_TERMS: usize = 4;

/// Addresses are a base plus an index. The table's own base is taken off again, and often enough nothing
/// but the index is left, which no adder stands in front of then.
pub(super) fn summands<S: Store>(store: &S, address: Label) -> Sum {
    let mut sum = Sum {
        constant: 0,
        terms: Vec::new(),
    };
    let mut pending = vec![address];
    while let Some(label) = pending.pop() {
        let node = store.node(label);
        match operator(&node) {
            Op::Const | Op::Object => {
                sum.constant = sum.constant.wrapping_add(value(&node) as u64);
            }
            Op::Add
                if sum.terms.len() + pending.len() + 2 <= MAX_TERMS
                    && node.a < label
                    && node.b < label
                    && node.a != 0
                    && node.b != 0 =>
            {
                pending.extend([node.b, node.a]);
            }
            _ => sum.terms.push(label),
        }
    }
    sum
}

/// The sum of the words and of the constant, less the table's base.
pub(super) fn index(gates: &mut Gates, words: &[Word], constant: u64, base: u64) -> Word {
    let rest = constant.wrapping_sub(base);
    let mut sum = Gates::constant(64, u128::from(rest));
    for word in words {
        sum = gates.add(word, &sum);
    }
    sum
}

/// The entry at the index; some entry if there is none.
pub(super) fn select(gates: &mut Gates, index: &[Bit], entries: &[Word]) -> Result<Word, TooLarge> {
    let levels = (entries.len().next_power_of_two().trailing_zeros() as usize).min(index.len());
    subtree(gates, &index[..levels], entries)
}

/// `entries` is not empty.
fn subtree(gates: &mut Gates, index: &[Bit], entries: &[Word]) -> Result<Word, TooLarge> {
    let Some((&top, rest)) = index.split_last() else {
        return Ok(entries[0].clone());
    };
    let half = 1usize << rest.len();
    if entries.len() <= half || top == Bit::FALSE {
        // Indices beyond the table do not matter.
        return subtree(gates, rest, &entries[..entries.len().min(half)]);
    }
    let (low, high) = entries.split_at(half);
    if top == Bit::TRUE {
        return subtree(gates, rest, high);
    }
    let (a, b) = (subtree(gates, rest, high)?, subtree(gates, rest, low)?);
    let word = gates.choose_word(top, &a, &b);
    gates.check_size()?;
    Ok(word)
}
