//! The end of a comparison: findings are seen again and made small.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use parallax_exec::minimise::minimise;
use parallax_exec::replay::ReplayError;
use parallax_scenario::Scenario;

use super::clusters::{Cluster, distance, join};
use super::director::{Searching, lane_names};
use super::interface::DivergeError;
use super::summary::{Summary, Yield};
use super::task::Slot;
use super::triage::Class;

/// Inputs that are run at most to make one smaller.
const MOST_RUNS: u32 = 120;
/// Time for making all of them smaller: a share of what there is, within limits.
const SHARE: u32 = 5;
const MOST_TIME: Duration = Duration::from_secs(20);

/// How long the search may take, so that what it finds can be made small within the time that was given.
pub(super) fn searching(time: Option<Duration>) -> Option<Duration> {
    time.map(|time| time - MOST_TIME.min(time / SHARE))
}

impl Searching<'_, '_, '_> {
    pub fn finish(mut self, slots: Vec<Slot<'_>>) -> Result<Summary, DivergeError> {
        if let Some(error) = self.error() {
            return Err(error);
        }
        let mut clusters = std::mem::take(&mut self.clusters.list);
        clusters.sort_by_key(Cluster::rank);
        let left = match self.options.explore.time {
            Some(time) => time - searching(Some(time)).unwrap_or(time),
            None => MOST_TIME,
        };
        let deadline = self.shared.budget.deadline();
        let end = deadline.unwrap_or_else(Instant::now) + left;
        for cluster in &mut clusters {
            if self.observer.stop() || Instant::now() >= end {
                break;
            }
            self.make_small(cluster, end)?;
        }
        let clusters = join([clusters]);
        let mut silent_places: Vec<_> = std::mem::take(&mut self.counts.silent_places)
            .into_iter()
            .collect();
        silent_places.sort_by_key(|(place, count)| (Reverse(*count), place.name));
        let yields = lane_names().into_iter().enumerate().map(|(lane, name)| {
            let (cost, turns) = self.spent(lane);
            let (new, found) = self.found[lane];
            Yield {
                name,
                turns,
                cost,
                new,
                found,
            }
        });
        let yields = yields.filter(|one| one.turns > 0).collect();
        let comparers = slots.iter().filter_map(Slot::comparer);
        let (mut executions, mut queries, mut equal) = (self.shared.courts.runs(), 0, 0);
        for comparer in comparers {
            executions += comparer.workers.old.runs() + comparer.workers.new.runs();
            queries += comparer.solver.statistics().queries;
            equal += comparer.equals.proved as u64;
        }
        let changed = self.changed();
        let ended = self.ended();
        let (avoided, hanging) = self.hangs();
        let counts = self.counts;
        Ok(Summary {
            ended,
            clusters,
            divergences: counts.divergences,
            silent: counts.silent,
            silent_places,
            replayed: counts.replayed,
            together: counts.together,
            scenarios: self.options.seeds.len() as u64,
            paths: counts.paths,
            inputs: counts.inputs,
            yields,
            avoided,
            hanging,
            runs: counts.runs,
            executions: executions + 2 * counts.inputs,
            queries,
            undecided: counts.undecided,
            proved_equal: equal,
            left_out: counts.left_out,
            cut: counts.cut,
            flaky: counts.flaky,
            changed,
            losses: counts.losses,
            cost: counts.cost,
            time: self.started.elapsed(),
        })
    }

    /// Looks for a smaller input that shows the same, as long as there is time.
    fn make_small(&self, cluster: &mut Cluster, end: Instant) -> Result<(), DivergeError> {
        // Each try would take its full time.
        if cluster.shown.has_limit() {
            return Ok(());
        }
        let key = cluster.shown.key();
        let needs_checks = cluster.class() != Class::Difference;
        let shape = &self.options.explore.shape;
        let seeds = &self.options.seeds;
        let made = self.shared.courts.with(Some(end), |court| {
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
            let smaller = minimise(&cluster.scenario, seeds, MOST_RUNS, &mut judge)?.scenario;
            if smaller == cluster.scenario {
                return Ok(None);
            }
            let shown = court.judge(&smaller)?;
            let is_steady = shown.key() == key && court.is_steady(&smaller, &shown)?;
            Ok((is_steady && Instant::now() < end).then_some((smaller, shown)))
        })?;
        if let Some((smaller, shown)) = made {
            let nearest = seeds.iter().map(|seed| distance(seed, &smaller)).min();
            cluster.distance = nearest.unwrap_or(cluster.distance);
            cluster.scenario = smaller;
            cluster.shown = shown;
        }
        Ok(())
    }
}
