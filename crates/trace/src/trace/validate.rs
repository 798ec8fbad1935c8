//! Which nodes of a trace can be relied on.
//!
//! A node is valid if its operator and width exist, its value fits the width, its
//! operands come before it and are valid, the widths go together as the
//! operator demands, and the source, object or table that it names is there. All later
//! code (evaluation, printing, solving) works on valid nodes only and need not check again.

use std::collections::HashMap;

use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
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
    let mut validator = Validator {
        trace,
        raw: trace.raw_nodes(),
        valid: Bitmap::with_capacity(trace.raw_nodes().len() as u32),
        tables: HashMap::new(),
    };
    let mut damaged = 0;
    for (index, node) in validator.raw.iter().enumerate().skip(FIRST_NODE as usize) {
        let index = index as u32;
        if validator.is_valid(index, node) {
            validator.valid.insert(index);
        } else {
            damaged += 1;
        }
    }
    (validator.valid, damaged)
}

struct Validator<'a> {
    trace: &'a Trace,
    raw: &'a [Node],
    valid: Bitmap,
    /// The highest node that the bytes of a table refer to; `None` for damaged tables.
    tables: HashMap<u32, Option<u32>>,
}

impl Validator<'_> {
    fn is_valid(&mut self, index: u32, node: &Node) -> bool {
        let Some(op) = Op::from_byte(node.op) else {
            return false;
        };
        let operands = &[node.a, node.b, node.c][..op.arity()];
        let sound = operands
            .iter()
            .all(|operand| *operand < index && self.valid.contains(*operand));
        if !sound || !value_fits(node) {
            return false;
        }
        let leaf_exists = match op {
            Op::Input => node.a < self.trace.source_count(),
            Op::Object => {
                node.a >= FIRST_OBJECT && node.a - FIRST_OBJECT < self.trace.object_count()
            }
            Op::Table => self.table_is_sound(node.b, index),
            _ => true,
        };
        let mut widths = [0; 3];
        for (width, operand) in widths.iter_mut().zip(operands) {
            *width = u32::from(self.raw[*operand as usize].width);
        }
        leaf_exists && widths_go_together(op, node, &widths[..operands.len()])
    }

    /// A table must only contain what was there before the node that reads it.
    fn table_is_sound(&mut self, table: u32, reader: u32) -> bool {
        let (trace, valid) = (self.trace, &self.valid);
        let highest = self.tables.entry(table).or_insert_with(|| {
            let words = trace.table(table)?.labels.unwrap_or_default();
            let nodes = words.iter().filter(|word| **word != 0);
            nodes
                .map(|word| word >> LABEL_BYTE_BITS)
                .try_fold(0, |highest, node| {
                    valid.contains(node).then_some(node.max(highest))
                })
        });
        highest.is_some_and(|highest| highest < reader)
    }
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
