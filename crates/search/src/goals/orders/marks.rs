//! Where the nodes of a change sequence graph are in the covered program: which counters say that one was come to.
//!
//! A statement begins where control comes to it from another one. What follows in other blocks (the sides of `a ? b : c`) is
//! still the same statement, so such blocks do not say that it was executed once more.

use std::collections::{BTreeMap, HashMap};

use parallax_analysis::dependence::{Dependences, Meaning, StatementId};
use parallax_analysis::sequence::ChangeGraph;
use parallax_analysis::{Analysis, BlockId, Spot};

use crate::core::counts::Counts;
use parallax_exec::coverage::Counter;
use parallax_exec::sites::ModuleSites;

/// What is known statically.
pub struct Marks<'m> {
    counts: Counts<'m>,
    /// Nodes that begin in a block, in the order in which they are executed, by the block's counter.
    begun_by: HashMap<Counter, Vec<usize>>,
    /// Per node: its blocks.
    blocks: Vec<Vec<BlockId>>,
    /// Per node: the first one that is the same line of the same file (a function of a header is in several modules).
    same: Vec<usize>,
}

impl<'m> Marks<'m> {
    /// The tables are those of the covered program.
    pub fn new(
        analysis: &'m Analysis,
        dependences: &Dependences,
        graph: &ChangeGraph,
        tables: &[ModuleSites],
    ) -> Marks<'m> {
        let program = &analysis.program;
        let statements = &dependences.statements;
        let mut of_statement: HashMap<StatementId, usize> = HashMap::new();
        let mut blocks: Vec<Vec<BlockId>> = Vec::new();
        let mut same = Vec::new();
        let mut lines: BTreeMap<(&str, u32), usize> = BTreeMap::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            of_statement.insert(node.statement, number);
            let statement = statements.get(node.statement);
            let line = (statement.file.as_str(), statement.line);
            same.push(*lines.entry(line).or_insert(number));
            let meanings = statement.nodes.iter();
            let spots =
                meanings.filter_map(|node| match dependences.nodes.meaning(program, *node) {
                    Meaning::Spot(spot) => Some(spot.block),
                    _ => None,
                });
            let mut own: Vec<BlockId> = spots.collect();
            own.sort_unstable();
            own.dedup();
            blocks.push(own);
        }
        let counts = Counts::new(program, tables);
        let mut begun_by: HashMap<Counter, Vec<usize>> = HashMap::new();
        let mut all: Vec<BlockId> = blocks.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        for block in all {
            let begun = begun_in(analysis, dependences, &of_statement, block);
            if begun.is_empty() {
                continue;
            }
            for counter in counts.of(&[block]) {
                let known = begun_by.entry(counter).or_default();
                // Copies of one function share counters.
                known.extend(
                    begun
                        .iter()
                        .filter(|node| !known.contains(node))
                        .copied()
                        .collect::<Vec<_>>(),
                );
            }
        }
        Marks {
            counts,
            begun_by,
            blocks,
            same,
        }
    }

    /// All counters that say that a node was come to.
    pub fn counters(&self) -> impl Iterator<Item = &Counter> {
        self.begun_by.keys()
    }

    /// The nodes that were come to when a counter counted.
    pub fn begun(&self, counter: Counter) -> &[usize] {
        self.begun_by.get(&counter).map_or(&[], Vec::as_slice)
    }

    /// The blocks of a node.
    pub fn blocks(&self, node: usize) -> &[BlockId] {
        &self.blocks[node]
    }

    /// The node that stands for all that are the same line.
    pub fn same(&self, node: usize) -> usize {
        self.same[node]
    }

    /// The counters that count when one of these spots decides: of a branch those of the side, of everything else those of the block.
    pub fn deciding(&self, analysis: &Analysis, spots: &[Spot], taken: Option<bool>) -> Deciding {
        let is_end = |spot: &Spot| {
            let code = analysis.program.block(spot.block);
            spot.number as usize == code.instructions.len()
        };
        let is_once = spots.iter().all(is_end);
        let counters = spots.iter().flat_map(|spot| match taken {
            Some(taken) if is_once => self.counts.of_side(spot.block, taken).to_vec(),
            _ => self.counts.of(&[spot.block]).into_iter().collect(),
        });
        Deciding {
            counters: counters.collect(),
            is_once,
        }
    }
}

/// What counts when a decision is made.
#[derive(Clone, Debug)]
pub struct Deciding {
    pub counters: Vec<Counter>,
    /// Each time that they count, at most one decision is made.
    pub is_once: bool,
}

/// The marked statements that begin in a block, in order.
fn begun_in(
    analysis: &Analysis,
    dependences: &Dependences,
    of_statement: &HashMap<StatementId, usize>,
    block: BlockId,
) -> Vec<usize> {
    let program = &analysis.program;
    let statement = |spot: Spot| {
        let node = dependences.nodes.spot(program, spot);
        dependences.statements.of(node)
    };
    let last_of = |block: BlockId| {
        let count = program.block(block).instructions.len() as u32;
        let mut spots = (0..=count).rev().map(|number| Spot { block, number });
        spots.find_map(statement)
    };
    let code = program.block(block);
    let is_entry = program.function(code.function).entry() == Some(block);
    let mut before = code.predecessors.iter().map(|block| last_of(*block));
    let mut inside = match before.next() {
        Some(first) if !is_entry && before.all(|other| other == first) => first,
        _ => None,
    };
    let mut begun = Vec::new();
    for number in 0..=code.instructions.len() as u32 {
        let Some(here) = statement(Spot { block, number }) else {
            continue;
        };
        if inside != Some(here) {
            begun.extend(of_statement.get(&here));
        }
        inside = Some(here);
    }
    begun
}
