//! Searches that are kept: a killed one is gone on with, a finished one is not repeated.
//!
//! [`Search`] is the journal of a search in the store. [`Keeper`] stands between a search and who watches it, and puts tests
//! and findings into the store before anybody hears of them; files come after that.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use parallax_exec::finding::Finding;
use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use parallax_search::archive::Archive;
use parallax_search::explore::{Ended, Observer, Progress};
use parallax_search::journal::{Journal, JournalError};
use parallax_store::{
    KeptFinding, Origin, Plan, State, Store, StoreError, Work, hash, scenario_id,
};
use serde::{Deserialize, Serialize};

use super::budget::Budget;
use super::stored;
use crate::console;
use crate::failure::Failure;
use crate::size::counted;

/// Journals of other versions are not gone on with.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " journal 1");

/// What is to be searched.
pub struct Asked<'a> {
    /// `explore`, `amplify`…
    pub strategy: &'a str,
    /// The program's path.
    pub program: &'a Path,
    /// Everything else that decides what comes out, but for how long it may take.
    pub settings: &'a str,
    pub budget: Budget,
    /// Whether to forget what was known.
    pub fresh: bool,
}

/// How a search ended: everything that is needed to say it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub budget: Budget,
    pub end: End,
    pub exit: u8,
    /// What was printed, in both forms.
    pub text: String,
    pub json: String,
    /// Names of scenarios that were kept.
    pub tests: Vec<String>,
    pub findings: Vec<Finding>,
    /// Of a search in several programs: the index of the one that each finding is in.
    #[serde(default)]
    pub owners: Vec<usize>,
}

/// What ended it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// There was nothing left to try.
    Exhausted,
    Runs,
    Time,
}

impl End {
    /// `None` if it was interrupted.
    pub fn of(ended: Ended) -> Option<End> {
        match ended {
            Ended::Exhausted => Some(End::Exhausted),
            Ended::Runs => Some(End::Runs),
            Ended::Time => Some(End::Time),
            Ended::Stopped => None,
        }
    }

    /// Whether a search that ended so with one budget would come to nothing else with another.
    pub fn covers(self, had: Budget, asked: Budget) -> bool {
        match self {
            End::Exhausted => true,
            End::Runs => asked.runs.is_some() && asked.runs <= had.runs,
            End::Time => asked.time.is_some() && asked.time <= had.time,
        }
    }
}

/// A search in the store.
pub struct Search<'s> {
    work: Work<'s>,
    pub program: Bytes,
    budget: Budget,
}

impl<'s> Search<'s> {
    /// Finds the search, or begins it; waits for another process that is at it.
    pub fn open(store: &'s Store, asked: &Asked<'_>) -> Result<Search<'s>, Failure> {
        let program = stored::program_name(store, asked.program)?;
        let identity =
            hash(&fs::read(asked.program).map_err(Failure::cannot("read", asked.program))?);
        let key = format!(
            "{VERSION}\n{}\n{identity}\n{}",
            asked.strategy, asked.settings
        );
        let description = format!("parallax {} {}", asked.strategy, asked.program.display());
        let plan = Plan {
            key: &hash(key.as_bytes()),
            strategy: asked.strategy,
            program: &program,
            description: &description,
        };
        let mut work = store.work(&plan, &mut |holder| {
            console::note(&format!("waiting for {holder}, which does the same"));
        })?;
        if asked.fresh {
            work.truncate(0)?;
        }
        Ok(Search {
            work,
            program,
            budget: asked.budget,
        })
    }

    /// How it ended, if it has and nothing more is asked now.
    pub fn finished(&self) -> Option<Outcome> {
        // What another version wrote is no reason not to work.
        let outcome: Outcome = serde_json::from_str(self.work.outcome()?).ok()?;
        outcome
            .end
            .covers(outcome.budget, self.budget)
            .then_some(outcome)
    }

    /// The time that searches which came to their end were given together.
    pub fn spent(&self) -> Duration {
        let outcome = self.work.outcome();
        let outcome = outcome.and_then(|text| serde_json::from_str::<Outcome>(text).ok());
        outcome
            .and_then(|outcome| outcome.budget.time)
            .unwrap_or_default()
    }

    /// Another budget than it was asked for with.
    pub fn allow(&mut self, budget: Budget) {
        self.budget = budget;
    }

    /// Whether another process has begun it.
    pub fn is_begun(&self) -> bool {
        self.work.chunks() > 0
    }

    pub fn finish(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let text = serde_json::to_string(outcome).map_err(|error| Failure::defect(&error))?;
        Ok(self.work.finish(&text)?)
    }
}

/// Says again how a search ended, and makes files again that are gone.
pub fn say_again(
    store: &Store,
    outcome: &Outcome,
    archive: &Archive,
    program: &Path,
    as_json: bool,
) -> Result<(), Failure> {
    for id in &outcome.tests {
        archive.add_test(&store.get(id)?.recorded.scenario)?;
    }
    for finding in &outcome.findings {
        archive.add_finding(finding, program)?;
    }
    print_again(outcome, as_json)
}

/// Prints again what a search came to.
pub fn print_again(outcome: &Outcome, as_json: bool) -> Result<(), Failure> {
    console::note("this was done before, and is not repeated; --fresh begins anew");
    match as_json {
        true => console::print_data(&outcome.json)?,
        false => console::print(&outcome.text)?,
    }
    Ok(())
}

impl Journal for Search<'_> {
    fn chunk(&mut self, number: u64) -> Result<Option<Vec<u8>>, JournalError> {
        match self.work.chunk(number) {
            // Without it the search does again what it would have said; the scenarios and findings are elsewhere.
            Err(StoreError::Damaged { .. }) => self.truncate(number).map(|()| None),
            result => result.map_err(wrap),
        }
    }

    fn append(&mut self, chunk: &[u8]) -> Result<(), JournalError> {
        self.work.append(chunk).map_err(wrap)
    }

    fn truncate(&mut self, chunks: u64) -> Result<(), JournalError> {
        self.work.truncate(chunks).map_err(wrap)
    }
}

fn wrap(error: StoreError) -> JournalError {
    JournalError(Box::new(error))
}

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
        store: &'k Store,
        search: &Search<'_>,
        command: &'static str,
        watcher: &'k mut dyn Observer,
    ) -> Keeper<'k> {
        Keeper {
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
        console::note(&format!(
            "goes on with what was known: {}, {}, {}",
            counted(progress.runs, "run"),
            counted(progress.paths, "path"),
            counted(progress.findings, "error"),
        ));
        self.watcher.caught_up(progress);
    }
}
