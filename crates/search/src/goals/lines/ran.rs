//! What runs executed, in terms of the program's code, and where they did not go on.

use std::collections::{HashMap, HashSet};

use parallax_abi::SiteId;
use parallax_analysis::lines::normalise;
use parallax_analysis::program::Terminator;
use parallax_analysis::seeds::Executed;
use parallax_analysis::{Analysis, BlockId};

use crate::core::guide::Guide;
use parallax_exec::coverage::{Counted, Counter, counted};
use parallax_exec::sites::ModuleSites;

/// What the counters of a covered program stand for.
pub struct Counters {
    meanings: HashMap<Counter, Meaning>,
    blocks: usize,
    /// Per block, the number of its first side; one more at the end.
    first_side: Vec<u32>,
}

enum Meaning {
    Blocks(Vec<BlockId>),
    /// Sides of branches, by number.
    Sides(Vec<u32>),
}

/// The blocks and sides of two-way branches that a run executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ran {
    blocks: Bits,
    sides: Bits,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(count: usize) -> Bits {
        Bits(vec![0; count.div_ceil(64)])
    }

    fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    fn get(&self, index: usize) -> bool {
        self.0
            .get(index / 64)
            .is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    fn add(&mut self, other: &Bits) -> bool {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        let mut is_new = false;
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            is_new |= more & !*word != 0;
            *word |= more;
        }
        is_new
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let words = self.0.iter().enumerate();
        words.flat_map(|(at, word)| {
            let bits = (0..64).filter(move |bit| word >> bit & 1 == 1);
            bits.map(move |bit| at * 64 + bit)
        })
    }
}

impl Counters {
    /// The tables are those of the covered program.
    pub fn new(tables: &[ModuleSites], analysis: &Analysis) -> Counters {
        let program = &analysis.program;
        let mut first_side = Vec::with_capacity(program.blocks.len() + 1);
        let mut next = 0;
        for block in &program.blocks {
            first_side.push(next);
            next += block.successors.len() as u32;
        }
        first_side.push(next);
        let mut counters = Counters {
            meanings: HashMap::new(),
            blocks: program.blocks.len(),
            first_side,
        };
        for module in tables {
            let files: HashSet<String> = module
                .table
                .files
                .iter()
                .map(|file| normalise(file))
                .collect();
            // Static functions of the same name in files of the same base name can share sites.
            let is_here = |block: &BlockId| {
                let function = program.function(program.block(*block).function);
                let file = program.files.get(function.file as usize);
                file.is_none_or(|file| files.contains(&normalise(file)))
            };
            for (index, counted) in (0..).zip(counted(&module.table)) {
                let meaning = match counted {
                    Counted::Block(site) => {
                        let blocks = program.blocks_of(site).into_iter();
                        Meaning::Blocks(blocks.filter(is_here).collect())
                    }
                    Counted::Side(site, taken) => {
                        let spots = program.instructions_of(site).iter();
                        let blocks = spots.map(|spot| spot.block).filter(is_here);
                        let sides =
                            blocks.filter_map(|block| counters.side_of(analysis, block, taken));
                        Meaning::Sides(sides.collect())
                    }
                };
                let counter = Counter {
                    module: module.module,
                    index,
                };
                counters.meanings.insert(counter, meaning);
            }
        }
        counters
    }

    fn side_of(&self, analysis: &Analysis, block: BlockId, taken: bool) -> Option<u32> {
        let code = analysis.program.block(block);
        let Terminator::Branch {
            then, otherwise, ..
        } = code.terminator
        else {
            return None;
        };
        let to = if taken { then } else { otherwise };
        let to = analysis.program.successor(code.function, to);
        self.side(analysis, block, to)
    }

    fn side(&self, analysis: &Analysis, block: BlockId, to: BlockId) -> Option<u32> {
        let successors = &analysis.program.block(block).successors;
        let number = successors.iter().position(|successor| *successor == to)?;
        Some(self.first_side[block.index()] + number as u32)
    }

