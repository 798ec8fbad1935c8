//! One recording session: the tracer in this thread, and a second one that makes scenarios of what it has seen.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Set to end the tests.
    pub stop: AtomicBool,
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
    /// Scenarios of which something was cut off or left out.
    pub limited: u64,
    /// Runs that were not recorded, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Processes that the tests left behind and that had to be ended.
    pub ended: u64,
    pub seconds: f64,
}

/// Runs a test command and gives every scenario that is new to `sink`.
pub fn record<E>(
    plan: &Plan,
    progress: &Progress,
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
        let mut finished = |recording: Recording, end: End| {
            progress.runs.fetch_add(1, Ordering::Relaxed);
            // Fails if the sink has failed, which is told in the end.
            let _ = sender.send((recording, end));
        };
        let is_full = || progress.scenarios.load(Ordering::Relaxed) >= plan.limits.scenarios;
        let setting = Setting {
            programs: Programs::new(plan.programs.clone()),
            territory: &territory,
            limits: &plan.limits,
            stop: &progress.stop,
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
    let mut counts: HashMap<blake3::Hash, u64> = HashMap::new();
    for (recording, end) in receiver {
        let program = plan.programs[recording.start.program].name.clone();
        let recorded = finisher.finish(recording, end);
        *summary.programs.entry(program).or_default() += 1;
        summary.tests.extend(recorded.test.clone());
        let key = key(&recorded);
        // Runs that were going on when the limit was reached.
        if !counts.contains_key(&key) && summary.scenarios >= plan.limits.scenarios {
            *summary.skipped.entry(LIMIT_REACHED).or_default() += 1;
            continue;
        }
        let count = counts.entry(key).or_default();
        *count += 1;
        if *count > 1 {
            continue;
        }
        summary.scenarios += 1;
        summary.bytes += recorded.scenario.size() as u64;
        summary.limited += u64::from(!recorded.notes.is_empty());
        progress.scenarios.fetch_add(1, Ordering::Relaxed);
        // Dropping the receiver tells the tracer that nothing more is wanted.
        sink(recorded).map_err(|error| RecorderError::Sink(error.into()))?;
    }
    Ok(summary)
}

/// What makes two runs the same: the program and everything that it was given.
fn key(recorded: &Recorded) -> blake3::Hash {
    let text = serde_json::to_vec(&(&recorded.program, &recorded.scenario));
    blake3::hash(&text.expect("scenarios can be written"))
}
