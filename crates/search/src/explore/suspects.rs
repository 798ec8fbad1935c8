//! What is done with runs that may show an error: they are repeated on the plain and the checked program, and what is seen there is
//! reported.

use std::time::{Duration, Instant};

use super::slot::Slot;
use super::{Ended, ExploreError, Explorer, Limit, SLOTS, reduce};
use crate::parallel::in_parallel;
use parallax_exec::finding::Finding;
use parallax_exec::run::End;
use parallax_scenario::Scenario;

/// What making inputs small may take of the time that was given, in addition.
const EXTRA_SHARE: u32 = 10;
const LEAST_EXTRA: Duration = Duration::from_secs(10);

/// A run that is to be repeated on the plain and the checked program.
pub(super) struct Suspect {
    pub scenario: Scenario,
    pub end: End,
    pub depth: usize,
}

impl Explorer<'_> {
    /// Repeats suspicious runs on the plain and the checked program.
    pub(super) fn check(
        &mut self,
        slots: &mut [Slot<'_>],
        suspects: Vec<Suspect>,
    ) -> Result<(), ExploreError> {
        let mut rest = suspects;
        while !rest.is_empty() {
            let later = rest.split_off(rest.len().min(SLOTS));
            let tasks = slots.iter_mut().zip(&rest).collect();
            let findings = &self.findings;
            let results = in_parallel(
                self.options.jobs,
                tasks,
                |(slot, suspect): (&mut Slot, &Suspect)| {
                    let size = suspect.scenario.size();
                    // A program may have an error that nearly every run shows; it is of interest again only where the
                    // input is smaller.
                    slot.confirm(&suspect.scenario, &|problem| {
                        let mut known = findings
                            .iter()
                            .filter(|known| known.scenario.size() <= size);
                        known.any(|known| known.key() == problem.key())
                    })
                },
            );
            for (suspect, result) in rest.into_iter().zip(results) {
                let Some(checked) = result? else {
                    let is_error = !matches!(suspect.end, End::Exit(_));
                    let is_limited = Limit::of(suspect.end).is_some();
                    self.unconfirmed += u64::from(is_error && !is_limited);
                    continue;
                };
                self.flaky += checked.flaky.len() as u64;
                for problem in checked.problems {
                    let finding = Finding {
                        problem,
                        scenario: suspect.scenario.clone(),
                        ending: checked.ending.clone(),
                        depth: suspect.depth,
                    };
                    self.report(finding);
                }
            }
            rest = later;
        }
        Ok(())
    }

    /// Makes the inputs of findings small, unless somebody wants an end.
    pub(super) fn reduce(
        &mut self,
        slots: &mut [Slot<'_>],
        ended: Ended,
    ) -> Result<(), ExploreError> {
        if ended == Ended::Stopped {
            return Ok(());
        }
        let until = self.options.time.map(|time| {
            let extra = (time / EXTRA_SHARE).max(LEAST_EXTRA);
            Instant::now() + extra
        });
        reduce::reduce(&mut self.findings, slots, self.options, until)
    }

    /// One finding for each kind and place; the smallest input is kept.
    fn report(&mut self, finding: Finding) {
        let known = self
            .findings
            .iter_mut()
            .find(|known| known.key() == finding.key());
        match known {
            Some(known) if finding.scenario.size() < known.scenario.size() => {
                self.observer.smaller(&finding);
                *known = finding;
            }
            Some(_) => {}
            None => {
                self.observer.finding(&finding);
                self.findings.push(finding);
            }
        }
    }
}
