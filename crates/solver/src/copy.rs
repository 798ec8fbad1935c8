//! Part of a path's expressions in a store of its own: for other solvers, and for logs.

use crate::overlay::{operands, operator};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, MemoryStore, Op, Store};
use rustc_hash::FxHashMap;

/// A growing copy. Nodes are copied as they are, but for the names of input
/// bytes; bytes that are fixed become constants.
pub(crate) struct Copy<N> {
    pub store: MemoryStore,
    /// From labels of the path.
    labels: FxHashMap<Label, Label>,
    tables: FxHashMap<u32, u32>,
    /// Source and offset that a byte has in the copy.
    name: N,
}

impl<N: FnMut(VarId) -> (u32, u64)> Copy<N> {
    pub fn new(name: N) -> Self {
        Copy {
            store: MemoryStore::new(),
            labels: FxHashMap::default(),
            tables: FxHashMap::default(),
            name,
        }
    }

    /// The copy of an expression; `None` if it is damaged or the copy is full.
    pub fn copy<S: Store>(&mut self, terms: &mut Terms<'_, S>, root: Label) -> Option<Label> {
        terms.fact(root);
        let mut pending = vec![root];
        while let Some(&label) = pending.last() {
            if self.labels.contains_key(&label) {
                pending.pop();
                continue;
            }
            let node = terms.store.node(label);
            let (all, arity) = operands(label, &node);
            let mut needed: Vec<Label> = all[..arity].to_vec();
            if node.op == Op::Table as u8 && !self.tables.contains_key(&node.b) {
                let words = terms.store.table(node.b).labels.unwrap_or(&[]);
                needed.extend(
                    words
                        .iter()
                        .map(|word| word >> LABEL_BYTE_BITS)
                        .filter(|&inside| inside != 0),
                );
            }
            if needed.iter().any(|&below| below == 0 || below >= label) {
                return None;
            }
            needed.retain(|below| !self.labels.contains_key(below));
            if needed.is_empty() {
                let copied = self.node(terms, label)?;
                self.labels.insert(label, copied);
                pending.pop();
            } else {
                pending.extend(needed);
            }
        }
        self.labels.get(&root).copied()
    }

    /// Copies a node whose operands have been copied.
    fn node<S: Store>(&mut self, terms: &Terms<'_, S>, label: Label) -> Option<Label> {
        let mut node = terms.store.node(label);
        let op = operator(&node);
        match op {
            Op::Nothing => return None,
            Op::Input => match terms.id_of_input(&node) {
                Some(byte) => {
                    let (source, offset) = (self.name)(byte);
                    (node.a, node.b, node.c) = (source, offset as u32, (offset >> 32) as u32);
                }
                None => {
                    (node.op, node.a, node.b, node.c) = (Op::Const as u8, 0, 0, 0);
                }
            },
            Op::Table => {
                node.a = *self.labels.get(&node.a)?;
                node.b = self.table(terms, node.b)?;
            }
            _ => {
                let fields = [&mut node.a, &mut node.b, &mut node.c];
                for field in fields.into_iter().take(op.arity()) {
                    *field = *self.labels.get(field)?;
                }
            }
        }
        Some(self.store.intern(node)).filter(|&copied| copied != 0)
    }

    fn table<S: Store>(&mut self, terms: &Terms<'_, S>, table: u32) -> Option<u32> {
        if let Some(&known) = self.tables.get(&table) {
            return Some(known);
        }
        let view = terms.store.table(table);
        let low = (1 << LABEL_BYTE_BITS) - 1;
        let words: Option<Vec<u32>> = match view.labels {
            None => None,
            Some(words) => Some(
                words
                    .iter()
                    .map(|&word| match word >> LABEL_BYTE_BITS {
                        0 => Some(0),
                        inside => Some(*self.labels.get(&inside)? << LABEL_BYTE_BITS | word & low),
                    })
                    .collect::<Option<_>>()?,
            ),
        };
        let copied = self
            .store
            .add_table(view.base, view.bytes, words.as_deref());
        self.tables.insert(table, copied);
        Some(copied)
    }
}
