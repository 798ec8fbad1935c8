//! One recording session: the tracer in this thread, and a second one that makes scenarios of what it has seen.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;

use parallax_scenario::Recorded;

use crate::RecorderError;
use crate::finish::Finisher;
use crate::limits::Limits;
use crate::programs::{Program, Programs};
use crate::recording::{End, Recording};
use crate::territory::Territory;
use crate::tracer::{self, Command, LIMIT_REACHED, Observed, Setting};

/// Finished recordings that may wait; more of them make the tests wait.
const QUEUE: usize = 256;

/// What to record.
#[derive(Clone, Debug)]
pub struct Plan {
    pub command: Command,
    pub programs: Vec<Program>,
    /// Source and build trees, canonical; a directory that holds both makes files of one part of scenarios in the
    /// other.
    pub trees: Vec<PathBuf>,
    /// Environment variables that are always kept.
    pub variables: Vec<Vec<u8>>,
    pub limits: Limits,
}

/// What others can see while it goes on.
#[derive(Debug, Default)]
pub struct Progress {
    /// Runs of programs under test that have ended.
    pub runs: AtomicU64,
    /// Different scenarios.
    pub scenarios: AtomicU64,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// How the test command ended.
    pub end: Option<End>,
    /// Runs that were recorded.
    pub runs: u64,
    /// Different scenarios.
    pub scenarios: u64,
    /// How often each program ran.
    pub programs: BTreeMap<PathBuf, u64>,
    /// Tests that ran a program under test.
    pub tests: BTreeSet<String>,
    /// Input bytes of all scenarios.
    pub bytes: u64,
    /// What was cut off or left out, without the names of files, and in how many scenarios.
    pub notes: BTreeMap<String, u64>,
    /// Why runs may come out otherwise the next time, and of how many scenarios.
    pub unsteady: BTreeMap<String, u64>,
    /// Runs that were not recorded, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Processes that the tests left behind and that had to be ended.
    pub ended: u64,
    pub seconds: f64,
}

/// Runs a test command and gives every scenario that is new to `sink`; known ones only if another test ran them, or with
/// another result. Setting `stop` ends the tests.
pub fn record<E>(
    plan: &Plan,
    progress: &Progress,
    stop: &AtomicBool,
    sink: impl FnMut(Recorded) -> Result<(), E> + Send,
) -> Result<Summary, RecorderError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let began = Instant::now();
    let territory = Territory::new(plan.trees.clone());
    let (sender, receiver) = sync_channel(QUEUE);
    let (observed, collected) = std::thread::scope(|scope| {
        let collector = scope.spawn(|| collect(plan, &territory, progress, receiver, sink));
        let is_lost = AtomicBool::new(false);
        let mut finished = |recording: Recording, end: End| {
            progress.runs.fetch_add(1, Ordering::Relaxed);
            // Fails if the sink has failed, which is told in the end: tests that nobody records need not go on.
            if sender.send((recording, end)).is_err() {
                is_lost.store(true, Ordering::Relaxed);
            }
        };
        let stop = || stop.load(Ordering::Relaxed) || is_lost.load(Ordering::Relaxed);
        let is_full = || progress.scenarios.load(Ordering::Relaxed) >= plan.limits.scenarios;
        let setting = Setting {
            programs: Programs::new(plan.programs.clone()),
            territory: &territory,
            limits: &plan.limits,
            stop: &stop,
            is_full: &is_full,
            finished: &mut finished,
        };
        let observed = tracer::follow(&plan.command, setting);
        drop(sender);
        (
            observed,
            collector.join().expect("the collector does not panic"),
        )
    });
    let Observed {
        end,
        skipped,
        ended,
    } = observed?;
    let mut summary = collected?;
    for (reason, count) in skipped {
        *summary.skipped.entry(reason).or_default() += count;
    }
    Ok(Summary {
        end,
        ended,
        runs: progress.runs.load(Ordering::Relaxed),
        seconds: began.elapsed().as_secs_f64(),
        ..summary
    })
}

/// Makes scenarios, and keeps those that are new.
fn collect<E>(
    plan: &Plan,
    territory: &Territory,
    progress: &Progress,
    receiver: Receiver<(Recording, End)>,
    mut sink: impl FnMut(Recorded) -> Result<(), E>,
) -> Result<Summary, RecorderError>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let mut finisher = Finisher::new(&plan.programs, territory, &plan.trees, &plan.variables);
    let mut summary = Summary::default();
    let mut scenarios = HashSet::new();
    let mut results = HashSet::new();
    for (recording, end) in receiver {
        let program = plan.programs[recording.start.program].name.clone();
        let recorded = finisher.finish(recording, end);
        *summary.programs.entry(program).or_default() += 1;
        summary.tests.extend(recorded.test.clone());
        let key = key(&recorded);
        let is_new = !scenarios.contains(&key);
        if is_new && summary.scenarios >= plan.limits.scenarios {
            // It was going on when the limit was reached.
            *summary.skipped.entry(LIMIT_REACHED).or_default() += 1;
            continue;
        }
        if is_new {
            scenarios.insert(key);
            summary.scenarios += 1;
            summary.bytes += recorded.scenario.size() as u64;
            for note in &recorded.notes {
                *summary.notes.entry(kind_of(note)).or_default() += 1;
            }
            for reason in &recorded.unsteady {
                *summary.unsteady.entry(reason.clone()).or_default() += 1;
            }
            progress.scenarios.fetch_add(1, Ordering::Relaxed);
        }
        let result = serde_json::to_vec(&(&recorded.result, &recorded.test));
        let result = blake3::hash(&result.expect("results can be written"));
        if results.insert((key, result)) {
            // Dropping the receiver tells the tracer that nothing more is wanted.
            sink(recorded).map_err(|error| RecorderError::Sink(error.into()))?;
        }
    }
    Ok(summary)
}

/// What makes two runs the same: the program and everything that it was given.
fn key(recorded: &Recorded) -> blake3::Hash {
    let text = serde_json::to_vec(&(&recorded.program, &recorded.scenario));
    blake3::hash(&text.expect("scenarios can be written"))
}

/// A note without what it is about: the same limit is hit by many files.
fn kind_of(note: &str) -> String {
    let kind = note.rsplit_once(": ").map_or(note, |(_, kind)| kind);
    let words = kind.split(' ').map(|word| match word.parse::<u64>() {
        Ok(_) => "…",
        Err(_) => word,
    });
    words.collect::<Vec<_>>().join(" ")
}
