//! Expressions of several runs in one store, so that what is the same has the same label.
//!
//! Input bytes are named by the component of the scenario that they belong to. Addresses of objects, which differ between
//! builds, become numbers, and tables are read by distance from their start: what two versions compute in the same
//! way is the same expression then, wherever the linker put their data.

use std::collections::HashMap;

use parallax_abi::Op;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, MemoryStore, Store, build, value};
use rustc_hash::FxHashMap;

use crate::worker::Sources;
use parallax_scenario::Component;

/// The numbers of components, the same in all pools of a search.
#[derive(Debug, Default)]
pub struct Components {
    numbers: HashMap<Component, u32>,
    list: Vec<Component>,
}

impl Components {
    pub fn number(&mut self, component: &Component) -> u32 {
        let next = self.list.len() as u32;
        *self.numbers.entry(component.clone()).or_insert_with(|| {
            self.list.push(component.clone());
            next
        })
    }

    pub fn get(&self, number: u32) -> Option<&Component> {
        self.list.get(number as usize)
    }

    /// For the solver: sources of pools are called by their numbers.
    pub fn names(&self) -> Vec<u32> {
        (0..self.list.len() as u32).collect()
    }

    /// The numbers of a run's sources; `None` for what a scenario cannot change.
    pub fn of(&mut self, sources: &Sources) -> Vec<Option<u32>> {
        let numbers = sources
            .iter()
            .map(|one| one.as_ref().map(|one| self.number(one)));
        numbers.collect()
    }
}

/// See the module's description.
#[derive(Debug, Default)]
pub struct Pool {
    pub store: MemoryStore,
    tables: HashMap<TableKey, u32>,
}

/// Bytes and label words.
type TableKey = (Vec<u8>, Option<Vec<u32>>);

/// Takes expressions of one store over into a pool.
pub struct Import {
    /// By the source's number in the store: its number in the pool; `None` if they are the same.
    sources: Option<Vec<Option<u32>>>,
    labels: FxHashMap<Label, Label>,
    tables: FxHashMap<u32, u32>,
}

impl Import {
    /// From a trace, whose sources have these numbers in pools.
    pub fn new(sources: Vec<Option<u32>>) -> Import {
        Import {
            sources: Some(sources),
            ..Import::same_sources()
        }
    }

    /// From another pool.
    pub fn same_sources() -> Import {
        Import {
            sources: None,
            labels: FxHashMap::default(),
            tables: FxHashMap::default(),
        }
    }

    /// The expression's label in the pool; 0 if it is damaged.
    pub fn take<S: Store>(&mut self, pool: &mut Pool, from: &S, root: Label) -> Label {
        if root == 0 {
            return 0;
        }
        let mut pending = vec![root];
        while let Some(&label) = pending.last() {
            if self.labels.contains_key(&label) {
                pending.pop();
                continue;
            }
            let before = pending.len();
            self.needed(from, label, &mut pending);
            if pending.len() == before {
                let taken = self.node(pool, from, label);
                self.labels.insert(label, taken);
                pending.pop();
            }
        }
        self.labels[&root]
    }

    /// What has to be taken over before a node.
    fn needed<S: Store>(&self, from: &S, label: Label, needed: &mut Vec<Label>) {
        // Operands come before what uses them; anything else is damage.
        let is_needed = |operand: &Label| {
            *operand != 0 && *operand < label && !self.labels.contains_key(operand)
        };
        let node = from.node(label);
        let arity = Op::from_byte(node.op).map_or(0, Op::arity);
        let operands = [node.a, node.b, node.c].into_iter().take(arity);
        needed.extend(operands.filter(is_needed));
        if node.op == Op::Table as u8 && !self.tables.contains_key(&node.b) {
            let words = from.table(node.b).labels.unwrap_or(&[]);
            let inside = words.iter().map(|word| word >> LABEL_BYTE_BITS);
            needed.extend(inside.filter(is_needed));
        }
    }

    /// Builds a node whose operands are there.
    fn node<S: Store>(&mut self, pool: &mut Pool, from: &S, label: Label) -> Label {
        let node = from.node(label);
        let Some(op) = Op::from_byte(node.op) else {
            return 0;
        };
        let width = u32::from(node.width);
        let operand = |label: Label| self.labels.get(&label).copied().unwrap_or(0);
        let (a, b, c) = (operand(node.a), operand(node.b), operand(node.c));
        let store = &mut pool.store;
        match op {
            Op::Nothing => 0,
            Op::Const | Op::Object => build::constant(store, width, value(&node)),
            Op::Input => match self.source(node.a) {
                Some(source) => {
                    let offset = u64::from(node.b) | u64::from(node.c) << 32;
                    build::input(store, source, offset, node.lo as u8)
                }
                None => build::constant(store, 8, value(&node)),
            },
            Op::Table => {
                let base = from.table(node.b).base;
                let Some(table) = self.table(pool, from, node.b) else {
                    return 0;
                };
                let store = &mut pool.store;
                if a == 0 {
                    return 0;
                }
                let base = build::constant(store, 64, base.into());
                let distance = build::sub(store, a, base);
                build::table(store, distance, table, width, value(&node))
            }
            Op::Ite => build::ite(store, a, b, c),
            _ if op.arity() == 1 => build::unary(store, op, a, width, node.c),
            _ => build::binary(store, op, a, b),
        }
    }

