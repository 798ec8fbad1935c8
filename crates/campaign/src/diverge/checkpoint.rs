//! How far a comparison over a project has come: what a later process goes on with.
//!
//! Scenarios that were compared on and inputs that showed something, as they come. An input that showed something shows it again
//! when it is run again, so nothing else about it is kept here.

use std::collections::BTreeSet;

use parallax_store::{Plan, Store, Work, hash};
use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::checkpoint::End;
use crate::context::Context;
use crate::failure::Failure;

/// Checkpoints of other versions are not gone on with.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " diverge 1");

/// A scenario of the store.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Entry {
    /// Everything about it was asked.
    Settled(String),
    /// It shows a difference.
    Found(String),
}

/// How it ended: everything that is needed to say it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub budget: Budget,
    pub end: End,
    /// Names what it started from.
    pub seeds: String,
    /// Whether it was looked for the hunks that differences come from.
    pub blamed: bool,
    pub exit: u8,
    /// What was printed, in each form.
    pub text: String,
    pub json: String,
    pub sarif: String,
}

/// What has been done of a comparison, in the store.
pub struct Checkpoint<'s> {
    work: Work<'s>,
    settled: BTreeSet<String>,
    found: BTreeSet<String>,
}

impl<'s> Checkpoint<'s> {
    /// Finds the checkpoint of a comparison that `identity` names, or begins it; waits for another process that is at it.
    pub fn open(
        context: &Context,
        store: &'s Store,
        program: &str,
        identity: &str,
        description: &str,
        again: bool,
    ) -> Result<Checkpoint<'s>, Failure> {
        let key = hash(format!("{VERSION}\n{identity}").as_bytes());
        let plan = Plan {
            key: &key,
            strategy: "diverge",
            program: program.as_bytes(),
            description,
        };
        let mut work = store.work(&plan, &mut |holder| {
            context.note(&format!("waiting for {holder}, which does the same"));
        })?;
        if again {
            work.truncate(0)?;
        }
        let mut known = Checkpoint {
            settled: BTreeSet::new(),
            found: BTreeSet::new(),
            work,
        };
        for number in 0..known.work.chunks() {
            let chunk = known.work.chunk(number)?.unwrap_or_default();
            // What cannot be read is done again.
            match serde_json::from_slice(&chunk) {
                Ok(Entry::Settled(id)) => known.settled.insert(id),
                Ok(Entry::Found(id)) => known.found.insert(id),
                Err(_) => false,
            };
        }
        Ok(known)
    }

    /// How it ended, if it has and nothing more is asked now.
    pub fn finished(&self, budget: Budget, seeds: &str, blamed: bool) -> Option<Outcome> {
        let outcome = self.outcome()?;
        let is_enough = outcome.seeds == seeds
            && (outcome.blamed || !blamed)
            && outcome.end.covers(outcome.budget, budget);
        is_enough.then_some(outcome)
    }

    /// Whether it has come to an end before, if only to that of its budget.
    pub fn has_ended(&self) -> bool {
        self.outcome().is_some()
    }

    fn outcome(&self) -> Option<Outcome> {
        serde_json::from_str(self.work.outcome()?).ok()
    }

    /// Whether a scenario has been compared on.
    pub fn is_settled(&self, scenario: &str) -> bool {
        self.settled.contains(scenario)
    }

    /// Inputs that showed something.
    pub fn found(&self) -> impl Iterator<Item = &String> {
        self.found.iter()
    }

    /// A scenario has been compared on.
    pub fn note_settled(&mut self, scenario: &str) -> Result<(), Failure> {
        match self.settled.insert(scenario.to_owned()) {
            true => self.append(&Entry::Settled(scenario.to_owned())),
            false => Ok(()),
        }
    }

    /// An input showed something.
    pub fn note_found(&mut self, scenario: &str) -> Result<(), Failure> {
        match self.found.insert(scenario.to_owned()) {
            true => self.append(&Entry::Found(scenario.to_owned())),
            false => Ok(()),
        }
    }

    fn append(&mut self, entry: &Entry) -> Result<(), Failure> {
        let chunk = serde_json::to_vec(entry).map_err(|error| Failure::defect(&error))?;
        Ok(self.work.append(&chunk)?)
    }

    pub fn finish(&mut self, outcome: &Outcome) -> Result<(), Failure> {
        let text = serde_json::to_string(outcome).map_err(|error| Failure::defect(&error))?;
        Ok(self.work.finish(&text)?)
    }
}
