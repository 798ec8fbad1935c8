//! Makes the inputs of findings small, when the search is over.
//!
//! Afterwards, not before: by then the smallest input that the search came by is known, and nothing waits for it.

use std::time::Instant;

use super::slot::Slot;
use super::{ExploreError, Options};
use crate::parallel::each_with;
use parallax_exec::finding::Finding;
use parallax_scenario::Scenario;

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
    each_with(options.jobs, slots, findings, |slot, finding| {
        Ok(slot.native().minimise(finding, &seeds, RUNS, &may)?)
    })
}
