//! Runs scenarios: one program, one after the other, each in a directory of its own.
//!
//! The executor lays out the scenario's files in a fresh scratch directory, runs the program there
//! within limits, and cleans up.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component as Part, Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;

use crate::run::{Launch, Outcome, Output, RunError, Stdin, run_with};
use crate::scenario::Scenario;
use crate::shared::Shared;

/// How the program is run, the same for all scenarios.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the program sees as its name.
    pub argv0: OsString,
    /// Wall-clock time of a run.
    pub timeout: Duration,
    /// Memory of all processes of a run together, trace included.
    pub memory: u64,
    /// The environment, without what scenarios add.
    pub environment: Vec<(OsString, OsString)>,
}

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("cannot make a scratch directory")]
    Scratch(#[source] io::Error),
    #[error("cannot lay out the scenario's file {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Only files below the working directory are the scenario's.
    #[error("the scenario's file {} is not below its working directory", .0.display())]
    Outside(PathBuf),
}

/// Runs one program on any number of scenarios.
#[derive(Debug)]
pub struct Executor {
    program: PathBuf,
    settings: Settings,
    scratch: TempDir,
}

impl Executor {
    pub fn new(program: &Path, settings: Settings) -> Result<Executor, ExecuteError> {
        let scratch = TempDir::with_prefix("parallax-").map_err(ExecuteError::Scratch)?;
        Ok(Executor {
            program: program.to_owned(),
            settings,
            scratch,
        })
    }

    /// The working directory of all runs: files of a scenario have names relative to it.
    pub fn directory(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    /// Runs the program on the scenario. With shared memory, it can write a trace or counters to it.
    pub fn run(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
        let directory = self.directory();
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).map_err(ExecuteError::Scratch)?;
        lay_out(&directory, scenario)?;
        let mut environment = self.settings.environment.clone();
        let added = scenario.env.iter();
        environment.extend(added.map(|(name, value)| (name.to_os_string(), value.to_os_string())));
        let launch = Launch {
            argv0: Some(self.settings.argv0.clone()),
            args: scenario
                .argv
                .iter()
                .map(|bytes| bytes.to_os_string())
                .collect(),
            stdin: Stdin::Bytes(scenario.stdin.0.clone()),
            output: Output::capture(),
            directory: Some(directory),
            environment: Some(environment),
            timeout: self.settings.timeout,
            memory: Some(self.settings.memory),
            ..Launch::new(&self.program)
        };
        Ok(run_with(&launch, shared)?)
    }
}

/// Writes the scenario's files below `directory`.
pub fn lay_out(directory: &Path, scenario: &Scenario) -> Result<(), ExecuteError> {
    for (name, contents) in &scenario.files {
        let path = Path::new(name.as_os_str());
        let is_inside = path
            .components()
            .all(|part| matches!(part, Part::Normal(_) | Part::CurDir))
            && !path.as_os_str().as_bytes().is_empty();
        if !is_inside {
            return Err(ExecuteError::Outside(path.to_owned()));
        }
        let full = directory.join(path);
        let written = match full.parent() {
            Some(parent) if parent != directory => fs::create_dir_all(parent),
            _ => Ok(()),
        }
        .and_then(|()| fs::write(&full, &contents.0));
        written.map_err(|source| ExecuteError::File {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(())
}
