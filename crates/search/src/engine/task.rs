//! The tasks of a search, and how a slot does them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_abi::SiteId;
use parallax_exec::replay::Confirmed;
use parallax_exec::run::End;
use parallax_scenario::Scenario;
use rustc_hash::FxHashSet;

use super::examine::examine;
use super::interface::{Options, Phase, Prepared, SearchError};
use super::native::{Attempt, Judged, Shared, Tried, observe};
use super::{COMPARED, SLOTS};
use crate::answers::Note;
use crate::core::alternative::{Alternative, Change};
use crate::core::corpus::{EntryId, InputId};
use crate::core::goal::Examined;
use crate::core::hangs::{Hangs, Risky};
use crate::core::turn::{Asked, Turn};
use crate::diverge::comparer::{Comparer, Counts, NewPath};
use crate::diverge::given::Given;
use crate::diverge::walk::Version;
use crate::explore::ExploreError;
use crate::worker::{Means, Rigour, Traced, Worker, with_objects};

/// What one slot has, each made when it is first needed.
#[derive(Default)]
pub(crate) struct Slot<'d> {
    worker: Option<Worker<'d>>,
    comparer: Option<Comparer<'d>>,
    /// Tasks with the same number of a chapter have the same solver.
    chapter: u64,
}

impl<'d> Slot<'d> {
    pub fn comparer(&self) -> Option<&Comparer<'d>> {
        self.comparer.as_ref()
    }

    pub fn worker(&self) -> Option<&Worker<'d>> {
        self.worker.as_ref()
    }

    pub fn worker_mut(&mut self) -> Option<&mut Worker<'d>> {
        self.worker.as_mut()
    }

    /// The worker for the new version.
    pub(super) fn work(&mut self, task: &Task<'d>) -> Result<&mut Worker<'d>, SearchError> {
        if self.worker.is_none() {
            let prepared = task.prepared.ok_or(ExploreError::Untraced)?;
            let runners = task.shared.runners(Version::New);
            let runners = runners.ok_or(ExploreError::Untraced)?;
            let explore = &task.options.explore;
            let means = Means {
                limits: explore.limits,
                symbolic: &explore.symbolic,
                settings: task.shared.settings(),
                solver: &explore.solver,
            };
            let mut worker = Worker::on(runners, &prepared.new, means, prepared.sites);
            worker.listen();
            self.worker = Some(worker);
        }
        let worker = self.worker.as_mut().ok_or(ExploreError::Untraced)?;
        // The clock may have begun since.
        worker.end_by(task.shared.budget.deadline());
        Ok(worker)
    }

    pub(super) fn compare(
        &mut self,
        task: &Task<'d>,
    ) -> Result<Option<&mut Comparer<'d>>, SearchError> {
        if self.comparer.is_none()
            && let Some(prepared) = task.prepared
            && let (Some(versions), Some(old)) = (prepared.versions, &prepared.old)
        {
            let comparer = Comparer::new(&prepared.new, old, versions, task.options, task.shared)?;
            self.comparer = Some(comparer);
        }
        Ok(self.comparer.as_mut())
    }
}

/// Work for a slot.
pub(crate) struct Task<'d> {
    pub lane: usize,
    pub number: u64,
    pub chapter: u64,
    pub shared: &'d Shared,
    pub options: &'d Options,
    pub prepared: Option<&'d Prepared<'d>>,
    /// How long a native run of an input takes that a solver made, as far as is known.
    pub usual: Duration,
    /// Inputs that are left out, because they would probably not end.
    pub risky: Risky,
    /// What an earlier process was told when it did this task.
    pub notes: Option<Vec<Note>>,
    pub what: What,
}

pub(crate) enum What {
    Try(Vec<Attempt>),
    Look(Box<Suspect>),
    Trace(Vec<(EntryId, Arc<Scenario>)>),
    Turn(Vec<Turns>),
    Compare { phase: Phase, feed: Vec<Given> },
}

impl What {
    /// Traced runs that it may take.
    pub fn most_traced(&self) -> u64 {
        match self {
            What::Try(_) | What::Look(_) => 0,
            What::Trace(entries) => entries.len() as u64,
            What::Turn(all) => {
                let runs = |turns: &Turns| match turns.is_run {
                    true => turns.alternatives.len() as u64,
                    false => 0,
                };
                all.iter().map(runs).sum()
            }
            What::Compare { .. } => 1,
        }
    }
}

