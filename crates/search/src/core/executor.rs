//! Native runs: the builds of the versions under test, lent to as many threads as run them.
//!
//! To set up a sandbox takes longer than dozens of runs, and what a run shows does not depend on the runs before it. So
//! whoever wants to run something borrows an executor, and there are never more of them than runs at a time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use parallax_exec::compare::{Names, Side, Window, compare};
use parallax_exec::coverage::{Counter, Coverage, CoverageRegion};
use parallax_exec::execute::{ExecuteError, Executor, RunOptions, Settings};
use parallax_exec::finding;
use parallax_exec::replay::ReplayError;
use parallax_exec::run::{End, Outcome};
use parallax_exec::sites::ModuleSites;
use parallax_scenario::{Ending, Scenario};

/// One build of a program.
#[derive(Debug)]
pub struct Build {
    program: PathBuf,
    settings: Settings,
    /// Whether it counts what it runs.
    counts: bool,
    free: Mutex<Vec<Lent>>,
}

#[derive(Debug)]
struct Lent {
    executor: Executor,
    counters: Option<CoverageRegion>,
    /// As they were before the next run.
    before: BTreeMap<u64, Vec<u32>>,
    /// Whether it has run something: the first run is a process of its own, later ones are a server's.
    is_warm: bool,
}

/// What one run did.
#[derive(Clone, Debug)]
pub struct Observed {
    pub outcome: Outcome,
    pub ending: Ending,
    pub names: Names,
    /// What it executed, and how often; nothing if the build does not count.
    pub counters: Vec<(Counter, u32)>,
}

impl Lent {
    /// What a run came to, and what it counted.
    fn run(
        &mut self,
        scenario: &Scenario,
        options: RunOptions,
    ) -> (Result<Outcome, ExecuteError>, Vec<(Counter, u32)>) {
        let shared: Vec<_> = self.counters.iter().map(CoverageRegion::shared).collect();
        let result = self.executor.run_with(scenario, &shared, options);
        let counted = match &self.counters {
            Some(counters) => counters.counts_since(&mut self.before),
            None => Vec::new(),
        };
        (result, counted)
    }
}

impl Observed {
    /// Whether another run did the same.
    pub fn is_like(&self, other: &Observed, window: Window) -> bool {
        compare(self.side(), other.side(), window).is_empty()
    }

    pub fn side(&self) -> Side<'_> {
        Side {
            ending: &self.ending,
            names: &self.names,
        }
    }

    /// Whether it was ended because it took longer than it may.
    pub fn is_hung(&self) -> bool {
        self.outcome.end == End::Timeout
    }

    /// Whether nobody had time for it any more: then it says nothing.
    pub fn is_interrupted(&self) -> bool {
        self.outcome.end == End::Interrupted
    }
}

impl Build {
    pub fn new(program: &Path, settings: &Settings, counts: bool) -> Build {
        Build {
            program: program.to_owned(),
            settings: settings.clone(),
            counts,
            free: Mutex::default(),
        }
    }

    /// Runs an input, for at most this long and at most until then.
    pub fn run(
        &self,
        scenario: &Scenario,
        limit: Duration,
        until: Option<Instant>,
    ) -> Result<Observed, ReplayError> {
        let free = self.free().pop();
        let mut lent = match free {
            Some(lent) => lent,
            None => self.another()?,
        };
        lent.executor.end_by(until);
        let options = RunOptions {
            fresh: false,
            timeout: Some(limit),
        };
        // What constructors count may differ between a process of its own and a server's; which inputs come first depends on the
        // number of threads, and what is counted must not.
        if self.counts && !std::mem::replace(&mut lent.is_warm, true) {
            let _ = lent.run(scenario, options);
        }
        let (result, counters) = lent.run(scenario, options);
        self.free().push(lent);
        let outcome = result?;
        let name = scenario.name.as_ref().map(|name| name.0.clone());
        Ok(Observed {
            ending: finding::ending(&outcome),
            names: Names {
                program: self.program.clone(),
                name: name.unwrap_or_else(|| self.settings.argv0.as_encoded_bytes().to_vec()),
            },
            outcome,
            counters,
        })
    }

    /// What all runs together have covered. Nobody may be running it.
    pub fn coverage(&self, tables: &[ModuleSites]) -> Coverage {
        let free = self.free();
        let regions: Vec<_> = free
            .iter()
            .filter_map(|lent| lent.counters.as_ref())
            .collect();
        Coverage::read_all(&regions, tables)
    }

    fn another(&self) -> Result<Lent, ReplayError> {
        let counters = match self.counts {
            true => Some(CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?),
            false => None,
        };
        Ok(Lent {
            executor: Executor::new(&self.program, self.settings.clone())?,
            counters,
            before: BTreeMap::new(),
            is_warm: false,
        })
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<Lent>> {
        self.free.lock().unwrap_or_else(|error| error.into_inner())
    }
}
