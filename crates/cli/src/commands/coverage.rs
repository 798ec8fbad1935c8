//! `parallax coverage`: runs a program once and shows what of it ran.

use std::fs;
use std::path::{Path, PathBuf};

use parallax_capture::Variant;
use parallax_exec::coverage::{Coverage, CoverageRegion};
use parallax_exec::run::run as run_program;
use parallax_exec::sites::read_tables;

use super::once::OnceArguments;
use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_report::results::coverage::{self, CoverageReport, Detail};

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
    #[command(flatten)]
    once: OnceArguments,

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
    let once = &arguments.once;
    let derived = once.derive(Variant::Covered)?;
    let tables = read_tables(&derived.path, &derived.libraries)?;
    let region = CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?;
    let outcome = run_program(&once.launch(&derived), &[region.shared()])?;
    let coverage = Coverage::read(&region, &tables);
    if let Some(path) = &arguments.lcov {
        write_lcov(path, &coverage)?;
    }
    let report = CoverageReport {
        program: &once.program,
        outcome: &outcome,
        coverage: &coverage,
        timeout: once.timeout,
        memory: once.memory,
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