/// Alternatives of one entry that are to be tried.
pub(crate) struct Turns {
    pub entry: EntryId,
    pub scenario: Arc<Scenario>,
    pub seed: Arc<Scenario>,
    pub generation: u32,
    /// How long its native run took.
    pub usual: Duration,
    /// `None` if the trace was let go: the run is repeated.
    pub traced: Option<Arc<Traced>>,
    /// Each with the values that what it fixes is known to have had.
    pub alternatives: Vec<(Alternative, Vec<(u128, u128)>)>,
    pub regenerate: bool,
    pub rigour: Rigour,
    /// Otherwise it is only asked whether there are inputs.
    pub is_run: bool,
}

/// An input that is to be looked at closer.
#[derive(Debug)]
pub(crate) struct Suspect {
    pub scenario: Arc<Scenario>,
    /// What it is in the corpus, if anything.
    pub entry: Option<EntryId>,
    pub seed: Arc<Scenario>,
    pub phase: Phase,
    /// Whether the versions were seen to differ.
    pub differs: bool,
    /// How a run ended that is the reason for looking.
    pub end: Option<End>,
    /// Decisions of its path, if it was traced.
    pub depth: usize,
}

/// What became of an alternative.
pub(crate) enum Turned {
    Infeasible { against: Vec<SiteId> },
    Undecided,
    Feasible,
    Rejected,
    Ran(Box<Child>),
}

/// A new run.
pub(crate) struct Child {
    pub tried: Tried,
    pub gave_up: Option<Vec<SiteId>>,
    /// `None` if it was not traced, because it does not come to an end.
    pub path: Option<ChildPath>,
}

pub(crate) struct ChildPath {
    /// With the objects that the program declared.
    pub scenario: Arc<Scenario>,
    pub end: End,
    pub traced: Arc<Traced>,
    pub went: Option<bool>,
    pub left_at: Option<SiteId>,
    /// If it did not go where it should: where it and the run that it was made from lost track of the input.
    pub losses: Vec<String>,
    pub seen: Option<Examined>,
}

/// What one version's builds showed.
pub(crate) struct Seen {
    pub suspect: Suspect,
    /// `None` if there was nothing to be seen.
    pub confirmed: Option<Confirmed>,
}

/// An entry that was traced.
pub(crate) struct Retraced {
    pub entry: EntryId,
    pub result: Result<NewPath, SearchError>,
    pub seen: Option<Examined>,
}

/// What came back.
pub(crate) struct Done {
    pub lane: usize,
    pub slot: usize,
    pub seconds: f64,
    /// Traced runs of the new version.
    pub traced: u64,
    /// Inputs that were left out.
    pub avoided: u64,
    pub tried: Vec<Tried>,
    pub turned: Vec<(Alternative, Turned)>,
    pub retraced: Vec<Retraced>,
    pub judged: Vec<Judged>,
    pub seen: Option<Seen>,
    pub counts: Counts,
    pub state: Option<State>,
    /// What the slot was told, and whether that is something else than what was known.
    pub notes: Vec<Note>,
    pub strayed: bool,
    pub error: Option<SearchError>,
}

/// What is left to compare in a slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State {
    pub has: [bool; COMPARED.len()],
    pub open: u64,
}

/// Does a task.
pub(crate) fn work<'d>(slot: &mut Slot<'d>, mut task: Task<'d>) -> Done {
    let started = Instant::now();
    let mut done = Done {
        lane: task.lane,
        slot: task.number as usize % SLOTS,
        seconds: 0.0,
        traced: 0,
        avoided: 0,
        tried: Vec::new(),
        turned: Vec::new(),
        retraced: Vec::new(),
        judged: Vec::new(),
        seen: None,
        counts: Counts::default(),
        state: None,
        notes: Vec::new(),
        strayed: false,
        error: None,
    };
    // Solvers learn, and what they learned is not in a checkpoint: so each chapter begins with fresh ones.
    if slot.chapter != task.chapter {
        slot.chapter = task.chapter;
        if let Some(worker) = &mut slot.worker {
            worker.settle();
        }
    }
    if let Some(notes) = task.notes.take()
        && let Ok(worker) = slot.work(&task)
    {
        worker.know(notes);
    }
    let what = std::mem::replace(&mut task.what, What::Try(Vec::new()));
    let result = match what {
        What::Try(attempts) => {
            try_all(task.shared, attempts, &mut done);
            Ok(())
        }
        What::Look(suspect) => super::look::look(slot, &task, *suspect, &mut done),
        What::Trace(entries) => trace(slot, &task, entries, &mut done),
        What::Turn(all) => {
            let mut all = all.into_iter();
            all.try_for_each(|turns| turn(slot, &task, turns, &mut done))
        }
        What::Compare { phase, feed } => compare(slot, &task, phase, feed, &mut done),
    };
    done.error = result.err();
    examine(&task, &mut done);
    if let Some(worker) = &mut slot.worker {
        (done.notes, done.strayed) = worker.noted();
    }
    done.seconds = started.elapsed().as_secs_f64();
    done
}

