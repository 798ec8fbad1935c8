//! From counters and tables to counts by site and by place.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use parallax_abi::{SiteId, SiteKind};
use parallax_record::{FunctionSites, Site, SiteTable};

use super::region::{Entry, Snapshot};
use super::{
    BranchCoverage, Coverage, FileCoverage, FunctionCoverage, Share, Sides, Uncounted, Why, counted,
};
use crate::sites::ModuleSites;

pub(super) fn collect(snapshot: &Snapshot, tables: &[ModuleSites]) -> Coverage {
    let mut seen = BTreeSet::new();
    let mut sums = Sums::default();
    let mut uncounted = Vec::new();
    for ModuleSites { module, table } in tables {
        // A module that is in the program and in a library of its has one set of counters.
        if !seen.insert(*module) {
            continue;
        }
        let needed = counted(table).len();
        let why = match snapshot.modules.get(module) {
            Some(Entry::Counters(counters)) if counters.len() == needed => {
                sums.add(table, counters);
                continue;
            }
            Some(Entry::Counters(_) | Entry::Damaged) => Why::Damaged,
            Some(Entry::NoRoom) => Why::NoRoom,
            // Refused without a slot, or never loaded: only one of them is certain.
            None if snapshot.refused > 0 => Why::NoRoom,
            None => {
                sums.add(table, &vec![0; needed]);
                continue;
            }
        };
        uncounted.push(Uncounted {
            module: *module,
            file: source_of(table),
            why,
        });
    }
    let modules = snapshot.modules.keys().copied();
    Coverage {
        uncounted,
        unknown: modules.filter(|module| !seen.contains(module)).collect(),
        ..sums.finish()
    }
}

fn kind_of(site: &Site) -> Option<SiteKind> {
    SiteKind::from_byte(site.kind)
}

/// The file of the last function: those of headers come with the first ones.
fn source_of(table: &SiteTable) -> String {
    let file = table.functions.last().map_or(0, |function| function.file);
    table.files.get(file as usize).cloned().unwrap_or_default()
}

/// Number of a file in [`Sums::files`].
type File = usize;

/// Counts of all modules so far.
#[derive(Default)]
struct Sums {
    files: Vec<String>,
    numbers: HashMap<String, File>,
    blocks: HashMap<(SiteId, File), Block>,
    branches: HashMap<(SiteId, File), (u32, u32, Sides)>,
    functions: BTreeMap<(File, u32, String), u64>,
}

#[derive(Default)]
struct Block {
    count: u64,
    /// Where its instructions were written: a block can be longer than a line.
    lines: BTreeSet<(File, u32)>,
}

impl Sums {
    /// `counters` has the length that the table needs.
    fn add(&mut self, table: &SiteTable, counters: &[u32]) {
        let files: Vec<File> = table.files.iter().map(|name| self.number(name)).collect();
        let mut counters = counters.iter().map(|counter| u64::from(*counter));
        for function in &table.functions {
            self.add_function(function, &files, &mut counters);
        }
    }

    fn add_function(
        &mut self,
        function: &FunctionSites,
        files: &[File],
        counters: &mut impl Iterator<Item = u64>,
    ) {
        let file_of = |index: u32| files.get(index as usize).copied();
        let mut next = || counters.next().unwrap_or(0);
        let mut entered = None;
        let mut block = None;
        for site in &function.sites {
            // A table that names no file for a site still has the site's counters.
            let file = file_of(site.file).unwrap_or(usize::MAX);
            let key = (SiteId(site.id), file);
            match kind_of(site) {
                Some(SiteKind::Block) => {
                    let count = next();
                    entered.get_or_insert(count);
                    self.blocks.entry(key).or_default().count += count;
                    block = Some(key);
                }
                Some(SiteKind::Branch) => {
                    let (not_taken, taken) = (next(), next());
                    let place = (site.line, site.column, Sides::default());
                    let (_, _, sides) = self.branches.entry(key).or_insert(place);
                    sides.taken += taken;
                    sides.not_taken += not_taken;
                }
                _ => {}
            }
            if site.line != 0
                && file != usize::MAX
                && let Some(block) = block.and_then(|key| self.blocks.get_mut(&key))
            {
                block.lines.insert((file, site.line));
            }
        }
        if let (Some(file), Some(count)) = (file_of(function.file), entered) {
            let key = (file, function.line, function.name.clone());
            *self.functions.entry(key).or_insert(0) += count;
        }
    }

    fn number(&mut self, name: &str) -> File {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.files.push(name.to_owned());
        self.numbers.insert(name.to_owned(), self.files.len() - 1);
        self.files.len() - 1
    }

    fn finish(self) -> Coverage {
        let named = |name| FileCoverage {
            name,
            ..FileCoverage::default()
        };
        let mut files: Vec<FileCoverage> = self.files.into_iter().map(named).collect();
        let mut coverage = Coverage::default();
        for ((site, _), block) in self.blocks {
            *coverage.blocks.entry(site).or_insert(0) += block.count;
            coverage.block_share.add(Share {
                covered: u64::from(block.count > 0),
                total: 1,
            });
            for (file, line) in block.lines {
                let count = files[file].lines.entry(line).or_insert(0);
                *count = block.count.max(*count);
            }
        }
        for ((site, file), (line, column, sides)) in self.branches {
            let sum = coverage.branches.entry(site).or_default();
            sum.taken += sides.taken;
            sum.not_taken += sides.not_taken;
            if let Some(file) = files.get_mut(file) {
                file.branches.push(BranchCoverage {
                    site,
                    line,
                    column,
                    sides,
                });
            }
        }
        for ((file, line, name), count) in self.functions {
            files[file]
                .functions
                .push(FunctionCoverage { name, line, count });
        }
        for file in &mut files {
            let order = |branch: &BranchCoverage| (branch.line, branch.column, branch.site);
            file.branches.sort_by_key(order);
        }
        // Files that a table names but that have no code left.
        files.retain(|file| {
            !(file.lines.is_empty() && file.branches.is_empty() && file.functions.is_empty())
        });
        files.sort_by(|a, b| a.name.cmp(&b.name));
        coverage.files = files;
        coverage
    }
}
