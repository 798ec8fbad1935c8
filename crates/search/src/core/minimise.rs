//! Making the input of a finding small, where two versions are compared.

use std::time::Instant;

use parallax_exec::minimise::minimise;
use parallax_exec::replay::ReplayError;
use parallax_scenario::Scenario;

use crate::diverge::triage::{Class, Courts, Shown};
use crate::explore::Shape;

/// Inputs that are run at most to make one smaller.
const MOST_RUNS: u32 = 120;

/// See the module's description.
pub struct Minimiser<'m> {
    pub courts: &'m Courts,
    /// Inputs that may be made.
    pub shape: &'m Shape,
    /// Inputs that were given: what is the same there is not made smaller.
    pub seeds: &'m [Scenario],
    /// When it must be over.
    pub end: Option<Instant>,
    /// Whether somebody asked for an end.
    pub stop: &'m dyn Fn() -> bool,
}

impl Minimiser<'_> {
    pub fn is_over(&self) -> bool {
        (self.stop)() || self.is_late()
    }

    fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// What an input shows.
    pub fn judge(&self, scenario: &Scenario) -> Result<Shown, ReplayError> {
        self.courts.with(self.end, |court| court.judge(scenario))
    }

    /// A smaller input that shows the same each time and is `good`, if there is one and time to find it.
    pub fn smaller(
        &self,
        scenario: &Scenario,
        shown: &Shown,
        good: &dyn Fn(&Scenario) -> bool,
    ) -> Result<Option<(Scenario, Shown)>, ReplayError> {
        // Each try would take its full time.
        if shown.has_limit() {
            return Ok(None);
        }
        let key = shown.key();
        let needs_checks = shown.class != Class::Difference;
        self.courts.with(self.end, |court| {
            let mut judge = |smaller: &Scenario| -> Result<bool, ReplayError> {
                if self.is_late() || !self.shape.accepts(smaller) {
                    return Ok(false);
                }
                // The plain builds are ten times as fast.
                if !needs_checks && !court.differ(smaller)? {
                    return Ok(false);
                }
                Ok(court.judge(smaller)?.key() == key && good(smaller))
            };
            let smaller = minimise(scenario, self.seeds, MOST_RUNS, &mut judge)?.scenario;
            if smaller == *scenario {
                return Ok(None);
            }
            let shown = court.judge(&smaller)?;
            let is_steady = shown.key() == key && court.is_steady(&smaller, &shown)?;
            Ok((is_steady && !self.is_late()).then_some((smaller, shown)))
        })
    }
}