fn try_all(shared: &Shared, attempts: Vec<Attempt>, done: &mut Done) {
    // What hangs is known to other tasks when this one is over; here it need not hang more often than it takes to learn.
    let mut hangs = Hangs::default();
    for attempt in attempts {
        if shared.budget.is_over() {
            break;
        }
        if attempt.given.is_none() && hangs.avoids(&attempt.scenario, attempt.kind) {
            done.avoided += 1;
            continue;
        }
        let tried = observe(shared, attempt);
        let Attempt { scenario, kind, .. } = &tried.attempt;
        hangs.note(scenario, *kind, tried.spent, tried.hung);
        done.tried.push(tried);
    }
}

fn compare<'d>(
    slot: &mut Slot<'d>,
    task: &Task<'d>,
    phase: Phase,
    feed: Vec<Given>,
    done: &mut Done,
) -> Result<(), SearchError> {
    let Some(comparer) = slot.compare(task)? else {
        return Ok(());
    };
    comparer.moment = task.number;
    comparer.usual = task.usual;
    comparer.risky = task.risky.clone();
    comparer.given.extend(feed);
    let result = comparer.step(phase);
    done.take(comparer);
    result
}

impl Done {
    pub(super) fn take(&mut self, comparer: &mut Comparer<'_>) {
        self.tried.append(&mut comparer.tried);
        self.judged.append(&mut comparer.judged);
        let traced = comparer.traced.drain(..);
        self.retraced.extend(traced.map(|(entry, path)| Retraced {
            entry,
            result: Ok(path),
            seen: None,
        }));
        self.counts = std::mem::take(&mut comparer.counts);
        self.avoided += std::mem::take(&mut comparer.avoided);
        self.state = Some(State {
            has: COMPARED.map(|phase| comparer.has(phase)),
            open: comparer.open(),
        });
    }
}

fn trace<'d>(
    slot: &mut Slot<'d>,
    task: &Task<'d>,
    entries: Vec<(EntryId, Arc<Scenario>)>,
    done: &mut Done,
) -> Result<(), SearchError> {
    for (entry, scenario) in entries {
        if task.shared.budget.is_over() {
            break;
        }
        done.traced += 1;
        let result = slot.work(task)?.trace(&scenario);
        let result = result.map(|(outcome, traced)| {
            let scenario = completed(scenario, &traced);
            (outcome.end, scenario, Arc::new(traced))
        });
        done.retraced.push(Retraced {
            entry,
            result: result.map_err(SearchError::from),
            seen: None,
        });
    }
    Ok(())
}

/// With the objects that the program declared.
fn completed(scenario: Arc<Scenario>, traced: &Traced) -> Arc<Scenario> {
    let whole = with_objects((*scenario).clone(), &traced.trace);
    match whole.objects.len() == scenario.objects.len() {
        true => scenario,
        false => Arc::new(whole),
    }
}

