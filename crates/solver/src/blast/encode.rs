//! Expressions as circuits.
//!
//! Besides its word, a node has a bit "has a value": a table read outside of its table
//! has none, nor has anything computed from it; only the chosen side of a
//! conditional counts. A constraint is the conjunction of what it asks and of that bit.
//!
//! Floating-point operators are not encoded: their results are free. What contradicts even then
//! contradicts; what is satisfied has to be evaluated.

use super::cases::{Cases, Plans};
use super::gates::{Bit, Effort, Gates, TooLarge};
use super::word::Word;
use crate::constraint::{Constraint, Holds};
use crate::overlay::{operands, operator};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, Node, Op, Store, TableView, value};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Circuits of some of a path's expressions.
pub(crate) struct Circuit {
    pub gates: Gates,
    /// Words of nodes, in `pool`.
    words: FxHashMap<Label, Range<usize>>,
    pool: Vec<Bit>,
    /// Nodes that do not have a value for all inputs, and when they have.
    partial: FxHashMap<Label, Bit>,
    constraints: FxHashMap<Constraint, Bit>,
    inputs: FxHashMap<VarId, [Bit; 8]>,
    plans: Plans,
    pub(super) cases: FxHashMap<Label, Cases>,
}

impl Circuit {
    pub fn new(effort: Effort) -> Circuit {
        Circuit {
            gates: Gates::new(effort),
            words: FxHashMap::default(),
            pool: Vec::new(),
            partial: FxHashMap::default(),
            constraints: FxHashMap::default(),
            inputs: FxHashMap::default(),
            plans: Plans::default(),
            cases: FxHashMap::default(),
        }
    }

    /// The bits of an input byte, if some expression that was encoded has it.
    pub fn input(&self, byte: VarId) -> Option<[Bit; 8]> {
        self.inputs.get(&byte).copied()
    }

    /// A bit that is true exactly when the constraint holds.
    pub fn constraint<S: Store>(
        &mut self,
        terms: &mut Terms<'_, S>,
        constraint: Constraint,
    ) -> Result<Bit, TooLarge> {
        if let Some(&known) = self.constraints.get(&constraint) {
            return Ok(known);
        }
        self.encode(terms, constraint.label)?;
        let word = self.word(constraint.label);
        let width = word.len() as u32;
        let fits = |value: u128| value <= parallax_expr::bits::mask(width);
        let number = |value: u128| Gates::constant(width, value);
        let gates = &mut self.gates;
        let mut within = |low: u128, high: u128| {
            if !fits(low) || low > high {
                return Bit::FALSE;
            }
            let above = gates.less(&number(low), &word, true);
            if !fits(high) {
                return above;
            }
            let below = gates.less(&word, &number(high), true);
            gates.and(above, below)
        };
        let asked = match constraint.holds {
            Holds::Within(low, high) => within(low, high),
            Holds::Outside(low, high) => !within(low, high),
            Holds::Equals(value) if fits(value) => self.gates.equal(&word, &number(value)),
            Holds::Equals(_) => Bit::FALSE,
            Holds::Differs(value) if fits(value) => !self.gates.equal(&word, &number(value)),
            Holds::Differs(_) => Bit::TRUE,
        };
        let defined = self.defined(constraint.label);
        let bit = self.gates.and(asked, defined);
        self.constraints.insert(constraint, bit);
        Ok(bit)
    }

    pub(super) fn word(&self, label: Label) -> Word {
        match self.words.get(&label) {
            Some(range) => self.pool[range.clone()].to_vec(),
            None => Word::new(),
        }
    }

    pub(super) fn defined(&self, label: Label) -> Bit {
        self.partial.get(&label).copied().unwrap_or(Bit::TRUE)
    }

    fn finish(&mut self, label: Label, word: &[Bit], defined: Bit) {
        let start = self.pool.len();
        self.pool.extend_from_slice(word);
        self.words.insert(label, start..self.pool.len());
        if defined != Bit::TRUE {
            self.partial.insert(label, defined);
        }
    }

