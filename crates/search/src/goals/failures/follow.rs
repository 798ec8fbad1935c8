//! Paths beside those of the tests: the tests' paths are left, and what left them is followed.

use std::collections::BTreeSet;

use super::ledger::{Divergence, Origin};
use super::outline::{Branch, Operation, Outline};
use super::survey::Test;
use super::{Failures, Item, Level, Open, Purpose, Stage};
use crate::core::corpus::EntryId;
use crate::core::goal::Came;
use crate::worker::Rigour;

/// A run beside a test's path.
pub(super) struct Side {
    pub test: usize,
    /// Depth of the point at which the test's path was left.
    pub point: usize,
    entry: EntryId,
    /// From where it left its parent's path.
    outline: Outline,
    /// Branches and operations of it that were looked at.
    branches: usize,
    operations: usize,
    /// Points between where the test's path was left and where this one left its parent's.
    before: usize,
    /// Its own points, as far as they were looked at.
    points: BTreeSet<usize>,
    /// Queries under way, and what they brought: where it was left and by which run.
    asked: usize,
    children: Vec<(usize, EntryId, Outline)>,
}

impl Side {
    /// Points since the test's path was left.
    pub fn passed(&self) -> usize {
        self.before + self.points.len()
    }

    fn is_done(&self) -> bool {
        self.branches >= self.outline.branches.len()
            && self.operations >= self.outline.operations.len()
    }
}

impl Failures {
    /// Points that a path is followed over which left at this distance: the paper's f.
    fn bound(&self) -> usize {
        self.reach.depth_factor * self.distance
    }

    /// Begins to explore at a distance, if there is anything.
    pub(super) fn begin(&mut self, distance: usize) -> Level {
        let most = self.reach.max_distance;
        let is_reached = self
            .tests
            .iter()
            .any(|test| test.landscape.reaches(distance));
        let is_open = most.is_none()
            && self.reach.depth_factor > 0
            && self.sides.iter().any(|side| !side.is_done());
        if most.is_some_and(|most| distance > most) || !is_reached && !is_open {
            return Level::Done;
        }
        self.distance = distance;
        for test in 0..self.tests.len() {
            // When no operation is that far from a point, all points are followed: the bound still grows, and there is time.
            let landscape = &self.tests[test].landscape;
            let points = match is_reached {
                true => landscape.at_distance(distance),
                false => landscape.before_operations(),
            };
            for point in points {
                match self.tests[test].left.get(&point) {
                    Some(sides) => {
                        for side in sides.clone() {
                            self.follow_later(side);
                        }
                    }
                    None => self.leave(test, point),
                }
            }
        }
        Level::Beside
    }

    /// Leaves the path of a test at a point, in all ways that there are.
    fn leave(&mut self, test: usize, point: usize) {
        let Test {
            entry,
            outline,
            points,
            left,
            seed,
            ..
        } = &mut self.tests[test];
        left.insert(point, Vec::new());
        let Some(at) = points.iter().nth(point).copied() else {
            return;
        };
        let Ok(index) = outline.branches.binary_search_by_key(&at, |one| one.at) else {
            return;
        };
        let (entry, branch, seed) = (*entry, outline.branches[index].clone(), *seed);
        self.ledger.left(Divergence {
            seed,
            distance: self.distance,
            depth: point,
            site: branch.site,
        });
        self.take_ways(
            &branch,
            entry,
            || Purpose::Leave { test, point },
            (Stage::Leave, test, point, 0),
        );
    }

    /// Asks for all ways to leave a path at a branch; how many there are.
    fn take_ways(
        &mut self,
        branch: &Branch,
        entry: EntryId,
        purpose: impl Fn() -> Purpose,
        (stage, test, point, passed): (Stage, usize, usize, usize),
    ) -> usize {
        let places = branch.places();
        let count = places.len();
        for mut changes in places {
            changes.reverse();
            let rank = self.rank(stage, test, point, passed);
            self.push(Item {
                rank,
                entry,
                site: branch.site,
                position: branch.at,
                changes,
                rigour: Rigour::Ways,
                purpose: purpose(),
            });
        }
        count
    }

    fn follow_later(&mut self, side: usize) {
        let Side { test, point, .. } = self.sides[side];
        let passed = self.sides[side].passed();
        if !self.sides[side].is_done() && passed < self.bound() {
            let rank = self.rank(Stage::Follow, test, point, passed);
            self.open.insert(rank, Open::Follow(side));
        }
    }

