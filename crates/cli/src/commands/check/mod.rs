//! `parallax check`: everything there is about one patch, in one command and one budget.

mod clock;
mod fill;
mod judge;
mod schedule;
mod screen;
mod suite;
mod together;
mod turns;
mod work;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parallax_project::{Project, Selected, Selection, accepted};
use parallax_report::model::Phase;
use parallax_report::{PatchReport, kept};

use super::explore::watch::{self, Watcher};
use super::formats::FormatArguments;
use super::means::Running;
use super::patch::{Scope, is_source};
use super::project::ProjectArguments;
use super::stored;
use super::versions::Pair;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::parse_time;
use clock::{Clock, Used};
use suite::Recorded;
pub use work::{Orders, Thing, Work};

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

Exit code: 0 nothing found, 1 errors or differences that nobody accepted, 2 wrong use, 125 a version does not build (git bisect skips it), \
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
    running: Running,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    match check(arguments) {
        // So that `git bisect run` skips what cannot be tested.
        Err(mut failure) if failure.exit == Exit::BuildFailed => {
            failure.exit = Exit::CannotTest;
            Err(failure)
        }
        result => result,
    }
}

fn check(arguments: &Arguments) -> Result<Exit, Failure> {
    let started = Instant::now();
    arguments.formats.check()?;
    let project = arguments.project.find()?;
    let accepted = accepted::read(&project.root)?;
    let mut notes = Vec::new();
    let (selected, note) = select(&project, arguments.range.as_deref())?;
    notes.extend(note);
    let golden = match &arguments.golden {
        Some(word) => Some(project.select(&Selection::Words(word.clone()))?.new),
        None => None,
    };
    announce(&selected);
    let pair = Pair::of_selected(project, selected, golden)?;
    let built = started.elapsed();
    let subjects = pair.changed(&[])?;
    if subjects.is_empty() {
        let report = fill::nothing(&pair)?;
        return finish(arguments, report, notes, started);
    }
    let store = stored::open()?;
    let in_use = store.begin("parallax check")?;
    let began = Instant::now();
    if suite::ensure(&store, &pair)? == Recorded::Interrupted {
        in_use.end(Exit::Interrupted as u8)?;
        return Ok(Exit::Interrupted);
    }
    let recorded = began.elapsed();
    let orders = Orders::new(&arguments.running.words(), arguments.no_blame)?;
    let mut scope = Scope::of_patch(&pair.project, &pair.builds.old.revision, &pair.builds.new)?;
    let is_changed = |name: &str| subjects.iter().any(|subject| subject.name == name);
    scope.subjects.retain(|subject| is_changed(&subject.name));
    let mut watcher = Watcher::new(Vec::new(), None);
    watcher.tell("which changed lines do the tests run?".to_owned());
    let found = scope.find(Some(&store))?;
    watcher.finish(&[])?;
    let mut work = Work::new(&orders, &pair, &store, subjects, &scope, &found)?;
    let before = [
        ("build", built + began.elapsed() - recorded, "both versions"),
        ("record", recorded, "the tests"),
    ];
    let used = Used::read(&stored::directory(), &work.name, arguments.budget);
    notes.extend(goes_on(&used, arguments.budget));
    let clock = Clock::start();
    let meter = used.measure(clock.clone());
    let came = turns::search(&mut work, used.left(), clock, !arguments.no_blame)?;
    work.complain();
    let mut report = fill::report(&work, &came.blames, &accepted)?;
    let before = before.into_iter().map(|(name, time, gave)| Phase {
        name: name.to_owned(),
        seconds: time.as_secs_f64(),
        gave: gave.to_owned(),
        left: None,
    });
    report.phases = before.chain(came.phases).collect();
    report.timeline = came.timeline;
    report.is_interrupted = watch::interrupted();
    report.stats.runs = came.runs;
    report.stats.searched = (used.before + came.searched).as_secs_f64();
    report.stats.budget = Some(arguments.budget.as_secs_f64());
    let exit = finish(arguments, report, notes, started)?;
    if !watch::interrupted() {
        meter.forget();
    }
    in_use.end(exit as u8)?;
    Ok(exit)
}

/// The revisions that a range means, or that are meant without one; why, where that is not plain.
pub fn select(
    project: &Project,
    range: Option<&str>,
) -> Result<(Selected, Option<String>), Failure> {
    if let Some(range) = range {
        let selected = project.select(&Selection::Words(range.to_owned()))?;
        return Ok((selected, None));
    }
    let usual = project.usual_patch(is_source)?;
    if let Some(note) = &usual.note {
        console::note(note);
    }
    Ok((usual.selected, usual.note))
}

/// Says that a search was cut off, and what it has left.
fn goes_on(used: &Used, budget: Duration) -> Option<String> {
    if used.before.is_zero() {
        return None;
    }
    let [left, budget] = [used.left(), budget].map(screen::clock);
    let note = format!("the last search was cut off and goes on: {left} of {budget} are left");
    console::note(&note);
    Some(note)
}

/// Says what is looked at, before it takes time.
fn announce(selected: &Selected) {
    if let Some(old) = &selected.old {
        let text = format!("checking {} → {}\n", old.label, selected.new.label);
        console::print_error(&text);
    }
}

/// Keeps and writes the report.
fn finish(
    arguments: &Arguments,
    mut report: PatchReport,
    notes: Vec<String>,
    started: Instant,
) -> Result<Exit, Failure> {
    report.notes.extend(notes);
    report.stats.seconds = started.elapsed().as_secs_f64();
    let finished = SystemTime::now().duration_since(UNIX_EPOCH);
    report.stats.finished = finished.map_or(0, |time| time.as_secs());
    kept::save(&stored::directory(), &report)?;
    arguments.formats.write(&report)?;
    Ok(watch::exit(!report.verdict().is_failure()))
}
