//! Leaves, and values assembled from the label words of memory.

use super::{concat, extract, make, term::Term};
use crate::bits::mask;
use crate::store::{Label, Store};
use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_abi::trace::Node;

fn leaf<S: Store + ?Sized>(s: &mut S, op: Op, width: u32, fields: [u32; 3], value: u128) -> Label {
    let [a, b, c] = fields;
    s.intern(Node {
        op: op as u8,
        width: width as u8,
        depth: 0,
        a,
        b,
        c,
        lo: value as u64,
        hi: (value >> 64) as u64,
    })
}

/// A constant; bits of `value` beyond `width` are ignored.
#[inline]
pub fn constant<S: Store + ?Sized>(s: &mut S, width: u32, value: u128) -> Label {
    leaf(s, Op::Const, width, [0; 3], value & mask(width))
}

/// One byte of input. A byte that is read again with another value (a file that
/// changed) keeps its first node, so that the caller's comparison of value
/// and node shows the difference.
pub fn input<S: Store + ?Sized>(s: &mut S, source: u32, offset: u64, value: u8) -> Label {
    leaf(
        s,
        Op::Input,
        8,
        [source, offset as u32, (offset >> 32) as u32],
        u128::from(value),
    )
}

/// Address of a memory object.
pub fn object<S: Store + ?Sized>(s: &mut S, object: u32, base: u64) -> Label {
    leaf(s, Op::Object, 64, [object, 0, 0], u128::from(base))
}

/// `width / 8` bytes read at `address`, which lies in table `table`; `value` is
/// what was read.
pub fn table<S: Store + ?Sized>(
    s: &mut S,
    address: Label,
    table: u32,
    width: u32,
    value: u128,
) -> Label {
    if address == 0 {
        return 0;
    }
    let address = Term::get(s, address);
    if let Some(at) = address.constant() {
        return read(s, table, at as u64, width, value);
    }
    make::node(
        s,
        Op::Table,
        width,
        address.depth,
        [address.label, table, 0],
        value & mask(width),
    )
}

/// Rule 20. What the table does not hold is taken from the value that was read.
fn read<S: Store + ?Sized>(s: &mut S, table: u32, at: u64, width: u32, value: u128) -> Label {
    let length = (width / 8) as usize;
    let mut bytes = [0; 16];
    let mut words = [0; 16];
    match s.table(table).read(at, length) {
        Some((contents, labels)) => {
            bytes[..length].copy_from_slice(contents);
            if let Some(labels) = labels {
                words[..length].copy_from_slice(labels);
            }
        }
        None => bytes = value.to_le_bytes(),
    }
    self::bytes(s, &words[..length], &bytes[..length])
}

/// The little-endian value of 1 to 16 bytes of memory, given one label word (0, or
/// `node << 4 | byte`) and the concrete value of each. Runs of bytes of one node
/// are taken in one piece, so that a value that was stored comes back as it was.
pub fn bytes<S: Store + ?Sized>(s: &mut S, words: &[u32], bytes: &[u8]) -> Label {
    let length = words.len().min(bytes.len());
    let mut result = 0;
    let mut start = 0;
    while start < length {
        let word = words[start];
        let follows = |at: usize| match word {
            0 => words[at] == 0,
            // A carry out of the byte index would make the next node's word.
            _ => {
                words[at] == word + (at - start) as u32
                    && words[at] >> LABEL_BYTE_BITS == word >> LABEL_BYTE_BITS
            }
        };
        let end = (start + 1..length)
            .find(|&at| !follows(at))
            .unwrap_or(length);
        let width = 8 * (end - start) as u32;
        let piece = if word == 0 {
            let value = bytes[start..end]
                .iter()
                .rev()
                .fold(0, |sum, &byte| sum << 8 | u128::from(byte));
            constant(s, width, value)
        } else {
            let low = 8 * (word & ((1 << LABEL_BYTE_BITS) - 1));
            part(s, word >> LABEL_BYTE_BITS, low, width)
        };
        result = if start == 0 {
            piece
        } else {
            concat(s, piece, result)
        };
        if result == 0 {
            return 0;
        }
        start = end;
    }
    result
}

/// Bits of a node's value as they are stored in memory: values whose width is
/// no whole number of bytes are stored with zeros above.
fn part<S: Store + ?Sized>(s: &mut S, label: Label, low: u32, length: u32) -> Label {
    let width = u32::from(s.node(label).width);
    if low + length <= width {
        return extract(s, label, low, length);
    }
    if low >= width {
        return constant(s, length, 0);
    }
    let top = extract(s, label, low, width - low);
    super::zext(s, top, length)
}
