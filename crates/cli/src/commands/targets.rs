//! `parallax targets`: which lines of a patch have code, and which of them no recorded scenario runs.

use std::path::PathBuf;
use std::time::Instant;

use super::project::ProjectArguments;
use super::project::parse_place;
use crate::console;
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::patch::{Request, Scope};
use parallax_campaign::stored;
use parallax_report::results::targets as report;

/// Show which changed lines have code, and which of them no recorded scenario runs
///
/// Lines that always run together are one target. For lines without code it says why: comment, declaration, not compiled here.
/// A changed macro means the lines that use it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax targets HEAD~1..HEAD           # what the last commit changed
  parallax targets HEAD..                 # your uncommitted changes
  parallax targets --uncovered            # all code that the scenarios miss
  parallax targets --at src/io.c:235 --program ./diff")]
pub struct Arguments {
    /// OLD..NEW, OLD...NEW or OLD..
    #[arg(conflicts_with_all = ["at", "uncovered"])]
    range: Option<String>,

    /// These lines instead of a patch
    #[arg(long, value_name = "FILE:LINE", value_parser = parse_place, conflicts_with = "uncovered")]
    at: Vec<(String, u32)>,

    /// All lines with code instead of a patch
    #[arg(long)]
    uncovered: bool,

    /// Look at this captured program instead of the project's
    #[arg(long, value_name = "PROGRAM", conflicts_with = "range")]
    program: Option<PathBuf>,

    /// Also show targets that are covered, and every line without code
    #[arg(long)]
    all: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let started = Instant::now();
    let request = if arguments.uncovered {
        Request::Everything
    } else if !arguments.at.is_empty() {
        Request::Lines(arguments.at.clone())
    } else {
        Request::Patch(arguments.range.clone())
    };
    let scope = match &arguments.program {
        Some(path) => Scope::of_program(&context(), path, &request)?,
        None => Scope::of_project(&context(), &arguments.project.find()?, &request)?,
    };
    let found = scope.find(stored::open_existing()?.as_ref())?;
    if arguments.json {
        console::print_data(&report::json(&found.shown(), "targets", started.elapsed()))?;
    } else {
        console::print(&report::text(&found.shown(), arguments.all))?;
    }
    Ok(Exit::Clean)
}