    /// The counters of blocks, with what each stands for.
    pub fn of_blocks(&self) -> impl Iterator<Item = (Counter, &[BlockId])> {
        self.meanings
            .iter()
            .filter_map(|(counter, meaning)| match meaning {
                Meaning::Blocks(blocks) => Some((*counter, blocks.as_slice())),
                Meaning::Sides(_) => None,
            })
    }

    /// What a run executed whose counters these are.
    pub fn ran(&self, counters: &[Counter]) -> Ran {
        let sides = self.first_side.last().copied().unwrap_or(0);
        let mut ran = Ran {
            blocks: Bits::new(self.blocks),
            sides: Bits::new(sides as usize),
        };
        for counter in counters {
            match self.meanings.get(counter) {
                Some(Meaning::Blocks(blocks)) => {
                    for block in blocks {
                        ran.blocks.set(block.index());
                    }
                }
                Some(Meaning::Sides(sides)) => {
                    for side in sides {
                        ran.sides.set(*side as usize);
                    }
                }
                None => {}
            }
        }
        ran
    }
}

impl Ran {
    /// Adds what another run executed; whether any of it is new.
    pub fn add(&mut self, other: &Ran) -> bool {
        let blocks = self.blocks.add(&other.blocks);
        self.sides.add(&other.sides) || blocks
    }

    pub fn has(&self, block: BlockId) -> bool {
        self.blocks.get(block.index())
    }

    pub fn has_any(&self, blocks: &[BlockId]) -> bool {
        blocks.iter().any(|block| self.has(*block))
    }
}

/// A run with all that is needed to ask about it.
pub struct Seen<'s> {
    pub analysis: &'s Analysis,
    pub counters: &'s Counters,
    pub ran: &'s Ran,
}

impl Executed for Seen<'_> {
    fn ran(&self, block: BlockId) -> bool {
        self.ran.has(block)
    }

    /// Sides of a `switch` are not counted: that what is there ran has to do.
    fn went(&self, from: BlockId, to: BlockId) -> bool {
        let code = self.analysis.program.block(from);
        match code.terminator {
            Terminator::Branch { .. } => {
                let side = self.counters.side(self.analysis, from, to);
                side.is_some_and(|side| self.ran.sides.get(side as usize))
            }
            _ => self.ran.has(to),
        }
    }
}

/// A branch or call through a pointer that a run came to, and the side or function at which it did not go on although the target
/// lies there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The block that ends in the branch, or has the call.
    pub branch: BlockId,
    /// A successor, or where a function begins.
    pub side: BlockId,
    /// Of the branch or call.
    pub site: SiteId,
    /// Decisions between the side and the target.
    pub distance: u32,
}

impl Seen<'_> {
    /// Where the run did not go on, the nearest to the target first.
    pub fn blocked(&self, guide: &Guide<'_>) -> Vec<Blocked> {
        let mut blocked = Vec::new();
        for index in self.ran.blocks.iter() {
            let branch = BlockId(index as u32);
            let code = self.analysis.program.block(branch);
            for call in self.analysis.calls.of_block(branch) {
                for callee in &call.callees {
                    if let Some(entry) = self.analysis.program.function(*callee).entry()
                        && call.callees.len() > 1
                        && !self.ran.has(entry)
                        && let Some(distance) = guide.entering(call.spot, *callee)
                    {
                        let instruction = &code.instructions[call.spot.number as usize];
                        blocked.push(Blocked {
                            branch,
                            side: entry,
                            site: SiteId(instruction.place.site),
                            distance,
                        });
                    }
                }
            }
            if !code.branches() {
                continue;
            }
            for side in &code.successors {
                if let Some(distance) = guide.beyond(branch, *side)
                    && !self.went(branch, *side)
                {
                    blocked.push(Blocked {
                        branch,
                        side: *side,
                        site: SiteId(code.end.site),
                        distance,
                    });
                }
            }
        }
        blocked.sort_by_key(|blocked| (blocked.distance, blocked.branch, blocked.side));
        blocked
    }
}
