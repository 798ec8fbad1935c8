//! Keeps what searches find before anybody hears of it.
//!
//! [`Keeper`] stands between an exploration and who watches it, and puts tests and findings into the store; files come after that.

use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_report::words::counted;
use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use parallax_search::diverge::triage::Shown;
use parallax_search::engine::{Observer, Progress};
use parallax_store::{KeptFinding, Origin, State, Store, StoreError, hash, scenario_id};

use crate::checkpoint::Checkpoint;
use crate::context::Context;
use crate::failure::Failure;

/// A finding as the store keeps it.
pub fn kept_finding(
    program: Bytes,
    command: &str,
    finding: &Finding,
    distance: Option<u64>,
) -> KeptFinding {
    let problem = &finding.problem;
    let place = problem.location.as_ref();
    KeptFinding {
        program,
        id: finding.id(),
        command: command.to_owned(),
        kind: problem.kind.name().to_owned(),
        location: place.map(|place| (place.file.clone(), place.line)),
        message: problem.message.clone(),
        scenario: finding.scenario.clone(),
        old: None,
        new: Some(finding.ending.clone()),
        distance,
        depth: Some(finding.depth as u64),
        state: State::Confirmed,
        directory: None,
    }
}

/// What an input showed on two versions.
pub struct Seen<'s> {
    pub id: String,
    pub command: &'static str,
    pub kind: &'s str,
    pub message: String,
    /// File and line, if there is a better one than that of an error.
    pub location: Option<(String, u32)>,
    pub distance: Option<u64>,
    pub scenario: &'s Scenario,
    pub shown: &'s Shown,
}

/// The name of what was seen: the same for the same one, in whatever order they are found.
pub fn finding_id(program: &str, kind: &str, key: &str) -> String {
    const DIGITS: usize = 8;
    let name = hash(format!("{program}\n{key}").as_bytes());
    format!("{kind}-{}", &name[..DIGITS])
}

/// Keeps what was seen: the input as a scenario, whose name in the store is returned, and the rest as a finding.
pub fn keep(store: &Store, program: &str, seen: Seen<'_>) -> Result<String, Failure> {
    let endings = &seen.shown.endings;
    let recorded = Recorded {
        program: program.as_bytes().into(),
        scenario: seen.scenario.clone(),
        result: endings.new.clone(),
        ..Recorded::default()
    };
    let id = store.add(&recorded, Origin::Diverging)?.id;
    let problem = seen.shown.problems.first();
    let place = problem.and_then(|problem| problem.location.as_ref());
    store.put_finding(&KeptFinding {
        program: recorded.program,
        id: seen.id,
        command: seen.command.to_owned(),
        kind: seen.kind.to_owned(),
        location: (seen.location).or_else(|| place.map(|place| (place.file.clone(), place.line))),
        message: seen.message,
        scenario: recorded.scenario,
        old: Some(endings.old.clone()),
        new: Some(recorded.result),
        distance: seen.distance,
        depth: None,
        state: State::Confirmed,
        directory: None,
    })?;
    Ok(id)
}

/// Tests wait for each other no longer than this before they are put into the store together.
const TOGETHER: Duration = Duration::from_millis(500);

/// Keeps what a search finds, then tells who watches.
pub struct Keeper<'k> {
    context: Context,
    store: &'k Store,
    program: Bytes,
    command: &'static str,
    watcher: &'k mut dyn Observer,
    /// What is found now was found by an earlier process.
    catching_up: bool,
    pending: Vec<Recorded>,
    last: Instant,
    tests: Vec<String>,
    error: Option<StoreError>,
}

impl<'k> Keeper<'k> {
    pub fn new(
        context: &Context,
        store: &'k Store,
        search: &Checkpoint<'_>,
        command: &'static str,
        watcher: &'k mut dyn Observer,
    ) -> Keeper<'k> {
        Keeper {
            context: context.clone(),
            store,
            program: search.program.clone(),
            command,
            watcher,
            catching_up: search.is_begun(),
            pending: Vec::new(),
            last: Instant::now(),
            tests: Vec::new(),
            error: None,
        }
    }

    /// For a program that has another name in the store than its path says.
    pub fn of(self, program: Bytes) -> Keeper<'k> {
        Keeper { program, ..self }
    }

    fn put(&mut self, finding: &Finding) {
        let kept = kept_finding(self.program.clone(), self.command, finding, None);
        let result = self.store.put_finding(&kept);
        self.remember(result);
    }

    fn flush(&mut self) {
        if self.pending.is_empty() || self.error.is_some() {
            return;
        }
        match self.store.add_all(&self.pending, Origin::Generated) {
            Ok(_) => {
                for recorded in std::mem::take(&mut self.pending) {
                    self.watcher.test(&recorded.scenario);
                }
            }
            Err(error) => self.error = Some(error),
        }
        self.last = Instant::now();
    }

    fn remember(&mut self, result: Result<(), StoreError>) {
        if let Err(error) = result {
            self.error.get_or_insert(error);
        }
    }

    /// Keeps what is still to be kept; names of the tests.
    pub fn finish(mut self, findings: &[Finding]) -> Result<Vec<String>, StoreError> {
        for finding in findings {
            self.put(finding);
        }
        self.flush();
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.tests),
        }
    }
}

impl Observer for Keeper<'_> {
    fn progress(&mut self, progress: &Progress) {
        if self.last.elapsed() >= TOGETHER {
            self.flush();
        }
        self.watcher.progress(progress);
    }

    fn error(&mut self, finding: &Finding) {
        if self.catching_up {
            return;
        }
        self.put(finding);
        // What is told must not be lost.
        if self.error.is_none() {
            self.watcher.error(finding);
        }
    }

    fn test(&mut self, scenario: &Scenario) {
        self.tests.push(scenario_id(&self.program, scenario));
        self.pending.push(Recorded {
            program: self.program.clone(),
            scenario: scenario.clone(),
            result: Ending::default(),
            ..Recorded::default()
        });
    }

    fn stop(&self) -> bool {
        self.error.is_some() || self.watcher.stop()
    }

    fn caught_up(&mut self, progress: &Progress) {
        self.catching_up = false;
        // Who takes turns with others goes on all the time.
        if !self.context.in_check {
            self.context.note(&format!(
                "goes on with what was known: {}, {}, {}",
                counted(progress.runs, "run"),
                counted(progress.paths, "path"),
                counted(progress.findings, "error"),
            ));
        }
        self.watcher.caught_up(progress);
    }
}
