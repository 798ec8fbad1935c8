//! From the code of a program to the counters of its covered build, and back.
//!
//! Counters are named by module and number, code by block. A site id alone does not lead from one to the other: static functions
//! of the same name in files of the same base name can share ids, so the function's file counts, too.

use std::collections::{BTreeSet, HashMap, HashSet};

use parallax_analysis::lines::normalise;
use parallax_analysis::program::Terminator;
use parallax_analysis::seeds::Executed;
use parallax_analysis::{BlockId, Program};

use parallax_exec::coverage::{Counted, Counter, counted_by_function};
use parallax_exec::sites::ModuleSites;

/// Which counters say that code ran.
#[derive(Debug)]
pub struct Counts<'p> {
    program: &'p Program,
    blocks: HashMap<BlockId, Vec<Counter>>,
    /// Of the two sides of branches.
    sides: HashMap<(BlockId, bool), Vec<Counter>>,
}

impl<'p> Counts<'p> {
    /// The tables are those of the covered build of this program.
    pub fn new(program: &'p Program, tables: &[ModuleSites]) -> Counts<'p> {
        let names: Vec<String> = program.files.iter().map(|file| normalise(file)).collect();
        let file_of = |block: BlockId| {
            let function = program.function(program.block(block).function);
            names.get(function.file as usize).map(String::as_str)
        };
        let mut counts = Counts {
            program,
            blocks: HashMap::new(),
            sides: HashMap::new(),
        };
        for module in tables {
            let files: Vec<String> = module.table.files.iter().map(|f| normalise(f)).collect();
            for (index, (function, counted)) in (0..).zip(counted_by_function(&module.table)) {
                let counter = Counter {
                    module: module.module,
                    index,
                };
                let file = files.get(function.file as usize).map(String::as_str);
                let (Counted::Block(site) | Counted::Side(site, _)) = counted;
                for block in program.blocks_of(site) {
                    if file_of(block) != file {
                        continue;
                    }
                    let list = match counted {
                        Counted::Block(_) => counts.blocks.entry(block).or_default(),
                        Counted::Side(_, side) => counts.sides.entry((block, side)).or_default(),
                    };
                    list.push(counter);
                }
            }
        }
        counts
    }

    /// The counters of these blocks.
    pub fn of(&self, blocks: &[BlockId]) -> HashSet<Counter> {
        let lists = blocks.iter().filter_map(|block| self.blocks.get(block));
        lists.flatten().copied().collect()
    }

    /// The counters of one side of a branch, which the block ends in.
    pub(crate) fn of_side(&self, block: BlockId, taken: bool) -> &[Counter] {
        self.sides.get(&(block, taken)).map_or(&[], Vec::as_slice)
    }

    /// The counters of the functions that these blocks are in.
    pub fn around(&self, blocks: &[BlockId]) -> HashSet<Counter> {
        let functions: HashSet<_> = blocks
            .iter()
            .map(|block| self.program.block(*block).function)
            .collect();
        let is_inside = |block: &BlockId| functions.contains(&self.program.block(*block).function);
        let all: Vec<BlockId> = self.program.block_ids().filter(is_inside).collect();
        self.of(&all)
    }

    /// What a run executed, seen through its counters.
    pub fn seen<'s>(&'s self, ran: &'s BTreeSet<Counter>) -> Seen<'s> {
        Seen { counts: self, ran }
    }
}

/// See [`Counts::seen`].
#[derive(Clone, Copy, Debug)]
pub struct Seen<'s> {
    counts: &'s Counts<'s>,
    ran: &'s BTreeSet<Counter>,
}

impl Seen<'_> {
    fn any(&self, counters: Option<&Vec<Counter>>) -> bool {
        let mut counters = counters.into_iter().flatten();
        counters.any(|counter| self.ran.contains(counter))
    }
}

impl Executed for Seen<'_> {
    fn ran(&self, block: BlockId) -> bool {
        self.any(self.counts.blocks.get(&block))
    }

    fn went(&self, from: BlockId, to: BlockId) -> bool {
        let program = self.counts.program;
        let block = program.block(from);
        let Terminator::Branch {
            then, otherwise, ..
        } = &block.terminator
        else {
            // The cases of a switch have no counters of their own.
            return self.ran(to);
        };
        let leads = |number: u32| program.successor(block.function, number) == to;
        let went = |side: bool| self.any(self.counts.sides.get(&(from, side)));
        leads(*then) && went(true) || leads(*otherwise) && went(false)
    }
}
