//! What is done with paths beside those of the tests: the tests' paths are left, and what left them is followed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::amplifier::{Amplifier, Pause, Turn};
use super::forest::{Holder, Side};
use super::interface::Divergence;
use super::run::{Aim, Branched};
use super::{GROUP, MOST_DECISIONS, WORKERS};
use crate::answers::fingerprint;
use crate::explore::ExploreError;

impl<'a> Amplifier<'a> {
    /// Leaves the tests' paths at all points at a distance, those before the deepest operations first.
    pub(super) fn leave_trunks(
        &mut self,
        turn: &mut Turn<'_, 'a>,
    ) -> Result<Option<Pause>, ExploreError> {
        let distance = self.distance;
        let mut aims: VecDeque<(usize, Vec<usize>)> = VecDeque::new();
        for (index, trunk) in self.forest.trunks.iter().enumerate() {
            let points = self.forest.points(trunk, distance);
            let fresh: Vec<usize> = points
                .into_iter()
                .filter(|point| !trunk.left.contains_key(point))
                .collect();
            aims.extend(fresh.chunks(GROUP).map(|group| (index, group.to_vec())));
        }
        while !aims.is_empty() {
            let round: Vec<(usize, Vec<usize>)> = aims.drain(..aims.len().min(WORKERS)).collect();
            let work = round.iter().map(|(index, points)| {
                let positions = &self.forest.trunks[*index].points;
                let decisions = points.iter().map(|point| positions[*point]).collect();
                (Holder::Trunk(*index), Aim::Leave(decisions))
            });
            let failed = self.ledger.failed();
            let reports = self.deal(turn, work.collect(), &failed)?;
            for ((index, points), report) in round.into_iter().zip(reports) {
                for point in points {
                    let trunk = &mut self.forest.trunks[index];
                    trunk.left.entry(point).or_default();
                    let at = trunk.points[point];
                    if let Some(left) = report.left_at.iter().find(|left| left.at == at) {
                        let (seed, site) = (trunk.seed, left.site);
                        self.ledger.left(Divergence {
                            seed,
                            distance,
                            depth: point,
                            site,
                        });
                    }
                }
                let (branched, _) = self.merge(Holder::Trunk(index), report);
                for run in branched {
                    let positions = &self.forest.trunks[index].points;
                    let Ok(point) = positions.binary_search(&run.at) else {
                        continue;
                    };
                    self.add(turn, index, point, 0, run);
                }
            }
            self.open = aims.len() as u64;
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Follows the runs that left at the points of this distance, as far as the depth bound allows.
    pub(super) fn follow_sides(
        &mut self,
        turn: &mut Turn<'_, 'a>,
    ) -> Result<Option<Pause>, ExploreError> {
        let distance = self.distance;
        let bound = self.options.depth_bound(distance);
        // By test, deepest operation, points passed, and age: the smallest comes first.
        type Rank = (usize, Reverse<usize>, usize, usize);
        let mut heap: BinaryHeap<Reverse<Rank>> = BinaryHeap::new();
        let rank = |sides: &[Side], index: usize| {
            let side = &sides[index];
            let is_open = !side.is_done && side.passed < bound;
            let rank = (side.trunk, Reverse(side.point), side.passed, index);
            is_open.then_some(Reverse(rank))
        };
        for trunk in &self.forest.trunks {
            let points = self.forest.points(trunk, distance);
            let sides = points.iter().filter_map(|point| trunk.left.get(point));
            heap.extend(
                sides
                    .flatten()
                    .filter_map(|index| rank(&self.forest.sides, *index)),
            );
        }
        while !heap.is_empty() {
            let mut round = Vec::new();
            while round.len() < WORKERS
                && let Some(Reverse((.., index))) = heap.pop()
            {
                round.push(index);
            }
            let work = round.iter().map(|index| {
                let side = &self.forest.sides[*index];
                let aim = Aim::Follow {
                    from: side.cursor,
                    points: bound - side.passed,
                };
                (Holder::Side(*index), aim)
            });
            let failed = self.ledger.failed();
            let reports = self.deal(turn, work.collect(), &failed)?;
            for (index, report) in round.into_iter().zip(reports) {
                let (cursor, passed) = (report.cursor, report.passed);
                let decisions = report.decisions;
                let (branched, errors) = self.merge(Holder::Side(index), report);
                let (trunk, point, before) = {
                    let side = &mut self.forest.sides[index];
                    let before = side.passed;
                    side.cursor = cursor;
                    side.passed += passed;
                    side.is_done = cursor >= decisions.min(MOST_DECISIONS);
                    (side.trunk, side.point, before)
                };
                for error in errors {
                    let depth = point + 1 + before + error.passed;
                    self.show(turn, trunk, (distance, depth), &error);
                }
                for run in branched {
                    let index = self.add(turn, trunk, point, before, run);
                    heap.extend(rank(&self.forest.sides, index));
                }
            }
            self.open = heap.len() as u64;
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Takes in a run that left a path `before` points after the test's own was left; its number.
    fn add(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        trunk: usize,
        point: usize,
        before: usize,
        run: Branched,
    ) -> usize {
        self.ledger.take_in(&run.digest);
        // The point at which the test's path was left is none that was passed since.
        let points = &self.forest.trunks[trunk].points;
        let is_direct = points.get(point) == Some(&run.at) && before == 0;
        let passed = if is_direct { 0 } else { before + run.passed };
        let is_new = self.ledger.known.insert(fingerprint(&run.scenario));
        let side = Side {
            trunk,
            point,
            scenario: run.scenario,
            probed: None,
            cursor: run.at + 1,
            passed,
            is_done: !is_new,
        };
        let index = self.forest.add(side, run.probed);
        if let Some(error) = run.native {
            let depth = point + 1 + passed;
            self.show(turn, trunk, (self.distance, depth), &error);
        }
        index
    }
}
