//! The end of a search: findings are made small, and whether their changes interact is asked of all inputs that were seen.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::interface::{InteractError, Observer, Summary};
use super::judge::Group;
use super::search::Interactor;
use super::sequences::Test;
use crate::explore::Ended;
use parallax_exec::minimise::minimise;
use parallax_scenario::Scenario;

/// Inputs that are run at most to make one smaller.
const MOST_RUNS: u32 = 120;
/// Time for the end: a share of what there is, within limits.
const SHARE: u32 = 5;
const MOST_TIME: Duration = Duration::from_secs(20);
/// Inputs that are run on the builds with sanitizers for one finding at the end.
const MOST_CHECKED: usize = 64;

impl Interactor<'_> {
    /// How long the search may take, so that what it finds can be made small within the time that was given.
    pub(super) fn searching(&self) -> Option<Duration> {
        let time = self.options.explore.time?;
        Some(time - MOST_TIME.min(time / SHARE))
    }

    pub(super) fn finish(
        mut self,
        ended: Ended,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InteractError> {
        let end = match self.options.explore.time {
            Some(time) => self.started + time,
            None => Instant::now() + MOST_TIME,
        };
        self.follower.end_by(None);
        let mut groups = std::mem::take(&mut self.groups.list);
        groups.sort_by_key(|group| (group.finding.kind, group.number));
        for group in &mut groups {
            if !observer.stop() && Instant::now() < end {
                self.make_small(group, end)?;
                self.check_others(group, end)?;
            }
        }
        for group in &mut groups {
            let critical = self.tests.critical(group.number, group.needs_checks());
            group.finding.count = group.count;
            group.finding.critical = critical;
        }
        groups.sort_by_key(|group| {
            let finding = &group.finding;
            (finding.kind, !finding.critical.is_critical, group.number)
        });
        Ok(self.summary(ended, groups))
    }

    /// Looks for a smaller input that shows the same and executes no other changes, as long as there is time.
    fn make_small(&mut self, group: &mut Group, end: Instant) -> Result<(), InteractError> {
        let options = self.options;
        let key = group.finding.key.clone();
        let needs_checks = group.needs_checks();
        let allowed: BTreeSet<usize> = group.finding.sequence.iter().copied().collect();
        let mut judge = |smaller: &Scenario| -> Result<bool, InteractError> {
            if Instant::now() >= end || !self.shape.accepts(smaller) {
                return Ok(false);
            }
            // The plain builds are ten times as fast.
            if !needs_checks && !self.court.differ(smaller)? {
                return Ok(false);
            }
            if self.court.judge(smaller)?.key() != key {
                return Ok(false);
            }
            let walked = self.follower.nodes(&self.marks, smaller)?;
            let changes = self.changes(&walked);
            Ok(!changes.is_empty() && changes.iter().all(|change| allowed.contains(change)))
        };
        let smaller = minimise(
            &group.finding.scenario,
            &options.seeds,
            MOST_RUNS,
            &mut judge,
        )?;
        if smaller.scenario == group.finding.scenario {
            return Ok(());
        }
        let shown = self.court.judge(&smaller.scenario)?;
        if shown.key() != key || !self.is_steady(&smaller.scenario, &key)? {
            return Ok(());
        }
        let walked = self.follower.nodes(&self.marks, &smaller.scenario)?;
        let sequence = self.changes(&walked);
        if self.known.insert(smaller.scenario.clone()) {
            group.count += 1;
            self.inputs.push(smaller.scenario.clone());
            self.tests.add(Test {
                sequence: sequence.clone(),
                shows: Some(group.number),
                is_checked: true,
            });
        }
        group.finding.sequence = sequence;
        group.finding.scenario = smaller.scenario;
        group.finding.shown = shown;
        Ok(())
    }

    /// What only sanitizers show may be there on inputs that they have not seen.
    fn check_others(&mut self, group: &mut Group, end: Instant) -> Result<(), InteractError> {
        if !group.needs_checks() {
            return Ok(());
        }
        let critical = self.tests.critical(group.number, true);
        let others = self.tests.unchecked(&critical.sequence);
        for number in others.into_iter().take(MOST_CHECKED) {
            if Instant::now() >= end {
                break;
            }
            let scenario = self.inputs[number].clone();
            let key = self.court.judge(&scenario)?.key();
            let test = &mut self.tests.list[number];
            test.is_checked = true;
            if key == group.finding.key {
                test.shows = Some(group.number);
                group.count += 1;
            }
        }
        Ok(())
    }
}
