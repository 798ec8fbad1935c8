//! Expressions with few values: the pointer that an argument vector was read with is one of a handful.
//!
//! An address that is made of constants, of tables of constants and of single bits has a short list of
//! possible values, each with a condition. A table read at such an address needs neither adders nor a tree over 64 bits:
//! it is a choice between the entries at those addresses.

use super::encode::Circuit;
use super::gates::{Bit, Gates};
use crate::overlay::{operands, operator};
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, Node, Op, Store, eval, value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Possible values of one expression.
const MAX_VALUES: usize = 24;
/// Operators that are looked at below one address.
const MAX_DEPTH: u32 = 64;

/// Possible values, ascending, and the one-bit expressions that decide between them.
#[derive(Clone, Default)]
pub(super) struct Plan {
    pub values: Vec<u128>,
    pub leaves: Vec<Label>,
}

/// Plans of expressions; `None` for those with too many values.
#[derive(Default)]
pub(super) struct Plans(FxHashMap<Label, Option<Arc<Plan>>>);

/// What a table holds at one address.
pub(super) enum Entry {
    Outside,
    Constant(u128),
    /// The whole value of a node.
    Node(Label),
    /// Something else.
    Mixed,
}

/// The entry of a table that a node of this width reads at an address.
pub(super) fn entry<S: Store>(store: &S, node: &Node, user: Label, address: u128) -> Entry {
    let length = usize::from(node.width / 8);
    let Some((bytes, words)) = store.table(node.b).read(address as u64, length) else {
        return Entry::Outside;
    };
    let words = words.unwrap_or(&[]);
    if words.iter().all(|word| word >> LABEL_BYTE_BITS == 0) {
        let bytes = bytes.iter().rev();
        return Entry::Constant(bytes.fold(0, |sum, &byte| sum << 8 | u128::from(byte)));
    }
    let first = words[0];
    let inside = first >> LABEL_BYTE_BITS;
    let follows = words.iter().zip(first..).all(|(word, next)| *word == next);
    let whole = first & ((1 << LABEL_BYTE_BITS) - 1) == 0;
    if follows && whole && inside < user && store.node(inside).width == node.width {
        Entry::Node(inside)
    } else {
        Entry::Mixed
    }
}

impl Plans {
    /// The plan of an expression, if it has few values.
    pub fn plan<S: Store>(&mut self, store: &S, label: Label, depth: u32) -> Option<Arc<Plan>> {
        if let Some(known) = self.0.get(&label) {
            return known.clone();
        }
        let plan = self.make(store, label, depth).map(Arc::new);
        self.0.insert(label, plan.clone());
        plan
    }

    fn make<S: Store>(&mut self, store: &S, label: Label, depth: u32) -> Option<Plan> {
        let node = store.node(label);
        let op = operator(&node);
        let (all, arity) = operands(label, &node);
        if depth > MAX_DEPTH || all[..arity].contains(&0) {
            return None;
        }
        if matches!(op, Op::Const | Op::Object) {
            return Some(Plan {
                values: vec![value(&node)],
                leaves: Vec::new(),
            });
        }
        if node.width == 1 {
            return Some(Plan {
                values: vec![0, 1],
                leaves: vec![label],
            });
        }
        let mut plan = Plan::default();
        match op {
            Op::Input | Op::Nothing => return None,
            Op::Table => {
                let address = self.plan(store, node.a, depth + 1)?;
                plan.leaves.extend(&address.leaves);
                for &at in &address.values {
                    match entry(store, &node, label, at) {
                        Entry::Outside => {}
                        Entry::Constant(value) => plan.values.push(value),
                        Entry::Node(inside) => {
                            let inside = self.plan(store, inside, depth + 1)?;
                            plan.values.extend(&inside.values);
                            plan.leaves.extend(&inside.leaves);
                        }
                        Entry::Mixed => return None,
                    }
                }
            }
            Op::Ite => {
                plan.leaves.push(node.a);
                for side in [node.b, node.c] {
                    let side = self.plan(store, side, depth + 1)?;
                    plan.values.extend(&side.values);
                    plan.leaves.extend(&side.leaves);
                }
            }
            _ if arity == 1 => {
                let a = self.plan(store, node.a, depth + 1)?;
                plan.leaves.extend(&a.leaves);
                for &x in &a.values {
                    plan.values.push(unary(store, &node, x)?);
                }
            }
            _ => {
                let a = self.plan(store, node.a, depth + 1)?;
                let b = self.plan(store, node.b, depth + 1)?;
                plan.leaves.extend(a.leaves.iter().chain(&b.leaves));
                for &x in &a.values {
                    for &y in &b.values {
                        plan.values.push(binary(store, &node, x, y)?);
                    }
                }
            }
        }
        plan.values.sort_unstable();
        plan.values.dedup();
        plan.leaves.sort_unstable();
        plan.leaves.dedup();
        (plan.values.len() <= MAX_VALUES).then_some(plan)
    }
}

