//! What a path knows about its expressions: variables, structural hashes, values on other inputs.
//!
//! Facts about a node are computed once, when a constraint first reaches it.

use crate::constraint::{Constraint, FIRST_FIXED, Variable};
use crate::dense::Dense;
use crate::hash::{self, Hash};
use crate::overlay::{Overlay, operands, operator};
use crate::sets::{SetId, Sets, VarId};
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, Node, Op, Store, of_operands, value};
use rustc_hash::FxHashMap;

/// An input byte of the path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Byte {
    pub variable: Variable,
    /// Its value in the run that made the path.
    pub seed: u8,
}

/// What is known about a node. The default (hash 0) means nothing yet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fact {
    pub hash: Hash,
    pub set: SetId,
    /// Whether its value depends on floating-point operations.
    pub floating: bool,
}

/// What is known about a table.
#[derive(Clone, Copy)]
struct TableFact {
    hash: Hash,
    set: SetId,
    floating: bool,
}

pub(crate) struct Terms<'p, S> {
    pub store: Overlay<'p, S>,
    /// Stable id of each source of the trace.
    names: &'p [u32],
    pub bytes: Vec<Byte>,
    ids: FxHashMap<Variable, VarId>,
    pub sets: Sets,
    hashes: Dense<Hash>,
    /// Number of the set, shifted to the left by one, and whether floating point is in it.
    sets_of: Dense<u32>,
    tables: FxHashMap<u32, TableFact>,
    pending: Vec<Label>,
    values: Values,
}

/// Values of nodes on one input that differs from the seed in some bytes.
#[derive(Default)]
struct Values {
    /// Number of the input, counting in twos; what carries another number is outdated, and
    /// what carries the number after it has no value.
    round: u32,
    known: Dense<u32>,
    values: Dense<u128>,
    /// Whether a set has a changed byte.
    touched: Vec<(u32, bool)>,
    changes: Vec<(VarId, u8)>,
}

impl Values {
    /// What is known of a node on this input.
    #[inline]
    fn get(&self, label: Label) -> Option<Option<u128>> {
        match self.known.get(label).wrapping_sub(self.round) {
            0 => Some(Some(self.values.get(label))),
            1 => Some(None),
            _ => None,
        }
    }

    #[inline]
    fn set(&mut self, label: Label, value: Option<u128>) {
        match value {
            Some(value) => {
                self.known.set(label, self.round);
                self.values.set(label, value);
            }
            None => self.known.set(label, self.round + 1),
        }
    }
}

impl<'p, S: Store> Terms<'p, S> {
    pub fn new(store: &'p S, names: &'p [u32]) -> Self {
        Terms {
            store: Overlay::new(store),
            names,
            bytes: Vec::new(),
            ids: FxHashMap::default(),
            sets: Sets::default(),
            hashes: Dense::default(),
            sets_of: Dense::default(),
            tables: FxHashMap::default(),
            pending: Vec::new(),
            values: Values::default(),
        }
    }

    /// What has been found out about a node.
    fn known(&self, label: Label) -> Fact {
        let packed = self.sets_of.get(label);
        Fact {
            hash: self.hashes.get(label),
            set: SetId(packed >> 1),
            floating: packed & 1 != 0,
        }
    }

