//! Random expressions: canonical construction against naive evaluation.

mod common;

use common::{Graph, INPUTS, Plain, check, mask};
use parallax_expr::{Op, Rounding};
use proptest::prelude::*;

const WIDTHS: [u32; 10] = [1, 7, 8, 16, 24, 32, 33, 64, 80, 128];

const SAME_WIDTH: [Op; 22] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Eq,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::Or,
    Op::Add,
    Op::And,
    Op::Eq,
];

const UNARY: [Op; 6] = [
    Op::Not,
    Op::Neg,
    Op::PopCount,
    Op::LeadingZeros,
    Op::TrailingZeros,
    Op::BitReverse,
];

/// One step of making a graph: raw numbers, so that shrinking works on them.
type Step = (u8, u16, u16, u16, u128);

fn steps(length: usize) -> impl Strategy<Value = Vec<Step>> {
    let constant = prop_oneof![
        Just(0u128),
        Just(1),
        Just(u128::MAX),
        0u128..300,
        (0u32..128).prop_map(|bit| 1 << bit),
        (0u32..128).prop_map(|bit| (1 << bit) - 1),
        (0u32..16, 0u32..16)
            .prop_map(|(low, n)| (mask(8 * (n + 1).min(16)) & !mask(8 * low + 1)) | 1),
        (0u32..16).prop_map(|byte| 0xff << (8 * byte)),
        any::<u128>(),
    ];
    proptest::collection::vec(
        (
            any::<u8>(),
            any::<u16>(),
            any::<u16>(),
            any::<u16>(),
            constant,
        ),
        1..length,
    )
}

fn pick(graph: &Graph, choice: u16) -> usize {
    // Later nodes are picked more often, so that expressions get deep.
    let count = graph.nodes.len();
    let choice = choice as usize;
    if choice.is_multiple_of(3) {
        choice / 3 % count
    } else {
        count - 1 - (choice / 3 % count.min(6))
    }
}

/// Adds the integer expression that one step describes.
fn integer_step(graph: &mut Graph, (kind, i, j, l, k): Step) {
    let x = pick(graph, i);
    let y = pick(graph, j);
    let width = graph.width(x);
    match kind % 16 {
        0..=3 => {
            let op = SAME_WIDTH[l as usize % SAME_WIDTH.len()];
            let y = graph.fit(y, width, k & 1 == 1);
            graph.binary(op, x, y);
        }
        4..=7 => {
            let op = SAME_WIDTH[l as usize % SAME_WIDTH.len()];
            let shift = matches!(op, Op::Shl | Op::LShr | Op::AShr);
            let k = if shift {
                k % (u128::from(width) + 2)
            } else {
                k
            };
            let k = graph.constant(width, k);
            if j & 1 == 0 {
                graph.binary(op, x, k)
            } else {
                graph.binary(op, k, x)
            };
        }
        8 => {
            let op = UNARY[l as usize % UNARY.len()];
            graph.unary(op, x, width, 0);
        }
        9 => {
            let to = WIDTHS[l as usize % WIDTHS.len()];
            graph.fit(x, to, k & 1 == 1);
        }
        10 => {
            let length = 1 + l as u32 % width;
            let low = j as u32 % (width - length + 1);
            graph.unary(Op::Extract, x, length, low);
        }
        11 => {
            if width + graph.width(y) <= 128 {
                graph.binary(Op::Concat, x, y);
            }
        }
        12 => {
            let c = pick(graph, l);
            let c = graph.fit(c, 1, false);
            let y = graph.fit(y, width, k & 2 == 2);
            graph.push(Plain::Ite(c, x, y), width);
        }
        13 => {
            let c = pick(graph, l);
            let c = graph.fit(c, 1, false);
            let y = graph.constant(width, k);
            if j & 1 == 0 {
                graph.push(Plain::Ite(c, x, y), width);
            } else {
                graph.push(Plain::Ite(c, y, x), width);
            }
        }
        14 if width.is_multiple_of(8) => {
            graph.unary(Op::ByteSwap, x, width, 0);
        }
        // A byte at some place of a wider word, as C code assembles them.
        _ => {
            let byte = graph.fit(x, 8, false);
            let to = [16, 32, 64][l as usize % 3];
            let wide = graph.fit(byte, to, k & 1 == 1);
            let amount = graph.constant(to, u128::from(8 * (j as u32 % (to / 8))));
            let placed = graph.binary(Op::Shl, wide, amount);
            let other = graph.fit(y, to, false);
            let op = [Op::Or, Op::Add, Op::Xor][kind as usize / 16 % 3];
            graph.binary(op, placed, other);
        }
    }
}

const FLOAT_BINARY: [Op; 8] = [
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FEq,
    Op::FLt,
    Op::FLe,
];

/// Adds the floating-point expression that one step describes.
fn float_step(graph: &mut Graph, (kind, i, j, l, _): Step) {
    let format = [32, 64, 80][l as usize % 3];
    let (x, y) = (pick(graph, i), pick(graph, j));
    let other = [32, 64, 80][l as usize / 3 % 3];
    let float = graph.fit(x, format, false);
    match kind % 8 {
        0..=2 => {
            let op = FLOAT_BINARY[kind as usize / 8 % FLOAT_BINARY.len()];
            let y = graph.fit(y, format, false);
            graph.binary(op, float, y);
        }
        3 => {
            graph.unary(Op::FSqrt, float, format, 0);
        }
        4 => {
            let mode = u32::from(kind / 8) % (Rounding::NearestAway as u32 + 1);
            graph.unary(Op::FRound, float, format, mode);
        }
        5 => {
            graph.unary(Op::FToF, float, other, 0);
        }
        6 => {
            let to = WIDTHS[j as usize % WIDTHS.len()];
            let op = [Op::FToS, Op::FToU][kind as usize / 8 % 2];
            graph.unary(op, float, to, 0);
        }
        _ => {
            let op = [Op::SToF, Op::UToF, Op::FIsNan][kind as usize / 8 % 3];
            let to = if op == Op::FIsNan { 1 } else { format };
            let operand = if op == Op::FIsNan { float } else { x };
            graph.unary(op, operand, to, 0);
        }
    }
}

fn leaves() -> Graph {
    let mut graph = Graph::default();
    for offset in 0..INPUTS as u64 {
        graph.push(Plain::Input(offset), 8);
    }
    graph
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn canonical_integer_expressions_have_the_naive_value(
        steps in steps(40),
        inputs in any::<[[u8; INPUTS]; 4]>(),
    ) {
        let mut graph = leaves();
        for step in steps {
            integer_step(&mut graph, step);
        }
        check(&graph, &inputs)?;
    }

    #[test]
    fn canonical_mixed_expressions_have_the_naive_value(
        steps in steps(24),
        inputs in any::<[[u8; INPUTS]; 4]>(),
    ) {
        let mut graph = leaves();
        for step in steps {
            if step.0 & 0x40 == 0 {
                integer_step(&mut graph, step);
            } else {
                float_step(&mut graph, step);
            }
        }
        check(&graph, &inputs)?;
    }
}
