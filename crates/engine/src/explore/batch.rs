//! Ways that are tried at the same time: one slot takes those of one run, so that each run's path is built once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::frontier::{Candidate, RunId};
use super::slot::{Attempt, Slot, Work};
use super::{ExploreError, Run, Shape};
use crate::edit::Edit;
use crate::parallel::in_parallel;
use crate::question::Known;
use crate::scenario::Scenario;
use crate::worker::Traced;

/// What all ways of a search have in common.
#[derive(Clone, Copy)]
pub struct Common<'c> {
    /// All runs so far.
    pub runs: &'c [Run],
    /// Scenarios that have been run.
    pub known: &'c HashSet<Scenario>,
    /// Values that fixed things have had, by path and site.
    pub fixed: &'c Known,
    pub edits: &'c [Edit],
    /// Inputs that may be made.
    pub shape: &'c Shape,
    pub regenerate: bool,
    /// Threads.
    pub jobs: usize,
}

/// What became of ways.
pub struct Batch<W> {
    pub attempts: Vec<(W, Attempt)>,
    /// Runs that had to be repeated, because their traces had been dropped.
    pub repeated: Vec<(RunId, Arc<Traced>)>,
}

/// Tries ways, those of different runs at the same time.
pub fn try_all<W>(
    slots: &mut [Slot<'_>],
    ways: Vec<W>,
    candidate: impl Fn(&W) -> Candidate,
    common: Common<'_>,
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
                runs: common.runs,
                known: common.known,
                fixed: common.fixed,
                edits: common.edits,
                shape: common.shape,
                regenerate: common.regenerate,
            }
        };
        let tasks = slots.iter_mut().zip(groups.iter().map(work)).collect();
        let results = in_parallel(common.jobs, tasks, |(slot, work)| slot.work(work));
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