    /// What is known about a node and, from now on, about everything below it.
    pub fn fact(&mut self, label: Label) -> Fact {
        if label == 0 || self.hashes.get(label) != 0 {
            return self.known(label);
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.push(label);
        while let Some(&top) = pending.last() {
            if self.hashes.get(top) != 0 {
                pending.pop();
                continue;
            }
            let node = self.store.node(top);
            let before = pending.len();
            let (all, arity) = operands(top, &node);
            for &operand in &all[..arity] {
                if operand != 0 && self.hashes.get(operand) == 0 {
                    pending.push(operand);
                }
            }
            if node.op == Op::Table as u8 && !self.tables.contains_key(&node.b) {
                for &word in self.store.table(node.b).labels.unwrap_or(&[]) {
                    let inside = word >> LABEL_BYTE_BITS;
                    if inside != 0 && inside < top && self.hashes.get(inside) == 0 {
                        pending.push(inside);
                    }
                }
            }
            if pending.len() == before {
                let fact = self.compute(top, &node, &all[..arity]);
                self.hashes.set(top, fact.hash);
                self.sets_of
                    .set(top, fact.set.0 << 1 | u32::from(fact.floating));
                pending.pop();
            }
        }
        self.pending = pending;
        self.known(label)
    }

    fn compute(&mut self, label: Label, node: &Node, operands: &[Label]) -> Fact {
        let op = operator(node);
        let mut digest = hash::Digest::new();
        digest.add(u128::from(node.op) | u128::from(node.width) << 8);
        let mut set = SetId::EMPTY;
        let mut floating = op >= Op::FAdd;
        match op {
            Op::Const | Op::Object => digest.add(value(node)),
            Op::Nothing => digest.add(u128::from(label) << 64),
            Op::Input => {
                let variable = self.variable(node);
                digest.add(u128::from(variable.0) << 64 | u128::from(variable.1));
                if variable.0 < FIRST_FIXED {
                    let id = self.byte(variable, node.lo as u8);
                    set = self.sets.single(id);
                } else {
                    digest.add(value(node));
                }
            }
            Op::Extract | Op::FRound => digest.add(u128::from(node.c)),
            Op::Table => {
                let table = self.table_fact(label, node.b);
                digest.add(table.hash);
                set = table.set;
                floating |= table.floating;
            }
            _ => {}
        }
        for &operand in operands {
            let below = self.known(operand);
            digest.add(below.hash);
            set = self.sets.union(set, below.set);
            floating |= below.floating;
        }
        Fact {
            hash: digest.finish(),
            set,
            floating,
        }
    }

    /// All nodes in the table are known.
    fn table_fact(&mut self, user: Label, table: u32) -> TableFact {
        if let Some(&known) = self.tables.get(&table) {
            return known;
        }
        let view = self.store.table(table);
        let mut digest = hash::Digest::new();
        digest.add(u128::from(view.base) | (view.bytes.len() as u128) << 64);
        digest.bytes(view.bytes);
        let words: Vec<u32> = view.labels.unwrap_or(&[]).to_vec();
        let mut result = TableFact {
            hash: 0,
            set: SetId::EMPTY,
            floating: false,
        };
        for (position, word) in words.into_iter().enumerate() {
            let inside = word >> LABEL_BYTE_BITS;
            if inside == 0 {
                continue;
            }
            let fact = if inside < user {
                self.known(inside)
            } else {
                Fact::default()
            };
            let byte = u128::from(word & ((1 << LABEL_BYTE_BITS) - 1));
            digest.add((position as u128) << 8 | byte);
            digest.add(fact.hash);
            result.set = self.sets.union(result.set, fact.set);
            result.floating |= fact.floating;
        }
        result.hash = digest.finish();
        self.tables.insert(table, result);
        result
    }

    fn variable(&self, node: &Node) -> Variable {
        let offset = u64::from(node.b) | u64::from(node.c) << 32;
        // A source without a name can only come from a damaged trace.
        let unnamed = u32::MAX - node.a % (u32::MAX - FIRST_FIXED);
        let source = self.names.get(node.a as usize).copied();
        (source.unwrap_or(unnamed), offset)
    }

    fn byte(&mut self, variable: Variable, seed: u8) -> VarId {
        *self.ids.entry(variable).or_insert_with(|| {
            self.bytes.push(Byte { variable, seed });
            (self.bytes.len() - 1) as VarId
        })
    }

    /// The number of an input byte, if the path has met it.
    pub fn id(&self, variable: Variable) -> Option<VarId> {
        self.ids.get(&variable).copied()
    }

    /// The number of the byte that an [`Op::Input`] node stands for, whose fact is known; `None` if
    /// it is fixed.
    pub fn id_of_input(&self, node: &Node) -> Option<VarId> {
        self.id(self.variable(node))
    }

    pub fn seed(&self, byte: VarId) -> u8 {
        self.bytes[byte as usize].seed
    }

    /// Goes over to an input with these bytes, all others being the seed's.
    pub fn assign(&mut self, changes: &[(VarId, u8)]) {
        self.values.round = match self.values.round.checked_add(2) {
            Some(round) => round,
            None => {
                self.values = Values::default();
                2
            }
        };
        self.values.changes.clear();
        self.values.changes.extend(
            changes
                .iter()
                .filter(|(byte, value)| self.bytes[*byte as usize].seed != *value),
        );
        self.values.changes.sort_unstable();
    }

    /// Whether an expression depends on a byte that was changed.
    fn touched(&mut self, set: SetId) -> bool {
        let at = set.0 as usize;
        if self.values.touched.len() <= at {
            self.values.touched.resize(self.sets.len(), (0, false));
        }
        let (round, answer) = self.values.touched[at];
        if round == self.values.round {
            return answer;
        }
        let changes = &self.values.changes;
        let answer = changes
            .iter()
            .any(|&(byte, _)| self.sets.contains(set, byte));
        self.values.touched[at] = (self.values.round, answer);
        answer
    }

    /// The node's value on the assigned input; `None` as in
    /// [`Evaluator`](parallax_expr::Evaluator). What depends on no changed byte has the value that was recorded.
    pub fn value(&mut self, label: Label) -> Option<u128> {
        if label == 0 {
            return None;
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.push(label);
        while let Some(&top) = pending.last() {
            if self.values.get(top).is_none() {
                match self.evaluate(top) {
                    Ok(result) => self.values.set(top, result),
                    Err(Missing(operand)) => {
                        pending.push(operand);
                        continue;
                    }
                }
            }
            pending.pop();
        }
        self.pending = pending;
        self.values.get(label).flatten()
    }

    fn evaluate(&mut self, label: Label) -> Result<Option<u128>, Missing> {
        // Everything that is evaluated lies below a constraint, whose facts are known.
        let fact = self.known(label);
        let node = self.store.node(label);
        let op = operator(&node);
        if !self.touched(fact.set) && op != Op::Nothing {
            return Ok(Some(value(&node)));
        }
        let operand = |below: Label| -> Result<Option<u128>, Missing> {
            if below == 0 || below >= label {
                return Ok(None);
            }
            self.values.get(below).ok_or(Missing(below))
        };
        match op {
            Op::Nothing => Ok(None),
            Op::Const | Op::Object => Ok(Some(value(&node))),
            Op::Input => {
                let id = self.id_of_input(&node);
                let changed = self
                    .values
                    .changes
                    .iter()
                    .find(|(byte, _)| Some(*byte) == id);
                Ok(Some(
                    changed.map_or(value(&node), |(_, new)| u128::from(*new)),
                ))
            }
            _ => of_operands(&self.store, op, &node, operand),
        }
    }

    /// Whether a constraint holds on the assigned input.
    pub fn holds(&mut self, constraint: Constraint) -> bool {
        self.fact(constraint.label);
        self.value(constraint.label)
            .is_some_and(|value| constraint.holds.of(value))
    }
}

/// An operand that must be evaluated first.
struct Missing(Label);
