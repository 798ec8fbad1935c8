//! Expressions as plain trees, evaluated naively: what canonical construction is checked against.
#![allow(dead_code, reason = "each test program uses its own share")]

use parallax_expr::{Evaluator, Label, MemoryStore, Op, Store, build, eval, value};
use proptest::prelude::*;

/// One node of the naive expression; operands are indices of earlier ones.
#[derive(Clone, Debug)]
pub enum Plain {
    Const(u128),
    Input(u64),
    Unary(Op, usize, u32),
    Binary(Op, usize, usize),
    Ite(usize, usize, usize),
}

/// A naive expression graph: `(node, width)` in order of construction.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub nodes: Vec<(Plain, u32)>,
}

/// Input bytes that the graphs use.
pub const INPUTS: usize = 16;

pub fn mask(width: u32) -> u128 {
    if width == 128 {
        u128::MAX
    } else {
        (1 << width) - 1
    }
}

impl Graph {
    pub fn push(&mut self, node: Plain, width: u32) -> usize {
        self.nodes.push((node, width));
        self.nodes.len() - 1
    }

    pub fn width(&self, index: usize) -> u32 {
        self.nodes[index].1
    }

    pub fn constant(&mut self, width: u32, value: u128) -> usize {
        self.push(Plain::Const(value & mask(width)), width)
    }

    pub fn unary(&mut self, op: Op, a: usize, to: u32, extra: u32) -> usize {
        self.push(Plain::Unary(op, a, extra), to)
    }

    pub fn binary(&mut self, op: Op, a: usize, b: usize) -> usize {
        let width = match op {
            Op::Concat => self.width(a) + self.width(b),
            _ if op.is_predicate() => 1,
            _ => self.width(a),
        };
        self.push(Plain::Binary(op, a, b), width)
    }

    /// `index` made `width` bits wide by extraction or extension.
    pub fn fit(&mut self, index: usize, width: u32, signed: bool) -> usize {
        match self.width(index) {
            own if own == width => index,
            own if own > width => self.unary(Op::Extract, index, width, 0),
            _ => self.unary(if signed { Op::SExt } else { Op::ZExt }, index, width, 0),
        }
    }

    /// Values of all nodes, computed without any rewriting.
    pub fn evaluate(&self, input: &[u8; INPUTS]) -> Vec<Option<u128>> {
        let mut values: Vec<Option<u128>> = Vec::new();
        for (node, width) in &self.nodes {
            values.push(match *node {
                Plain::Const(value) => Some(value),
                Plain::Input(offset) => Some(u128::from(input[offset as usize])),
                Plain::Unary(op, a, extra) => {
                    values[a].and_then(|x| eval::unary(op, self.width(a), *width, extra, x))
                }
                Plain::Binary(op, a, b) => {
                    let operand_width = self.width(if op == Op::Concat { b } else { a });
                    values[a]
                        .zip(values[b])
                        .and_then(|(x, y)| eval::binary(op, operand_width, x, y))
                }
                // A side without value is not built, chosen or not.
                Plain::Ite(c, a, b) => match (values[c], values[a], values[b]) {
                    (Some(c), Some(a), Some(b)) => Some(if c == 0 { b } else { a }),
                    _ => None,
                },
            });
        }
        values
    }

    /// Number of operators and leaves of each node as a tree, without one-bit complements.
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes: Vec<u64> = Vec::new();
        for (node, width) in &self.nodes {
            sizes.push(match *node {
                Plain::Unary(Op::Not, a, _) if *width == 1 => sizes[a],
                Plain::Const(_) | Plain::Input(_) => 1,
                Plain::Unary(_, a, _) => sizes[a].saturating_add(1),
                Plain::Binary(_, a, b) => sizes[a].saturating_add(sizes[b]).saturating_add(1),
                Plain::Ite(c, a, b) => sizes[c]
                    .saturating_add(sizes[a])
                    .saturating_add(sizes[b])
                    .saturating_add(1),
            });
        }
        sizes
    }

    /// Builds every node canonically; label 0 where there is no value.
    pub fn build(&self, store: &mut MemoryStore, input: &[u8; INPUTS]) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        for (node, width) in &self.nodes {
            labels.push(match *node {
                Plain::Const(value) => build::constant(store, *width, value),
                Plain::Input(offset) => build::input(store, 0, offset, input[offset as usize]),
                Plain::Unary(op, a, extra) => build::unary(store, op, labels[a], *width, extra),
                Plain::Binary(op, a, b) => build::binary(store, op, labels[a], labels[b]),
                Plain::Ite(c, a, b) => build::ite(store, labels[c], labels[a], labels[b]),
            });
        }
        labels
    }
}

/// Sizes of all nodes of a store as trees.
pub fn store_sizes(store: &MemoryStore) -> Vec<u64> {
    let mut sizes = vec![0u64];
    for label in 1..=store.len() as Label {
        let node = store.node(label);
        let operands = [node.a, node.b, node.c];
        let arity = Op::from_byte(node.op).expect("a valid operator").arity();
        let own = u64::from(node.op != Op::Not as u8 || node.width != 1);
        let sum = operands[..arity]
            .iter()
            .fold(own, |sum, &x| sum.saturating_add(sizes[x as usize]));
        sizes.push(sum);
    }
    sizes
}

/// Checks that canonical construction keeps every value, on the input it was
/// built with and on others, and never gives a larger expression.
pub fn check(graph: &Graph, inputs: &[[u8; INPUTS]]) -> Result<(), TestCaseError> {
    check_quietly(graph, inputs).map_err(|error| {
        let nodes: Vec<String> = (graph.nodes.iter().enumerate())
            .filter(|(_, (node, _))| !matches!(node, Plain::Input(_)))
            .map(|(index, (node, width))| format!("{index}: {node:x?} of {width} bits"))
            .collect();
        TestCaseError::fail(format!("{error}\n{}", nodes.join("\n")))
    })
}

fn check_quietly(graph: &Graph, inputs: &[[u8; INPUTS]]) -> Result<(), TestCaseError> {
    let mut store = MemoryStore::new();
    let labels = graph.build(&mut store, &inputs[0]);
    let sizes = store_sizes(&store);
    let plain_sizes = graph.sizes();
    for (round, input) in inputs.iter().enumerate() {
        let expected = graph.evaluate(input);
        let mut evaluator = Evaluator::new(&store, |_, offset: u64| Some(input[offset as usize]));
        for (index, &label) in labels.iter().enumerate() {
            if label == 0 {
                // Only what has no value on the first input is not built.
                if round == 0 {
                    prop_assert_eq!(expected[index], None, "node {} was not built", index);
                }
                continue;
            }
            let node = store.node(label);
            prop_assert_eq!(
                u32::from(node.width),
                graph.width(index),
                "width of node {}",
                index
            );
            if round == 0 {
                prop_assert_eq!(
                    Some(value(&node)),
                    expected[index],
                    "value in node {}",
                    index
                );
                prop_assert!(
                    sizes[label as usize] <= plain_sizes[index],
                    "node {index} grew from {} to {}",
                    plain_sizes[index],
                    sizes[label as usize]
                );
            }
            if expected[index].is_some() {
                prop_assert_eq!(
                    evaluator.value(label),
                    expected[index],
                    "value of node {}",
                    index
                );
            }
        }
    }
    Ok(())
}
