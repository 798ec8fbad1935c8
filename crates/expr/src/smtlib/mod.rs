//! Expressions as SMT-LIB 2 scripts, for any bit-vector solver with floating point.
//!
//! * Input bytes are constants `in_SOURCE_OFFSET`; every other value follows from them.
//! * One-bit values are bit vectors of width 1, as in the expression language.
//! * Subterms that are used more than once (and every few levels of nesting, for the sake of
//!   recursive parsers) are macros `nLABEL`. Macros rather than `let`: a `let` around the
//!   rest of the term nests as deeply as there are shared subterms.
//! * Floating-point operations work on the floating-point sorts. SMT-LIB has no function from those
//!   back to bit vectors, so a result whose bits are used is a bit vector constant that is
//!   constrained to convert to it; only the payload of NaN stays open. 80-bit values drop
//!   their explicit leading bit and get it back.
//! * Table reads are balanced choices by address. Outside of the table they
//!   have the value of its nearest end: who asks must also ask for the address to be inside.
//! * Conversions from floating point to integers that do not fit are open, as in C.

mod float;
mod integer;

use crate::share::{Plan, operands};
use crate::store::{Label, Store, value};
use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_abi::trace::Node;
use std::collections::{HashMap, HashSet};
use std::format;
use std::string::String;
use std::vec::Vec;

/// How deeply terms nest between macros.
const NESTING: u32 = 40;

/// Name of an input byte's constant.
pub fn input_name(source: u32, offset: u64) -> String {
    format!("in_{source}_{offset}")
}

/// A script that asserts the one-bit expressions and asks `(check-sat)`.
pub fn script<S: Store + ?Sized>(store: &S, assertions: &[Label]) -> String {
    let mut script = Printer::new(store, assertions).print();
    for &label in assertions {
        script
            .body
            .push_str(&format!("(assert (= {} #b1))\n", script.bits(label)));
    }
    let logic = if script.floating { "QF_BVFP" } else { "QF_BV" };
    format!("(set-logic {logic})\n{}(check-sat)\n", script.body)
}

/// Makes the text of every node that some roots need.
struct Printer<'s, S: ?Sized> {
    store: &'s S,
    plan: Plan,
    /// Floating-point results whose bits are needed.
    needed_bits: HashSet<Label>,
    /// Terms as bit vectors.
    bits: HashMap<Label, String>,
    /// Terms as floating-point numbers.
    numbers: HashMap<Label, String>,
    body: String,
    floating: bool,
}

impl<'s, S: Store + ?Sized> Printer<'s, S> {
    fn new(store: &'s S, roots: &[Label]) -> Self {
        let mut plan = Plan::new(store, roots, NESTING, |node| table_nodes(store, node));
        let mut needed_bits: HashSet<Label> = roots.iter().copied().collect();
        for &label in &plan.order {
            let node = store.node(label);
            let op = operator(&node);
            if integer::repeats_operand(op) || float::reads_float(op) {
                // Written more than once in its user's term.
                plan.named.insert(node.a);
            }
            if op == Op::FRem {
                plan.named.insert(node.b);
            }
            if !float::reads_float(op) {
                needed_bits.extend(operands(&node));
            }
            needed_bits.extend(table_nodes(store, &node));
        }
        Printer {
            store,
            plan,
            needed_bits,
            bits: HashMap::new(),
            numbers: HashMap::new(),
            body: String::new(),
            floating: false,
        }
    }

    fn print(mut self) -> Self {
        for label in std::mem::take(&mut self.plan.order) {
            let node = self.store.node(label);
            let op = operator(&node);
            match op {
                Op::Input => {
                    let offset = u64::from(node.b) | u64::from(node.c) << 32;
                    let name = input_name(node.a, offset);
                    self.body
                        .push_str(&format!("(declare-const {name} (_ BitVec 8))\n"));
                    self.bits.insert(label, name);
                }
                Op::Const | Op::Object | Op::Nothing => {
                    let text = constant(u32::from(node.width.max(1)), value(&node));
                    self.bits.insert(label, text);
                }
                _ if float::makes_float(op) => self.float_result(label, &node),
                _ => {
                    let term = self.term(op, &node);
                    let term = self.define(label, &format!("(_ BitVec {})", node.width), "", term);
                    self.bits.insert(label, term);
                }
            }
        }
        self
    }

    /// The term, or the name of a macro for it.
    fn define(&mut self, label: Label, sort: &str, suffix: &str, term: String) -> String {
        if !self.plan.named.contains(&label) {
            return term;
        }
        let name = format!("n{label}{suffix}");
        self.body
            .push_str(&format!("(define-fun {name} () {sort} {term})\n"));
        name
    }

    fn bits(&self, label: Label) -> &str {
        self.bits.get(&label).map_or("", String::as_str)
    }

    fn width(&self, label: Label) -> u32 {
        u32::from(self.store.node(label).width)
    }
}

fn operator(node: &Node) -> Op {
    Op::from_byte(node.op).unwrap_or(Op::Nothing)
}

/// Nodes whose values a table contains.
fn table_nodes<S: Store + ?Sized>(store: &S, node: &Node) -> Vec<Label> {
    if operator(node) != Op::Table {
        return Vec::new();
    }
    let words = store.table(node.b).labels.unwrap_or(&[]);
    words
        .iter()
        .map(|word| word >> LABEL_BYTE_BITS)
        .filter(|&label| label != 0)
        .collect()
}

/// A bit-vector literal.
fn constant(width: u32, value: u128) -> String {
    if width.is_multiple_of(4) {
        format!("#x{value:0digits$x}", digits = width as usize / 4)
    } else {
        format!("#b{value:0digits$b}", digits = width as usize)
    }
}
