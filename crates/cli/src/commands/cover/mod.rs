//! `parallax cover`: inputs that reach given lines, of one program or of a project's patch.

mod campaign;
mod covering;
mod keeper;
mod prepared;
mod project;
mod ranking;
mod search;
mod single;
mod spots;
mod survey;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_analysis::{Analysis, ModuleCode};
use parallax_search::cover::Heuristic;
use parallax_search::cover::map::NoTarget;
use parallax_search::explore;
use parallax_search::explore::Shape;
use parallax_trace::region::Symbolic;

use super::budget::{Budget, BudgetArguments};
use super::explore::seed::StartArguments;
use super::means::Means;
use super::patch::Wish;
use super::project::{ProjectArguments, is_range};
use super::shared;
use crate::commands::trace::{Input, symbolic};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::parse_time;
pub use campaign::Campaign;
pub use covering::{Covering, variables};
pub use keeper::test_name;
pub use project::reach;

/// Find inputs that reach given lines, or the changed lines that no test reaches
///
/// In a project: the lines that a range of revisions changes and that no recorded scenario runs, one after the other, in the programs that
/// have them, starting from the recorded scenarios that come nearest. With PROGRAM: lines of that program, starting from one
/// command line, or from nothing with --sym-arg and the like. The program's code says how many branches lie
/// between each branch of a run and the line; the input is changed so that the nearest one goes the other way, and so
/// on. A line counts as reached when a run of the program with counters says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax cover HEAD~1..HEAD                # what the last commit changed and no test runs
  parallax cover HEAD.. --time 10s           # your uncommitted changes, at most 10 s for each target
  parallax cover --uncovered --budget 1h     # everything that no test runs, for an hour
  parallax cover --at parse.c:120            # one line, from the recorded scenarios
  parallax cover ./prog --at parse.c:120 --at lex.c:33 --time 30s --stdin input.txt -- -x file.txt
  parallax cover ./prog --at parse.c:120 --json -- 1 | jq '.targets[].steps[].scenario.argv'

In a project, every new input is kept as a scenario (`parallax scenarios`) and written as a test file to .parallax/cover/tests
(--output), which is run before it is reported. `parallax why FILE:LINE` says what became of a line. An interrupted search goes on
where it was when the same is asked again; what is settled is not searched for again (--again does).
With PROGRAM, files that the arguments name are copied, and inputs are kept in .parallax/cover/PROGRAM (--output).
Generated inputs are run in a sandbox.
Exit code: 0 the search is over, whatever it found; the report says which lines were reached.",
    mut_arg("time", |time| time.help("End the search for a line after this time (default: as parallax.toml says, else 60 s, unless --runs is given)")),
    mut_arg("runs", |runs| runs.help("End the search for a line after this many traced runs")))]
pub struct Arguments {
    /// A program built with parallax-cc; or OLD..NEW, OLD...NEW or OLD.. in a project (default: what is not committed)
    #[arg(value_name = "PROGRAM|RANGE")]
    what: Option<OsString>,

    /// A line to reach (may be repeated); the end of the file's path is enough
    #[arg(long, value_name = "FILE:LINE", value_parser = shared::parse_place, conflicts_with = "uncovered")]
    at: Vec<(String, u32)>,

    /// All code that no recorded scenario runs
    #[arg(long)]
    uncovered: bool,

    /// In a project: only in this program, by its name in the build tree or the last part of it (may be repeated)
    #[arg(long = "program", value_name = "NAME", id = "only")]
    only: Vec<PathBuf>,

    #[command(flatten)]
    start: StartArguments,

    #[command(flatten)]
    budget: BudgetArguments,

    /// In a project: end everything after this time
    #[arg(long = "budget", value_name = "TIME", value_parser = parse_time)]
    total: Option<Duration>,

    /// In a project: search for targets again that are settled
    #[arg(long)]
    again: bool,

