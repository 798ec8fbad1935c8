//! Findings: kept before they are reported, one for each name in each program.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use rusqlite::Row;

use crate::error::StoreError;
use crate::lock::now;
use crate::packed::json;
use crate::scenarios::{Origin, scenario_id};
use crate::{Store, program_number};

/// How sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    Found,
    /// Seen again, every time.
    Confirmed,
    /// Seen, but not every time.
    Flaky,
}

impl State {
    pub fn name(self) -> &'static str {
        match self {
            State::Found => "found",
            State::Confirmed => "confirmed",
            State::Flaky => "flaky",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for State {
    type Err = String;

    fn from_str(text: &str) -> Result<State, String> {
        let all = [State::Found, State::Confirmed, State::Flaky];
        let known = all.into_iter().find(|state| state.name() == text);
        known.ok_or_else(|| format!("{text:?} is no state of a finding"))
    }
}

/// A finding as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptFinding {
    pub program: Bytes,
    /// The same for the same defect.
    pub id: String,
    /// What found it: `explore`, `amplify`…
    pub command: String,
    pub kind: String,
    pub location: Option<(String, u32)>,
    pub message: String,
    pub scenario: Scenario,
    /// What the versions did.
    pub old: Option<Ending>,
    pub new: Option<Ending>,
    pub distance: Option<u64>,
    pub depth: Option<u64>,
    pub state: State,
    /// Where its files are.
    pub directory: Option<PathBuf>,
}

impl Store {
    /// Keeps a finding; one with the same name is replaced.
    pub fn put_finding(&self, finding: &KeptFinding) -> Result<(), StoreError> {
        let recorded = Recorded {
            program: finding.program.clone(),
            scenario: finding.scenario.clone(),
            result: finding.new.clone().unwrap_or_default(),
            ..Recorded::default()
        };
        let scenario = self.add(&recorded, Origin::Generated)?.id;
        let ending = |ending: &Option<Ending>| ending.as_ref().map(json);
        let (file, line) = finding.location.clone().unzip();
        let directory = finding.directory.as_ref();
        let directory = directory.map(|path| path.as_os_str().as_encoded_bytes());
        self.write(|transaction| {
            let program = program_number(transaction, &finding.program)?;
            transaction.execute(
                "INSERT INTO finding (program, id, command, kind, file, line, message, scenario, old, new,
                     distance, depth, state, directory, found)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
                 ON CONFLICT (program, id) DO UPDATE SET command = ?3, message = ?7, scenario = ?8,
                     old = ?9, new = ?10, distance = ?11, depth = ?12, state = ?13, directory = ?14",
                (
                    program,
                    &finding.id,
                    &finding.command,
                    &finding.kind,
                    file,
                    line,
                    &finding.message,
                    &scenario,
                    ending(&finding.old),
                    ending(&finding.new),
                    finding.distance,
                    finding.depth,
                    finding.state.name(),
                    directory,
                    now(),
                ),
            )?;
            Ok(())
        })
    }

    /// Findings, of one program or of all, in the order of their names.
    pub fn findings(&self, program: Option<&Bytes>) -> Result<Vec<KeptFinding>, StoreError> {
        let rows = self.read(|transaction| {
            let mut statement = transaction.prepare(
                "SELECT p.name, f.id, f.command, f.kind, f.file, f.line, f.message, f.scenario, f.old, f.new,
                     f.distance, f.depth, f.state, f.directory
                 FROM finding f JOIN program p ON p.id = f.program
                 WHERE ?1 IS NULL OR p.name = ?1 ORDER BY p.name, f.id",
            )?;
            let rows = statement.query_map([program.map(|name| &name.0)], FindingRow::read)?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        rows.into_iter().map(|row| self.finding(row)).collect()
    }

    fn finding(&self, row: FindingRow) -> Result<KeptFinding, StoreError> {
        let damaged = |detail: String| self.damaged(format!("finding {}: {detail}", row.id));
        let ending = |text: Option<String>| -> Result<Option<Ending>, StoreError> {
            let parse = |text: String| serde_json::from_str(&text);
            let ending = text.map(parse).transpose();
            ending.map_err(|error: serde_json::Error| damaged(error.to_string()))
        };
        let kept = self.get(&row.scenario)?;
        debug_assert_eq!(
            scenario_id(&kept.recorded.program, &kept.recorded.scenario),
            row.scenario
        );
        let (old, new) = (ending(row.old)?, ending(row.new)?);
        let state = row.state.parse().map_err(damaged)?;
        Ok(KeptFinding {
            program: Bytes(row.program),
            command: row.command,
            kind: row.kind,
            location: row.file.zip(row.line),
            message: row.message,
            scenario: kept.recorded.scenario,
            old,
            new,
            distance: row.distance,
            depth: row.depth,
            state,
            directory: row
                .directory
                .map(|bytes| PathBuf::from(Bytes(bytes).to_os_string())),
            id: row.id,
        })
    }
}

struct FindingRow {
    program: Vec<u8>,
    id: String,
    command: String,
    kind: String,
    file: Option<String>,
    line: Option<u32>,
    message: String,
    scenario: String,
    old: Option<String>,
    new: Option<String>,
    distance: Option<u64>,
    depth: Option<u64>,
    state: String,
    directory: Option<Vec<u8>>,
}

impl FindingRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<FindingRow> {
        Ok(FindingRow {
            program: row.get(0)?,
            id: row.get(1)?,
            command: row.get(2)?,
            kind: row.get(3)?,
            file: row.get(4)?,
            line: row.get(5)?,
            message: row.get(6)?,
            scenario: row.get(7)?,
            old: row.get(8)?,
            new: row.get(9)?,
            distance: row.get(10)?,
            depth: row.get(11)?,
            state: row.get(12)?,
            directory: row.get(13)?,
        })
    }
}
