//! A query as an SMT-LIB script: its part of the expressions copied out, with what SMT-LIB does not say by itself.
//!
//! Expressions can lack a value where SMT-LIB's terms have some: table reads outside of the table, conversions
//! from floating point that do not fit. Each constraint is asserted together with the condition that its value exists.

use crate::constraint::{Constraint, Holds};
use crate::copy::Copy;
use crate::overlay::operator;
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, MemoryStore, Op, Store, build, eval, smtlib};
use rustc_hash::{FxHashMap, FxHashSet};

/// A script and how to read the answer.
pub(super) struct Script {
    /// Declarations and definitions.
    pub head: String,
    /// What is asserted, one term per constraint.
    pub assertions: Vec<String>,
    /// Input bytes that occur; see [`variable_name`].
    pub bytes: Vec<VarId>,
    /// Whether more is asserted than was asked, so that "unsat" proves nothing.
    pub stronger: bool,
}

impl Script {
    /// The whole, for a program that starts from nothing.
    pub fn text(&self) -> String {
        let mut text = self.head.clone();
        for term in &self.assertions {
            text.push_str(&format!("(assert {term})\n"));
        }
        text
    }

    /// As [`text`](Script::text), with names `c0`, `c1`, … for unsatisfiable cores.
    pub fn named_text(&self) -> String {
        let mut text = format!("(set-option :produce-unsat-cores true)\n{}", self.head);
        for (position, term) in self.assertions.iter().enumerate() {
            text.push_str(&format!("(assert (! {term} :named c{position}))\n"));
        }
        text
    }
}

/// The name of a byte's constant.
pub(super) fn variable_name(byte: VarId) -> String {
    smtlib::input_name(0, u64::from(byte))
}

