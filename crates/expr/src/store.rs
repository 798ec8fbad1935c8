//! What construction and printing need from the place where nodes live.

use parallax_abi::trace::Node;

/// Index of a node; 0 means "concrete" or "none".
pub type Label = u32;

/// A table of hash-consed nodes.
pub trait Store {
    /// The node with this label, by value. Only called with labels that
    /// [`intern`](Store::intern) gave out.
    fn node(&self, label: Label) -> Node;

    /// Finds or adds a node. Nodes with equal `(op, width, a, b, c)` have the same label;
    /// for [`Op::Const`](crate::Op::Const) `(lo, hi)` count too, for all others the value follows from
    /// the operands. Gives 0 if the table is full.
    fn intern(&mut self, node: Node) -> Label;

    /// The contents of a memory object that an [`Op::Table`](crate::Op::Table) node reads.
    fn table(&self, table: u32) -> TableView<'_>;
}

/// A memory object's contents when it was read at a symbolic address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableView<'a> {
    /// Address of the first byte.
    pub base: u64,
    pub bytes: &'a [u8],
    /// One word per byte, 0 or `node << 4 | byte` as in the label table; `None` if all are 0.
    pub labels: Option<&'a [u32]>,
}

impl<'a> TableView<'a> {
    /// Concrete bytes and label words of `length` bytes at `address`; `None`
    /// if they are not all inside the table.
    pub fn read(&self, address: u64, length: usize) -> Option<(&'a [u8], Option<&'a [u32]>)> {
        let start = usize::try_from(address.wrapping_sub(self.base)).ok()?;
        let end = start.checked_add(length)?;
        let bytes = self.bytes.get(start..end)?;
        let labels = match self.labels {
            Some(words) => Some(words.get(start..end)?),
            None => None,
        };
        Some((bytes, labels))
    }
}

/// A node's concrete value.
#[inline]
pub fn value(node: &Node) -> u128 {
    u128::from(node.lo) | u128::from(node.hi) << 64
}
