//! The end of a search: findings are made small, and everything is put together.

use std::cmp::Reverse;
use std::time::Instant;

use parallax_scenario::{Bytes, Scenario};
use parallax_solver::Statistics;

use super::interface::{Ended, Progress, SearchError};
use super::state::Searching;
use super::summary::{Summary, Yield};
use super::task::Slot;
use crate::core::minimise::Minimiser;
use crate::diverge::clusters::{Cluster, distance, join};
use crate::diverge::triage::Courts;
use crate::explore::ExploreError;
use crate::parallel::each_with;
use crate::worker::Worker;

/// Inputs that are run at most to make one smaller that shows an error of a single version.
const MOST_RUNS_OF_ONE: u32 = 400;

impl Searching<'_, '_, '_, '_> {
    pub fn finish(mut self, mut slots: Vec<Slot<'_>>) -> Result<Summary, SearchError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let ended = self.ended();
        let deadline = self.shared.budget.deadline();
        let clusters = self.small_clusters(deadline)?;
        if ended != Ended::Stopped {
            self.make_findings_small(&mut slots, deadline)?;
        }
        let mut silent_places: Vec<_> = std::mem::take(&mut self.counts.silent_places)
            .into_iter()
            .collect();
        silent_places.sort_by_key(|(place, count)| (Reverse(*count), place.name));
        let yields = self
            .lane_names()
            .into_iter()
            .enumerate()
            .map(|(lane, name)| {
                let spent = self.schedule.spent(lane);
                let (new, found) = self.found[lane];
                Yield {
                    name,
                    turns: spent.turns,
                    cost: spent.cost,
                    new,
                    found,
                }
            });
        let yields = yields.filter(|one| one.turns > 0).collect();
        let mut executions = self.counts.natives;
        executions += self.shared.courts.as_ref().map_or(0, Courts::runs);
        let (mut solver, mut equal) = (Statistics::default(), 0);
        // Those that an earlier process asked count, too.
        let mut queries = self.counts.queries;
        for slot in &slots {
            if let Some(worker) = slot.worker() {
                executions += worker.runs();
                solver.absorb(worker.statistics());
            }
            if let Some(comparer) = slot.comparer() {
                executions += comparer.workers.old.runs() + comparer.workers.new.runs();
                let own = comparer.solver.statistics();
                queries += own.queries;
                solver.absorb(own.clone());
                equal += comparer.equals.proved as u64;
            }
        }
        let progress = Progress {
            queries,
            ..self.progress()
        };
        let prepared = self.prepared;
        let versions = prepared.and_then(|prepared| prepared.versions);
        let tables = prepared.map_or(&[][..], |prepared| prepared.tables);
        let counts = self.counts;
        Ok(Summary {
            ended,
            progress,
            time: self.chapters.elapsed(),
            clusters,
            findings: self.findings,
            coverage: self.shared.coverage(tables),
            yields,
            flips: counts.flips,
            misses: counts.misses,
            divergences: counts.divergences,
            silent: counts.silent,
            silent_places,
            replayed: counts.replayed,
            together: counts.together,
            scenarios: self.options.seeds.len() as u64,
            pairs: counts.pairs,
            avoided: self.hangs.avoided,
            hanging: self.hangs.time(),
            executions,
            solver,
            undecided: counts.undecided,
            proved_equal: equal,
            left_out: counts.left_out,
            tests: counts.tests,
            unconfirmed: counts.unconfirmed,
            flaky: counts.flaky,
            changed: versions.map_or(Vec::new(), |versions| {
                versions.correspondence.changed.clone()
            }),
            losses: counts.losses,
            limits: self.limits,
            limited: counts.limited,
            cost: counts.cost,
        })
    }