    /// Makes the words of a node and of all that it needs.
    fn encode<S: Store>(&mut self, terms: &mut Terms<'_, S>, root: Label) -> Result<(), TooLarge> {
        terms.fact(root);
        let mut pending = vec![root];
        while let Some(&label) = pending.last() {
            if self.words.contains_key(&label) {
                pending.pop();
                continue;
            }
            let node = terms.store.node(label);
            let before = pending.len();
            let (all, arity) = operands(label, &node);
            let damaged = all[..arity].contains(&0);
            if !damaged && !is_abstract(operator(&node)) {
                if node.op != Op::Table as u8 {
                    for &operand in &all[..arity] {
                        if !self.words.contains_key(&operand) {
                            pending.push(operand);
                        }
                    }
                } else {
                    self.encode_for_table(terms, label, &node, &mut pending);
                }
            }
            if pending.len() > before {
                continue;
            }
            pending.pop();
            if damaged {
                let width = u32::from(node.width.max(1));
                self.finish(label, &Gates::constant(width, 0), Bit::FALSE);
            } else {
                self.operation(terms, label, &node)?;
                self.gates.check_size()?;
            }
        }
        Ok(())
    }

    fn operation<S: Store>(
        &mut self,
        terms: &Terms<'_, S>,
        label: Label,
        node: &Node,
    ) -> Result<(), TooLarge> {
        let op = operator(node);
        let width = u32::from(node.width);
        match op {
            Op::Nothing => {
                self.finish(label, &Gates::constant(width.max(1), 0), Bit::FALSE);
                return Ok(());
            }
            Op::Const | Op::Object => {
                self.finish(label, &Gates::constant(width, value(node)), Bit::TRUE);
                return Ok(());
            }
            Op::Input => {
                self.input_byte(terms, label, node);
                return Ok(());
            }
            Op::Table => return self.table(terms, label, node),
            Op::Ite => {
                self.conditional(label, node);
                return Ok(());
            }
            _ if is_abstract(op) => {
                let seed = value(node);
                let word: Word = (0..width)
                    .map(|bit| self.gates.fresh(seed >> bit & 1 != 0))
                    .collect();
                self.finish(label, &word, Bit::TRUE);
                return Ok(());
            }
            _ => {}
        }
        let a = self.word(node.a);
        let mut defined = self.defined(node.a);
        let word = if op.arity() == 1 {
            self.unary(op, node, &a)
        } else {
            let b = self.word(node.b);
            let other = self.defined(node.b);
            defined = self.gates.and(defined, other);
            self.binary(op, &a, &b)?
        };
        self.finish(label, &word, defined);
        Ok(())
    }

    fn input_byte<S: Store>(&mut self, terms: &Terms<'_, S>, label: Label, node: &Node) {
        let bits = match terms.id_of_input(node) {
            Some(id) => match self.inputs.get(&id) {
                Some(&bits) => bits,
                None => {
                    let seed = terms.seed(id);
                    let bits =
                        std::array::from_fn(|bit| self.gates.fresh_input(seed >> bit & 1 != 0));
                    self.inputs.insert(id, bits);
                    bits
                }
            },
            None => std::array::from_fn(|bit| Bit::constant(node.lo >> bit & 1 != 0)),
        };
        self.finish(label, &bits, Bit::TRUE);
    }

    fn conditional(&mut self, label: Label, node: &Node) {
        let condition = self.word(node.a)[0];
        let (a, b) = (self.word(node.b), self.word(node.c));
        let word = self.gates.choose_word(condition, &a, &b);
        let (sure, then, otherwise) = (
            self.defined(node.a),
            self.defined(node.b),
            self.defined(node.c),
        );
        let chosen = self.gates.choose(condition, then, otherwise);
        let defined = self.gates.and(sure, chosen);
        self.finish(label, &word, defined);
    }

