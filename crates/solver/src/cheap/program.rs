//! Expressions compiled for evaluation on many values of a few bytes.

use crate::overlay::{operands, operator};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_abi::layout::LABEL_BYTE_BITS;
use parallax_expr::{Label, Op, Store, eval, value};
use rustc_hash::FxHashMap;

/// Programs longer than this are not worth running hundreds of times.
const MAX_STEPS: usize = 400;

/// Straight-line code over registers. Everything that does not depend on the varied bytes is a constant.
pub(super) struct Program {
    steps: Vec<Step>,
    /// Where a run's results are.
    roots: Vec<Source>,
    registers: Vec<Option<u128>>,
}

#[derive(Clone, Copy)]
enum Source {
    Register(u32),
    Constant(u128),
}

enum Step {
    /// The n-th of the varied bytes.
    Byte(u32),
    Unary {
        op: Op,
        from: u32,
        to: u32,
        extra: u32,
        a: Source,
    },
    Binary {
        op: Op,
        width: u32,
        a: Source,
        b: Source,
    },
    Ite(Source, Source, Source),
    Table {
        address: Source,
        table: u32,
        length: usize,
    },
}

impl Program {
    /// `None` if the expressions are too long, or damaged, or read tables that depend on the bytes.
    pub fn new<S: Store>(
        terms: &mut Terms<'_, S>,
        bytes: &[VarId],
        labels: &[Label],
    ) -> Option<Program> {
        let mut builder = Builder {
            bytes,
            steps: Vec::new(),
            sources: FxHashMap::default(),
        };
        let mut roots = Vec::with_capacity(labels.len());
        for &label in labels {
            terms.fact(label);
            roots.push(builder.build(terms, label)?);
        }
        Some(Program {
            registers: vec![None; builder.steps.len()],
            steps: builder.steps,
            roots,
        })
    }

    /// How many operations a run takes.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Evaluates for these values of the varied bytes.
    pub fn run<S: Store>(&mut self, terms: &Terms<'_, S>, values: &[u8]) {
        for index in 0..self.steps.len() {
            let get = |source: Source| match source {
                Source::Register(register) => self.registers[register as usize],
                Source::Constant(value) => Some(value),
            };
            self.registers[index] = match self.steps[index] {
                Step::Byte(byte) => Some(u128::from(values[byte as usize])),
                Step::Unary {
                    op,
                    from,
                    to,
                    extra,
                    a,
                } => get(a).and_then(|a| eval::unary(op, from, to, extra, a)),
                Step::Binary { op, width, a, b } => get(a)
                    .zip(get(b))
                    .and_then(|(a, b)| eval::binary(op, width, a, b)),
                Step::Ite(c, a, b) => match get(c) {
                    Some(0) => get(b),
                    Some(_) => get(a),
                    None => None,
                },
                Step::Table {
                    address,
                    table,
                    length,
                } => get(address).and_then(|address| {
                    let (bytes, _) = terms.store.table(table).read(address as u64, length)?;
                    let word = bytes.iter().rev();
                    Some(word.fold(0, |sum, &byte| sum << 8 | u128::from(byte)))
                }),
            };
        }
    }

    /// A root's value in the last run.
    pub fn result(&self, root: usize) -> Option<u128> {
        match self.roots[root] {
            Source::Register(register) => self.registers[register as usize],
            Source::Constant(value) => Some(value),
        }
    }
}

struct Builder<'b> {
    bytes: &'b [VarId],
    steps: Vec<Step>,
    sources: FxHashMap<Label, Source>,
}

impl Builder<'_> {
    fn build<S: Store>(&mut self, terms: &mut Terms<'_, S>, root: Label) -> Option<Source> {
        let mut pending = vec![root];
        while let Some(&label) = pending.last() {
            if self.sources.contains_key(&label) {
                pending.pop();
                continue;
            }
            let node = terms.store.node(label);
            let set = terms.fact(label).set;
            let op = operator(&node);
            let varies = self
                .bytes
                .iter()
                .any(|&byte| terms.sets.contains(set, byte));
            if !varies && op != Op::Nothing {
                self.sources.insert(label, Source::Constant(value(&node)));
                continue;
            }
            let (all, arity) = operands(label, &node);
            if all[..arity].contains(&0) || self.steps.len() >= MAX_STEPS {
                return None;
            }
            let before = pending.len();
            pending.extend(
                all[..arity]
                    .iter()
                    .filter(|at| !self.sources.contains_key(at)),
            );
            if pending.len() > before {
                continue;
            }
            let source = |label: Label| self.sources[&label];
            let width = |label: Label| u32::from(terms.store.node(label).width);
            let step = match op {
                Op::Nothing | Op::Const | Op::Object => return None,
                Op::Input => {
                    let id = terms.id_of_input(&node)?;
                    Step::Byte(self.bytes.iter().position(|&byte| byte == id)? as u32)
                }
                Op::Table => {
                    let labels = terms.store.table(node.b).labels.unwrap_or(&[]);
                    if labels.iter().any(|word| word >> LABEL_BYTE_BITS != 0) {
                        return None;
                    }
                    Step::Table {
                        address: source(node.a),
                        table: node.b,
                        length: usize::from(node.width / 8),
                    }
                }
                Op::Ite => Step::Ite(source(node.a), source(node.b), source(node.c)),
                _ if arity == 1 => Step::Unary {
                    op,
                    from: width(node.a),
                    to: u32::from(node.width),
                    extra: node.c,
                    a: source(node.a),
                },
                _ => Step::Binary {
                    op,
                    width: width(if op == Op::Concat { node.b } else { node.a }),
                    a: source(node.a),
                    b: source(node.b),
                },
            };
            let register = Source::Register(self.steps.len() as u32);
            self.steps.push(step);
            self.sources.insert(label, register);
        }
        self.sources.get(&root).copied()
    }
}
