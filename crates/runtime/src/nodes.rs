//! The hash-consed node table: where `parallax_expr` builds expressions.
//!
//! The nodes lie in the shared region; the table that finds them again is this
//! process's own. Processes that share a trace may make equal nodes twice, which
//! is harmless.

use crate::core_state::Core;
use crate::map::LocalMap;
use crate::{hash, loss, trace};
use parallax_abi::Op;
use parallax_abi::trace::{LossKind, Node, Stop};
use parallax_expr::{Label, Store, TableView};

pub struct Nodes {
    map: LocalMap,
    /// Set when a node was refused for its depth.
    too_deep: bool,
}

impl Nodes {
    pub const fn new() -> Nodes {
        Nodes {
            map: LocalMap::new(),
            too_deep: false,
        }
    }
}

#[inline(always)]
fn hash_of(node: &Node) -> u64 {
    let head = u64::from(node.op) | u64::from(node.width) << 8 | u64::from(node.a) << 32;
    let tail = u64::from(node.b) | u64::from(node.c) << 32;
    let hash = hash::pair(head, tail);
    if node.op == Op::Const as u8 {
        hash::pair(hash ^ node.lo, node.hi)
    } else {
        hash
    }
}

/// Where in the table a node is looked for first. Expressions that are made one after the
/// other have operands that were made one after the other, so they lie together.
#[inline(always)]
fn place_of(node: &Node) -> u64 {
    const SLOTS_PER_NODE: u64 = 8;
    let near = if node.op == Op::Const as u8 {
        node.lo
    } else {
        u64::from(node.a) + u64::from(node.b)
    };
    near.wrapping_mul(SLOTS_PER_NODE)
}

#[inline(always)]
fn same(known: &Node, node: &Node) -> bool {
    known.op == node.op
        && known.width == node.width
        && known.a == node.a
        && known.b == node.b
        && known.c == node.c
        && (node.op != Op::Const as u8 || (known.lo == node.lo && known.hi == node.hi))
}

impl Store for Nodes {
    #[inline(always)]
    fn node(&self, label: Label) -> Node {
        *trace::node(label)
    }

    #[inline]
    fn intern(&mut self, node: Node) -> Label {
        let hash = hash_of(&node);
        let place = place_of(&node);
        let equal = |label| same(trace::node(label), &node);
        match self.map.find(place, hash, equal) {
            Some(label) => label,
            None => self.add(place, hash, node),
        }
    }

    fn table(&self, table: u32) -> TableView<'_> {
        let table = trace::table(table);
        let length = table.length as usize;
        let labels = (table.labels != u64::MAX).then(|| {
            let words = trace::blob_at(table.labels, length * 4);
            // SAFETY: label words are stored 4-aligned.
            unsafe { core::slice::from_raw_parts(words.as_ptr().cast::<u32>(), length) }
        });
        TableView {
            base: table.base,
            bytes: trace::blob_at(table.bytes, length),
            labels,
        }
    }
}

impl Nodes {
    /// Whether a node was refused for its depth since the last [`finish`].
    pub fn is_too_deep(&self) -> bool {
        self.too_deep
    }

    #[cold]
    fn add(&mut self, place: u64, hash: u64, node: Node) -> Label {
        if !trace::active() {
            return 0;
        }
        let max_depth = trace::header().map_or(0, |header| header.max_depth);
        if u32::from(node.depth) > max_depth {
            self.too_deep = true;
            return 0;
        }
        let Some(label) = trace::add_node(node) else {
            return 0;
        };
        let place_again = |label: u32| place_of(trace::node(label));
        if !self.map.insert(place, hash, label, place_again) {
            trace::stop(Stop::Memory);
        }
        label
    }
}

/// What the program gets for a label that construction returned: constants and what the path has
/// settled are concrete, and refused nodes are a loss.
#[inline]
pub fn finish(core: &mut Core, label: Label, site: u64) -> Label {
    if label == 0 {
        if core.nodes.too_deep {
            core.nodes.too_deep = false;
            loss::record(core, LossKind::Depth, site, &[]);
        }
        return 0;
    }
    if trace::node(label).op == Op::Const as u8 || core.settled.contains(label) {
        0
    } else {
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lock, testing};
    use parallax_expr::build;

    #[test]
    fn equal_expressions_are_one_node() {
        let _guard = testing::set_up();
        let x = testing::input(50, 9);
        let mut core = lock::enter().expect("not inside");
        let seven = build::constant(&mut core.nodes, 8, 7);
        let sum = build::add(&mut core.nodes, x, seven);
        assert_eq!(build::add(&mut core.nodes, seven, x), sum);
        assert_eq!(trace::node(sum).lo, 16);
        assert_eq!(finish(&mut core, seven, 0), 0, "constants are concrete");
        assert_eq!(finish(&mut core, sum, 0), sum);
    }

    #[test]
    fn an_expression_that_grows_too_deep_becomes_concrete() {
        let _guard = testing::set_up();
        let (x, y) = (testing::input(60, 3), testing::input(61, 5));
        let mut core = lock::enter().expect("not inside");
        let mut label = x;
        let mut steps = 0;
        while label != 0 && steps < 5000 {
            label = build::binary(&mut core.nodes, Op::Mul, label, y);
            label = build::binary(&mut core.nodes, Op::UDiv, label, x);
            steps += 1;
        }
        assert_eq!(label, 0);
        assert!(core.nodes.is_too_deep());
        assert_eq!(finish(&mut core, label, 0), 0);
        assert!(!core.nodes.is_too_deep());
    }
}
