//! New expressions on top of a trace, which itself takes nothing new.

use parallax_expr::{Label, MemoryStore, Node, Op, Store, TableView};

/// Labels of the trace are below this, labels of the overlay are not. (A trace's
/// labels fit 28 bits: label words of memory hold a byte number too.)
pub(crate) const FIRST: Label = 1 << 30;

/// A store that reads from another and keeps what is new to itself. Tables are the other store's.
pub struct Overlay<'s, S> {
    base: &'s S,
    /// The overlay's nodes, their operands being labels of this overlay; label 1 is [`FIRST`].
    own: MemoryStore,
}

impl<'s, S: Store> Overlay<'s, S> {
    pub fn new(base: &'s S) -> Self {
        Overlay {
            base,
            own: MemoryStore::new(),
        }
    }

    /// The store below.
    pub fn base(&self) -> &'s S {
        self.base
    }
}

impl<S: Store> Store for Overlay<'_, S> {
    #[inline]
    fn node(&self, label: Label) -> Node {
        match label.checked_sub(FIRST) {
            Some(index) => self.own.node(index + 1),
            None => self.base.node(label),
        }
    }

    fn intern(&mut self, node: Node) -> Label {
        match self.own.intern(node) {
            0 => 0,
            label => FIRST + label - 1,
        }
    }

    fn table(&self, table: u32) -> TableView<'_> {
        self.base.table(table)
    }
}

/// Operands of a node, damaged ones (not below their user) as 0.
#[inline]
pub(crate) fn operands(label: Label, node: &Node) -> ([Label; 3], usize) {
    let arity = operator(node).arity();
    let mut all = [node.a, node.b, node.c];
    for operand in &mut all[..arity] {
        if *operand >= label {
            *operand = 0;
        }
    }
    (all, arity)
}

/// The node's operator; [`Op::Nothing`] if it is damaged.
#[inline]
pub(crate) fn operator(node: &Node) -> Op {
    Op::from_byte(node.op).unwrap_or(Op::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_expr::{build, value};

    #[test]
    fn new_expressions_use_old_ones_without_changing_them() {
        let mut trace = MemoryStore::new();
        let byte = build::input(&mut trace, 0, 3, 20);
        let mut overlay = Overlay::new(&trace);
        let wide = build::zext(&mut overlay, byte, 32);
        let twice = build::add(&mut overlay, wide, wide);
        assert!(wide >= FIRST && twice > wide);
        assert_eq!(value(&overlay.node(twice)), 40);
        assert_eq!(build::zext(&mut overlay, byte, 32), wide);
        assert_eq!(trace.len(), 1);
    }
}
