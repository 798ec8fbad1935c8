//! Ways that are tried at the same time: one slot takes those of one run, so that each run's path is built once.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ExploreError;
use super::frontier::{Candidate, RunId};
use super::slot::{Attempt, Common, Slot, Work};
use crate::parallel::in_parallel;
use crate::worker::Traced;

/// What became of ways.
pub struct Batch<W> {
    pub attempts: Vec<(W, Attempt)>,
    /// Runs that had to be repeated, because their traces had been dropped.
    pub repeated: Vec<(RunId, Arc<Traced>)>,
}

/// Tries ways, those of different runs at the same time, on as many threads as there are jobs.
pub fn try_all<W>(
    slots: &mut [Slot<'_>],
    ways: Vec<W>,
    candidate: impl Fn(&W) -> Candidate,
    common: Common<'_>,
    jobs: usize,
) -> Result<Batch<W>, ExploreError> {
    let mut groups: BTreeMap<RunId, Vec<W>> = BTreeMap::new();
    for way in ways {
        groups.entry(candidate(&way).run).or_default().push(way);
    }
    let mut batch = Batch {
        attempts: Vec::new(),
        repeated: Vec::new(),
    };
    let mut groups = groups.into_iter().peekable();
    while groups.peek().is_some() {
        let groups: Vec<(RunId, Vec<W>)> = groups.by_ref().take(slots.len()).collect();
        let work = |(run, ways): &(RunId, Vec<W>)| {
            let run = &common.runs[*run as usize];
            Work {
                scenario: &run.scenario,
                traced: run.traced.clone(),
                candidates: ways.iter().map(&candidate).collect(),
                common,
            }
        };
        let tasks = slots.iter_mut().zip(groups.iter().map(work)).collect();
        let results = in_parallel(jobs, tasks, |(slot, work)| slot.work(work));
        for ((run, ways), done) in groups.into_iter().zip(results) {
            let done = done?;
            batch
                .repeated
                .extend(done.traced.map(|traced| (run, traced)));
            batch.attempts.extend(ways.into_iter().zip(done.attempts));
        }
    }
    Ok(batch)
}
