//! Searches that are kept: a killed one is gone on with, a finished one is not repeated.
//!
//! [`Checkpoint`] is how far a search has come, in the store.

use std::path::Path;
use std::time::Duration;

use parallax_exec::finding::Finding;
use parallax_scenario::Bytes;
use parallax_search::archive::Archive;
use parallax_search::explore::Ended;
use parallax_search::journal::{Journal, JournalError};
use parallax_store::{Plan, Store, StoreError, Work, hash};
use serde::{Deserialize, Serialize};

use crate::Answer;
use crate::budget::Budget;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::stored;
use crate::variants;

/// Checkpoints of other versions are not gone on with.
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
pub struct Checkpoint<'s> {
    work: Work<'s>,
    pub program: Bytes,
    budget: Budget,
}

impl<'s> Checkpoint<'s> {
    /// Finds the search, or begins it; waits for another process that is at it.
    pub fn open(
        context: &Context,
        store: &'s Store,
        asked: &Asked<'_>,
    ) -> Result<Checkpoint<'s>, Failure> {
        let program = stored::program_name(store, asked.program)?;
        let identity = variants::identity(asked.program)?;
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
            context.note(&format!("waiting for {holder}, which does the same"));
        })?;
        if asked.fresh {
            work.truncate(0)?;
        }
        Ok(Checkpoint {
            work,
            program,
            budget: asked.budget,
        })
    }

    /// How it ended last, if it has.
    pub fn last(&self) -> Option<Outcome> {
        // What another version wrote is no reason not to work.
        serde_json::from_str(self.work.outcome()?).ok()
    }

    /// How it ended, if it has and nothing more is asked now.
    pub fn finished(&self) -> Option<Outcome> {
        let outcome = self.last()?;
        outcome
            .end
            .covers(outcome.budget, self.budget)
            .then_some(outcome)
    }

    /// The time that searches which came to their end were given together.
    pub fn spent(&self) -> Duration {
        let time = self.last().and_then(|outcome| outcome.budget.time);
        time.unwrap_or_default()
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
    context: &Context,
    store: &Store,
    outcome: Outcome,
    archive: &Archive,
    program: &Path,
) -> Result<Answer, Failure> {
    for id in &outcome.tests {
        archive.add_test(&store.get(id)?.recorded.scenario)?;
    }
    for finding in &outcome.findings {
        archive.add_finding(finding, program)?;
    }
    Ok(outcome.again(context))
}

impl Outcome {
    /// The same answer as then.
    pub fn again(self, context: &Context) -> Answer {
        context.note("this was done before, and is not repeated; --fresh begins anew");
        Answer {
            exit: match self.findings.as_slice() {
                [] => Exit::Clean,
                _ => Exit::Findings,
            },
            text: self.text,
            json: self.json,
            sarif: String::new(),
        }
    }
}

impl Journal for Checkpoint<'_> {
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