    fn unary(&mut self, op: Op, node: &Node, a: &[Bit]) -> Word {
        let width = usize::from(node.width);
        match op {
            Op::Not => Gates::invert(a),
            Op::Neg => self.gates.negate(a),
            Op::ZExt | Op::SExt => {
                let fill = if op == Op::SExt {
                    a[a.len() - 1]
                } else {
                    Bit::FALSE
                };
                let mut word = a.to_vec();
                word.resize(width, fill);
                word
            }
            Op::Extract => {
                let low = node.c as usize;
                (low..low + width)
                    .map(|at| a.get(at).copied().unwrap_or(Bit::FALSE))
                    .collect()
            }
            Op::PopCount => self.gates.count_ones(a),
            Op::TrailingZeros => self.gates.count_zeros(a),
            Op::LeadingZeros => {
                let reversed: Word = a.iter().rev().copied().collect();
                self.gates.count_zeros(&reversed)
            }
            Op::ByteSwap => a.chunks(8).rev().flatten().copied().collect(),
            // The only other one that comes here is the reversal of bits.
            _ => a.iter().rev().copied().collect(),
        }
    }

    fn binary(&mut self, op: Op, a: &[Bit], b: &[Bit]) -> Result<Word, TooLarge> {
        let gates = &mut self.gates;
        let bitwise = |gates: &mut Gates, gate: fn(&mut Gates, Bit, Bit) -> Bit| -> Word {
            a.iter().zip(b).map(|(&x, &y)| gate(gates, x, y)).collect()
        };
        Ok(match op {
            Op::Concat => b.iter().chain(a).copied().collect(),
            Op::Add => gates.add(a, b),
            Op::Sub => gates.subtract(a, b),
            Op::Mul => gates.multiply(a, b)?,
            Op::UDiv => gates.divide(a, b)?.0,
            Op::URem => gates.divide(a, b)?.1,
            Op::SDiv => gates.divide_signed(a, b)?.0,
            Op::SRem => gates.divide_signed(a, b)?.1,
            Op::Shl => gates.shift(a, b, true, Bit::FALSE),
            Op::LShr => gates.shift(a, b, false, Bit::FALSE),
            Op::AShr => gates.shift(a, b, false, a[a.len() - 1]),
            Op::And => bitwise(gates, Gates::and),
            Op::Or => bitwise(gates, Gates::or),
            Op::Xor => bitwise(gates, Gates::xor),
            Op::Eq => vec![gates.equal(a, b)],
            Op::Ult => vec![gates.less(a, b, false)],
            Op::Ule => vec![gates.less(a, b, true)],
            Op::Slt => vec![gates.less_signed(a, b, false)],
            // The only other one that comes here is the signed `<=`.
            _ => vec![gates.less_signed(a, b, true)],
        })
    }

    /// Puts off what a table read needs: the bits that decide between few addresses and what is there, or
    /// what the address is a sum of and all that the table holds.
    fn encode_for_table<S: Store>(
        &mut self,
        terms: &Terms<'_, S>,
        label: Label,
        node: &Node,
        pending: &mut Vec<Label>,
    ) {
        let mut need = |needed: Label| {
            if needed != 0 && needed < label && !self.words.contains_key(&needed) {
                pending.push(needed);
            }
        };
        let words = terms.store.table(node.b).labels.unwrap_or(&[]);
        match self.plans.plan(&terms.store, node.a, 0) {
            Some(plan) => {
                plan.leaves.iter().for_each(|&leaf| need(leaf));
                let base = terms.store.table(node.b).base;
                for &address in &plan.values {
                    let start = (address as u64).wrapping_sub(base);
                    let inside = words.iter().skip(start as usize);
                    let length = usize::from(node.width / 8);
                    inside
                        .take(length)
                        .for_each(|word| need(word >> LABEL_BYTE_BITS));
                }
            }
            None => {
                words.iter().for_each(|word| need(word >> LABEL_BYTE_BITS));
                let sum = super::table::summands(&terms.store, node.a);
                sum.terms.into_iter().for_each(need);
            }
        }
    }

