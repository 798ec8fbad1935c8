//! Which nodes of a trace can be relied on.
//!
//! A node is valid if its operator and width exist, its value fits the width, its
//! operands come before it and are valid, the widths go together as the
//! operator demands, and the source, object or table that it names is there. All later
//! code (evaluation, printing, solving) works on valid nodes only and need not check again.

use parallax_abi::Op;
use parallax_abi::op::Rounding;
use parallax_abi::trace::{FIRST_NODE, FIRST_OBJECT, Node};

use super::Trace;

/// A set of node indices.
#[derive(Debug, Default)]
pub(super) struct Bitmap(Vec<u64>);

impl Bitmap {
    fn with_capacity(count: u32) -> Bitmap {
        Bitmap(vec![0; (count as usize).div_ceil(64)])
    }

    fn insert(&mut self, index: u32) {
        self.0[index as usize / 64] |= 1 << (index % 64);
    }

    pub fn contains(&self, index: u32) -> bool {
        self.0
            .get(index as usize / 64)
            .is_some_and(|word| word >> (index % 64) & 1 != 0)
    }
}

/// The valid nodes, and how many others there are.
pub(super) fn nodes(trace: &Trace) -> (Bitmap, u32) {
    let raw = trace.raw_nodes();
    let mut valid = Bitmap::with_capacity(raw.len() as u32);
    let mut damaged = 0;
    for (index, node) in raw.iter().enumerate().skip(FIRST_NODE as usize) {
        let index = index as u32;
        if is_valid(trace, raw, &valid, index, node) {
            valid.insert(index);
        } else {
            damaged += 1;
        }
    }
    (valid, damaged)
}

fn is_valid(trace: &Trace, raw: &[Node], valid: &Bitmap, index: u32, node: &Node) -> bool {
    let Some(op) = Op::from_byte(node.op) else {
        return false;
    };
    let operands = &[node.a, node.b, node.c][..op.arity()];
    let sound = operands
        .iter()
        .all(|operand| *operand < index && valid.contains(*operand));
    if !sound || !value_fits(node) {
        return false;
    }
    let width_of = |operand: u32| u32::from(raw[operand as usize].width);
    let leaf_exists = match op {
        Op::Input => node.a < trace.source_count(),
        Op::Object => node.a >= FIRST_OBJECT && node.a - FIRST_OBJECT < trace.object_count(),
        Op::Table => trace.table(node.b).is_some(),
        _ => true,
    };
    let widths: Vec<u32> = operands.iter().map(|operand| width_of(*operand)).collect();
    leaf_exists && widths_go_together(op, node, &widths)
}

fn value_fits(node: &Node) -> bool {
    match node.width {
        0 | 129.. => false,
        1..=63 => node.hi == 0 && node.lo >> node.width == 0,
        64 => node.hi == 0,
        65..=127 => node.hi >> (node.width - 64) == 0,
        128 => true,
    }
}

fn widths_go_together(op: Op, node: &Node, operands: &[u32]) -> bool {
    use Op::*;
    let width = u32::from(node.width);
    let float = |width: u32| matches!(width, 32 | 64 | 80);
    match (op, operands) {
        (Nothing, _) => false,
        (Const, _) => true,
        (Input, _) => width == 8,
        (Object, _) => width == 64,
        (Table, [address]) => *address == 64 && width.is_multiple_of(8),
        (Not | Neg | PopCount | LeadingZeros | TrailingZeros | BitReverse, [a]) => *a == width,
        (ByteSwap, [a]) => *a == width && width.is_multiple_of(8),
        (ZExt | SExt, [a]) => *a < width,
        (Extract, [a]) => node.c.checked_add(width).is_some_and(|end| end <= *a),
        (Concat, [a, b]) => a + b == width,
        (
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | Shl | LShr | AShr | And | Or | Xor,
            [a, b],
        ) => *a == width && *b == width,
        (Eq | Ult | Ule | Slt | Sle, [a, b]) => width == 1 && a == b,
        (Ite, [condition, a, b]) => *condition == 1 && *a == width && *b == width,
        (FAdd | FSub | FMul | FDiv | FRem, [a, b]) => float(width) && *a == width && *b == width,
        (FSqrt, [a]) => float(width) && *a == width,
        (FRound, [a]) => {
            float(width) && *a == width && node.c <= u32::from(Rounding::NearestAway as u8)
        }
        (FEq | FLt | FLe, [a, b]) => width == 1 && float(*a) && a == b,
        (FIsNan, [a]) => width == 1 && float(*a),
        (FToF, [a]) => float(*a) && float(width),
        (FToS | FToU, [a]) => float(*a),
        (SToF | UToF, [_]) => float(width),
        // The operand count is `Op::arity`'s; any other is impossible, and no node either.
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(op: Op, width: u8, lo: u64, hi: u64) -> Node {
        Node {
            op: op as u8,
            width,
            depth: 0,
            a: 0,
            b: 0,
            c: 0,
            lo,
            hi,
        }
    }

    #[test]
    fn values_must_fit_their_width() {
        assert!(value_fits(&node(Op::Const, 1, 1, 0)));
        assert!(!value_fits(&node(Op::Const, 1, 2, 0)));
        assert!(value_fits(&node(Op::Const, 64, u64::MAX, 0)));
        assert!(!value_fits(&node(Op::Const, 64, 0, 1)));
        assert!(!value_fits(&node(Op::Const, 80, 0, 1 << 16)));
        assert!(value_fits(&node(Op::Const, 128, u64::MAX, u64::MAX)));
        assert!(!value_fits(&node(Op::Const, 0, 0, 0)));
        assert!(!value_fits(&node(Op::Const, 129, 0, 0)));
    }

    #[test]
    fn an_extract_must_stay_inside_its_operand() {
        let mut extract = node(Op::Extract, 8, 0, 0);
        extract.c = 24;
        assert!(widths_go_together(Op::Extract, &extract, &[32]));
        extract.c = 25;
        assert!(!widths_go_together(Op::Extract, &extract, &[32]));
        extract.c = u32::MAX;
        assert!(!widths_go_together(Op::Extract, &extract, &[32]));
    }

    #[test]
    fn comparisons_have_one_bit_and_equal_operands() {
        assert!(widths_go_together(
            Op::Ult,
            &node(Op::Ult, 1, 0, 0),
            &[24, 24]
        ));
        assert!(!widths_go_together(
            Op::Ult,
            &node(Op::Ult, 1, 0, 0),
            &[24, 32]
        ));
        assert!(!widths_go_together(
            Op::Ult,
            &node(Op::Ult, 8, 0, 0),
            &[24, 24]
        ));
    }
}
