//! The traced and the covered program, ready to run.
//!
//! To set up a sandbox and a run server takes longer than dozens of runs. So whoever wants to run something borrows a
//! runner, and there are never more of them than runs at a time. What a run shows does not depend on the runs before it:
//! any runner is as good as any other.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

use crate::explore::{ExploreError, Programs};
use parallax_exec::coverage::{Counter, Coverage, CoverageRegion};
use parallax_exec::execute::{Executor, Settings};
use parallax_exec::run::{End, Outcome};
use parallax_exec::sites::ModuleSites;
use parallax_scenario::Scenario;
use parallax_trace::Trace;
use parallax_trace::region::{Limits, Region, Symbolic};

/// All runners that nobody uses at the moment.
#[derive(Debug)]
pub struct Runners {
    programs: Programs,
    settings: Settings,
    limits: Limits,
    symbolic: Symbolic,
    free: Mutex<Vec<Runner>>,
}

impl Runners {
    /// With the first runner, so that what is wrong shows at once.
    pub fn new(
        programs: &Programs,
        settings: &Settings,
        limits: Limits,
        symbolic: &Symbolic,
    ) -> Result<Runners, ExploreError> {
        let first = Runner::new(programs, settings)?;
        Ok(Runners {
            programs: programs.clone(),
            settings: settings.clone(),
            limits,
            symbolic: symbolic.clone(),
            free: Mutex::new(vec![first]),
        })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Runner>> {
        self.free.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// Lends out a runner.
    fn with<R>(
        &self,
        action: impl FnOnce(&mut Runner) -> Result<R, ExploreError>,
    ) -> Result<R, ExploreError> {
        let free = self.free().pop();
        let mut runner = match free {
            Some(runner) => runner,
            None => Runner::new(&self.programs, &self.settings)?,
        };
        let result = action(&mut runner);
        self.free().push(runner);
        result
    }

    /// Runs the traced program, at most until then; also says in which directory.
    pub fn trace(
        &self,
        scenario: &Scenario,
        until: Option<Instant>,
    ) -> Result<(Outcome, Trace, PathBuf), ExploreError> {
        self.with(|runner| {
            let mut region = match runner.region.take() {
                Some(region) => region,
                None => Region::create(self.limits, &self.symbolic, false)?,
            };
            region.give(scenario.names());
            runner.traced.end_by(until);
            let outcome = runner.traced.run(scenario, &[region.shared()])?;
            // Who ended well wrote nowhere but where its trace says.
            let copied = match outcome.end {
                End::Exit(_) => Trace::copy(&mut region),
                _ => None,
            };
            let trace = match copied {
                Some(trace) => {
                    runner.region = Some(region);
                    trace
                }
                None => Trace::read(region),
            };
            Ok((outcome, trace, runner.traced.directory()))
        })
    }

    /// Runs the covered program, at most until then; everything of it that ran. `None` if there is none.
    pub fn cover(
        &self,
        scenario: &Scenario,
        until: Option<Instant>,
    ) -> Result<Option<Vec<Counter>>, ExploreError> {
        if self.programs.covered.is_none() {
            return Ok(None);
        }
        self.with(|runner| match &mut runner.covered {
            Some(covered) => {
                covered.executor.end_by(until);
                covered.run(scenario).map(Some)
            }
            None => Ok(None),
        })
    }

    /// What all runs of the covered program together have covered. Nobody may be running it.
    pub fn coverage(&self, tables: &[ModuleSites]) -> Coverage {
        let free = self.free();
        let covered = free.iter().filter_map(|runner| runner.covered.as_ref());
        let regions: Vec<_> = covered.map(|covered| &covered.counters).collect();
        Coverage::read_all(&regions, tables)
    }
}

/// One of each.
#[derive(Debug)]
struct Runner {
    traced: Executor,
    covered: Option<Covered>,
    /// An empty one, if the last trace left it behind.
    region: Option<Region>,
}

impl Runner {
    fn new(programs: &Programs, settings: &Settings) -> Result<Runner, ExploreError> {
        let covered = |path: &PathBuf| -> Result<Covered, ExploreError> {
            Ok(Covered {
                executor: Executor::new(path, settings.clone())?,
                counters: CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?,
                counts: BTreeMap::new(),
            })
        };
        Ok(Runner {
            traced: Executor::new(&programs.traced, settings.clone())?,
            covered: programs.covered.as_ref().map(covered).transpose()?,
            region: None,
        })
    }
}

#[derive(Debug)]
struct Covered {
    executor: Executor,
    counters: CoverageRegion,
    /// As they were before the next run.
    counts: BTreeMap<u64, Vec<u32>>,
}

impl Covered {
    fn run(&mut self, scenario: &Scenario) -> Result<Vec<Counter>, ExploreError> {
        self.executor.run(scenario, &[self.counters.shared()])?;
        Ok(self.counters.counted_since(&mut self.counts))
    }
}
