//! The end of a comparison: findings are seen again and made small.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use super::clusters::{Cluster, distance, join};
use super::triage::{Class, Shown};
use super::{DivergeError, Diverger, Observer, Summary};
use crate::explore::Ended;
use parallax_exec::minimise::minimise;
use parallax_exec::replay::ReplayError;
use parallax_scenario::Scenario;

/// How often something must be seen, without a miss.
const TIMES: usize = 3;
/// Inputs that are run at most to make one smaller.
const MOST_RUNS: u32 = 120;
/// Time for making all of them smaller: a share of what there is, within limits.
const SHARE: u32 = 5;
const MOST_TIME: Duration = Duration::from_secs(20);

impl Diverger<'_> {
    /// How long the search may take, so that what it finds can be made small within the time that was given.
    pub(super) fn searching(&self) -> Option<Duration> {
        let time = self.options.explore.time?;
        Some(time - MOST_TIME.min(time / SHARE))
    }

    /// Whether an input shows the same each time.
    pub(super) fn is_steady(
        &mut self,
        scenario: &Scenario,
        shown: &Shown,
    ) -> Result<bool, DivergeError> {
        let key = shown.key();
        for _ in 1..TIMES {
            if self.court.judge(scenario)?.key() != key {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn finish(
        mut self,
        ended: Ended,
        observer: &mut dyn Observer,
    ) -> Result<Summary, DivergeError> {
        let mut clusters = std::mem::take(&mut self.clusters.list);
        clusters.sort_by_key(Cluster::rank);
        let end = match self.options.explore.time {
            Some(time) => self.started + time,
            None => Instant::now() + MOST_TIME,
        };
        for cluster in &mut clusters {
            if observer.stop() || Instant::now() >= end {
                break;
            }
            self.make_small(cluster, end)?;
        }
        let clusters = join([clusters]);
        let mut silent_places: Vec<_> = self.counts.silent_places.into_iter().collect();
        silent_places.sort_by_key(|(place, count)| (Reverse(*count), place.name));
        let workers = [&self.workers.old, &self.workers.new];
        let native: u64 = workers.iter().map(|worker| worker.runs()).sum();
        Ok(Summary {
            ended,
            clusters,
            divergences: self.counts.divergences,
            silent: self.counts.silent,
            silent_places,
            replayed: self.counts.replayed,
            together: self.counts.together,
            scenarios: self.options.seeds.len() as u64,
            paths: self.paths.len() as u64,
            runs: self.counts.runs,
            executions: native + self.court.runs,
            queries: self.solver.statistics().queries,
            undecided: self.counts.undecided,
            proved_equal: self.equals.proved as u64,
            left_out: self.counts.left_out,
            cut: self.counts.cut,
            flaky: self.counts.flaky,
            changed: self.versions.correspondence.changed.clone(),
            losses: self.counts.losses,
            cost: self.counts.cost,
            time: self.started.elapsed(),
        })
    }

    /// Looks for a smaller input that shows the same, as long as there is time.
    fn make_small(&mut self, cluster: &mut Cluster, end: Instant) -> Result<(), DivergeError> {
        let key = cluster.shown.key();
        let needs_checks = cluster.class() != Class::Difference;
        let shape = &self.options.explore.shape;
        let court = &mut self.court;
        let mut judge = |smaller: &Scenario| -> Result<bool, ReplayError> {
            if Instant::now() >= end || !shape.accepts(smaller) {
                return Ok(false);
            }
            // The plain builds are ten times as fast.
            if !needs_checks && !court.differ(smaller)? {
                return Ok(false);
            }
            Ok(court.judge(smaller)?.key() == key)
        };
        let seeds = &self.options.seeds;
        let smaller = minimise(&cluster.scenario, seeds, MOST_RUNS, &mut judge)?;
        if smaller.scenario != cluster.scenario {
            let shown = self.court.judge(&smaller.scenario)?;
            if shown.key() == key && self.is_steady(&smaller.scenario, &shown)? {
                let seed = self.nearest_seed(&smaller.scenario);
                cluster.distance = distance(&seed, &smaller.scenario);
                cluster.scenario = smaller.scenario;
                cluster.shown = shown;
            }
        }
        Ok(())
    }
}
