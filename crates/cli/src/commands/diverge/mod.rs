//! `parallax diverge`: inputs on which two versions of a program behave differently, of two programs or over a project's patch.

mod blame;
mod campaign;
mod compare;
mod journal;
mod keeper;
mod project;
mod single;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use parallax_exec::execute::Settings;
use parallax_scenario::Scenario;
use parallax_search::diverge::{Options, Phase, Progress};
use parallax_search::explore::Shape;
use parallax_trace::region::Symbolic;

use super::budget::{Budget, BudgetArguments};
use super::explore::start::SeededArguments;
use super::means::Means;
use super::project::{ProjectArguments, is_range};
use super::shared;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::counted;
pub use blame::{Accused, prepare as prepare_blame};
pub use campaign::{Campaign, Part, blames, identity};
pub use compare::Ready;
pub use journal::Journal;
pub use keeper::{finding_id, keep, keep_as};
pub use parallax_report::results::diverge::project::Blame;

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
    means: Means,

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
    match (&arguments.what, &arguments.new) {
        (Some(word), None) if is_range(word) => {
            project::run(arguments, Some(&word.to_string_lossy()))
        }
        (None, _) => project::run(arguments, None),
        (Some(old), _) => single::run(arguments, Path::new(old)),
    }
}

impl Arguments {
    /// As words of a command line say.
    pub fn parse(words: &[OsString]) -> Result<Arguments, Failure> {
        shared::parse("diverge", words)
    }

    pub fn means(&self) -> &Means {
        &self.means
    }

    /// How programs are run that are called as this one.
    pub fn settings(&self, program: &Path) -> Settings {
        self.means.settings(program)
    }

    fn format(&self) -> Format {
        match (self.format, self.means.json) {
            (Some(format), _) => format,
            (None, true) => Format::Json,
            (None, false) => Format::Human,
        }
    }

    fn budget(&self) -> Result<Budget, Failure> {
        self.budget.or_of_project()
    }

    /// Everything that a comparison is given.
    fn options(
        &self,
        program: &Path,
        budget: Budget,
        seeds: Vec<Scenario>,
        shape: Shape,
        environment: Vec<Vec<u8>>,
    ) -> Options {
        let symbolic = Symbolic {
            environment,
            following: true,
            ..Symbolic::ALL
        };
        let settings = self.means.compared(program);
        Options {
            seeds,
            explore: self.means.options(budget, shape, symbolic, settings),
        }
    }
}

/// How far a comparison is, in a line that begins with `pace`.
fn progress_line(pace: &str, progress: &Progress) -> String {
    let phase = match progress.phase {
        Phase::Given | Phase::Concolic => "comparing",
        Phase::Bounded => "exploring the new version",
        Phase::Common => "comparing other paths",
        Phase::Numbers => "trying other numbers",
    };
    format!(
        "{pace}  {}, {} shown, {} open  {phase}",
        counted(progress.divergences, "divergence"),
        progress.clusters,
        progress.open,
    )
}
