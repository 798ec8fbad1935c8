//! `parallax replay`: runs a finding or a scenario again, and says what is different.

mod all;
mod directories;
mod subjects;
pub mod what;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use parallax_exec::compare::Window;
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, ReplayError, Replayer, Seen};
use parallax_exec::sandbox::Policy;

use crate::console;
use crate::exit::Exit;
use crate::size::parse_seconds;
use parallax_campaign::Failure;
use parallax_report::results::replay as report;
use parallax_report::results::replay::{Reference, ReplayReport, Shown};
use subjects::Subjects;

/// Run a finding or a scenario again
///
/// Shows what each version and build does with it, side by side, and how that differs from what was recorded, or from the
/// first of them. Every build is run three times: what does not come out the same each time is marked flaky. Addresses,
/// process numbers, times, temporary names and the program's own name do not count as differences.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax replay .parallax/explore/prog/findings/abort-prog.c-12
  parallax replay 3f2a --build checked        # a scenario of the store, by the beginning of its id
  parallax replay 3f2a --on both --range v1.0..HEAD
  parallax replay input.json --program ./prog
  parallax replay --all --check               # does every recorded scenario give what was recorded?

Everything runs in the sandbox that generated inputs run in.
Exit code: 0 as recorded and no error seen, 1 otherwise.")]
pub struct Arguments {
    /// A finding (directory or id), a scenario of the store (id) or a file with one
    #[arg(value_name = "FINDING|SCENARIO", required_unless_present = "all")]
    what: Option<OsString>,

    /// Which version to run; it is built if need be
    #[arg(long, value_enum)]
    on: Option<On>,

    /// The versions that --on is about (default: HEAD~1..HEAD)
    #[arg(long, value_name = "OLD..NEW")]
    range: Option<String>,

    /// Which build to run; may be repeated (default: plain, for findings also checked)
    #[arg(long, value_enum)]
    build: Vec<BuildName>,

    /// Run this program instead of the one that was recorded
    #[arg(long, value_name = "PATH", conflicts_with_all = ["on", "range"])]
    program: Option<PathBuf>,

    /// Run all recorded scenarios
    #[arg(long, conflicts_with = "what")]
    all: bool,

    /// With --all: compare with what was recorded, and say what does not come out the same
    #[arg(long, requires = "all")]
    check: bool,

    /// With --all: run at most N scenarios, spread evenly over all
    #[arg(long, value_name = "N", requires = "all")]
    count: Option<usize>,

    /// With --check: exit code 0 if at least so many percent are the same
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "100",
        requires = "check"
    )]
    at_least: f64,

    /// Work on so many things at once (default: one per processor)
    #[arg(long, short, value_name = "N")]
    jobs: Option<usize>,

    /// A file or directory that the program needs, where it would be hidden (below /tmp)
    #[arg(long, value_name = "PATH")]
    readable: Vec<PathBuf>,

    /// End a single run after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    timeout: Duration,

    /// Run without a sandbox: inputs can do whatever you can
    #[arg(long)]
    no_sandbox: bool,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// A version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum On {
    Old,
    New,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum BuildName {
    /// As you build it
    Plain,
    /// With sanitizers
    Checked,
    /// With counters of what ran
    Covered,
}

impl From<BuildName> for Build {
    fn from(name: BuildName) -> Build {
        match name {
            BuildName::Plain => Build::Plain,
            BuildName::Checked => Build::Checked,
            BuildName::Covered => Build::Covered,
        }
    }
}

/// How often each build is run.
const TIMES: usize = 3;
/// Recorded results may be so old: dates in them are those of their run.
const RECORDED_SINCE: Duration = Duration::from_secs(60 * 24 * 60 * 60);

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(what) = &arguments.what else {
        return all::run(arguments);
    };
    let what = what::find(what)?;
    let builds = match (arguments.build.is_empty(), what.is_finding) {
        (false, _) => arguments.build.iter().copied().map(Build::from).collect(),
        (true, true) => vec![Build::Plain, Build::Checked],
        (true, false) => vec![Build::Plain],
    };
    let mut known = Subjects::new(arguments, &builds)?;
    let subjects = known.of(&what.program)?;
    let settings = settings(arguments, &known);
    let window = Window::since(RECORDED_SINCE);
    let mut shown = Vec::new();
    for subject in subjects {
        let label = subject.label.clone();
        let mut replayer = Replayer::new(subject, &settings)?;
        let first = replayer.run(&what.scenario)?;
        let mut is_flaky = false;
        for _ in 1..TIMES {
            is_flaky |= !replayer.run(&what.scenario)?.is_like(&first, window);
        }
        shown.push(Shown {
            label,
            build: replayer.subject.build,
            seen: first,
            is_flaky,
        });
    }
    let reference = what.result.as_ref().map(|ending| Reference {
        ending,
        names: &what.names,
    });
    let report = ReplayReport::new(&what, reference, &shown, window);
    if arguments.json {
        console::print_data(&report::json(&report))?;
    } else {
        console::print(&report::text(&report, console::width()))?;
    }
    let has_problems = shown.iter().any(|shown| !shown.seen.problems.is_empty());
    Ok(match report.is_same() && !has_problems {
        true => Exit::Clean,
        false => Exit::Findings,
    })
}

/// What every run gets.
fn settings(arguments: &Arguments, subjects: &Subjects) -> Settings {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let fixed = [("PATH", path), ("HOME", "/".into())];
    Settings {
        timeout: arguments.timeout,
        readable: [arguments.readable.clone(), subjects.folders()].concat(),
        environment: fixed
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect(),
        sandbox: match arguments.no_sandbox {
            true => Policy::Off,
            false => Policy::Required,
        },
        ..Settings::default()
    }
}

/// Runs again what was not as recorded: if it comes out the same in none of several runs, it is not by chance.
fn again(
    replayer: &mut Replayer,
    scenario: &parallax_scenario::Scenario,
) -> Result<Vec<Seen>, ReplayError> {
    (1..TIMES).map(|_| replayer.run(scenario)).collect()
}
