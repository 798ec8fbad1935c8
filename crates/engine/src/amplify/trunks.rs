//! What is done with the tests' own paths: they are traced, checked, and their points are found.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use parallax_abi::SiteId;

use super::distance::Landscape;
use super::forest::{Holder, Trunk};
use super::run::{self, Aim};
use super::{Amplifier, WORKERS, order, points};
use crate::explore::{Ended, ExploreError, Shape};
use crate::parallel::in_parallel;
use crate::worker::Worker;

impl<'a> Amplifier<'a> {
    /// Traces the tests and brings them into order.
    pub(super) fn plant(
        &mut self,
        workers: &mut [Worker<'a>],
    ) -> Result<Option<Ended>, ExploreError> {
        let all = self.options.seeds.len();
        let chosen = match self.options.sample {
            Some(sample) => sample.choose(all, self.options.seed),
            None => (0..all).collect(),
        };
        let mut trunks: Vec<Trunk> = Vec::new();
        for group in chosen.chunks(WORKERS) {
            let tasks = workers.iter_mut().zip(group).collect();
            let results = in_parallel(
                self.options.jobs,
                tasks,
                |(worker, index): (&mut Worker<'_>, &usize)| {
                    let seed = &self.options.seeds[*index].scenario;
                    let (scenario, probed) = run::trace(worker, seed, self.sites)?;
                    let natively = worker.native.confirm(&scenario)?;
                    Ok::<_, ExploreError>((scenario, probed, natively))
                },
            );
            for (seed, result) in group.iter().zip(results) {
                let (scenario, probed, natively) = result?;
                self.ledger.runs += 1;
                if trunks.is_empty() && !probed.traced.trace.attached() {
                    return Err(ExploreError::Untraced);
                }
                if !self.ledger.known.insert(scenario.clone()) {
                    continue;
                }
                self.ledger.take_in(&probed);
                let errors = natively.iter().flat_map(|confirmed| &confirmed.problems);
                let baseline = errors.map(|problem| problem.key());
                trunks.push(Trunk {
                    seed: *seed,
                    shape: Shape::Near(Box::new(scenario.clone())),
                    scenario,
                    baseline: baseline.collect(),
                    points: Vec::new(),
                    landscape: Landscape::default(),
                    left: BTreeMap::new(),
                    probed: Some(Arc::new(probed)),
                });
                if let Some(confirmed) = natively {
                    let scenario = trunks[trunks.len() - 1].scenario.clone();
                    self.report(*seed, 0, 0, scenario, confirmed);
                }
            }
            if let Some(ended) = self.ended() {
                self.forest.plant(trunks);
                return Ok(Some(ended));
            }
        }
        let sites: Vec<BTreeSet<SiteId>> = trunks.iter().map(Trunk::sites).collect();
        let mut trunks: Vec<Option<Trunk>> = trunks.into_iter().map(Some).collect();
        let in_order = order::by_novelty(&sites).into_iter();
        let in_order = in_order.filter_map(|index| trunks[index].take());
        self.forest.plant(in_order.collect());
        Ok(None)
    }

    /// Distance 0: all operations of all tests.
    pub(super) fn check_trunks(
        &mut self,
        workers: &mut [Worker<'a>],
    ) -> Result<Option<Ended>, ExploreError> {
        let all: Vec<usize> = (0..self.forest.trunks.len()).collect();
        for group in all.chunks(WORKERS) {
            // Later tests may show the same at a smaller depth.
            let aims = group
                .iter()
                .map(|index| (Holder::Trunk(*index), Aim::Check));
            let reports = self.deal(workers, aims.collect(), &HashSet::new())?;
            for (index, report) in group.iter().zip(reports) {
                let errors = self.merge(Holder::Trunk(*index), report).1;
                if let Some(deepest) = errors.iter().map(|error| error.position).max() {
                    self.survey(workers, *index, deepest)?;
                }
                for error in errors {
                    let depth = self.forest.trunks[*index].landscape.depth(error.position);
                    self.show(*index, 0, depth, error);
                }
            }
            if let Some(ended) = self.ended() {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Finds the points of a test's path, among its first decisions.
    pub(super) fn survey(
        &mut self,
        workers: &mut [Worker<'a>],
        index: usize,
        limit: usize,
    ) -> Result<(), ExploreError> {
        let trunk = &self.forest.trunks[index];
        let probed = match &trunk.probed {
            Some(probed) => Arc::clone(probed),
            None => Arc::new(run::trace(&mut workers[0], &trunk.scenario, self.sites)?.1),
        };
        let points = points::survey(&mut workers[0], self.sites, &probed, limit, self.deadline);
        let operations = probed.operations.iter().map(|operation| operation.position);
        let accesses = probed.accesses.iter().map(|(_, position)| *position);
        let trunk = &mut self.forest.trunks[index];
        trunk.landscape = Landscape::new(points.clone(), operations.chain(accesses));
        trunk.points = points;
        Ok(())
    }
}
