//! `parallax diverge`: inputs on which two versions of a program behave differently, of two programs or over a project's patch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use parallax_campaign::diverge::single::Versions;
use parallax_campaign::diverge::{self, Options};
use parallax_campaign::{Answer, Failure};
use parallax_search::engine::Phase;

use super::budget::BudgetArguments;
use super::explore::start::SeededArguments;
use super::project::{ProjectArguments, is_range};
use super::setup::SetupArguments;
use crate::console;
use crate::exit::Exit;

/// Find inputs on which two versions behave differently
///
/// In a project: the recorded scenarios that run lines which a range of revisions changes, in each program that has them (if none
/// does, inputs that do are searched for first). With programs: one command line. Both versions run the same input. Where a
/// condition is not the same in both, inputs are looked for that one version decides otherwise than the other; then the
/// new version is explored from there. Every such input is run on both versions, plain and with sanitizers: errors that only the new
/// version has are regressions, errors that only the old one has are fixed, and what else differs is shown. In a
/// project, parts of the patch are then left out to find the hunks that each difference comes from.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax diverge HEAD~1..HEAD                      # the last commit, from the recorded tests
  parallax diverge                                   # your uncommitted changes
  parallax diverge v1.0..v1.1 --golden v1.2 --time 5m --format sarif > diverge.sarif
  parallax diverge old/prog new/prog -- -x file.txt
  parallax diverge old/prog new/prog --golden fixed/prog --time 30s --stdin input.txt
  parallax diverge old/prog new/prog --seeds tests/         # each file in it is a scenario
  parallax diverge old/prog new/prog --json -- 1 | jq '.findings[] | {kind, argv: .scenario.argv}'
  parallax diverge annotated/prog -- -x file.txt      # its source: if (change(x > 10, x > 20)) …

Generated inputs are run in a sandbox. In a project, an input for each difference is kept as a scenario (`parallax scenarios`,
`parallax replay ID --on both`). A comparison that was interrupted goes on when the same is asked again; scenarios that were done are not
compared on again (--again does). With programs, files that the arguments name are copied, and inputs are kept in
.parallax/diverge/ (--output).
Exit code: 1 if a difference was seen, 0 if not.",
    mut_arg("time", |time| time.help("End after this time (default: as parallax.toml says, else 60 s, unless --runs is given); to find the guilty hunks takes at most as long again")),
    mut_arg("runs", |runs| runs.help("End after this many traced runs (in a project: of each program and job)")))]
pub struct Arguments {
    /// In a project: OLD..NEW, OLD...NEW or OLD.. (default: what is not committed). Otherwise the version before the change, built
    /// with parallax-cc; or the only program, if its source says what was changed with change(old, new) of <parallax.h>
    #[arg(value_name = "RANGE|OLD")]
    what: Option<OsString>,

    /// The version after the change, built with parallax-cc
    new: Option<PathBuf>,

    /// A version that is known to be right (in a project a revision, else a program): tells regressions from what was intended
    #[arg(long, value_name = "REV|PROGRAM")]
    golden: Option<OsString>,

    /// In a project: only in this program, by its name in the build tree or the last part of it (may be repeated)
    #[arg(long = "program", value_name = "NAME", id = "only")]
    only: Vec<PathBuf>,

    #[command(flatten)]
    start: SeededArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// Leave out kinds of work, by their names in the JSON report (for experiments)
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_parser = parse_phase, hide = true)]
    without: Vec<Phase>,

    /// In a project: compare again what was compared before
    #[arg(long)]
    again: bool,

    /// In a project: do not look for the hunks that differences come from
    #[arg(long)]
    no_blame: bool,

    /// What is printed (--json is short for --format json)
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    format: Option<Format>,

    #[command(flatten)]
    setup: SetupArguments,

    #[command(flatten)]
    project: ProjectArguments,
}

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Human,
    /// The document that all commands print
    Json,
    /// SARIF 2.1.0, which code hosts and editors show at the guilty lines
    Sarif,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let answer = match (&arguments.what, &arguments.new) {
        (Some(word), None) if is_range(word) => project(arguments, Some(&word.to_string_lossy()))?,
        (None, _) => project(arguments, None)?,
        (Some(old), _) => single(arguments, Path::new(old))?,
    };
    match (arguments.format, arguments.setup.json) {
        (Some(Format::Json), _) | (None, true) => console::print_data(&answer.json)?,
        (Some(Format::Sarif), _) => console::print_data(&answer.sarif)?,
        (Some(Format::Human), _) | (None, false) => console::print(&answer.text)?,
    }
    Ok(answer.exit)
}

pub(super) fn parse_phase(text: &str) -> Result<Phase, String> {
    let mut all = Phase::ALL.into_iter();
    let found = all.find(|phase| phase.name() == text);
    found.ok_or_else(|| {
        let names = Phase::ALL.map(Phase::name).join(", ");
        format!("one of {names}")
    })
}

fn options(arguments: &Arguments) -> Result<Options, Failure> {
    Ok(Options {
        setup: arguments.setup.plain(),
        budget: arguments.budget.or_of_project()?,
        only: arguments.only.clone(),
        again: arguments.again,
        blame: !arguments.no_blame,
        without: arguments.without.clone(),
    })
}

/// The programs of a project, from recorded scenarios.
fn project(arguments: &Arguments, range: Option<&str>) -> Result<Answer, Failure> {
    // Options of the other mode are a misunderstanding.
    if !arguments.start.is_empty() {
        let message = "recorded scenarios have their own arguments and input";
        return Err(Failure::new(Exit::Usage, message)
            .hint("parallax diverge OLD_PROGRAM NEW_PROGRAM -- ARGS compares two programs"));
    }
    let golden = arguments.golden.as_ref().map(|word| word.to_string_lossy());
    let options = options(arguments)?;
    let project = arguments.project.find()?;
    diverge::project::run(&options, project, range, golden.as_deref())
}

/// Two programs, or one with two versions in its source, and one command line.
fn single(arguments: &Arguments, old: &Path) -> Result<Answer, Failure> {
    if !arguments.only.is_empty() {
        let message = "--program chooses among the programs of a project";
        return Err(
            Failure::new(Exit::Usage, message).hint("parallax diverge OLD..NEW --program NAME")
        );
    }
    let start = arguments.start.read()?;
    let versions = Versions {
        old,
        new: arguments.new.as_deref(),
        golden: arguments.golden.as_ref().map(Path::new),
    };
    diverge::single::run(&options(arguments)?, &versions, start)
}