    /// What the versions do differently, each with the smallest input that there was time for.
    fn small_clusters(&mut self, end: Option<Instant>) -> Result<Vec<Cluster>, SearchError> {
        let mut clusters = std::mem::take(&mut self.clusters.list);
        clusters.sort_by_key(Cluster::rank);
        let Some(courts) = &self.shared.courts else {
            return Ok(clusters);
        };
        let observer = &*self.observer;
        let minimiser = Minimiser {
            courts,
            shape: &self.options.explore.shape,
            seeds: &self.options.seeds,
            end,
            stop: &|| observer.stop(),
        };
        let mut small = Vec::new();
        for goal in self.goals.iter_mut() {
            small.extend(goal.finish(&minimiser)?);
        }
        for cluster in &mut clusters {
            if minimiser.is_over() {
                break;
            }
            if small.contains(&cluster.shown.key()) {
                continue;
            }
            let made = minimiser.smaller(&cluster.scenario, &cluster.shown, &|_| true)?;
            if let Some((smaller, shown)) = made {
                let seeds = self.options.seeds.iter();
                let nearest = seeds.map(|seed| distance(seed, &smaller)).min();
                cluster.distance = nearest.unwrap_or(cluster.distance);
                cluster.scenario = smaller;
                cluster.shown = shown;
            }
        }
        Ok(join([clusters]))
    }

    /// Gives each error of a single version the smallest input that shows it, as far as there is time.
    fn make_findings_small(
        &mut self,
        slots: &mut [Slot<'_>],
        end: Option<Instant>,
    ) -> Result<(), SearchError> {
        let options = &self.options.explore;
        let seeds = &self.options.seeds;
        let mut workers: Vec<&mut Worker<'_>> =
            slots.iter_mut().filter_map(Slot::worker_mut).collect();
        if workers.is_empty() {
            return Ok(());
        }
        let reduced = each_with(
            options.jobs,
            &mut workers,
            &mut self.findings,
            |worker, finding| {
                if is_over(end) {
                    return Ok(());
                }
                let before = finding.scenario.clone();
                let nearest = seeds.iter().min_by_key(|seed| distance(seed, &before));
                let nearest = nearest.filter(|_| options.keep_lengths);
                // A given input that shows it is as it should be.
                if nearest == Some(&before) {
                    return Ok(());
                }
                let may = |scenario: &Scenario| {
                    let is_alike = |seed| scenario != seed && has_lengths(scenario, &before, seed);
                    options.shape.accepts(scenario) && nearest.is_none_or(is_alike) && !is_over(end)
                };
                let seeds = nearest.map_or(&seeds[..], std::slice::from_ref);
                worker
                    .native
                    .minimise(finding, seeds, MOST_RUNS_OF_ONE, &may)
            },
        );
        Ok(reduced.map_err(ExploreError::from)?)
    }
}

fn is_over(end: Option<Instant>) -> bool {
    end.is_some_and(|end| Instant::now() >= end)
}

/// Whether all parts are there and have the lengths that they have in one of two others.
fn has_lengths(scenario: &Scenario, one: &Scenario, other: &Scenario) -> bool {
    let is_length = |now: &Bytes, one: Option<&Bytes>, other: Option<&Bytes>| {
        [one, other]
            .iter()
            .flatten()
            .any(|known| known.len() == now.len())
    };
    let arguments = scenario.argv.iter().enumerate();
    let mut files = scenario.files.iter();
    scenario.argv.len() == one.argv.len()
        && arguments.into_iter().all(|(index, argument)| {
            is_length(argument, one.argv.get(index), other.argv.get(index))
        })
        && is_length(&scenario.stdin, Some(&one.stdin), Some(&other.stdin))
        && scenario.files.len() == one.files.len()
        && files.all(|(name, now)| is_length(now, one.files.get(name), other.files.get(name)))
        && scenario.env.len() == one.env.len()
        && scenario.streams.len() == one.streams.len()
        && scenario.objects.len() == one.objects.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_arguments(arguments: &[&str]) -> Scenario {
        let argv = arguments.iter().map(|text| text.as_bytes().into());
        Scenario {
            argv: argv.collect(),
            ..Scenario::default()
        }
    }

    #[test]
    fn lengths_are_those_of_the_finding_or_of_the_test() {
        let (found, test) = (with_arguments(&["-xyz", "a"]), with_arguments(&["-x", "b"]));
        assert!(has_lengths(&with_arguments(&["-x", "c"]), &found, &test));
        assert!(has_lengths(&with_arguments(&["-abc", "c"]), &found, &test));
        assert!(!has_lengths(&with_arguments(&["-xy", "a"]), &found, &test));
        assert!(!has_lengths(&with_arguments(&["-x"]), &found, &test));
    }
}
