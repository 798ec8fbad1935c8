//! Bit-vector terms.

use super::{Printer, constant};
use crate::store::{Label, Store};
use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_abi::trace::Node;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Operators whose operand is written once per bit or byte.
pub(super) fn repeats_operand(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        PopCount | LeadingZeros | TrailingZeros | ByteSwap | BitReverse | Table
    )
}

fn bit(x: &str, index: u32) -> String {
    format!("((_ extract {index} {index}) {x})")
}

/// A predicate as a one-bit vector.
pub(super) fn truth(predicate: String) -> String {
    format!("(ite {predicate} #b1 #b0)")
}

impl<S: Store + ?Sized> Printer<'_, S> {
    pub(super) fn term(&mut self, op: Op, node: &Node) -> String {
        let width = u32::from(node.width);
        let call = |name: &str| match op.arity() {
            1 => format!("({name} {})", self.bits(node.a)),
            _ => format!("({name} {} {})", self.bits(node.a), self.bits(node.b)),
        };
        let name = match op {
            Op::Not => "bvnot",
            Op::Neg => "bvneg",
            Op::Concat => "concat",
            Op::Add => "bvadd",
            Op::Sub => "bvsub",
            Op::Mul => "bvmul",
            Op::UDiv => "bvudiv",
            Op::SDiv => "bvsdiv",
            Op::URem => "bvurem",
            Op::SRem => "bvsrem",
            Op::Shl => "bvshl",
            Op::LShr => "bvlshr",
            Op::AShr => "bvashr",
            Op::And => "bvand",
            Op::Or => "bvor",
            Op::Xor => "bvxor",
            Op::Eq => return truth(call("=")),
            Op::Ult => return truth(call("bvult")),
            Op::Ule => return truth(call("bvule")),
            Op::Slt => return truth(call("bvslt")),
            Op::Sle => return truth(call("bvsle")),
            Op::ZExt | Op::SExt => {
                let kind = if op == Op::ZExt {
                    "zero_extend"
                } else {
                    "sign_extend"
                };
                let more = width - self.width(node.a);
                return format!("((_ {kind} {more}) {})", self.bits(node.a));
            }
            Op::Extract => {
                let high = node.c + width - 1;
                return format!("((_ extract {high} {}) {})", node.c, self.bits(node.a));
            }
            Op::Ite => {
                let (c, a, b) = (self.bits(node.a), self.bits(node.b), self.bits(node.c));
                return format!("(ite (= {c} #b1) {a} {b})");
            }
            Op::Table => return self.table(node),
            Op::PopCount | Op::LeadingZeros | Op::TrailingZeros | Op::ByteSwap | Op::BitReverse => {
                return by_bits(op, width, self.bits(node.a));
            }
            _ => return self.float_term(op, node),
        };
        call(name)
    }

    /// The value of a table read as choices by address.
    fn table(&self, node: &Node) -> String {
        let view = self.store.table(node.b);
        let length = usize::from(node.width / 8);
        let address = self.bits(node.a);
        let positions = (view.bytes.len() + 1).saturating_sub(length);
        // Runs of positions with the same value, as in character class tables, are one.
        let mut entries: Vec<(u64, String)> = Vec::new();
        for position in 0..positions {
            let bytes: Vec<String> = (position..position + length)
                .rev()
                .map(|at| {
                    let word = view.labels.map_or(0, |labels| labels[at]);
                    self.table_byte(view.bytes[at], word)
                })
                .collect();
            let text = match &bytes[..] {
                [single] => single.clone(),
                _ => format!("(concat {})", bytes.join(" ")),
            };
            if entries.last().is_none_or(|(_, last)| *last != text) {
                entries.push((view.base.wrapping_add(position as u64), text));
            }
        }
        match entries.is_empty() {
            true => constant(u32::from(node.width), 0),
            false => choices(address, &entries),
        }
    }

    fn table_byte(&self, byte: u8, word: u32) -> String {
        let label: Label = word >> LABEL_BYTE_BITS;
        if label == 0 {
            return constant(8, u128::from(byte));
        }
        let low = 8 * (word & ((1 << LABEL_BYTE_BITS) - 1));
        let width = self.width(label);
        let text = self.bits(label);
        if width == 8 {
            return text.to_string();
        }
        if low + 8 <= width {
            return format!("((_ extract {} {low}) {text})", low + 7);
        }
        if low >= width {
            return constant(8, 0);
        }
        format!(
            "((_ zero_extend {}) ((_ extract {} {low}) {text}))",
            low + 8 - width,
            width - 1
        )
    }
}

/// The value of the last entry whose start is not above the address.
fn choices(address: &str, entries: &[(u64, String)]) -> String {
    if let [(_, text)] = entries {
        return text.clone();
    }
    let (low, high) = entries.split_at(entries.len() / 2);
    let start = constant(64, u128::from(high[0].0));
    format!(
        "(ite (bvult {address} {start}) {} {})",
        choices(address, low),
        choices(address, high)
    )
}

/// Operators that SMT-LIB lacks, bit by bit or byte by byte.
fn by_bits(op: Op, width: u32, x: &str) -> String {
    match op {
        Op::PopCount => {
            let bits: Vec<String> = (0..width)
                .map(|index| match width {
                    1 => bit(x, index),
                    _ => format!("((_ zero_extend {}) {})", width - 1, bit(x, index)),
                })
                .collect();
            bits.iter()
                .skip(1)
                .fold(bits[0].clone(), |sum, bit| format!("(bvadd {sum} {bit})"))
        }
        Op::LeadingZeros | Op::TrailingZeros => {
            let mut text = constant(width, u128::from(width));
            for count in (0..width).rev() {
                let index = if op == Op::LeadingZeros {
                    width - 1 - count
                } else {
                    count
                };
                let number = constant(width, u128::from(count));
                text = format!("(ite (= {} #b1) {number} {text})", bit(x, index));
            }
            text
        }
        _ => {
            let step = if op == Op::ByteSwap { 8 } else { 1 };
            let parts: Vec<String> = (0..width / step)
                .map(|part| {
                    format!(
                        "((_ extract {} {}) {x})",
                        step * part + step - 1,
                        step * part
                    )
                })
                .collect();
            match &parts[..] {
                [single] => single.clone(),
                _ => format!("(concat {})", parts.join(" ")),
            }
        }
    }
}
