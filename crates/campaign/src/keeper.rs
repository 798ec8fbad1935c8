//! Keeps what an exploration finds: stands between the search and who watches it, and puts tests and findings into the store before
//! anybody hears of them; files come after that.

use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_report::words::counted;
use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use parallax_search::explore::{Observer, Progress};
use parallax_store::{KeptFinding, Origin, State, Store, StoreError, scenario_id};

use crate::checkpoint::Checkpoint;
use crate::context::Context;

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

    fn finding(&mut self, finding: &Finding) {
        if self.catching_up {
            return;
        }
        self.put(finding);
        // What is told must not be lost.
        if self.error.is_none() {
            self.watcher.finding(finding);
        }
    }

    fn smaller(&mut self, finding: &Finding) {
        if !self.catching_up {
            self.put(finding);
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
        self.context.note(&format!(
            "goes on with what was known: {}, {}, {}",
            counted(progress.runs, "run"),
            counted(progress.paths, "path"),
            counted(progress.findings, "error"),
        ));
        self.watcher.caught_up(progress);
    }
}