    /// A byte of a table, with "has a value" on top.
    fn table_byte(&self, view: &TableView<'_>, user: Label, at: usize) -> Word {
        let word = view.labels.map_or(0, |labels| labels[at]);
        let node = word >> LABEL_BYTE_BITS;
        if node == 0 {
            let mut byte = Gates::constant(8, u128::from(view.bytes[at]));
            byte.push(Bit::TRUE);
            return byte;
        }
        if node >= user {
            return vec![Bit::FALSE; 9];
        }
        let low = 8 * (word & ((1 << LABEL_BYTE_BITS) - 1)) as usize;
        let whole = self.word(node);
        let mut byte: Word = (low..low + 8)
            .map(|bit| whole.get(bit).copied().unwrap_or(Bit::FALSE))
            .collect();
        byte.push(self.defined(node));
        byte
    }

    /// Bytes of a table as one word, with "has a value" on top.
    fn table_entry(&mut self, bytes: &[Word]) -> Word {
        let mut entry: Word = bytes.iter().flat_map(|byte| &byte[..8]).copied().collect();
        let defined: Vec<Bit> = bytes.iter().map(|byte| byte[8]).collect();
        entry.push(self.gates.all(&defined));
        entry
    }

    /// A read at one of few addresses.
    fn table_by_cases<S: Store>(&mut self, terms: &Terms<'_, S>, label: Label, node: &Node) {
        let view = terms.store.table(node.b);
        let length = usize::from(node.width / 8);
        let width = usize::from(node.width);
        let mut choices: Vec<Vec<Bit>> = vec![Vec::new(); width + 1];
        for &(address, guard) in self.cases(terms, node.a).iter() {
            if view.read(address as u64, length).is_none() {
                continue;
            }
            let start = (address as u64).wrapping_sub(view.base) as usize;
            let bytes: Vec<Word> = (start..start + length)
                .map(|at| self.table_byte(&view, label, at))
                .collect();
            let entry = self.table_entry(&bytes);
            for (choice, &bit) in choices.iter_mut().zip(&entry) {
                choice.push(self.gates.and(guard, bit));
            }
        }
        let mut word: Word = choices.iter().map(|bits| self.gates.any(bits)).collect();
        let defined = word.pop().unwrap_or(Bit::FALSE);
        self.finish(label, &word, defined);
    }

    fn table<S: Store>(
        &mut self,
        terms: &Terms<'_, S>,
        label: Label,
        node: &Node,
    ) -> Result<(), TooLarge> {
        let view = terms.store.table(node.b);
        let length = usize::from(node.width / 8);
        let positions = (view.bytes.len() + 1).saturating_sub(length);
        if positions == 0 || length == 0 {
            let width = u32::from(node.width.max(1));
            self.finish(label, &Gates::constant(width, 0), Bit::FALSE);
            return Ok(());
        }
        if self.plans.plan(&terms.store, node.a, 0).is_some() {
            self.table_by_cases(terms, label, node);
            return Ok(());
        }
        let sum = super::table::summands(&terms.store, node.a);
        let words: Vec<Word> = sum.terms.iter().map(|&term| self.word(term)).collect();
        let index = super::table::index(&mut self.gates, &words, sum.constant, view.base);
        let inside = {
            let last = Gates::constant(64, (positions - 1) as u128);
            self.gates.less(&index, &last, true)
        };
        let bytes: Vec<Word> = (0..view.bytes.len())
            .map(|at| self.table_byte(&view, label, at))
            .collect();
        let mut entries = Vec::with_capacity(positions);
        for position in 0..positions {
            entries.push(self.table_entry(&bytes[position..position + length]));
        }
        let mut word = super::table::select(&mut self.gates, &index, &entries)?;
        let read = word.pop().unwrap_or(Bit::TRUE);
        let mut defined: Vec<Bit> = sum.terms.iter().map(|&term| self.defined(term)).collect();
        defined.extend([inside, read]);
        let defined = self.gates.all(&defined);
        self.finish(label, &word, defined);
        Ok(())
    }
}

/// Operators whose results are left free.
fn is_abstract(op: Op) -> bool {
    op >= Op::FAdd
}
