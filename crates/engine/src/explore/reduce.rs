//! Makes the inputs of findings small, when the search is over.
//!
//! Afterwards, not before: by then the smallest input that the search came by is known, and nothing waits for it.

use std::time::Instant;

use super::slot::Slot;
use super::{ExploreError, Options};
use crate::finding::Finding;
use crate::parallel::in_parallel;
use crate::scenario::Scenario;

/// Runs for each finding.
const RUNS: u32 = 400;

/// Gives each finding the smallest input that shows it, as far as that can be found until the given time.
pub(super) fn reduce(
    findings: &mut [Finding],
    slots: &mut [Slot<'_>],
    options: &Options,
    until: Option<Instant>,
) -> Result<(), ExploreError> {
    let seeds = options.shape.seeds();
    let may = |scenario: &Scenario| {
        options.shape.accepts(scenario) && until.is_none_or(|until| Instant::now() < until)
    };
    let size = slots.len();
    for findings in findings.chunks_mut(size) {
        let tasks: Vec<_> = slots.iter_mut().zip(findings).collect();
        let results = in_parallel(options.jobs, tasks, |(slot, finding)| {
            reduce_one(finding, slot, &seeds, &may)
        });
        for result in results {
            result?;
        }
    }
    Ok(())
}

fn reduce_one(
    finding: &mut Finding,
    slot: &mut Slot<'_>,
    seeds: &[Scenario],
    may: &dyn Fn(&Scenario) -> bool,
) -> Result<(), ExploreError> {
    let key = finding.key();
    let native = slot.native();
    let Some((minimised, confirmed)) =
        native.minimise(&finding.scenario, &key, seeds, RUNS, may)?
    else {
        return Ok(());
    };
    let problem = confirmed.problems.into_iter().find(|p| p.key() == key);
    if let Some(problem) = problem {
        finding.problem = problem;
        finding.scenario = minimised.scenario;
        finding.ending = confirmed.ending;
    }
    Ok(())
}