/// `None` if the expressions are damaged or have no room.
pub(super) fn script<S: Store>(
    terms: &mut Terms<'_, S>,
    constraints: &[Constraint],
) -> Option<Script> {
    let mut bytes: Vec<VarId> = Vec::new();
    let mut copy = Copy::new(|byte| {
        bytes.push(byte);
        (0, u64::from(byte))
    });
    let mut roots = Vec::with_capacity(constraints.len());
    for constraint in constraints {
        roots.push((copy.copy(terms, constraint.label)?, constraint.holds));
    }
    let mut conditions = Conditions {
        store: copy.store,
        defined: FxHashMap::default(),
        stronger: false,
    };
    for label in 1..=conditions.store.len() as Label {
        conditions.note(label)?;
    }
    let mut asserted = Vec::with_capacity(roots.len());
    for (label, holds) in roots {
        asserted.push(conditions.assertion(label, holds)?);
    }
    let text = smtlib::script(&conditions.store, &asserted);
    // The last lines are one assertion per constraint and the question.
    let lines: Vec<&str> = text.lines().collect();
    let (head, tail) = lines.split_at(lines.len().checked_sub(asserted.len() + 1)?);
    let assertions: Option<Vec<String>> = tail[..asserted.len()]
        .iter()
        .map(|line| {
            let term = line.strip_prefix("(assert ")?.strip_suffix(')')?;
            Some(term.to_owned())
        })
        .collect();
    // Only bytes that the assertions use are declared.
    let declaration = format!(
        "(declare-const {}",
        smtlib::input_name(0, 0).trim_end_matches('0')
    );
    let declared: FxHashSet<VarId> = head
        .iter()
        .filter_map(|line| {
            line.strip_prefix(&declaration)?
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .collect();
    bytes.retain(|byte| declared.contains(byte));
    bytes.sort_unstable();
    Some(Script {
        head: head.iter().flat_map(|line| [*line, "\n"]).collect(),
        assertions: assertions?,
        bytes,
        stronger: conditions.stronger,
    })
}

/// Copied expressions, and when they have a value.
struct Conditions {
    store: MemoryStore,
    /// Nodes that always have a value are missing.
    defined: FxHashMap<Label, Label>,
    stronger: bool,
}

impl Conditions {
    /// Works out when the node has a value; its operands have been worked out.
    fn note(&mut self, label: Label) -> Option<()> {
        let node = self.store.node(label);
        let op = operator(&node);
        let of = |known: &Conditions, label: Label| known.defined.get(&label).copied();
        let condition = match op {
            Op::Ite => {
                let sides = (of(self, node.b), of(self, node.c));
                let chosen = match sides {
                    (None, None) => None,
                    (then, otherwise) => {
                        let truth = build::constant(&mut self.store, 1, 1);
                        let (a, b) = (then.unwrap_or(truth), otherwise.unwrap_or(truth));
                        Some(build::ite(&mut self.store, node.a, a, b))
                    }
                };
                self.both(of(self, node.a), chosen)
            }
            Op::Table => {
                let address = of(self, node.a);
                let inside = self.inside(label)?;
                let mut condition = self.both(address, Some(inside));
                for at in 0..self.store.table(node.b).labels.map_or(0, <[u32]>::len) {
                    let word = self.store.table(node.b).labels.map_or(0, |words| words[at]);
                    if let Some(partial) = of(self, word >> LABEL_BYTE_BITS) {
                        // Asked of all entries, read or not.
                        self.stronger = true;
                        condition = self.both(condition, Some(partial));
                    }
                }
                condition
            }
            _ => {
                let fields = [node.a, node.b, node.c];
                let mut condition = None;
                for &operand in &fields[..op.arity()] {
                    condition = self.both(condition, of(self, operand));
                }
                if matches!(op, Op::FToS | Op::FToU) {
                    let fits = self.fits(op, label)?;
                    condition = self.both(condition, Some(fits));
                }
                condition
            }
        };
        match condition {
            Some(0) => return None,
            Some(condition) => {
                self.defined.insert(label, condition);
            }
            None => {}
        }
        Some(())
    }

    fn both(&mut self, a: Option<Label>, b: Option<Label>) -> Option<Label> {
        match (a, b) {
            (Some(a), Some(b)) => Some(build::and(&mut self.store, a, b)),
            _ => a.or(b),
        }
    }

    /// Whether the address of a table read lies in the table.
    fn inside(&mut self, label: Label) -> Option<Label> {
        let node = self.store.node(label);
        let view = self.store.table(node.b);
        let (base, length) = (view.base, view.bytes.len());
        let Some(last) = length.checked_sub(usize::from(node.width / 8)) else {
            return Some(build::constant(&mut self.store, 1, 0)).filter(|&label| label != 0);
        };
        let s = &mut self.store;
        let base = build::constant(s, 64, u128::from(base));
        let index = build::sub(s, node.a, base);
        let last = build::constant(s, 64, last as u128);
        Some(build::binary(s, Op::Ule, index, last)).filter(|&label| label != 0)
    }

    /// Whether a floating-point number, truncated, fits an integer.
    fn fits(&mut self, op: Op, label: Label) -> Option<Label> {
        let node = self.store.node(label);
        let from = u32::from(self.store.node(node.a).width);
        let to = u32::from(node.width);
        let negative = if op == Op::FToS { to - 1 } else { 0 };
        let positive = if op == Op::FToS { to - 1 } else { to };
        let s = &mut self.store;
        // The number lies below 2^positive …
        let end = build::constant(s, from, power_of_two(from, positive)?);
        let below = build::binary(s, Op::FLt, node.a, end);
        // … and above -2^negative - 1 (unsigned: above -1), or not below -2^negative where
        // the format has nothing between the two.
        let minus = |value: i128| eval::unary(Op::SToF, 128, from, 0, value as u128);
        let precision = match from {
            32 => 24,
            64 => 53,
            _ => 64,
        };
        let above = if op == Op::FToU || negative < precision {
            let limit = if op == Op::FToU {
                -1
            } else {
                -(1i128 << negative) - 1
            };
            let limit = build::constant(s, from, minus(limit)?);
            build::binary(s, Op::FLt, limit, node.a)
        } else {
            let limit = if negative == 127 {
                i128::MIN
            } else {
                -(1i128 << negative)
            };
            let limit = build::constant(s, from, minus(limit)?);
            build::binary(s, Op::FLe, limit, node.a)
        };
        Some(build::and(s, below, above)).filter(|&label| label != 0)
    }

    /// What is asked of a node, as a one-bit expression.
    fn assertion(&mut self, label: Label, holds: Holds) -> Option<Label> {
        let width = u32::from(self.store.node(label).width);
        let s = &mut self.store;
        let most = parallax_expr::bits::mask(width);
        let mut within = |low: u128, high: u128| {
            if low > most || low > high {
                return build::constant(s, 1, 0);
            }
            let low = build::constant(s, width, low);
            let high = build::constant(s, width, high.min(most));
            let above = build::binary(s, Op::Ule, low, label);
            let below = build::binary(s, Op::Ule, label, high);
            build::and(s, above, below)
        };
        let asked = match holds {
            Holds::Equals(value) | Holds::Differs(value) => within(value, value),
            Holds::Within(low, high) | Holds::Outside(low, high) => within(low, high),
        };
        let asked = match holds {
            Holds::Equals(_) | Holds::Within(..) => asked,
            Holds::Differs(_) | Holds::Outside(..) => build::not(&mut self.store, asked),
        };
        let defined = self.defined.get(&label).copied();
        self.both(Some(asked), defined).filter(|&label| label != 0)
    }
}

/// `2^exponent` as bits of a floating-point format; infinity where the format ends.
fn power_of_two(width: u32, exponent: u32) -> Option<u128> {
    if exponent < 128 {
        return eval::unary(Op::UToF, 128, width, 0, 1 << exponent);
    }
    match width {
        32 => Some(0xff << 23),
        64 => Some((1023 + u128::from(exponent)) << 52),
        80 => Some((16383 + u128::from(exponent)) << 64 | 1 << 63),
        _ => None,
    }
}