    fn source(&self, number: u32) -> Option<u32> {
        match &self.sources {
            Some(sources) => sources.get(number as usize).copied().flatten(),
            None => Some(number),
        }
    }

    fn table<S: Store>(&mut self, pool: &mut Pool, from: &S, table: u32) -> Option<u32> {
        if let Some(known) = self.tables.get(&table) {
            return Some(*known);
        }
        let view = from.table(table);
        let low = (1 << LABEL_BYTE_BITS) - 1;
        let word = |word: &u32| match word >> LABEL_BYTE_BITS {
            0 => Some(0),
            inside => match self.labels.get(&inside) {
                None | Some(0) => None,
                Some(taken) => Some(taken << LABEL_BYTE_BITS | word & low),
            },
        };
        let words: Option<Vec<u32>> = match view.labels {
            Some(words) => Some(words.iter().map(word).collect::<Option<_>>()?),
            None => None,
        };
        let key = (view.bytes.to_vec(), words);
        let number = match pool.tables.get(&key) {
            Some(known) => *known,
            None => {
                let number = pool.store.add_table(0, &key.0, key.1.as_deref());
                pool.tables.insert(key, number);
                number
            }
        };
        self.tables.insert(table, number);
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `table[x] < limit` in a version that has its table at `base` and reads `x` from its source `source`.
    fn version(source: u32, base: u64, limit: u128) -> (MemoryStore, Label) {
        let mut store = MemoryStore::new();
        let table = store.add_table(base, &[5, 6, 7, 8], None);
        let byte = build::input(&mut store, source, 0, 2);
        let index = build::zext(&mut store, byte, 64);
        let start = build::object(&mut store, 1, base);
        let address = build::add(&mut store, start, index);
        let read = build::table(&mut store, address, table, 8, 7);
        let limit = build::constant(&mut store, 8, limit);
        let less = build::binary(&mut store, Op::Ult, read, limit);
        (store, less)
    }

    #[test]
    fn the_same_condition_is_one_expression_wherever_its_data_lie() {
        let mut pool = Pool::default();
        let mut take = |source: u32, base: u64, limit: u128| {
            let (store, label) = version(source, base, limit);
            let mut sources = vec![None; source as usize + 1];
            sources[source as usize] = Some(0);
            Import::new(sources).take(&mut pool, &store, label)
        };
        let one = take(0, 0x4000, 7);
        assert_ne!(one, 0);
        assert_eq!(take(3, 0x5550, 7), one);
        assert_ne!(take(0, 0x4000, 8), one);
    }

    #[test]
    fn bytes_that_nobody_can_change_are_numbers() {
        let (store, label) = version(0, 0x4000, 8);
        let mut pool = Pool::default();
        let taken = Import::new(vec![None]).take(&mut pool, &store, label);
        assert_eq!(pool.store.node(taken).op, Op::Const as u8);
        assert_eq!(value(&pool.store.node(taken)), 1);
    }

    /// Figure 5: `x` is `a` or `b`, and the decision rests on it through `y = x + c` and `z = 2 * y`; `others` conditions
    /// do not rest on it.
    fn program(changed: bool, others: u64) -> (MemoryStore, Vec<Label>) {
        let mut store = MemoryStore::new();
        let input: Vec<Label> = (0..3 + others)
            .map(|offset| build::input(&mut store, 0, offset, 1))
            .collect();
        let x = input[usize::from(changed)];
        let y = build::add(&mut store, x, input[2]);
        let two = build::constant(&mut store, 8, 2);
        let z = build::binary(&mut store, Op::Mul, y, two);
        let limit = build::constant(&mut store, 8, 7);
        let mut conditions = vec![build::binary(&mut store, Op::Ult, limit, z)];
        for byte in &input[3..] {
            let sum = build::add(&mut store, *byte, input[2]);
            conditions.push(build::binary(&mut store, Op::Ult, sum, limit));
        }
        (store, conditions)
    }

    fn nodes(versions: &[bool], others: u64) -> usize {
        let mut pool = Pool::default();
        for version in versions {
            let (store, conditions) = program(*version, others);
            let mut import = Import::new(vec![Some(0)]);
            for condition in conditions {
                assert_ne!(import.take(&mut pool, &store, condition), 0);
            }
        }
        pool.store.len()
    }

    #[test]
    fn a_second_version_adds_what_rests_on_the_change_and_nothing_else() {
        for others in [0, 10, 1000] {
            let (one, both) = (nodes(&[false], others), nodes(&[false, true], others));
            // `b`, `y`, `z` and the condition.
            assert_eq!(both - one, 4, "beside {others} other conditions");
            assert_eq!(nodes(&[false, false], others), one);
        }
    }
}
