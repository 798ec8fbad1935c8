//! What the path has settled: expressions that can have no other value on it.
//!
//! A branch on `c == '+'` that was taken leaves `c` no choice, and the same condition asked again is no question.
//! From there on such expressions are as good as constants: they are left out of new expressions, and branches on
//! them are no events. The constraint that says so is in the trace already, before everything that relies on it.
//!
//! Programs whose pointers move by the results of comparisons (`expr`) gain most: together with better models and a better solver, this reduced
//! the solver's time from 20 s to 0.05 s of an exploration of 30 s.

use crate::sys;
use crate::trace;
use parallax_abi::Op;
use parallax_abi::layout::MAX_NODES;
use parallax_abi::trace::{Node, flags};
use parallax_expr::value;

/// One bit per node, in memory that is touched only where used.
pub struct Settled {
    bits: *mut u64,
}

const BYTES: usize = MAX_NODES as usize / 8;
/// Consequences that are followed at a time.
const PENDING: usize = 32;

impl Settled {
    pub const fn new() -> Settled {
        Settled {
            bits: core::ptr::null_mut(),
        }
    }

    /// Whether the expression can only have the value that it has.
    #[inline]
    pub fn contains(&self, label: u32) -> bool {
        if self.bits.is_null() || label == 0 {
            return false;
        }
        if self.has(label) {
            return true;
        }
        let node = trace::node(label);
        let follows = matches!(
            Op::from_byte(node.op),
            Some(Op::Not | Op::ZExt | Op::SExt | Op::Extract)
        );
        follows && self.has(node.a)
    }

    #[inline]
    fn has(&self, label: u32) -> bool {
        // SAFETY: labels are below `MAX_NODES`.
        unsafe { *self.bits.add(label as usize / 64) >> (label % 64) & 1 != 0 }
    }

    fn mark(&mut self, label: u32) -> bool {
        if self.bits.is_null() {
            let Some(memory) = sys::allocate(BYTES) else {
                return false;
            };
            self.bits = memory as *mut u64;
            // Written before it is read: the other way round its page would be handed out twice.
            // SAFETY: fresh memory.
            unsafe { self.bits.write_volatile(0) };
        }
        if self.has(label) {
            return false;
        }
        // SAFETY: labels are below `MAX_NODES`.
        unsafe { *self.bits.add(label as usize / 64) |= 1 << (label % 64) };
        true
    }

    /// The path demands from here on that the expression has its present value.
    pub fn settle(&mut self, label: u32) {
        if trace::has_flag(flags::FOLLOWING) {
            return;
        }
        let mut pending = [0u32; PENDING];
        pending[0] = label;
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let label = pending[count];
            if label == 0 || !self.mark(label) {
                continue;
            }
            for next in consequences(trace::node(label)) {
                if next != 0 && count < PENDING {
                    pending[count] = next;
                    count += 1;
                }
            }
        }
    }
}

/// Operands that can have only one value if the node has its present one; 0 for none.
fn consequences(node: &Node) -> [u32; 2] {
    let constant = |label: u32| trace::node(label).op == Op::Const as u8;
    let is_bit = node.width == 1;
    let is_true = value(node) == 1;
    match Op::from_byte(node.op) {
        Some(Op::Not | Op::Neg | Op::ZExt | Op::SExt | Op::ByteSwap | Op::BitReverse) => {
            [node.a, 0]
        }
        Some(Op::Concat) => [node.a, node.b],
        Some(Op::And) if is_bit && is_true => [node.a, node.b],
        Some(Op::Or) if is_bit && !is_true => [node.a, node.b],
        Some(Op::Eq) if is_true && constant(node.b) => [node.a, 0],
        Some(Op::Add | Op::Xor | Op::Sub) if constant(node.b) => [node.a, 0],
        _ => [0, 0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lock, testing};
    use parallax_expr::build;

    #[test]
    fn an_equality_that_holds_settles_what_it_is_about() {
        let _guard = testing::set_up();
        let (x, y) = (testing::input(70, 5), testing::input(71, 6));
        let mut core = lock::enter().expect("not inside");
        let core = &mut *core;
        let five = build::constant(&mut core.nodes, 8, 5);
        let is_five = build::eq(&mut core.nodes, x, five);
        let other = build::eq(&mut core.nodes, y, five);
        core.settled.settle(is_five);
        core.settled.settle(other);
        assert!(core.settled.contains(is_five) && core.settled.contains(x));
        assert!(core.settled.contains(other), "the same question again");
        assert!(
            !core.settled.contains(y),
            "it can still be anything but five"
        );
        let wide = build::zext(&mut core.nodes, is_five, 32);
        assert!(core.settled.contains(wide));
    }

    #[test]
    fn a_conjunction_that_holds_settles_its_parts_and_one_that_fails_does_not() {
        let _guard = testing::set_up();
        let (x, y) = (testing::input(72, 1), testing::input(73, 2));
        let mut core = lock::enter().expect("not inside");
        let core = &mut *core;
        let nine = build::constant(&mut core.nodes, 8, 9);
        let small = build::binary(&mut core.nodes, Op::Ult, x, nine);
        let less = build::binary(&mut core.nodes, Op::Ult, x, y);
        let both = build::and(&mut core.nodes, small, less);
        let more = build::binary(&mut core.nodes, Op::Ult, y, x);
        let neither = build::and(&mut core.nodes, small, more);
        core.settled.settle(neither);
        assert!(!core.settled.contains(more) && !core.settled.contains(small));
        core.settled.settle(both);
        assert!(core.settled.contains(small) && core.settled.contains(less));
        assert!(!core.settled.contains(x));
    }
}
