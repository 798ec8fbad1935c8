//! The ledger of targets: what became of each line that was to be covered, and why.
//!
//! An entry belongs to a revision of the source and a group of lines that run together. It is whole: who reads it
//! needs neither the program nor its analysis. `conditions` names everything that decided what the search came to but for how long
//! it took, so that a later search knows whether there is anything to add.

use std::fmt;
use std::str::FromStr;

use parallax_scenario::{Bytes, Scenario};
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};

use crate::Store;
use crate::error::StoreError;
use crate::lock::now;
use crate::packed::{Large, Packed, json, pack, unpack};

/// How a target ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The tests cover it.
    Suite,
    /// A new input covers it.
    Covered,
    /// Every way there contradicts what leads to it, on all that was explored.
    Infeasible,
    /// A branch was not got past in the time given.
    Blocked,
    /// No way leads there from anything that ran.
    Missed,
}

impl Status {
    pub const ALL: [Status; 5] = [
        Status::Suite,
        Status::Covered,
        Status::Infeasible,
        Status::Blocked,
        Status::Missed,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Status::Suite => "suite",
            Status::Covered => "covered",
            Status::Infeasible => "infeasible",
            Status::Blocked => "blocked",
            Status::Missed => "missed",
        }
    }

    /// Whether some input reaches the target.
    pub fn is_covered(self) -> bool {
        matches!(self, Status::Suite | Status::Covered)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Status {
    type Err = String;

    fn from_str(text: &str) -> Result<Status, String> {
        let known = Status::ALL.into_iter().find(|status| status.name() == text);
        known.ok_or_else(|| format!("{text:?} is no end of a target"))
    }
}

/// A place in the source, with its line as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// Relative to the top of the source, where that is known.
    pub file: String,
    /// 0 if it is not known.
    pub line: u32,
    pub column: u32,
    pub function: String,
    /// Trimmed; empty if the file was not found.
    pub text: String,
}

/// One step of the way from a test to the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// `greedy`, `regenerate`…
    pub kind: String,
    /// The branch that was to go otherwise.
    pub branch: Option<Spot>,
    pub scenario: Scenario,
    /// Decisions from there to the target, as it was expected.
    pub distance: Option<u32>,
}

/// What was not got past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Obstacle {
    pub branch: Spot,
    /// Decisions between its other side and the target.
    pub distance: u32,
    /// Came to it.
    pub scenario: Scenario,
    /// What decided against it, if that is known.
    pub contradicts: Vec<Spot>,
    /// Beginnings of paths on which it was tried.
    pub prefixes: u64,
    /// In no run did it depend on input bytes.
    pub is_concrete: bool,
}

/// What became of a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Relative to the top of the source.
    pub file: String,
    /// Where the source was, if it is still there.
    pub top: Option<String>,
    /// Ascending.
    pub lines: Vec<u32>,
    pub function: String,
    /// All programs that have the code.
    pub programs: Vec<String>,
    pub status: Status,
    /// The program that it was searched for in, or is covered in.
    pub program: Option<String>,
    /// Name of a scenario that covers it.
    pub scenario: Option<String>,
    /// What the scenario was made from: the name of a test's scenario.
    pub seed: Option<String>,
    pub steps: Vec<Step>,
    pub obstacle: Option<Obstacle>,
    /// Functions and instructions that lost track of the input on the way.
    pub losses: Vec<(String, u64)>,
    /// Scenarios that the search started from, the nearest first.
    pub seeds: Vec<String>,
    /// Decisions between the nearest of them and the target.
    pub distance: Option<u32>,
    /// Traced runs, and different paths among them.
    pub runs: u64,
    pub paths: u64,
    pub queries: u64,
    pub seconds: f64,
    /// The budget that ended the search: seconds, or traced runs. Neither: nothing was left to try.
    pub time_limit: Option<f64>,
    pub run_limit: Option<u64>,
    /// Whatever else is to be said.
    pub notes: Vec<String>,
}

/// An entry with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    pub revision: String,
    /// Names the group of lines within the revision.
    pub key: String,
    pub conditions: String,
    pub entry: Entry,
}

impl Store {
    /// Enters what became of targets; what was known before about them is replaced. All of them or none.
    pub fn settle(&self, list: &[Settled]) -> Result<(), StoreError> {
        let packed: Vec<Packed> = list.iter().map(|settled| pack(&settled.entry)).collect();
        let blobs = packed.iter().flat_map(|packed| &packed.blobs);
        let blobs: Vec<(String, &[u8])> = blobs
            .map(|(name, bytes)| (name.clone(), bytes.as_slice()))
            .collect();
        self.blobs.put(&blobs)?;
        self.write(|transaction| {
            for (settled, packed) in list.iter().zip(&packed) {
                let entry = &settled.entry;
                transaction.execute(
                    "INSERT OR REPLACE INTO target
                         (revision, key, file, lines, status, conditions, entry, entry_blobs, updated)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
                    (
                        &settled.revision,
                        &settled.key,
                        &entry.file,
                        json(&entry.lines),
                        entry.status.name(),
                        &settled.conditions,
                        &packed.text,
                        &packed.places,
                        now(),
                    ),
                )?;
            }
            Ok(())
        })
    }

    /// What became of a target, if that is known.
    pub fn settled(&self, revision: &str, key: &str) -> Result<Option<Settled>, StoreError> {
        let row: Option<(String, String, String)> = self.read(|transaction| {
            let row = transaction.query_row(
                "SELECT conditions, entry, entry_blobs FROM target WHERE revision = ?1 AND key = ?2",
                (revision, key),
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            );
            Ok(row.optional()?)
        })?;
        let Some((conditions, text, blobs)) = row else {
            return Ok(None);
        };
        Ok(Some(Settled {
            revision: revision.to_owned(),
            key: key.to_owned(),
            conditions,
            entry: self.entry(&text, &blobs)?,
        }))
    }

    /// Entries about a line, the latest first. The end of the file's path is enough.
    pub fn settled_at(&self, file: &str, line: u32) -> Result<Vec<Settled>, StoreError> {
        type Row = (String, String, String, String, String);
        let rows: Vec<Row> = self.read(|transaction| {
            let mut statement = transaction.prepare(
                "SELECT t.revision, t.key, t.conditions, t.entry, t.entry_blobs FROM target t
                 WHERE (t.file = ?1 OR substr(t.file, -length(?1) - 1) = '/' || ?1)
                   AND EXISTS (SELECT 1 FROM json_each(t.lines) WHERE value = ?2)
                 ORDER BY t.updated DESC, t.rowid DESC",
            )?;
            let rows = statement.query_map((file, line), |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                ))
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let settled = |(revision, key, conditions, text, blobs): Row| {
            Ok(Settled {
                revision,
                key,
                conditions,
                entry: self.entry(&text, &blobs)?,
            })
        };
        rows.into_iter().map(settled).collect()
    }

    fn entry(&self, text: &str, blobs: &str) -> Result<Entry, StoreError> {
        let damaged = |detail: String| self.damaged(format!("ledger: {detail}"));
        unpack(text, blobs, &self.blobs, &damaged)
    }
}

impl Large for Entry {
    fn each(&mut self, visit: &mut dyn FnMut(&mut Bytes)) {
        for step in &mut self.steps {
            step.scenario.each(visit);
        }
        if let Some(obstacle) = &mut self.obstacle {
            obstacle.scenario.each(visit);
        }
    }
}
