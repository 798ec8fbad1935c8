//! `parallax replay --all`: every recorded scenario, and whether it still gives what was recorded.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use parallax_exec::compare::{Window, compare, is_alike_but_for_chance};
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, Replayer, Seen, Subject};
use parallax_store::{Filter, Origin, Store};

use super::directories;
use super::{Arguments, RECORDED_SINCE, Subjects, again, settings};
use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::stored;
use parallax_report::results::replay as report;
use parallax_report::results::replay::{AllReport, Missed, What, Why};

/// One scenario to be run, and on what.
struct Task {
    id: String,
    subject: Subject,
}

/// A task that was done, by its number, and what came of it.
type Done = (usize, Result<Option<Missed>, Failure>);

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(store) = stored::open_existing()? else {
        let message = "nothing has been recorded here";
        return Err(Failure::new(Exit::Usage, message).hint("parallax record -- make check"));
    };
    let builds: Vec<Build> = match arguments.build.is_empty() {
        true => vec![Build::Plain],
        false => arguments.build.iter().copied().map(Build::from).collect(),
    };
    let mut subjects = Subjects::new(arguments, &builds)?;
    let settings = settings(arguments, &subjects);
    let tasks = tasks(arguments, &store, &mut subjects)?;
    if tasks.is_empty() {
        let message = "the store has no scenarios that were recorded";
        let hint = "parallax record makes them; those that were added or imported are replayed by their id";
        return Err(Failure::new(Exit::Usage, message).hint(hint));
    }
    let directory = stored::directory();
    let jobs = arguments
        .jobs
        .unwrap_or_else(|| thread::available_parallelism().map_or(1, |count| count.get()));
    let started = Instant::now();
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Done>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, tasks.len().max(1)) {
            scope.spawn(|| {
                let mut worker = match Worker::new(&directory, &settings) {
                    Ok(worker) => worker,
                    Err(failure) => {
                        lock(&done).push((0, Err(failure)));
                        return;
                    }
                };
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(task) = tasks.get(index) else {
                        return;
                    };
                    let result = worker.run(task, arguments.check);
                    lock(&done).push((index, result));
                }
            });
        }
    });
    let seconds = started.elapsed().as_secs_f64();
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by_key(|(index, _)| *index);
    let mut missed = Vec::new();
    for (_, result) in done {
        missed.extend(result?);
    }
    let report = AllReport {
        total: tasks.len(),
        missed,
        seconds,
        jobs,
        is_checked: arguments.check,
    };
    let is_enough = report.percent() >= arguments.at_least;
    if arguments.json {
        console::print_data(&report::all_json(&report))?;
    } else {
        console::print(&report::all_text(&report, console::width()))?;
    }
    Ok(match is_enough {
        true => Exit::Clean,
        false => Exit::Findings,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|broken| broken.into_inner())
}

/// The scenarios, those of one program together, with what they are run on.
fn tasks(
    arguments: &Arguments,
    store: &Store,
    subjects: &mut Subjects,
) -> Result<Vec<Task>, Failure> {
    let filter = Filter {
        origins: vec![Origin::Recorded],
        ..Filter::default()
    };
    let mut listed = store.list(&filter)?;
    if let Some(count) = arguments.count.filter(|count| *count < listed.len()) {
        let all = listed.len();
        let chosen = (0..count).map(|index| listed[index * all / count].clone());
        listed = chosen.collect();
    }
    listed.sort_by(|one, other| (&one.program, &one.id).cmp(&(&other.program, &other.id)));
    let mut tasks = Vec::new();
    for scenario in listed {
        for subject in subjects.of(&scenario.program)? {
            let id = scenario.id.clone();
            tasks.push(Task { id, subject });
        }
    }
    Ok(tasks)
}

/// Has the store open for itself, and keeps sandboxes for the programs that it has run.
struct Worker<'w> {
    store: Store,
    settings: &'w Settings,
    replayers: BTreeMap<PathBuf, Replayer>,
    window: Window,
}

impl<'w> Worker<'w> {
    fn new(directory: &std::path::Path, settings: &'w Settings) -> Result<Worker<'w>, Failure> {
        Ok(Worker {
            store: Store::open(directory)?,
            settings,
            replayers: BTreeMap::new(),
            window: Window::since(RECORDED_SINCE),
        })
    }

    /// What is not as it was recorded, if anything.
    fn run(&mut self, task: &Task, is_checked: bool) -> Result<Option<Missed>, Failure> {
        let scenario = self.store.get(&task.id)?;
        let notes = scenario.recorded.notes.clone();
        let mut unsteady = scenario.recorded.unsteady.clone();
        if scenario.others > 0 {
            unsteady.push("was recorded with different results".to_owned());
        }
        let what = What::recorded(task.id.clone(), scenario.recorded);
        let program = &task.subject.program;
        if !self.replayers.contains_key(program) {
            // Scenarios come program by program: sandboxes of others are not needed any more.
            self.replayers.clear();
            let replayer = Replayer::new(task.subject.clone(), self.settings)?;
            self.replayers.insert(program.clone(), replayer);
        }
        let replayer = self.replayers.get_mut(program).expect("just made");
        let missed = |unsteady, why| Missed {
            id: task.id.clone(),
            command: report::command_line(&what),
            notes: notes.clone(),
            unsteady,
            why,
        };
        let seen = match replayer.run(&what.scenario) {
            Ok(seen) => seen,
            Err(error) => return Ok(Some(missed(Vec::new(), Why::Failed(error.to_string())))),
        };
        let Some(reference) = report::side(&what).filter(|_| is_checked) else {
            return Ok(None);
        };
        let differences = compare(reference, seen.side(), self.window);
        if differences.is_empty() {
            return Ok(None);
        }
        let others = again(replayer, &what.scenario)?;
        let is_by_chance = others
            .iter()
            .any(|other| compare(reference, other.side(), self.window).is_empty());
        let sides: Vec<_> = others.iter().chain([&seen]).map(Seen::side).collect();
        if is_alike_but_for_chance(reference, &sides, self.window) {
            return Ok(None);
        }
        if directories::is_about_them(&differences, &what.scenario) {
            unsteady.push(directories::REASON.to_owned());
        }
        let why = match is_by_chance {
            true => Why::Flaky(differences),
            false => Why::Differs(differences),
        };
        Ok(Some(missed(unsteady, why)))
    }
}
