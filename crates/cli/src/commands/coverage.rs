//! `parallax coverage`: runs a program once and shows what of it ran.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_capture::Variant;
use parallax_engine::coverage::{Coverage, CoverageRegion};
use parallax_engine::run::{Launch, Stdin, run_with};
use parallax_engine::sites::read_tables;

use super::shared;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::coverage::{self, CoverageReport, Detail};
use crate::size::{parse_bytes, parse_seconds};

/// Run a captured program once and show which of its code ran
///
/// Counts every block and both sides of every branch, also of the program's own shared libraries and of
/// processes that it starts, and shows how the program ended, how much was covered, file by file, and
/// which functions were never entered.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax coverage ./prog -- -x file.txt
  parallax coverage ./prog --stdin input.txt --lcov prog.info && genhtml prog.info
  parallax coverage ./prog --json -- arg | jq '.files[].lines[] | select(.count == 0)'

However the program ends (crash, time-out, out of memory), what ran up to there is shown and the
exit code is 0.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,

    /// Standard input of the program (default: as of parallax itself)
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,

    /// End the program after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    timeout: Duration,

    /// Memory for the program
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_bytes)]
    memory: u64,

    /// Show everything (default: the first files and functions)
    #[arg(long)]
    all: bool,

    /// Print the report as JSON
    #[arg(long)]
    json: bool,

    /// Also write the counts to a file in lcov's format
    #[arg(long, value_name = "FILE")]
    lcov: Option<PathBuf>,
}

pub fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let program = shared::read(&arguments.program)?;
    let derived = shared::derive(&program, Variant::Covered)?;
    for note in &derived.notes {
        console::note(note);
    }
    let tables = read_tables(&derived.path, &derived.libraries)?;
    let region = CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?;
    let launch = Launch {
        argv0: Some(arguments.program.clone().into_os_string()),
        args: arguments.arguments.clone(),
        stdin: match &arguments.stdin {
            Some(path) => Stdin::File(path.clone()),
            None => Stdin::Inherit,
        },
        timeout: arguments.timeout,
        memory: Some(arguments.memory),
        ..Launch::new(&derived.path)
    };
    let outcome = run_with(&launch, &[region.shared()])?;
    let coverage = Coverage::read(&region, &tables);
    if let Some(path) = &arguments.lcov {
        write_lcov(path, &coverage)?;
    }
    let report = CoverageReport {
        program: &arguments.program,
        outcome: &outcome,
        coverage: &coverage,
        timeout: arguments.timeout,
        memory: arguments.memory,
    };
    if arguments.json {
        console::print_data(&coverage::render_json(&report))?;
    } else {
        let detail = Detail {
            all: arguments.all,
            width: console::width(),
        };
        console::print(&coverage::render_text(&report, &detail))?;
    }
    Ok(Exit::Clean)
}

fn write_lcov(path: &Path, coverage: &Coverage) -> Result<(), Failure> {
    fs::write(path, coverage::render_lcov(coverage))
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", path, &error))
}
