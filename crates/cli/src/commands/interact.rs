//! `parallax interact`: orders of executed changes that break something which no change alone does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use parallax_campaign::interact::project::Asked;
use parallax_campaign::interact::single::Versions;
use parallax_campaign::interact::{self, Options};
use parallax_campaign::{Answer, Failure};
use parallax_search::engine::Phase;

use super::budget::BudgetArguments;
use super::diverge::parse_phase;
use super::explore::start::SeededArguments;
use super::project::{ProjectArguments, is_range};
use super::setup::SetupArguments;
use crate::events;
use crate::exit::Exit;

/// Find errors that only show when several changes are executed together
///
/// The changed statements of the new version, the statements in which they meet and the outputs make a graph (`parallax graph`).
/// Inputs are looked for that execute changes in every order that the graph has. Each of them is run on both versions, plain
/// and with sanitizers. Of everything that differs, the changes are shown that the input executed, in order; if no input was seen that
/// skips one of them and shows the same, the changes interact. In a project the search starts from the recorded scenarios that run
/// lines which a range of revisions changes, in each program that has them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax interact HEAD~1..HEAD                            # the last commit, from the recorded tests
  parallax interact old/prog new/prog -- 3-
  parallax interact old/prog new/prog --sym-arg 3 --time 30s
  parallax interact old/prog new/prog --golden fixed/prog --sym-args 0 2 10 --sym-stdin 8
  parallax interact old/prog new/prog --isolated -- 3-      # without the graph, to compare
  parallax interact old/prog new/prog --json -- 3- | jq '.findings[] | {kind, critical, sequence}'

With --golden: a regression is where the old version was right; an incomplete fix is where all three differ; a progression is where
the new version is right. Generated inputs are run in a sandbox. In a project, inputs that show something are kept as scenarios
(`parallax replay ID --on both`); with programs, files that the arguments name are copied, and inputs are kept in .parallax/interact/
(--output).
Exit code: 1 if a difference was seen, 0 if not.")]
pub struct Arguments {
    /// In a project: OLD..NEW, OLD...NEW or OLD.. (default: what is not committed). Otherwise the version before the change, built
    /// with parallax-cc
    #[arg(value_name = "RANGE|OLD")]
    what: Option<OsString>,

    /// The version after the change, built with parallax-cc
    #[arg(value_name = "NEW")]
    new: Option<PathBuf>,

    /// A version that is known to be right (in a project a revision, else a program): tells regressions, incomplete fixes and
    /// progressions apart
    #[arg(long, value_name = "REV|PROGRAM")]
    golden: Option<OsString>,

    /// In a project: only in this program, by its name in the build tree or the last part of it (may be repeated)
    #[arg(long = "program", value_name = "NAME", id = "only")]
    only: Vec<PathBuf>,

    /// Only what this patch (unified format) changes
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,

    /// Without the graph: inputs that execute each change, in whatever order
    #[arg(long)]
    isolated: bool,

    /// Leave out kinds of work, by their names in the JSON report (for experiments)
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_phase, hide = true)]
    without: Vec<Phase>,

    #[command(flatten)]
    start: SeededArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Choices that are left to chance are the same for the same number
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,

    /// Say more: all changes of each finding, and every order of changes that was executed
    #[arg(long, short, conflicts_with = "json")]
    verbose: bool,

    #[command(flatten)]
    setup: SetupArguments,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let answer = match (&arguments.what, &arguments.new) {
        (Some(old), Some(new)) => single(arguments, Path::new(old), new)?,
        (Some(word), None) if is_range(word) => project(arguments, Some(&word.to_string_lossy()))?,
        (None, _) => project(arguments, None)?,
        (Some(old), None) => {
            let message = format!("{} is only one program", Path::new(old).display());
            return Err(Failure::new(Exit::Usage, message).hint(
                "name the old and the new program, or revisions of the project as in HEAD~1..HEAD",
            ));
        }
    };
    events::print(&answer, arguments.setup.json)
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    Ok(Options {
        setup: arguments.setup.plain(),
        budget: arguments.budget.or_of_project()?,
        seed: arguments.seed,
        isolated: arguments.isolated,
        without: arguments.without.clone(),
    })
}

/// The programs of a project, from recorded scenarios.
fn project(arguments: &Arguments, range: Option<&str>) -> Result<Answer, Failure> {
    // Options of the other mode are a misunderstanding.
    if !arguments.start.is_empty() || arguments.patch.is_some() {
        let message =
            "recorded scenarios have their own arguments and input, and a range is a patch";
        return Err(Failure::new(Exit::Usage, message)
            .hint("parallax interact OLD_PROGRAM NEW_PROGRAM -- ARGS compares two programs"));
    }
    let golden = arguments.golden.as_ref().map(|word| word.to_string_lossy());
    let options = options(arguments)?;
    let asked = Asked {
        range,
        golden: golden.as_deref(),
        only: &arguments.only,
        is_verbose: arguments.verbose,
    };
    interact::project::run(&options, arguments.project.find()?, &asked)
}

/// Two programs and one command line.
fn single(arguments: &Arguments, old: &Path, new: &Path) -> Result<Answer, Failure> {
    if !arguments.only.is_empty() {
        let message = "--program chooses among the programs of a project";
        return Err(
            Failure::new(Exit::Usage, message).hint("parallax interact OLD..NEW --program NAME")
        );
    }
    let start = arguments.start.read()?;
    let versions = Versions {
        old,
        new,
        golden: arguments.golden.as_ref().map(Path::new),
        patch: arguments.patch.as_deref(),
    };
    interact::single::run(&options(arguments)?, &versions, start, arguments.verbose)
}