    /// In a project: what test files are written as (default: test.template of parallax.toml, else sh)
    #[arg(long, value_enum, value_name = "FORMAT")]
    tests: Option<Tests>,

    /// Which input may be changed: argv (bytes of the arguments), argc (their number), stdin, files, streams (sockets
    /// and pipes), env:NAME (default: all of it; for a server, whose files are its configuration, all but files)
    #[arg(long, value_delimiter = ',', value_name = "INPUTS")]
    symbolic: Vec<Input>,

    /// Leave out parts of the search: preconditions, pointers, regenerate, switch, structure, splice, survey
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = parse_heuristic)]
    without: Vec<Heuristic>,

    #[command(flatten)]
    means: Means,

    #[command(flatten)]
    project: ProjectArguments,

    /// Arguments for PROGRAM
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// What test files can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Tests {
    /// A shell script
    Sh,
    Bats,
    /// None
    None,
}

fn parse_heuristic(text: &str) -> Result<Heuristic, String> {
    let known = Heuristic::ALL.into_iter().find(|one| one.name() == text);
    known.ok_or_else(|| {
        let names = Heuristic::ALL.map(Heuristic::name);
        format!("there are: {}", names.join(", "))
    })
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match arguments.what.as_deref() {
        Some(word) if !is_range(word) => single::run(arguments, Path::new(word)),
        range => {
            let range = range.map(|range| range.to_string_lossy().into_owned());
            let is_range = range.is_some();
            if is_range && (arguments.uncovered || !arguments.at.is_empty()) {
                let message = "a range says which lines are meant; --at and --uncovered do, too";
                return Err(Failure::new(Exit::Usage, message).hint("leave out one or the other"));
            }
            if !arguments.arguments.is_empty() {
                let message = "the words behind -- are arguments for a program";
                return Err(Failure::new(Exit::Usage, message)
                    .hint("parallax cover PROGRAM --at FILE:LINE -- ARGS"));
            }
            let wish = if arguments.uncovered {
                Wish::Everything
            } else if !arguments.at.is_empty() {
                Wish::Lines(arguments.at.clone())
            } else {
                Wish::Patch(range)
            };
            project::run(arguments, &wish)
        }
    }
}

impl Arguments {
    /// As words of a command line say.
    pub fn parse(words: &[OsString]) -> Result<Arguments, Failure> {
        shared::parse("cover", words)
    }

    /// How long the search for one line may take.
    fn budget(&self) -> Result<Budget, Failure> {
        self.budget.or_of_project()
    }

    /// The program's code, analysed.
    fn analyse(&self, code: Vec<ModuleCode>) -> Analysis {
        match self.without.contains(&Heuristic::Pointers) {
            true => Analysis::without_pointers(code),
            false => Analysis::new(code, []),
        }
    }

    fn left_out(&self) -> BTreeSet<Heuristic> {
        self.without.iter().copied().collect()
    }

    /// Everything that a search for one line is given besides its seeds.
    fn options(
        &self,
        program: &Path,
        budget: Budget,
        shape: Shape,
        variables: Vec<Vec<u8>>,
        is_server: bool,
    ) -> explore::Options {
        let input = match self.symbolic.as_slice() {
            [] => Symbolic {
                environment: variables,
                files: !is_server,
                ..Symbolic::ALL
            },
            chosen => symbolic(chosen),
        };
        let symbolic = Symbolic {
            following: true,
            ..input
        };
        let usual = self.means.settings(program);
        self.means.options(budget, shape, symbolic, usual)
    }
}

impl From<NoTarget> for Failure {
    fn from(error: NoTarget) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            NoTarget::NoFile { .. } => {
                failure.hint("name a source file of the program as FILE:LINE")
            }
            NoTarget::Ambiguous { .. } => failure.hint("write more of the path"),
            NoTarget::NoCode { .. } => failure.hint("parallax targets shows which lines have code"),
        }
    }
}
