//! An executor that may never be needed.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::{ExecuteError, Executor, RunOptions, Settings};
use crate::run::Outcome;
use crate::shared::Shared;
use parallax_scenario::Scenario;

/// An [`Executor`] that is set up by its first run.
#[derive(Debug)]
pub struct Later {
    program: PathBuf,
    settings: Settings,
    executor: Option<Executor>,
    until: Option<Instant>,
}

impl Later {
    pub fn new(program: &Path, settings: Settings) -> Later {
        Later {
            program: program.to_owned(),
            settings,
            executor: None,
            until: None,
        }
    }

    /// Another one for the same program.
    pub fn another(&self) -> Later {
        Later::new(&self.program, self.settings.clone())
    }

    /// As [`Executor::end_by`].
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// As [`Executor::run`].
    pub fn run(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
        self.run_with(scenario, shared, RunOptions::default())
    }

    /// As [`Executor::run_with`].
    pub fn run_with(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
        options: RunOptions,
    ) -> Result<Outcome, ExecuteError> {
        let executor = match &mut self.executor {
            Some(executor) => executor,
            none => none.insert(Executor::new(&self.program, self.settings.clone())?),
        };
        executor.end_by(self.until);
        executor.run_with(scenario, shared, options)
    }
}
