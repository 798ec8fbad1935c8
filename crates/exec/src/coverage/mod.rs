//! How often each block, branch side, line and function of a program ran.
//!
//! A [`CoverageRegion`] is handed to runs of a covered program; [`Coverage::read`] puts its counters beside the
//! program's site tables. The counters of a module follow its table: one for each block site, two for each
//! branch site, false side first.
//!
//! Code that several modules contain (functions in headers) is one place in the source: its counts add up. A
//! block's identity is its site id together with its file, because static functions of the same name in files of the same
//! base name can share ids.

mod collect;
mod region;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use parallax_abi::{SiteId, SiteKind};
use parallax_record::{FunctionSites, Site, SiteTable};

use crate::sites::ModuleSites;
pub use region::{Counter, CoverageRegion, Log};

/// What was counted, by site and by place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    blocks: HashMap<SiteId, u64>,
    branches: HashMap<SiteId, Sides>,
    block_share: Share,
    files: Vec<FileCoverage>,
    uncounted: Vec<Uncounted>,
    unknown: Vec<u64>,
}

/// How often a branch went each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// The condition was true.
    pub taken: u64,
    /// The condition was false.
    pub not_taken: u64,
}

/// What was counted in one source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// As in the debug information.
    pub name: String,
    /// Every line that has code: the count of the block on it that ran most often.
    pub lines: BTreeMap<u32, u64>,
    /// In the order of line and column.
    pub branches: Vec<BranchCoverage>,
    /// In the order of lines.
    pub functions: Vec<FunctionCoverage>,
}

/// One two-way branch. Line and column are 0 if the compiler gave none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BranchCoverage {
    pub site: SiteId,
    pub line: u32,
    pub column: u32,
    pub sides: Sides,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCoverage {
    pub name: String,
    /// 0 if the compiler gave none.
    pub line: u32,
    /// How often it was entered.
    pub count: u64,
}

/// A module about which nothing is known. Its code is left out of everything else: it may have run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    pub module: u64,
    /// Source file that the module was made from, as far as its table tells.
    pub file: String,
    pub why: Why,
}

/// Why a module has no counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The region was full: [`CoverageRegion::create`] with a larger capacity helps.
    NoRoom,
    /// The program overwrote the region's own data, or its table is of another build.
    Damaged,
}

/// What a counter counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    Block(SiteId),
    /// A branch, and the side that is counted.
    Side(SiteId, bool),
}

/// What each counter of a module counts, in order.
pub fn counted(table: &SiteTable) -> Vec<Counted> {
    let all = counted_by_function(table);
    all.map(|(_, counted)| counted).collect()
}

/// What each counter of a module counts, in order, with the function that it is in.
pub fn counted_by_function(
    table: &SiteTable,
) -> impl Iterator<Item = (&FunctionSites, Counted)> + use<'_> {
    table.functions.iter().flat_map(|function| {
        let of_site = |site: &Site| {
            let id = SiteId(site.id);
            match SiteKind::from_byte(site.kind) {
                Some(SiteKind::Block) => vec![Counted::Block(id)],
                Some(SiteKind::Branch) => vec![Counted::Side(id, false), Counted::Side(id, true)],
                _ => vec![],
            }
        };
        let counted = function.sites.iter().flat_map(of_site);
        counted.map(move |counted| (function, counted))
    })
}

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    pub covered: u64,
    pub total: u64,
}

/// Sums over everything that was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub blocks: Share,
    /// Two for each branch.
    pub branch_sides: Share,
    pub lines: Share,
    pub functions: Share,
}

impl Coverage {
    /// Reads what has been counted so far. Modules of the tables that the region does not know
    /// were never loaded: nothing of them ran.
    pub fn read(region: &CoverageRegion, tables: &[ModuleSites]) -> Coverage {
        Coverage::read_all(&[region], tables)
    }

    /// What has been counted in several regions together.
    pub fn read_all(regions: &[&CoverageRegion], tables: &[ModuleSites]) -> Coverage {
        let snapshots = regions.iter().map(|region| region.snapshot());
        let joined = snapshots.reduce(region::Snapshot::join).unwrap_or_default();
        collect::collect(&joined, tables)
    }

    /// How often a block ran, in all modules that contain it; `None` if it is not a block that was counted.
    pub fn block(&self, site: SiteId) -> Option<u64> {
        self.blocks.get(&site).copied()
    }

    /// How often a branch went each way, in all modules that contain it.
    pub fn branch(&self, site: SiteId) -> Option<Sides> {
        self.branches.get(&site).copied()
    }

    /// By name.
    pub fn files(&self) -> &[FileCoverage] {
        &self.files
    }

    /// How often a line ran; `None` if it has no code.
    pub fn line(&self, file: &str, line: u32) -> Option<u64> {
        let file = self.files.iter().find(|other| other.name == file)?;
        file.lines.get(&line).copied()
    }

    /// Files with the functions in them that never ran.
    pub fn never_entered(&self) -> impl Iterator<Item = (&FileCoverage, &FunctionCoverage)> {
        self.files.iter().flat_map(|file| {
            let functions = file.functions.iter();
            let never = functions.filter(|function| function.count == 0);
            never.map(move |function| (file, function))
        })
    }

    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            blocks: self.block_share,
            ..Totals::default()
        };
        for file in &self.files {
            totals.lines.add(file.line_share());
            totals.branch_sides.add(file.branch_share());
            totals.functions.add(file.function_share());
        }
        totals
    }

    /// Modules without counts.
    pub fn uncounted(&self) -> &[Uncounted] {
        &self.uncounted
    }

    /// Modules that counted in the region but are in no table: of another program that shares it.
    pub fn unknown(&self) -> &[u64] {
        &self.unknown
    }
}

impl FileCoverage {
    pub fn line_share(&self) -> Share {
        Share::of(self.lines.values().copied())
    }

    pub fn branch_share(&self) -> Share {
        let sides = |branch: &BranchCoverage| [branch.sides.taken, branch.sides.not_taken];
        Share::of(self.branches.iter().flat_map(sides))
    }

    pub fn function_share(&self) -> Share {
        Share::of(self.functions.iter().map(|function| function.count))
    }
}

impl Share {
    fn of(counts: impl Iterator<Item = u64>) -> Share {
        let mut share = Share::default();
        for count in counts {
            share.total += 1;
            share.covered += u64::from(count > 0);
        }
        share
    }

    fn add(&mut self, other: Share) {
        self.covered += other.covered;
        self.total += other.total;
    }

    /// `None` of nothing.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| self.covered as f64 * 100.0 / self.total as f64)
    }
}
