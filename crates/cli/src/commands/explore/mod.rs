//! `parallax explore`: new inputs for new paths and errors.

mod groups;
pub mod seed;
pub mod start;

use std::ffi::OsString;
use std::path::PathBuf;

use parallax_campaign::explore::{self, Options};
use parallax_campaign::{Failure, variants};

use super::budget::BudgetArguments;
use super::setup::SetupArguments;
use crate::events;
use crate::exit::Exit;

/// Find new inputs for a captured program: new paths, new errors
///
/// Starts from one command line, or from nothing with --sym-arg and the like, changes the input so that branches go the
/// other way, operations fail and inputs end elsewhere, and keeps every input that runs new code.
/// Errors (crash, failed assertion, out-of-bounds access and other sanitizer reports, hanging) are reported when they
/// were seen on the plain program or on the one built with sanitizers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax explore ./prog -- -x file.txt
  parallax explore ./prog --stdin input.txt --time 5m
  parallax explore ./prog --sym-args 0 2 10 --sym-stdin 8 --sym-file A 8
  parallax explore ./prog --runs 1000 --seed 7 --json -- 1+2 | jq '.findings[].scenario.argv'

Files that the arguments name are copied; every run has a directory of its own. Generated inputs are run in a
sandbox. Tests and findings are kept in .parallax/explore/ (--output). An exploration that was interrupted goes on
where it was when the same is asked again; one that has ended is not repeated (--fresh does).
Exit code: 0 nothing found, 1 errors were found.")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    #[command(flatten)]
    start: seed::StartArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Make inputs only from inputs that are at most so many steps from the first ones
    #[arg(long, value_name = "N")]
    generations: Option<u32>,

    /// Do not measure coverage; inputs are then told apart by branches on the input alone
    #[arg(long)]
    no_coverage: bool,

    /// Number that decides between equally good choices: the same number and --runs give the same result
    #[arg(long, value_name = "K", default_value = "1")]
    seed: u64,

    /// Which inputs are kept
    #[arg(long, value_enum, default_value = "new-code")]
    keep: Keep,

    /// Begin anew, even if the same was explored before
    #[arg(long)]
    fresh: bool,

    #[command(flatten)]
    setup: SetupArguments,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Keep {
    /// Those that ran code that none before had run
    NewCode,
    /// One for every path
    Paths,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let program = variants::read(&arguments.program)?;
    let start = seed::shape(&arguments.start, &arguments.arguments)?;
    let options = Options {
        setup: arguments.setup.plain(),
        budget: arguments.budget.or_of_project()?,
        generations: arguments.generations,
        coverage: !arguments.no_coverage,
        seed: arguments.seed,
        keep_paths: arguments.keep == Keep::Paths,
        fresh: arguments.fresh,
    };
    let answer = explore::run(&options, &arguments.program, &program, start)?;
    events::print(&answer, arguments.setup.json)
}
