//! `parallax check`: everything there is about one patch, in one command and one budget.

use std::time::Duration;

use parallax_campaign::Failure;
use parallax_campaign::check::{self, Options};

use super::formats::FormatArguments;
use super::project::ProjectArguments;
use super::setup::RunningArguments;
use crate::events::context;
use crate::exit::Exit;
use crate::size::parse_time;

/// Check a patch: does it change behaviour, bring errors, and do tests run it?
///
/// Builds the versions before and after the patch, records the tests of the new one, and searches for inputs: on which the versions do
/// different things, that run changed lines which no test runs, and that make changed code fail. What it finds was seen when the input
/// was run on the real programs. Time goes to whatever still finds something.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax check                            # this branch and your open changes
  parallax check HEAD~1..HEAD --budget 1m   # the last commit
  parallax check main...topic               # a branch since it left main
  parallax check --format html,sarif -o out # the report in files, too
  git bisect start BAD GOOD && git bisect run parallax check GOOD..HEAD

--budget is the time for searching. Building the versions and running the tests once come before it, and are kept for the next time. \
Ctrl-C ends the search and reports what is known. Running the same again goes on where that ended, also after a crash, with the time that was left.

What is intended can be accepted: parallax accept FINDING --because \"...\". A commit message with the line `Behaviour: none` at its end says that \
nothing that can be seen changes: then every difference is an error.

Exit code: 0 nothing found, 1 errors or differences that nobody accepted, 2 wrong use, 4 not tested (no input runs what the patch changes), 125 a version does not build (git bisect skips it), \
130 ended by Ctrl-C.")]
pub struct Arguments {
    /// OLD..NEW, OLD...NEW or OLD.. (default: from where this branch left its upstream branch to your files as they are)
    range: Option<String>,

    /// Time for searching
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = parse_time)]
    budget: Duration,

    /// A revision that is known to be right: tells regressions from what was intended
    #[arg(long, value_name = "REV")]
    golden: Option<String>,

    /// Do not look for the hunks that differences come from
    #[arg(long)]
    no_blame: bool,

    #[command(flatten)]
    formats: FormatArguments,

    #[command(flatten)]
    running: RunningArguments,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    arguments.formats.check()?;
    let options = Options {
        running: arguments.running.plain(),
        range: arguments.range.clone(),
        budget: arguments.budget,
        golden: arguments.golden.clone(),
        blame: !arguments.no_blame,
    };
    let write = |report: &_| arguments.formats.write(report);
    let project = arguments.project.find()?;
    match check::run(&context(), &options, project, &write) {
        // So that `git bisect run` skips what cannot be tested.
        Err(mut failure) if failure.exit == Exit::BuildFailed => {
            failure.exit = Exit::CannotTest;
            Err(failure)
        }
        result => result,
    }
}
