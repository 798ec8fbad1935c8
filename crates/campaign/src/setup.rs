//! What every search is given besides its seeds and its budget: threads, limits of a single run, where results go.

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_capture::{Derived, Program, Variant};
use parallax_exec::execute::Settings;
use parallax_search::diverge::triage::Builds;
use parallax_search::explore::{self, Programs, Shape};
use parallax_solver::Config;
use parallax_trace::region::{Limits, Symbolic};

use crate::budget::Budget;
use crate::context::Context;
use crate::failure::Failure;
use crate::variants;

/// Traces that a search keeps in memory.
pub const TRACE_MEMORY: u64 = 512 << 20;
/// What a run may write before it is ended, where versions are compared: what comes after so much is more of the same, and a trace of
/// it is no use.
const MOST_WRITTEN: u64 = 256 << 10;
/// Share of a search's time that questions of floating point may take which nothing but an SMT-LIB program answers.
const SMT_SHARE: f64 = 0.2;

/// How inputs are run.
#[derive(Clone, Debug)]
pub struct Running {
    /// Whether on the build with sanitizers, too.
    pub sanitizers: bool,
    /// Things that are worked on at once.
    pub jobs: usize,
    /// Of a single run.
    pub timeout: Duration,
    /// Of a single run and its trace.
    pub memory: u64,
    pub sandbox: bool,
}

/// The same, with what else a search is given.
#[derive(Clone)]
pub struct Setup {
    pub context: Context,
    pub running: Running,
    /// Where results are kept, if not at the usual place.
    pub output: Option<PathBuf>,
    /// Every query is written there, with its answer and time.
    pub log_queries: Option<PathBuf>,
}

impl Setup {
    /// With nothing but how inputs are run.
    pub fn new(context: Context, running: Running) -> Setup {
        Setup {
            context,
            running,
            output: None,
            log_queries: None,
        }
    }

    /// Of a trace.
    pub fn limits(&self) -> Limits {
        Limits::within(self.running.memory)
    }

    /// How programs are run that are called as this one.
    pub fn settings(&self, program: &Path) -> Settings {
        let running = &self.running;
        Settings {
            argv0: program.to_owned().into_os_string(),
            timeout: running.timeout,
            memory: running.memory,
            ..variants::settings(running.sandbox)
        }
    }

    /// The same for versions that are compared. Programs print what they are called: all are called the same.
    pub fn compared(&self, program: &Path) -> Settings {
        Settings {
            written: Some(MOST_WRITTEN),
            ..self.settings(program)
        }
    }

    /// Everything that a search is given besides its seeds.
    pub fn options(
        &self,
        budget: Budget,
        shape: Shape,
        symbolic: Symbolic,
        settings: Settings,
    ) -> explore::Options {
        explore::Options {
            shape,
            symbolic,
            runs: budget.runs,
            time: budget.time,
            generations: None,
            jobs: self.running.jobs,
            seed: 0,
            limits: self.limits(),
            settings,
            solver: self.solver(),
            keep_paths: false,
            trace_memory: TRACE_MEMORY,
            hangs: true,
            keep_lengths: false,
        }
    }

    /// How questions are answered.
    pub fn solver(&self) -> Config {
        Config {
            log: self.log_queries.clone(),
            smt_share: SMT_SHARE,
            ..Config::default()
        }
    }

    /// Where results are kept: as asked, else below `.parallax`, by strategy and program.
    pub fn output(&self, strategy: &str, program: &Path) -> PathBuf {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let usual = || Path::new(".parallax").join(strategy).join(name);
        self.output.clone().unwrap_or_else(usual)
    }

    /// The variants that a search runs: traced, with sanitizers if these are wanted, with counters where it has them.
    pub fn programs(
        &self,
        program: &Program,
        plain: PathBuf,
        covered: Option<&Derived>,
    ) -> Result<Programs, Failure> {
        let traced = variants::derive(&self.context, program, Variant::Traced)?;
        self.context.notes(&traced.notes);
        Ok(Programs {
            plain,
            traced: traced.path,
            covered: covered.map(|covered| covered.path.clone()),
            checked: self.checked(program),
            traced_libraries: traced.libraries,
            covered_libraries: covered.map_or_else(Vec::new, |covered| covered.libraries.clone()),
        })
    }

    /// The plain program with this path, and the one with sanitizers.
    pub fn builds(&self, path: &Path) -> Result<Builds, Failure> {
        let program = variants::read(path)?;
        let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
        Ok((absolute, self.checked(&program)))
    }

    /// The build with sanitizers, unless it is not wanted. It can be done without: then less is found, and the user is
    /// told.
    pub fn checked(&self, program: &Program) -> Option<PathBuf> {
        if !self.running.sanitizers {
            return None;
        }
        match variants::derive(&self.context, program, Variant::Checked) {
            Ok(checked) => Some(checked.path),
            Err(failure) => {
                let note = "without sanitizers, only errors that the plain program shows are found";
                self.context.trouble(&failure, note);
                None
            }
        }
    }
}
