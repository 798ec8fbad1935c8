//! What every search is given besides its seeds and its budget: threads, limits of a single run, where results go.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_capture::{Program, Variant};
use parallax_exec::execute::Settings;
use parallax_search::explore::{self, Shape};
use parallax_solver::Config;
use parallax_trace::region::{Limits, Symbolic};

use super::budget::Budget;
use super::shared;
use crate::console::{self, Palette};
use crate::size::{parse_bytes, parse_seconds};

/// Traces that a search keeps in memory.
pub const TRACE_MEMORY: u64 = 512 << 20;
/// What a run may write before it is ended, where versions are compared: what comes after so much is more of the same, and a trace of
/// it is no use.
const MOST_WRITTEN: u64 = 256 << 10;
/// Share of a search's time that questions of floating point may take which nothing but an SMT-LIB program answers.
const SMT_SHARE: f64 = 0.2;

/// How inputs are run.
#[derive(Debug, clap::Args)]
pub struct Running {
    /// Do not run inputs on the build with sanitizers
    #[arg(long)]
    no_sanitizers: bool,

    /// Work on so many things at once (default: one per processor)
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,

    /// End a single run after this many seconds; hanging is an error
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,

    /// Memory for a single run and its trace
    #[arg(long, value_name = "SIZE", default_value = "1G", value_parser = parse_bytes)]
    memory: u64,

    /// Run generated inputs without a sandbox: they can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
}

/// The same, with what else a search is given.
#[derive(Debug, clap::Args)]
pub struct Means {
    #[command(flatten)]
    running: Running,

    /// Where results are kept
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,

    /// Write every query to a file, with its answer and time
    #[arg(long, value_name = "FILE")]
    log_queries: Option<PathBuf>,
}

impl Running {
    /// The words that ask another command for the same.
    pub fn words(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![
            "--jobs".into(),
            self.jobs().to_string().into(),
            "--timeout".into(),
            self.timeout.as_secs_f64().to_string().into(),
            "--memory".into(),
            self.memory.to_string().into(),
        ];
        let flags = [
            (self.no_sanitizers, "--no-sanitizers"),
            (self.no_sandbox, "--no-sandbox"),
        ];
        let set = flags.into_iter().filter(|(is_set, _)| *is_set);
        words.extend(set.map(|(_, flag)| flag.into()));
        words
    }

    fn jobs(&self) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, |count| count.get());
        self.jobs.unwrap_or_else(processors)
    }
}

impl Means {
    /// The words that ask another command for the same.
    pub fn words(&self) -> Vec<OsString> {
        self.running.words()
    }

    /// How many things are done at once.
    pub fn jobs(&self) -> usize {
        self.running.jobs()
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
            ..shared::settings(running.no_sandbox)
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
            jobs: self.jobs(),
            seed: 0,
            limits: self.limits(),
            settings,
            solver: self.solver(),
            keep_paths: false,
            trace_memory: TRACE_MEMORY,
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

    /// Whether it was asked for where results are kept.
    pub fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Where results are kept: as asked, else below `.parallax`, by strategy and program.
    pub fn output(&self, strategy: &str, program: &Path) -> PathBuf {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let usual = || Path::new(".parallax").join(strategy).join(name);
        self.output.clone().unwrap_or_else(usual)
    }

    /// The build with sanitizers, unless it is not wanted. It can be done without: then less is found, and the user is
    /// told.
    pub fn checked(&self, program: &Program) -> Option<PathBuf> {
        if self.running.no_sanitizers {
            return None;
        }
        match shared::derive(program, Variant::Checked) {
            Ok(checked) => Some(checked.path),
            Err(failure) => {
                console::print_error(&failure.render(&Palette));
                let note = "without sanitizers, only errors that the plain program shows are found";
                console::note(note);
                None
            }
        }
    }
}
