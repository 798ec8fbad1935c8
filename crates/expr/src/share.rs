//! Which subterms to name when an expression graph is written as text.

use crate::store::{Label, Store};
use parallax_abi::Op;
use parallax_abi::trace::Node;
use std::collections::{HashMap, HashSet};
use std::vec::Vec;

/// Operands of a node, in order.
pub(crate) fn operands(node: &Node) -> impl Iterator<Item = Label> + use<> {
    let arity = Op::from_byte(node.op).map_or(0, Op::arity);
    [node.a, node.b, node.c].into_iter().take(arity)
}

pub(crate) fn is_leaf(node: &Node) -> bool {
    operands(node).next().is_none()
}

/// Everything reachable from some nodes, and what of it should get a name.
pub(crate) struct Plan {
    /// Reachable labels, operands before users.
    pub order: Vec<Label>,
    /// Operators that are used more than once, or at which the text would nest too deeply.
    pub named: HashSet<Label>,
}

impl Plan {
    /// `further` gives what a node refers to besides its operands. Text nests at most
    /// `nesting` levels between names.
    pub fn new<S: Store + ?Sized>(
        store: &S,
        roots: &[Label],
        nesting: u32,
        further: impl Fn(&Node) -> Vec<Label>,
    ) -> Plan {
        let mut uses: HashMap<Label, u32> = HashMap::new();
        let mut pending: Vec<Label> = roots.to_vec();
        while let Some(label) = pending.pop() {
            let count = uses.entry(label).or_default();
            *count += 1;
            if *count == 1 {
                let node = store.node(label);
                pending.extend(operands(&node).chain(further(&node)));
            }
        }
        let mut order: Vec<Label> = uses.keys().copied().collect();
        order.sort_unstable();
        let mut named = HashSet::new();
        let mut levels: HashMap<Label, u32> = HashMap::new();
        for &label in &order {
            let node = store.node(label);
            if is_leaf(&node) {
                continue;
            }
            let level = operands(&node)
                .chain(further(&node))
                .filter_map(|operand| levels.get(&operand))
                .max();
            let level = level.map_or(1, |level| level + 1);
            if uses[&label] > 1 || level >= nesting {
                named.insert(label);
                levels.insert(label, 0);
            } else {
                levels.insert(label, level);
            }
        }
        Plan { order, named }
    }
}
