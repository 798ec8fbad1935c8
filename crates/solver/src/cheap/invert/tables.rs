//! Undoing table reads: another entry, or another value of the entry.

use super::{Inverter, Proposals, join};
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, Node, Store};

impl<S: Store> Inverter<'_, '_, S> {
    /// Entries of a table that have the wanted value.
    pub(super) fn table(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let view = self.terms.store.table(node.b);
        let length = usize::from(node.width / 8);
        let positions = (view.bytes.len() + 1).saturating_sub(length);
        let mut addresses = Vec::new();
        for position in 0..positions {
            let range = position..position + length;
            let labelled = view.labels.is_some_and(|words| {
                let inside = &words[range.clone()];
                inside.iter().any(|word| word >> LABEL_BYTE_BITS != 0)
            });
            let bytes = view.bytes[range].iter().rev();
            let entry = bytes.fold(0, |sum, &byte| sum << 8 | u128::from(byte));
            if !labelled && entry == wanted {
                addresses.push(view.base.wrapping_add(position as u64));
                if addresses.len() == 64 {
                    break;
                }
            }
        }
        let mut proposals = self.table_cell(node, wanted, depth);
        for address in addresses {
            self.extend(&mut proposals, node.a, u128::from(address), depth);
        }
        proposals
    }

    /// The address stays; what the table holds there changes.
    fn table_cell(&mut self, node: &Node, wanted: u128, depth: u32) -> Proposals {
        let Some(address) = self.value(node.a) else {
            return Vec::new();
        };
        let length = usize::from(node.width / 8);
        let view = self.terms.store.table(node.b);
        let Some((bytes, Some(words))) = view.read(address as u64, length) else {
            return Vec::new();
        };
        let (bytes, words) = (bytes.to_vec(), words.to_vec());
        let low = (1 << LABEL_BYTE_BITS) - 1;
        // Each node that has bytes here, with the value that it needs.
        let mut nodes: Vec<(Label, u128)> = Vec::new();
        for (at, (&byte, &word)) in bytes.iter().zip(&words).enumerate() {
            let new = wanted >> (8 * at) & 0xff;
            let inside: Label = word >> LABEL_BYTE_BITS;
            if inside == 0 {
                if u128::from(byte) != new {
                    return Vec::new();
                }
                continue;
            }
            let Some(present) = self.value(inside) else {
                return Vec::new();
            };
            let shift = 8 * (word & low);
            let last = nodes.last().copied().filter(|(node, _)| *node == inside);
            let old = last.map_or(present, |(_, value)| value);
            let value = old & !(0xff << shift) | new << shift;
            match nodes.last_mut().filter(|_| last.is_some()) {
                Some(same) => same.1 = value,
                None => nodes.push((inside, value)),
            }
        }
        let mut proposals: Proposals = vec![Vec::new()];
        for (inside, value) in nodes {
            let more = self.want(inside, value, depth);
            proposals = join(&proposals, &more);
        }
        proposals
    }
}