    /// Goes on along a run: as many branches as there may be points, and the operations before the next.
    pub(super) fn follow(&mut self, number: usize) {
        let bound = self.bound();
        let side = &mut self.sides[number];
        let passed = side.passed();
        let outline = &side.outline;
        let end = outline
            .branches
            .len()
            .min(side.branches + bound.saturating_sub(passed));
        let branches: Vec<Branch> = outline.branches[side.branches..end].to_vec();
        side.branches = end;
        let next = outline.branches.get(end).map_or(usize::MAX, |one| one.at);
        let last = outline
            .operations
            .partition_point(|one| one.position <= next);
        let operations: Vec<Operation> = outline.operations[side.operations..last].to_vec();
        side.operations = last;
        let (test, point, entry) = (side.test, side.point, side.entry);
        let distance = self.distance;
        let origin = Origin {
            test,
            distance,
            side: Some(number),
            position: 0,
        };
        self.check(Stage::Follow, entry, &operations, origin);
        let rank = (Stage::Follow, test, point, passed);
        let ways = branches
            .iter()
            .map(|branch| self.take_ways(branch, entry, || Purpose::Pass { side: number }, rank));
        let asked: usize = ways.sum();
        self.sides[number].asked = asked;
        if asked == 0 {
            self.settle(number);
        }
    }

    /// What became of leaving a path.
    pub(super) fn left(&mut self, mut item: Item, came: &Came) {
        let is_first = item.rigour == Rigour::Ways;
        if let Came::Ran { entry, .. } = came {
            let (test, side) = self.home(&item.purpose);
            self.ledger.origins.insert(
                *entry,
                Origin {
                    test,
                    distance: self.distance,
                    side,
                    position: item.position + 1,
                },
            );
        }
        match came {
            Came::Infeasible { .. } | Came::Undecided if is_first => {
                item.changes.pop();
                match item.changes.is_empty() {
                    true => self.passed(&item, false, None),
                    false => self.again(item),
                }
            }
            // There are inputs, but not that one, or it went elsewhere.
            Came::Rejected
            | Came::Ran {
                went: Some(false), ..
            } if is_first => {
                item.rigour = Rigour::Exact;
                self.again(item);
            }
            Came::Ran { entry, .. } => {
                let path = self.last.take_if(|(last, _)| last == entry);
                self.passed(&item, true, path);
            }
            _ => self.passed(&item, true, None),
        }
    }

    /// The test and the run beside it that a path was left of.
    fn home(&self, purpose: &Purpose) -> (usize, Option<usize>) {
        match purpose {
            Purpose::Pass { side } => (self.sides[*side].test, Some(*side)),
            Purpose::Leave { test, .. } | Purpose::Survey { test } => (*test, None),
            Purpose::Check { origin, .. } => (origin.test, origin.side),
        }
    }

    /// It is known whether a path can be left so, and by which run.
    fn passed(&mut self, item: &Item, is_point: bool, path: Option<(EntryId, Outline)>) {
        let at = item.position;
        let path = path.map(|(entry, outline)| {
            let outline = outline.after(at + 1, &mut self.ledger.limits);
            (at, entry, outline)
        });
        match item.purpose {
            Purpose::Leave { test, point } => {
                if let Some((_, entry, outline)) = path {
                    self.add(test, point, 0, entry, outline);
                }
            }
            Purpose::Pass { side: number } => {
                let side = &mut self.sides[number];
                side.asked = side.asked.saturating_sub(1);
                side.children.extend(path);
                if is_point {
                    side.points.insert(at);
                }
                if side.asked == 0 {
                    self.settle(number);
                }
            }
            Purpose::Check { .. } | Purpose::Survey { .. } => {}
        }
    }

    /// All branches that were asked about are known: those that left are followed in their turn.
    fn settle(&mut self, number: usize) {
        let side = &mut self.sides[number];
        let (test, point) = (side.test, side.point);
        for (at, entry, outline) in std::mem::take(&mut side.children) {
            let side = &self.sides[number];
            let before = side.before + side.points.range(..=at).count();
            self.add(test, point, before, entry, outline);
        }
        if self.sides[number].is_done() {
            self.sides[number].outline = Outline::default();
        }
        self.follow_later(number);
    }

    /// A run beside a test's path.
    fn add(&mut self, test: usize, point: usize, before: usize, entry: EntryId, outline: Outline) {
        let number = self.sides.len();
        self.sides.push(Side {
            test,
            point,
            entry,
            outline,
            branches: 0,
            operations: 0,
            before,
            points: BTreeSet::new(),
            asked: 0,
            children: Vec::new(),
        });
        if let Some(origin) = self.ledger.origins.get_mut(&entry) {
            origin.side = Some(number);
        }
        self.tests[test].left.entry(point).or_default().push(number);
        self.follow_later(number);
    }

    /// Points before where something was found.
    pub(super) fn depth(&self, origin: &Origin) -> usize {
        let (points, before) = match origin.side {
            Some(side) => {
                let side = &self.sides[side];
                (&side.points, side.point + 1 + side.before)
            }
            None => (&self.tests[origin.test].points, 0),
        };
        before + points.range(..origin.position).count()
    }
}