fn turn<'d>(
    slot: &mut Slot<'d>,
    task: &Task<'d>,
    turns: Turns,
    done: &mut Done,
) -> Result<(), SearchError> {
    let (Some(prepared), shared) = (task.prepared, task.shared) else {
        return Ok(());
    };
    let worker = slot.work(task)?;
    let traced = match &turns.traced {
        Some(traced) => Arc::clone(traced),
        None => {
            done.traced += 1;
            let (outcome, traced) = worker.trace(&turns.scenario)?;
            let traced = Arc::new(traced);
            let scenario = Arc::clone(&turns.scenario);
            done.retraced.push(Retraced {
                entry: turns.entry,
                result: Ok((outcome.end, scenario, Arc::clone(&traced))),
                seen: None,
            });
            traced
        }
    };
    let names = worker.names(&traced);
    let mut inquiry = worker.inquiry(&traced, &names, turns.rigour);
    let mut made: FxHashSet<InputId> = FxHashSet::default();
    let mut result = Ok(());
    for (alternative, known) in &turns.alternatives {
        // Goals wait to hear of everything that they asked for.
        if shared.budget.is_over() || result.is_err() {
            done.turned.push((*alternative, Turned::Rejected));
            continue;
        }
        let turn = Turn {
            traced: &traced,
            sites: prepared.sites,
            change: alternative.change,
            known,
            regenerate: turns.regenerate,
        };
        if !turns.is_run {
            let turned = match turn.is_feasible(&mut inquiry) {
                Some(true) => Turned::Feasible,
                Some(false) => Turned::Infeasible {
                    against: Vec::new(),
                },
                None => Turned::Undecided,
            };
            done.turned.push((*alternative, turned));
            continue;
        }
        let mut is_wanted = |scenario: &Scenario| {
            let id = InputId::of(scenario);
            // Whether an operation fails is seen natively; where a branch leads, only its trace tells.
            let is_known = |id: &InputId| match alternative.change {
                Change::Fail { .. } => shared.inputs.at(task.number, id),
                _ => shared.entries.at(task.number, id),
            };
            let is_risky = task.risky.has(scenario, 0);
            done.avoided += u64::from(is_risky);
            !is_risky
                && task.options.explore.shape.accepts(scenario)
                && !is_known(&id)
                && made.insert(id)
        };
        let scenario = &turns.scenario;
        let asked = turn.ask(worker, &mut inquiry, &names, scenario, &mut is_wanted);
        let turned = match asked {
            Asked::Infeasible { against } => Turned::Infeasible { against },
            Asked::Undecided => Turned::Undecided,
            Asked::Impossible => Turned::Rejected,
            Asked::Input { scenario, gave_up } => {
                run(worker, task, &turns, &turn, *scenario, gave_up, done).unwrap_or_else(|error| {
                    result = Err(error);
                    Turned::Rejected
                })
            }
        };
        done.turned.push((*alternative, turned));
    }
    result
}

/// Runs an input that was made for an alternative: natively first, and then traced, unless it does not come to an end.
fn run(
    worker: &mut Worker<'_>,
    task: &Task<'_>,
    turns: &Turns,
    turn: &Turn<'_>,
    scenario: Scenario,
    gave_up: Option<Vec<SiteId>>,
    done: &mut Done,
) -> Result<Turned, SearchError> {
    let tried = observe(
        task.shared,
        Attempt {
            generation: turns.generation + 1,
            parent: Some(turns.entry),
            ..Attempt::new(scenario, &turns.seed, turns.usual)
        },
    );
    if let Some(error) = &tried.error
        && error.is_about_the_input()
    {
        return Ok(Turned::Rejected);
    }
    let mut path = None;
    // A trace of what does not end would take its full time.
    if !tried.hung && tried.error.is_none() {
        let scenario = Arc::clone(&tried.attempt.scenario);
        let (outcome, child) = match worker.trace(&scenario) {
            Err(error) if error.is_about_the_input() => return Ok(Turned::Rejected),
            result => result?,
        };
        done.traced += 1;
        // Where the list of arguments ended there now is one, and reading it is no question to the input any more: nothing can be
        // said.
        let is_longer = scenario.argv.len() > turns.scenario.argv.len();
        let went = turn.went(&child);
        let went = went.filter(|went| *went || !is_longer && gave_up.is_none());
        let (left_at, losses) = match went {
            Some(false) => (turn.left_at(&child), turn.losses(&child)),
            _ => (None, Vec::new()),
        };
        path = Some(ChildPath {
            scenario: completed(scenario, &child),
            end: outcome.end,
            traced: Arc::new(child),
            went,
            left_at,
            losses,
            seen: None,
        });
    }
    Ok(Turned::Ran(Box::new(Child {
        tried,
        gave_up,
        path,
    })))
}
