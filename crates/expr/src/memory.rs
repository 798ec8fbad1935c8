//! Nodes in ordinary memory: for tests, for rebuilding expressions, for the solver.

use crate::store::{Label, Store, TableView};
use parallax_abi::Op;
use parallax_abi::trace::Node;
use std::vec;
use std::vec::Vec;

/// A growing store. Nodes are found by open addressing in a table that is at most half
/// full; slots hold half of the hash, so that growing and most mismatches touch no node.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    nodes: Vec<Node>,
    slots: Vec<Slot>,
    tables: Vec<OwnedTable>,
    limit: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    hash: u32,
    /// 0 if the slot is free.
    label: Label,
}

#[derive(Clone, Debug)]
struct OwnedTable {
    base: u64,
    bytes: Vec<u8>,
    labels: Option<Vec<u32>>,
}

impl Default for MemoryStore {
    fn default() -> Self {
        MemoryStore::new()
    }
}

impl MemoryStore {
    pub fn new() -> MemoryStore {
        MemoryStore::with_limit(Label::MAX as usize)
    }

    /// A store that is full after `limit` nodes.
    pub fn with_limit(limit: usize) -> MemoryStore {
        let nothing = Node {
            op: 0,
            width: 0,
            depth: 0,
            a: 0,
            b: 0,
            c: 0,
            lo: 0,
            hi: 0,
        };
        MemoryStore {
            nodes: vec![nothing],
            slots: vec![Slot::default(); 1024],
            tables: Vec::new(),
            limit,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a table; gives its index. `labels` has one word per byte.
    pub fn add_table(&mut self, base: u64, bytes: &[u8], labels: Option<&[u32]>) -> u32 {
        assert!(
            labels.is_none_or(|labels| labels.len() == bytes.len()),
            "one label word per byte"
        );
        self.tables.push(OwnedTable {
            base,
            bytes: bytes.to_vec(),
            labels: labels.map(<[u32]>::to_vec),
        });
        (self.tables.len() - 1) as u32
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old {
            if slot.label != 0 {
                let mut at = slot.hash as usize & (size - 1);
                while self.slots[at].label != 0 {
                    at = (at + 1) & (size - 1);
                }
                self.slots[at] = slot;
            }
        }
    }
}

/// Mixes what identifies a node. The values of nodes other than constants follow from the rest.
#[inline]
fn hash(node: &Node) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let head = u64::from(node.op) | u64::from(node.width) << 8 | u64::from(node.c) << 32;
    let operands = u64::from(node.a) | u64::from(node.b) << 32;
    let mut sum = (head ^ operands.rotate_left(17)).wrapping_mul(FACTOR) ^ operands;
    if node.op == Op::Const as u8 {
        sum ^= node.lo.wrapping_mul(FACTOR).rotate_left(29) ^ node.hi;
    }
    sum = (sum ^ sum >> 32).wrapping_mul(FACTOR);
    (sum >> 32) as u32
}

#[inline]
fn same(x: &Node, y: &Node) -> bool {
    (x.op, x.width, x.a, x.b, x.c) == (y.op, y.width, y.a, y.b, y.c)
        && (x.op != Op::Const as u8 || (x.lo, x.hi) == (y.lo, y.hi))
}

impl Store for MemoryStore {
    #[inline]
    fn node(&self, label: Label) -> Node {
        self.nodes[label as usize]
    }

    #[inline]
    fn intern(&mut self, node: Node) -> Label {
        let last = self.slots.len() - 1;
        let hash = hash(&node);
        let mut at = hash as usize & last;
        loop {
            let slot = self.slots[at];
            if slot.label == 0 {
                break;
            }
            if slot.hash == hash && same(&self.nodes[slot.label as usize], &node) {
                return slot.label;
            }
            at = (at + 1) & last;
        }
        if self.len() >= self.limit {
            return 0;
        }
        let label = self.nodes.len() as Label;
        self.nodes.push(node);
        self.slots[at] = Slot { hash, label };
        if self.nodes.len() * 2 > self.slots.len() {
            self.grow();
        }
        label
    }

    fn table(&self, table: u32) -> TableView<'_> {
        match self.tables.get(table as usize) {
            Some(table) => TableView {
                base: table.base,
                bytes: &table.bytes,
                labels: table.labels.as_deref(),
            },
            None => TableView {
                base: 0,
                bytes: &[],
                labels: None,
            },
        }
    }
}
