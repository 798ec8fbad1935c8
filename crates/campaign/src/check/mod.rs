//! Everything there is about one patch, in one budget: one search for every goal, and the report that it fills.

pub mod clock;
mod everything;
mod fill;
mod judge;
mod rounds;
mod suite;
mod work;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parallax_project::{Project, Selected, Selection, accepted};
use parallax_report::model::{Phase, Verdict};
use parallax_report::{PatchReport, kept};

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::patch::{Scope, is_source};
use crate::setup::Running;
use crate::stored;
use crate::versions::Pair;
use crate::watch::Watcher;
use clock::{Clock, Used, shown};
use suite::Recorded;
pub use work::{Finding, Orders, Work};

/// All tests of a program are run on both versions before anything else, for one part in so many of the budget at most.
const NATIVELY: u32 = 4;

/// How to check.
pub struct Options {
    pub running: Running,
    /// From where to where; without one, what the project's own branches say.
    pub range: Option<String>,
    /// For searching.
    pub budget: Duration,
    /// A revision that is known to be right.
    pub golden: Option<String>,
    /// Whether to look for the hunks that differences come from.
    pub blame: bool,
}

/// Checks a patch of a project; `write` gets the report once it is kept.
pub fn run(
    context: &Context,
    options: &Options,
    project: Project,
    write: &dyn Fn(&PatchReport) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let accepted = accepted::read(&project.root)?;
    let mut notes = Vec::new();
    let (selected, note) = select(context, &project, options.range.as_deref())?;
    notes.extend(note);
    let golden = match &options.golden {
        Some(word) => Some(project.select(&Selection::Words(word.clone()))?.new),
        None => None,
    };
    announce(context, &selected);
    let pair = Pair::of_selected(context, project, selected, golden)?;
    let built = started.elapsed();
    let subjects = pair.changed(&[])?;
    if subjects.is_empty() {
        let report = fill::nothing(&pair)?;
        return finish(context, report, notes, started, write);
    }
    let store = stored::open()?;
    let in_use = store.begin("parallax check")?;
    let began = Instant::now();
    if suite::ensure(&store, &pair)? == Recorded::Interrupted {
        in_use.end(Exit::Interrupted as u8)?;
        return Ok(Exit::Interrupted);
    }
    let recorded = began.elapsed();
    let orders = Orders::new(context, &options.running, options.blame);
    let mut scope = Scope::of_patch(&pair)?;
    let is_changed = |name: &str| subjects.iter().any(|subject| subject.name == name);
    scope.subjects.retain(|subject| is_changed(&subject.name));
    let watcher = Watcher::new(context, Vec::new(), None);
    watcher.tell("which changed lines do the tests run?");
    let found = scope.find(Some(&store))?;
    watcher.finish(&[])?;
    let time = Some(options.budget / NATIVELY);
    let mut work = Work::new(&orders, &pair, &store, subjects, &scope, &found, time)?;
    let before = [
        ("build", built + began.elapsed() - recorded, "both versions"),
        ("record", recorded, "the tests"),
    ];
    let used = Used::read(&stored::directory(), &work.name, options.budget);
    notes.extend(goes_on(context, &used, options.budget));
    let clock = Clock::start();
    let meter = used.measure(clock.clone());
    let came = rounds::search(&mut work, used.left(), clock, options.blame)?;
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
    report.is_interrupted = context.is_cancelled();
    report.stats.runs = came.runs;
    report.stats.searched = (used.before + came.searched).as_secs_f64();
    report.stats.budget = Some(options.budget.as_secs_f64());
    let exit = finish(context, report, notes, started, write)?;
    if !context.is_cancelled() {
        meter.forget();
    }
    in_use.end(exit as u8)?;
    Ok(exit)
}

/// The revisions that a range means, or that are meant without one; why, where that is not plain.
pub fn select(
    context: &Context,
    project: &Project,
    range: Option<&str>,
) -> Result<(Selected, Option<String>), Failure> {
    if let Some(range) = range {
        let selected = project.select(&Selection::Words(range.to_owned()))?;
        return Ok((selected, None));
    }
    let usual = project.usual_patch(is_source)?;
    if let Some(note) = &usual.note {
        context.note(note);
    }
    Ok((usual.selected, usual.note))
}

/// Says that a search was cut off, and what it has left.
fn goes_on(context: &Context, used: &Used, budget: Duration) -> Option<String> {
    if used.before.is_zero() {
        return None;
    }
    let [left, budget] = [used.left(), budget].map(shown);
    let note = format!("the last search was cut off and goes on: {left} of {budget} are left");
    context.note(&note);
    Some(note)
}

/// Says what is looked at, before it takes time.
fn announce(context: &Context, selected: &Selected) {
    if let Some(old) = &selected.old {
        context.say(&format!("checking {} → {}", old.label, selected.new.label));
    }
}

/// Keeps and writes the report.
fn finish(
    context: &Context,
    mut report: PatchReport,
    notes: Vec<String>,
    started: Instant,
    write: &dyn Fn(&PatchReport) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    report.notes.extend(notes);
    report.stats.seconds = started.elapsed().as_secs_f64();
    let finished = SystemTime::now().duration_since(UNIX_EPOCH);
    report.stats.finished = finished.map_or(0, |time| time.as_secs());
    kept::save(&stored::directory(), &report)?;
    write(&report)?;
    Ok(match report.verdict() {
        Verdict::Untested => Exit::NotTested,
        verdict => context.exit(!verdict.is_failure()),
    })
}
