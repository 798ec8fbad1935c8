//! What a version's site tables say about its code: functions, blocks, where they lead, and which conditions belong together.

use std::collections::{BTreeSet, HashMap, HashSet};

use parallax_abi::SiteKind;
use parallax_record::{FunctionSites, SiteTable};

/// One version.
#[derive(Debug, Default)]
pub struct Code {
    pub functions: Vec<Function>,
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    /// Path of its source.
    pub file: String,
    pub line: u32,
    pub blocks: Vec<Block>,
    /// Of each block: the first block of the compound condition that it is part of. See [`Function::compounds`].
    pub compounds: Vec<usize>,
}

#[derive(Debug)]
pub struct Block {
    pub site: u64,
    pub file: String,
    pub line: u32,
    pub column: u32,
    /// Kinds and callees of what is in it.
    pub content: Vec<(u8, String)>,
    /// Direct and indirect calls: site and callee.
    pub calls: Vec<(u64, String)>,
    /// The branch or `switch` at its end.
    pub decision: Option<Decision>,
    /// Conditional expressions.
    pub selects: Vec<u64>,
    pub stores: bool,
    /// Indices of blocks.
    pub successors: Vec<usize>,
}

#[derive(Debug)]
pub struct Decision {
    pub site: u64,
    pub kind: SiteKind,
}

impl Code {
    /// Reads the tables of all modules. Functions that several modules contain are taken once.
    pub fn new<'t>(tables: impl Iterator<Item = &'t SiteTable>) -> Code {
        let mut known = HashSet::new();
        let mut code = Code::default();
        for table in tables {
            for sites in &table.functions {
                let first = sites.sites.iter().find(|site| site.original == 0);
                if first.is_some_and(|site| known.insert(site.id)) {
                    code.functions.push(Function::new(table, sites));
                }
            }
        }
        code
    }
}

impl Function {
    fn new(table: &SiteTable, sites: &FunctionSites) -> Function {
        let file = |index: u32| table.files.get(index as usize).cloned().unwrap_or_default();
        let mut blocks: Vec<Block> = Vec::new();
        let mut targets: Vec<&[u64]> = Vec::new();
        // Copies of inlined code are sites of the functions that they were written in.
        for site in sites.sites.iter().filter(|site| site.original == 0) {
            let Some(kind) = SiteKind::from_byte(site.kind) else {
                continue;
            };
            if kind == SiteKind::Block {
                targets.push(&site.successors);
                blocks.push(Block {
                    site: site.id,
                    file: file(site.file),
                    line: site.line,
                    column: site.column,
                    content: Vec::new(),
                    calls: Vec::new(),
                    decision: None,
                    selects: Vec::new(),
                    stores: false,
                    successors: Vec::new(),
                });
                continue;
            }
            let Some(block) = blocks.last_mut() else {
                continue;
            };
            block.content.push((site.kind, site.text.clone()));
            match kind {
                SiteKind::Call => block.calls.push((site.id, site.text.clone())),
                SiteKind::Store => block.stores = true,
                SiteKind::Select => block.selects.push(site.id),
                SiteKind::Branch | SiteKind::Switch => {
                    // Where a line begins says less of a condition than where it is decided.
                    if site.line != 0 {
                        (block.line, block.column) = (site.line, site.column);
                        block.file = file(site.file);
                    }
                    block.decision = Some(Decision {
                        site: site.id,
                        kind,
                    });
                }
                _ => {}
            }
        }
        let numbers: HashMap<u64, usize> = (0..).zip(&blocks).map(|(at, b)| (b.site, at)).collect();
        for (block, targets) in blocks.iter_mut().zip(targets) {
            let known = targets.iter().filter_map(|site| numbers.get(site).copied());
            block.successors = known.collect();
        }
        let mut function = Function {
            name: sites.name.clone(),
            file: file(sites.file),
            line: sites.line,
            blocks,
            compounds: Vec::new(),
        };
        function.compounds = function.compounds();
        function
    }

    /// Groups blocks that decide one condition: `a && (b || c)` is several branches, but leads to two places only. A block
    /// joins the group before it if nothing else leads there, if all that it does is to decide, and if the group still
    /// leads to no more than two places.
    fn compounds(&self) -> Vec<usize> {
        let mut before: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); self.blocks.len()];
        for (at, block) in self.blocks.iter().enumerate() {
            for next in &block.successors {
                before[*next].insert(at);
            }
        }
        let branches = |at: usize| {
            let decision = self.blocks[at].decision.as_ref();
            decision.is_some_and(|decision| decision.kind == SiteKind::Branch)
        };
        let mut head: Vec<usize> = (0..self.blocks.len()).collect();
        let mut taken = vec![false; self.blocks.len()];
        for first in 0..self.blocks.len() {
            if taken[first] || !branches(first) {
                continue;
            }
            let mut group = BTreeSet::from([first]);
            let mut exits: BTreeSet<usize> =
                self.blocks[first].successors.iter().copied().collect();
            loop {
                let joins = |next: &&usize| {
                    let (next, block) = (**next, &self.blocks[**next]);
                    let mut others: BTreeSet<usize> = exits.clone();
                    others.remove(&next);
                    others.extend(&block.successors);
                    !group.contains(&next)
                        && !taken[next]
                        && branches(next)
                        && !block.stores
                        && before[next].is_subset(&group)
                        && others.len() <= 2
                        && !block.successors.iter().any(|to| group.contains(to))
                };
                let Some(next) = exits.iter().find(joins).copied() else {
                    break;
                };
                exits.remove(&next);
                exits.extend(&self.blocks[next].successors);
                group.insert(next);
            }
            for member in group {
                head[member] = first;
                taken[member] = true;
            }
        }
        head
    }
}
