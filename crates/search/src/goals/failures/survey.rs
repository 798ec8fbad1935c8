//! The tests' own paths: what they come by, and which of their branches are points.

use std::collections::{BTreeMap, BTreeSet};

use parallax_abi::SiteId;
use parallax_trace::sensitive;

use super::landscape::Landscape;
use super::ledger::Origin;
use super::outline::{Branch, Outline};
use super::{Failures, Item, Purpose, Stage};
use crate::core::corpus::EntryId;
use crate::core::goal::{Came, Path};
use crate::worker::Rigour;

/// A given input.
#[derive(Default)]
pub(super) struct Test {
    pub entry: EntryId,
    /// Index among the given inputs.
    pub seed: usize,
    /// Tests that take the same path, itself included.
    pub alike: BTreeSet<usize>,
    /// What it adds to the tests before it; those that add more come first.
    pub novelty: Novelty,
    pub outline: Outline,
    /// Decisions that come before sensitive operations of any sort.
    pub positions: BTreeSet<usize>,
    /// Branches that were asked about, and the points among them.
    pub surveyed: usize,
    pub points: BTreeSet<usize>,
    pub landscape: Landscape,
    /// Runs that left at each point, by the point's depth.
    pub left: BTreeMap<usize, Vec<usize>>,
}

/// What a test's path comes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Novelty {
    /// A sensitive site that no test before it does.
    Site,
    /// Another set of them.
    Set,
    #[default]
    Nothing,
}

impl Failures {
    /// Takes in the path of a test: all its operations are to be checked.
    pub(super) fn plant(&mut self, test: usize, outline: Outline, path: &Path<'_>) {
        let accesses = sensitive::accesses(&path.traced.trace, &path.traced.decisions);
        let positions = outline.operations.iter().map(|one| one.position);
        let positions = positions.chain(accesses.iter().map(|(_, position)| *position));
        self.tests[test].positions = positions.collect();
        let places = outline.operations.iter().map(|one| one.place.site);
        let sites = places.chain(accesses.iter().map(|(site, _)| *site));
        let sites: BTreeSet<SiteId> = sites.collect();
        let brings = sites
            .iter()
            .filter(|site| self.sites.insert(**site))
            .count()
            > 0;
        let is_first = self.sets.insert(sites);
        self.tests[test].novelty = match (brings, is_first) {
            (true, _) => Novelty::Site,
            (false, true) => Novelty::Set,
            (false, false) => Novelty::Nothing,
        };
        let origin = Origin {
            test,
            distance: 0,
            side: None,
            position: 0,
        };
        self.check(Stage::Check, path.entry, &outline.operations, origin);
        self.tests[test].outline = outline;
    }

    /// Asks which of a test's branches before a decision are points.
    pub(super) fn survey(&mut self, stage: Stage, test: usize, before: usize) {
        let Test {
            entry,
            outline,
            surveyed,
            ..
        } = &mut self.tests[test];
        let (entry, first) = (*entry, *surveyed);
        let end = outline.branches.partition_point(|one| one.at < before);
        *surveyed = end.max(first);
        let branches: Vec<Branch> = outline.branches[first..end.max(first)].to_vec();
        for branch in branches {
            let rank = self.rank(stage, test, 0, 0);
            self.push(Item {
                rank,
                entry,
                site: branch.site,
                position: branch.at,
                changes: branch.places().into_iter().flatten().rev().collect(),
                rigour: Rigour::Ways,
                purpose: Purpose::Survey { test },
            });
        }
    }

    pub(super) fn surveyed(&mut self, test: usize, mut item: Item, came: &Came) {
        match came {
            Came::Feasible | Came::Undecided => {
                self.tests[test].points.insert(item.position);
            }
            Came::Infeasible { .. } => {
                item.changes.pop();
                if !item.changes.is_empty() {
                    self.again(item);
                }
            }
            Came::Rejected | Came::Ran { .. } => {}
        }
    }
}
