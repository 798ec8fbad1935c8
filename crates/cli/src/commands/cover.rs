//! `parallax cover`: inputs that reach given lines, of one program or of a project's patch.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_campaign::cover::{self, Options};
use parallax_campaign::patch::Request;
use parallax_campaign::testfile::{Format, Template};
use parallax_campaign::{Answer, Budget, Failure, variants};
use parallax_project::Project;
use parallax_search::cover::Heuristic;

use super::budget::BudgetArguments;
use super::explore::seed::{self, StartArguments};
use super::project::{ProjectArguments, is_range, parse_place};
use super::setup::SetupArguments;
use super::trace::{Input, symbolic};
use crate::events;
use crate::exit::Exit;
use crate::size::parse_time;

/// Find inputs that reach given lines, or the changed lines that no test reaches
///
/// In a project: the lines that a range of revisions changes and that no recorded scenario runs, in turns, in the programs that
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
    #[arg(long, value_name = "FILE:LINE", value_parser = parse_place, conflicts_with = "uncovered")]
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
    setup: SetupArguments,

    #[command(flatten)]
    project: ProjectArguments,

    /// Arguments for PROGRAM
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// What test files can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Tests {
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
    let answer = match arguments.what.as_deref() {
        Some(word) if !is_range(word) => single(arguments, Path::new(word))?,
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
            let request = if arguments.uncovered {
                Request::Everything
            } else if !arguments.at.is_empty() {
                Request::Lines(arguments.at.clone())
            } else {
                Request::Patch(range)
            };
            let project = arguments.project.find()?;
            let budget = arguments.budget.or(&project.config.budget);
            let format = format(arguments, &project)?;
            cover::project::run(&options(arguments, budget), &project, &request, format)?
        }
    };
    events::print(&answer, arguments.setup.json)
}

/// Lines of one program, from one command line or from nothing.
fn single(arguments: &Arguments, path: &Path) -> Result<Answer, Failure> {
    if arguments.at.is_empty() {
        let message = "a program alone does not say which lines are meant";
        return Err(Failure::new(Exit::Usage, message).hint("--at FILE:LINE names one"));
    }
    let program = variants::read(path)?;
    let start = seed::shape(&arguments.start, &arguments.arguments)?;
    let options = options(arguments, arguments.budget.or_of_project()?);
    cover::single::run(&options, path, &program, &arguments.at, start)
}

fn options(arguments: &Arguments, budget: Budget) -> Options {
    let chosen = &arguments.symbolic;
    Options {
        setup: arguments.setup.plain(),
        budget,
        total: arguments.total,
        only: arguments.only.clone(),
        again: arguments.again,
        symbolic: (!chosen.is_empty()).then(|| symbolic(chosen)),
        without: arguments.without.iter().copied().collect(),
    }
}

/// What test files are to be.
fn format(arguments: &Arguments, project: &Project) -> Result<Option<Format>, Failure> {
    let template = &project.config.test.template;
    Ok(match arguments.tests {
        Some(Tests::None) => None,
        Some(Tests::Sh) => Some(Format::Shell),
        Some(Tests::Bats) => Some(Format::Bats),
        None if template.is_empty() => Some(Format::Shell),
        None => Some(Format::Template(Template::read(
            &project.root.join(template),
        )?)),
    })
}
