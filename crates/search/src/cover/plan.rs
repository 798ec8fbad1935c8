//! Searching for many targets with one [`Coverer`]: other scenarios to start from for each of them.

use std::time::{Duration, Instant};

use parallax_analysis::seeds::{Closest, Executed};

use super::map::{Guide, Target};
use super::{Coverer, Heuristic};
use crate::explore::slot::Child;
use crate::explore::{Bounds, ExploreError, Shape};
use parallax_scenario::Scenario;

impl<'c> Coverer<'c> {
    /// From now on searches start from these scenarios, which are run unless they are known from earlier searches, as many as can be
    /// run in the time given. Those that cannot be run are left out, and come back with the reason.
    pub fn start_from(
        &mut self,
        seeds: Vec<Scenario>,
        time: Option<Duration>,
    ) -> Result<Vec<(Scenario, ExploreError)>, ExploreError> {
        if !matches!(self.shape, Shape::Described(_)) {
            self.shape = Shape::Bounded(Bounds::around(&seeds));
        }
        self.earlier.append(&mut self.seeds);
        let mut left_out = Vec::new();
        let started = Instant::now();
        for seed in seeds {
            if !self.seeds.is_empty() && time.is_some_and(|time| started.elapsed() >= time) {
                break;
            }
            let mut earlier = self.earlier.iter();
            let child = match earlier.position(|child| child.scenario == seed) {
                Some(at) => self.earlier.remove(at),
                None => match self.slots[0].start(seed.clone()) {
                    Ok(child) => child,
                    Err(error) => {
                        left_out.push((seed, error));
                        continue;
                    }
                },
            };
            self.seeds.push(child);
        }
        self.forget_earlier();
        match self.seeds.first() {
            Some(first) if !first.traced.trace.attached() => Err(ExploreError::Untraced),
            None if !left_out.is_empty() => Err(left_out.swap_remove(0).1),
            _ => Ok(left_out),
        }
    }

    /// Keeps as many runs of earlier searches as there is room for, the latest: the targets of a patch are near each other, and so are
    /// the tests that come near them.
    fn forget_earlier(&mut self) {
        let mut room = self.options.explore.trace_memory;
        let fits = |child: &&Child| match room.checked_sub(child.traced.bytes()) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let kept = self.earlier.iter().rev().take_while(fits).count();
        self.earlier.drain(..self.earlier.len() - kept);
    }

    /// What searches start from.
    pub fn seeds(&self) -> impl ExactSizeIterator<Item = &Scenario> {
        self.seeds.iter().map(|seed| &seed.scenario)
    }

    /// How close runs came to a target, each `None` if no way leads there from anything that it ran.
    pub fn closest<'e>(
        &self,
        target: &Target,
        runs: impl Iterator<Item = &'e dyn Executed>,
    ) -> Vec<Option<Closest>> {
        let guide = self.guide(target);
        runs.map(|executed| guide.closest(executed)).collect()
    }

    /// How far everything is from a target, as a search for it sees it.
    pub(super) fn guide(&self, target: &Target) -> Guide<'c> {
        match self.options.has(Heuristic::Preconditions) {
            true => Guide::with_preconditions(self.analysis, &self.effects, &target.blocks),
            false => Guide::plain(self.analysis, &target.blocks),
        }
    }
}
