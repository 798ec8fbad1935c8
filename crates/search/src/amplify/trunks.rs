//! What is done with the tests' own paths: they are traced, checked, and their points are found.

use std::collections::{BTreeSet, HashSet};

use parallax_abi::SiteId;

use super::amplifier::{Amplifier, Pause, Turn};
use super::forest::{Holder, Trunk};
use super::order;
use super::run::{Aim, Planted};
use super::{CHECKED_TOGETHER, MOST_DECISIONS, PLANTED_TOGETHER};
use crate::answers::fingerprint;
use crate::explore::ExploreError;
use parallax_scenario::Scenario;

impl<'a> Amplifier<'a> {
    /// Traces the tests and brings them into order.
    pub(super) fn plant(&mut self, turn: &mut Turn<'_, 'a>) -> Result<Option<Pause>, ExploreError> {
        while self.next < self.chosen.len() {
            let end = self.chosen.len().min(self.next + PLANTED_TOGETHER);
            let group = self.chosen[self.next..end].to_vec();
            let aims = group.iter().map(|seed| (Holder::Seed(*seed), Aim::Plant));
            let reports = self.deal(turn, aims.collect(), &HashSet::new())?;
            self.next = end;
            for (seed, report) in group.into_iter().zip(reports) {
                self.ledger.runs += 1;
                match report.planted {
                    Some(Planted::Ran {
                        hangs,
                        digest,
                        objects,
                    }) => {
                        self.hanging += u64::from(hangs);
                        let given = &self.target.seeds[seed].scenario;
                        let completed = objects.map(|objects| Scenario {
                            objects,
                            ..given.clone()
                        });
                        let scenario = completed.as_ref().unwrap_or(given);
                        if !digest.is_traced || !self.ledger.known.insert(fingerprint(scenario)) {
                            continue;
                        }
                        self.ledger.take_in(&digest);
                        let trunk = Trunk {
                            seed,
                            completed,
                            digest,
                            cpu: report.cpu,
                            ..Trunk::default()
                        };
                        self.forest.plant(trunk, report.probed);
                    }
                    Some(Planted::Unusable(reason)) => self.unusable.push((seed, reason)),
                    None => {}
                }
            }
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        let trunks = self.forest.trunks.iter();
        let sites: Vec<BTreeSet<SiteId>> = trunks.map(|trunk| trunk.digest.sites()).collect();
        self.forest.arrange(order::by_novelty(&sites));
        Ok(None)
    }

    /// Distance 0: all operations of all tests.
    pub(super) fn check_trunks(
        &mut self,
        turn: &mut Turn<'_, 'a>,
    ) -> Result<Option<Pause>, ExploreError> {
        let all = self.forest.trunks.len();
        while self.next < all {
            let group = self.next..all.min(self.next + CHECKED_TOGETHER);
            let aims = group
                .clone()
                .map(|index| (Holder::Trunk(index), Aim::Check));
            // Later tests may show the same at a smaller depth, but not all of them need to be asked.
            let settled = self.ledger.settled();
            let reports = self.deal(turn, aims.collect(), &settled)?;
            self.next = group.end;
            let mut shown = Vec::new();
            for (index, mut report) in group.zip(reports) {
                let cpu = &mut self.forest.trunks[index].cpu;
                cpu.spent += report.cpu.spent;
                cpu.plain = report.cpu.plain;
                if let Some(own) = report.own.take() {
                    let problems = own.problems.iter();
                    let trunk = &mut self.forest.trunks[index];
                    trunk.baseline = problems.map(|problem| problem.key()).collect();
                    let scenario = self.scenario(Holder::Trunk(index)).clone();
                    let seed = self.forest.trunks[index].seed;
                    self.report(turn, seed, (0, 0), &scenario, &own);
                }
                let errors = self.merge(Holder::Trunk(index), report).1;
                if !errors.is_empty() {
                    shown.push((index, errors));
                }
            }
            let deepest = shown.iter().map(|(index, errors)| {
                let deepest = errors.iter().map(|error| error.position).max();
                (*index, deepest.unwrap_or(0))
            });
            self.survey(turn, deepest.collect())?;
            for (index, errors) in shown {
                for error in errors {
                    let depth = self.forest.trunks[index].landscape.depth(error.position);
                    self.show(turn, index, (0, depth), &error);
                }
            }
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Finds the points of all tests' paths.
    pub(super) fn survey_trunks(
        &mut self,
        turn: &mut Turn<'_, 'a>,
    ) -> Result<Option<Pause>, ExploreError> {
        let all = self.forest.trunks.len();
        while self.next < all {
            let group = self.next..all.min(self.next + CHECKED_TOGETHER);
            self.next = group.end;
            self.survey(turn, group.map(|index| (index, MOST_DECISIONS)).collect())?;
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Finds the points of tests' paths, among as many of their first decisions.
    fn survey(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        wanted: Vec<(usize, usize)>,
    ) -> Result<(), ExploreError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let aims = wanted
            .iter()
            .map(|(index, limit)| (Holder::Trunk(*index), Aim::Survey(*limit)));
        let reports = self.deal(turn, aims.collect(), &HashSet::new())?;
        for ((index, _), mut report) in wanted.into_iter().zip(reports) {
            if let Some(points) = report.points.take() {
                self.forest.trunks[index].survey(points);
            }
            self.merge(Holder::Trunk(index), report);
        }
        Ok(())
    }
}
