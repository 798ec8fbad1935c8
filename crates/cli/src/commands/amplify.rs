//! `parallax amplify`: what tests execute, checked for all inputs of their paths and of paths nearby.

use std::ffi::OsString;
use std::path::PathBuf;

use parallax_campaign::amplify::{self, Options};
use parallax_campaign::{Failure, record, variants};
use parallax_search::amplify::sample::Sample;

use super::budget::BudgetArguments;
use super::explore::seed::{self, GivenArguments};
use super::setup::SetupArguments;
use crate::console;
use crate::events;
use crate::exit::Exit;

/// Check what tests execute for all inputs of their paths, and of paths nearby
///
/// Runs each test and asks of every operation that could fail (memory access, division, signed
/// overflow, shift, allocation size, length of a copy, assertion) whether it does for any input that takes the same path:
/// distance 0. Then the paths are left near such operations, nearest first, as long as there is time. Every input
/// that makes something fail is run on the program built with sanitizers, and reported if it fails there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax amplify -- make check                     # records the tests, then amplifies them
  parallax amplify --time 20m                        # all tests that were recorded
  parallax amplify --program cut --sample 30%        # of one program, some of them
  parallax amplify ./cut -- -c3-5,6- --output-d=: file
  parallax amplify ./prog --stdin input.txt --max-distance 0 --json | jq '.findings[].distance'

With a program, the words behind -- are its arguments, and files that they name are copied; without one, they are
the command that runs the tests. Generated inputs are run in a sandbox. Findings are kept in .parallax/amplify/ (--output).
An amplification that was interrupted goes on where it was when the same is asked again; one that has ended is not
repeated (--fresh does).
Exit code: 0 nothing found, 1 errors were found.",
    mut_arg("time", |time| time.help("End after this time (default: as parallax.toml says, else 60 s, unless --runs or --max-distance is given)")))]
pub struct Arguments {
    /// A program built with parallax-cc (default: all that tests were recorded of)
    program: Option<PathBuf>,

    #[command(flatten)]
    given: GivenArguments,

    /// Without PROGRAM: tests of this program only, by its name in the build tree or the last part of it (may be repeated)
    #[arg(
        long = "program",
        value_name = "NAME",
        id = "only",
        conflicts_with = "program"
    )]
    only: Vec<PathBuf>,

    /// Without PROGRAM: the build tree that the programs are in, and that the test command runs in
    #[arg(short = 'C', long, value_name = "DIR", conflicts_with = "program")]
    directory: Option<PathBuf>,

    /// Leave paths at most so many points before what could fail; 0: check the paths themselves only
    #[arg(long, value_name = "D")]
    max_distance: Option<usize>,

    /// Follow a path that leaves at distance D over so many times D points
    #[arg(long, value_name = "F", default_value = "2")]
    depth_factor: usize,

    /// Amplify only a random share of the tests: a number, or a percentage
    #[arg(long, value_name = "K%|N")]
    sample: Option<Sample>,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Number that chooses the sample
    #[arg(long, value_name = "K", default_value = "1")]
    seed: u64,

    /// Begin anew, even if the same was amplified before
    #[arg(long)]
    fresh: bool,

    #[command(flatten)]
    setup: SetupArguments,

    /// Arguments for the program; without PROGRAM the command that runs the tests
    #[arg(last = true, value_name = "ARGS")]
    words: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let setup = arguments.setup.plain();
    let chosen = match &arguments.program {
        Some(path) => {
            let program = variants::read(path)?;
            let given = seed::start(&arguments.given, &arguments.words)?;
            amplify::one(&setup, path, &program, given)?
        }
        None => {
            if !arguments.given.is_empty() {
                let message = "--stdin, --file and --env belong to a command line";
                return Err(Failure::new(Exit::Usage, message).hint(
                    "parallax amplify PROGRAM --stdin FILE -- ARGS; recorded tests have their own input",
                ));
            }
            if !arguments.words.is_empty() {
                let options = record::Options {
                    directory: arguments.directory.clone(),
                    command: arguments.words.clone(),
                    ..record::Options::default()
                };
                let recorded = record::keep(&setup.context, &options)?;
                console::print_error(&recorded.text);
                if recorded.exit == Exit::Interrupted {
                    return Ok(Exit::Interrupted);
                }
            }
            amplify::all(&setup, &arguments.only, arguments.directory.as_deref())?
        }
    };
    let options = Options {
        setup,
        budget: match arguments.max_distance {
            None => arguments.budget.or_of_project()?,
            Some(_) => arguments.budget.asked(),
        },
        max_distance: arguments.max_distance,
        depth_factor: arguments.depth_factor,
        sample: arguments.sample,
        seed: arguments.seed,
        fresh: arguments.fresh,
    };
    events::print(&amplify::run(&options, &chosen)?, arguments.setup.json)
}
