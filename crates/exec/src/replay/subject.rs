//! One build of a program, and what it does with scenarios.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::native::{reported, with_sanitizer_options};
use crate::compare::{Names, Side, Window, compare};
use crate::coverage::CoverageRegion;
use crate::execute::{ExecuteError, Executor, RunOptions, Settings};
use crate::finding::{self, Problem};
use crate::run::End;
use crate::shared::SharedError;
use parallax_scenario::{Ending, Scenario};

/// How a program was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Build {
    /// As the user builds it.
    Plain,
    /// With sanitizers.
    Checked,
    /// With counters of what ran.
    Covered,
}

impl Build {
    pub fn name(self) -> &'static str {
        match self {
            Build::Plain => "plain",
            Build::Checked => "checked",
            Build::Covered => "covered",
        }
    }
}

/// What scenarios are run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// For people: which version, which build.
    pub label: String,
    pub build: Build,
    pub program: PathBuf,
}

/// Runs scenarios on one subject.
#[derive(Debug)]
pub struct Replayer {
    pub subject: Subject,
    argv0: Vec<u8>,
    executor: Executor,
    counters: Option<CoverageRegion>,
    counts: BTreeMap<u64, Vec<u32>>,
}

/// What a subject did with a scenario.
#[derive(Clone, Debug)]
pub struct Seen {
    pub end: End,
    pub ending: Ending,
    pub names: Names,
    pub problems: Vec<Problem>,
    pub duration: Duration,
    /// Blocks and sides of branches that ran, if the build counts them.
    pub covered: Option<usize>,
}

impl Seen {
    /// Whether a run, of the same build or of another, did the same.
    pub fn is_like(&self, other: &Seen, window: Window) -> bool {
        compare(self.side(), other.side(), window).is_empty()
    }

    pub fn side(&self) -> Side<'_> {
        Side {
            ending: &self.ending,
            names: &self.names,
        }
    }
}

/// Why nothing could be run.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    #[error(transparent)]
    Shared(#[from] SharedError),
}

impl Replayer {
    pub fn new(subject: Subject, settings: &Settings) -> Result<Replayer, ReplayError> {
        let settings = match subject.build {
            Build::Checked => with_sanitizer_options(settings),
            Build::Plain | Build::Covered => settings.clone(),
        };
        let argv0 = match settings.argv0.is_empty() {
            true => subject.program.as_os_str(),
            false => &settings.argv0,
        };
        let argv0 = argv0.as_encoded_bytes().to_vec();
        let counters = match subject.build {
            Build::Covered => Some(CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?),
            Build::Plain | Build::Checked => None,
        };
        Ok(Replayer {
            executor: Executor::new(&subject.program, settings)?,
            subject,
            argv0,
            counters,
            counts: BTreeMap::new(),
        })
    }

    /// What the program is called in a run.
    pub fn names(&self, scenario: &Scenario) -> Names {
        let name = scenario.name.as_ref().map(|name| name.0.clone());
        Names {
            program: self.subject.program.clone(),
            name: name.unwrap_or_else(|| self.argv0.clone()),
        }
    }

    /// From now on no run goes on after that, as [`Executor::end_by`].
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.executor.end_by(until);
    }

    /// Runs the program in a fresh process, as everything that is reported must be seen.
    pub fn run(&mut self, scenario: &Scenario) -> Result<Seen, ReplayError> {
        self.run_with(scenario, RunOptions::FRESH)
    }

    /// Likewise, perhaps by a server: for looking, before anything is reported.
    pub fn glance(&mut self, scenario: &Scenario) -> Result<Seen, ReplayError> {
        self.run_with(scenario, RunOptions::default())
    }

    /// Likewise, as the options say.
    pub fn run_with(
        &mut self,
        scenario: &Scenario,
        options: RunOptions,
    ) -> Result<Seen, ReplayError> {
        let shared = self.counters.iter().map(CoverageRegion::shared);
        let shared: Vec<_> = shared.collect();
        let outcome = self.executor.run_with(scenario, &shared, options)?;
        let mut ending = finding::ending(&outcome);
        let problems = match self.subject.build {
            Build::Checked => {
                ending.sanitizer = reported(&outcome);
                finding::problems(None, Some(&outcome))
            }
            Build::Plain | Build::Covered => finding::problems(Some(&outcome), None),
        };
        let covered = self.counters.as_ref().map(|counters| {
            let counted = counters.counted_since(&mut self.counts);
            counted.len()
        });
        Ok(Seen {
            end: outcome.end,
            ending,
            names: self.names(scenario),
            problems,
            duration: outcome.duration,
            covered,
        })
    }
}