fn unary<S: Store>(store: &S, node: &Node, x: u128) -> Option<u128> {
    let from = u32::from(store.node(node.a).width);
    eval::unary(operator(node), from, u32::from(node.width), node.c, x)
}

fn binary<S: Store>(store: &S, node: &Node, x: u128, y: u128) -> Option<u128> {
    let op = operator(node);
    let operand = if op == Op::Concat { node.b } else { node.a };
    eval::binary(op, u32::from(store.node(operand).width), x, y)
}

/// Values with the conditions under which an expression has them; at most one condition is true, and none if there is no value.
pub(super) type Cases = Arc<Vec<(u128, Bit)>>;

impl Circuit {
    /// The cases of an expression that has a plan and whose leaves have been encoded.
    pub(super) fn cases<S: Store>(&mut self, terms: &Terms<'_, S>, label: Label) -> Cases {
        if let Some(known) = self.cases.get(&label) {
            return Arc::clone(known);
        }
        let node = terms.store.node(label);
        let op = operator(&node);
        let mut found: Vec<(u128, Bit)> = Vec::new();
        if matches!(op, Op::Const | Op::Object) {
            found.push((value(&node), Bit::TRUE));
        } else if node.width == 1 {
            let bit = self.word(label)[0];
            let defined = self.defined(label);
            found.push((0, self.gates.and(!bit, defined)));
            found.push((1, self.gates.and(bit, defined)));
        } else {
            match op {
                Op::Table => {
                    for &(at, guard) in self.cases(terms, node.a).iter() {
                        match entry(&terms.store, &node, label, at) {
                            Entry::Constant(value) => found.push((value, guard)),
                            Entry::Node(inside) => {
                                let inside = self.cases(terms, inside);
                                self.guarded(&mut found, &inside, guard);
                            }
                            Entry::Outside | Entry::Mixed => {}
                        }
                    }
                }
                Op::Ite => {
                    let condition = self.cases(terms, node.a);
                    for &(truth, guard) in condition.iter() {
                        let side = if truth != 0 { node.b } else { node.c };
                        let side = self.cases(terms, side);
                        self.guarded(&mut found, &side, guard);
                    }
                }
                _ if op.arity() == 1 => {
                    for &(x, guard) in self.cases(terms, node.a).iter() {
                        found.extend(unary(&terms.store, &node, x).map(|value| (value, guard)));
                    }
                }
                _ => {
                    let (a, b) = (self.cases(terms, node.a), self.cases(terms, node.b));
                    for &(x, guard) in a.iter() {
                        let results: Vec<(u128, Bit)> = b
                            .iter()
                            .filter_map(|&(y, other)| {
                                Some((binary(&terms.store, &node, x, y)?, other))
                            })
                            .collect();
                        self.guarded(&mut found, &results, guard);
                    }
                }
            }
        }
        let cases = Arc::new(merge(&mut self.gates, found));
        self.cases.insert(label, Arc::clone(&cases));
        cases
    }

    /// Adds cases under a further condition.
    fn guarded(&mut self, found: &mut Vec<(u128, Bit)>, cases: &[(u128, Bit)], guard: Bit) {
        for &(value, condition) in cases {
            found.push((value, self.gates.and(guard, condition)));
        }
    }
}

/// One case per value.
fn merge(gates: &mut Gates, found: Vec<(u128, Bit)>) -> Vec<(u128, Bit)> {
    let mut found = found;
    found.retain(|(_, guard)| *guard != Bit::FALSE);
    found.sort_unstable();
    let mut merged: Vec<(u128, Bit)> = Vec::new();
    let mut start = 0;
    while start < found.len() {
        let value = found[start].0;
        let end = start + found[start..].partition_point(|case| case.0 == value);
        let guards: Vec<Bit> = found[start..end].iter().map(|case| case.1).collect();
        merged.push((value, gates.any(&guards)));
        start = end;
    }
    merged
}
