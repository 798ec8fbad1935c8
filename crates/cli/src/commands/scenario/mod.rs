//! `parallax scenario`: scenarios by hand, from other tools and for them.

mod add;
mod export;
mod import;

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_exec::execute::{Executor, RunOptions, Settings};
use parallax_exec::finding;
use parallax_scenario::{Bytes, Recorded, Scenario};
use parallax_store::Store;

use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::{stored, variants};

/// Add, import and export scenarios
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Add(add::Arguments),
    Import(import::Arguments),
    Export(export::Arguments),
}

pub fn run(command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Add(arguments) => add::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
    }
}

/// How scenarios are run once, to know what comes of them.
#[derive(Debug, clap::Args)]
struct RunArguments {
    /// Name of the program among the scenarios (default: as it was recorded, else its path)
    #[arg(long, value_name = "NAME")]
    program: Option<PathBuf>,

    /// End a run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = crate::size::parse_seconds)]
    timeout: Duration,

    /// Run without a sandbox: the program can do whatever you can
    #[arg(long)]
    no_sandbox: bool,
}

/// Runs a program on scenarios.
struct Runner {
    executor: Executor,
    program: Bytes,
}

impl Runner {
    fn new(path: &Path, name: Bytes, asked: &RunArguments) -> Result<Runner, Failure> {
        if !path.is_file() {
            let message = format!("{} is no program", path.display());
            return Err(Failure::new(Exit::Usage, message)
                .hint("after -- comes the path of the program, as in ./prog, then its arguments"));
        }
        let settings = Settings {
            timeout: asked.timeout,
            argv0: path.into(),
            ..variants::settings(!asked.no_sandbox)
        };
        Ok(Runner {
            executor: Executor::new(path, settings)?,
            program: name,
        })
    }

    fn record(&mut self, scenario: Scenario, test: Option<String>) -> Result<Recorded, Failure> {
        // What others are compared with is seen in a fresh process.
        let fresh = RunOptions::FRESH;
        let outcome = self.executor.run_with(&scenario, &[], fresh)?;
        let mut notes = Vec::new();
        if outcome.stdout.truncated() || outcome.stderr.truncated() {
            notes.push("only the beginning of the output was kept".to_owned());
        }
        Ok(Recorded {
            program: self.program.clone(),
            scenario,
            result: finding::ending(&outcome),
            test,
            notes,
            unsteady: Vec::new(),
            seconds: outcome.duration.as_secs_f64(),
        })
    }
}

/// The program's name in the store.
fn name(store: &Store, path: &Path, asked: &RunArguments) -> Result<Bytes, Failure> {
    match &asked.program {
        Some(name) => Ok(name.as_os_str().as_encoded_bytes().into()),
        None => stored::program_name(store, path),
    }
}
