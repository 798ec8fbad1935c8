//! Scenarios: kept once, named by what they are, found by name, program or test.

use std::fmt;
use std::str::FromStr;

use parallax_scenario::{Bytes, Ending, Recorded, Scenario};
use rusqlite::{OptionalExtension, Row, Transaction, params_from_iter};

use crate::error::StoreError;
use crate::lock::now;
use crate::packed::{Packed, json, pack, unpack};
use crate::{Store, program_number};
use parallax_files::hash;

/// Where a scenario comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// A test of the project ran it.
    Recorded,
    /// By hand.
    Added,
    /// From another tool.
    Imported,
    /// Parallax made it, to run code that nothing else ran.
    Covering,
    /// Parallax made it: two versions of the program do different things with it.
    Diverging,
    /// Parallax made it.
    Generated,
}

impl Origin {
    pub const ALL: [Origin; 6] = [
        Origin::Recorded,
        Origin::Added,
        Origin::Imported,
        Origin::Covering,
        Origin::Diverging,
        Origin::Generated,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Origin::Recorded => "recorded",
            Origin::Added => "added",
            Origin::Imported => "imported",
            Origin::Covering => "covering",
            Origin::Diverging => "diverging",
            Origin::Generated => "generated",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let known = Origin::ALL.into_iter().find(|origin| origin.name() == text);
        known.ok_or_else(|| format!("{text:?} is no origin of scenarios"))
    }
}

/// What became of a scenario that was to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    pub id: String,
    /// Otherwise the same was there.
    pub is_new: bool,
}

/// A scenario without its contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    pub id: String,
    pub program: Bytes,
    pub origin: Origin,
    /// Bytes of input.
    pub size: u64,
    pub test: Option<String>,
    /// Blocks of the build that coverage was asked for; `None` if it was never measured.
    pub blocks: Option<u64>,
}

/// A scenario as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    pub id: String,
    pub origin: Origin,
    pub recorded: Recorded,
    /// Every test that ran it.
    pub tests: Vec<String>,
    /// How often the same input gave another result.
    pub others: u64,
    /// Blocks that it covers in the build that was measured last.
    pub blocks: Option<u64>,
}

/// Which scenarios are wanted.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub program: Option<Bytes>,
    /// Run by this test.
    pub test: Option<String>,
    /// Of these origins; of all if empty.
    pub origins: Vec<Origin>,
}

/// The name of a scenario of a program.
pub fn scenario_id(program: &[u8], scenario: &Scenario) -> String {
    let mut bytes = program.to_vec();
    bytes.push(0);
    bytes.extend(json(scenario).into_bytes());
    hash(&bytes)
}

/// What is needed of a scenario for its row, made outside of the transaction.
struct Prepared<'r> {
    recorded: &'r Recorded,
    id: String,
    input: Packed,
    result: Packed,
    result_hash: String,
}

impl Prepared<'_> {
    fn new(recorded: &Recorded) -> Prepared<'_> {
        Prepared {
            recorded,
            id: scenario_id(&recorded.program, &recorded.scenario),
            input: pack(&recorded.scenario),
            result: pack(&recorded.result),
            result_hash: hash(json(&recorded.result).as_bytes()),
        }
    }

    fn blobs(&self) -> impl Iterator<Item = (String, &[u8])> {
        let all = self.input.blobs.iter().chain(&self.result.blobs);
        all.map(|(name, bytes)| (name.clone(), bytes.as_slice()))
    }

    fn insert(&self, transaction: &Transaction<'_>, origin: Origin) -> Result<Added, StoreError> {
        let recorded = self.recorded;
        let known: Option<(String, String)> = transaction
            .query_row(
                "SELECT result_hash, origin FROM scenario WHERE id = ?1",
                [&self.id],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        if let Some((result, from)) = &known {
            // What a test turns out to run is worth more than that it was generated once.
            if from.parse().is_ok_and(|from: Origin| origin < from) {
                transaction.execute(
                    "UPDATE scenario SET origin = ?2 WHERE id = ?1",
                    (&self.id, origin.name()),
                )?;
            }
            if *result != self.result_hash {
                transaction.execute(
                    "UPDATE scenario SET others = others + 1 WHERE id = ?1",
                    [&self.id],
                )?;
            }
        } else {
            let program = program_number(transaction, &recorded.program)?;
            transaction.execute(
                "INSERT INTO scenario (id, program, origin, input, input_blobs, size, result, result_blobs,
                     result_hash, test, notes, seconds, added, unsteady)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                (
                    &self.id,
                    program,
                    origin.name(),
                    &self.input.text,
                    &self.input.places,
                    recorded.scenario.size() as u64,
                    &self.result.text,
                    &self.result.places,
                    &self.result_hash,
                    &recorded.test,
                    json(&recorded.notes),
                    recorded.seconds,
                    now(),
                    json(&recorded.unsteady),
                ),
            )?;
        }
        if let Some(test) = &recorded.test {
            transaction.execute(
                "INSERT OR IGNORE INTO scenario_test (test, scenario) VALUES (?1, ?2)",
                (test, &self.id),
            )?;
        }
        Ok(Added {
            id: self.id.clone(),
            is_new: known.is_none(),
        })
    }
}

impl Store {
    /// Keeps a scenario with its result. The same input of the same program is kept once, with the first result.
    pub fn add(&self, recorded: &Recorded, origin: Origin) -> Result<Added, StoreError> {
        let mut added = self.add_all(std::slice::from_ref(recorded), origin)?;
        Ok(added.remove(0))
    }

    /// Keeps scenarios: all of them or none.
    pub fn add_all(&self, list: &[Recorded], origin: Origin) -> Result<Vec<Added>, StoreError> {
        let prepared: Vec<Prepared<'_>> = list.iter().map(Prepared::new).collect();
        let blobs: Vec<(String, &[u8])> = prepared.iter().flat_map(Prepared::blobs).collect();
        self.blobs.put(&blobs)?;
        self.write(|transaction| {
            let insert = |one: &Prepared<'_>| one.insert(transaction, origin);
            prepared.iter().map(insert).collect()
        })
    }

    /// Scenarios, those of one program together, in the order in which they came.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Listed>, StoreError> {
        let mut text = String::from(
            "SELECT s.id, p.name, s.origin, s.size, s.test,
                 (SELECT c.blocks FROM coverage c WHERE c.scenario = s.id ORDER BY c.build DESC LIMIT 1)
             FROM scenario s JOIN program p ON p.id = s.program WHERE 1",
        );
        let mut values: Vec<Box<dyn rusqlite::ToSql>> = Vec::new();
        if let Some(program) = &filter.program {
            text.push_str(" AND p.name = ?");
            values.push(Box::new(program.0.clone()));
        }
        if let Some(test) = &filter.test {
            text.push_str(
                " AND EXISTS (SELECT 1 FROM scenario_test t WHERE t.test = ? AND t.scenario = s.id)",
            );
            values.push(Box::new(test.clone()));
        }
        if !filter.origins.is_empty() {
            let marks = vec!["?"; filter.origins.len()].join(", ");
            text.push_str(&format!(" AND s.origin IN ({marks})"));
            for origin in &filter.origins {
                values.push(Box::new(origin.name()));
            }
        }
        text.push_str(" ORDER BY p.name, s.rowid");
        self.read(|transaction| {
            let mut statement = transaction.prepare(&text)?;
            let mut rows = statement.query(params_from_iter(values))?;
            let mut list = Vec::new();
            while let Some(row) = rows.next()? {
                list.push(self.listed(row)?);
            }
            Ok(list)
        })
    }

    fn listed(&self, row: &Row<'_>) -> Result<Listed, StoreError> {
        Ok(Listed {
            id: row.get(0)?,
            program: Bytes(row.get(1)?),
            origin: self.origin(&row.get::<_, String>(2)?)?,
            size: row.get(3)?,
            test: row.get(4)?,
            blocks: row.get(5)?,
        })
    }

    fn origin(&self, name: &str) -> Result<Origin, StoreError> {
        name.parse().map_err(|error: String| self.damaged(error))
    }

    /// The full name of the scenario whose name begins like this.
    pub fn find(&self, beginning: &str) -> Result<String, StoreError> {
        let is_name = beginning.bytes().all(|byte| byte.is_ascii_hexdigit());
        if beginning.is_empty() || !is_name {
            return Err(StoreError::NoScenario(beginning.to_owned()));
        }
        let beginning = beginning.to_ascii_lowercase();
        let names: Vec<String> = self.read(|transaction| {
            let mut statement =
                transaction.prepare("SELECT id FROM scenario WHERE id >= ?1 AND id < ?1 || 'g'")?;
            let names = statement.query_map([&beginning], |row| row.get(0))?;
            Ok(names.collect::<Result<_, _>>()?)
        })?;
        match names.as_slice() {
            [] => Err(StoreError::NoScenario(beginning)),
            [one] => Ok(one.clone()),
            several => Err(StoreError::Ambiguous {
                id: beginning,
                count: several.len(),
            }),
        }
    }

    /// A scenario with everything that belongs to it, by its full name.
    pub fn get(&self, id: &str) -> Result<Kept, StoreError> {
        let row = self.read(|transaction| {
            let row = transaction
                .query_row(
                    "SELECT p.name, s.origin, s.input, s.input_blobs, s.result, s.result_blobs, s.result_hash,
                         s.test, s.notes, s.seconds, s.others, s.unsteady,
                         (SELECT c.blocks FROM coverage c WHERE c.scenario = s.id ORDER BY c.build DESC LIMIT 1)
                     FROM scenario s JOIN program p ON p.id = s.program WHERE s.id = ?1",
                    [id],
                    KeptRow::read,
                )
                .optional()?;
            let Some(row) = row else {
                return Err(StoreError::NoScenario(id.to_owned()));
            };
            let mut statement = transaction
                .prepare("SELECT test FROM scenario_test WHERE scenario = ?1 ORDER BY test")?;
            let tests = statement.query_map([id], |row| row.get(0))?;
            Ok((row, tests.collect::<Result<Vec<String>, _>>()?))
        });
        let (row, tests) = row?;
        let damaged = |detail: String| self.damaged(format!("scenario {id}: {detail}"));
        let scenario: Scenario = unpack(&row.input, &row.input_blobs, &self.blobs, &damaged)?;
        let result: Ending = unpack(&row.result, &row.result_blobs, &self.blobs, &damaged)?;
        if scenario_id(&row.program, &scenario) != id
            || hash(json(&result).as_bytes()) != row.result_hash
        {
            return Err(damaged("is not what it was".into()));
        }
        Ok(Kept {
            id: id.to_owned(),
            origin: self.origin(&row.origin)?,
            recorded: Recorded {
                program: Bytes(row.program),
                scenario,
                result,
                test: row.test,
                notes: serde_json::from_str(&row.notes).map_err(|e| damaged(e.to_string()))?,
                unsteady: serde_json::from_str(&row.unsteady)
                    .map_err(|e| damaged(e.to_string()))?,
                seconds: row.seconds,
            },
            tests,
            others: row.others,
            blocks: row.blocks,
        })
    }

    /// Forgets a scenario, unless a finding needs it.
    pub fn remove(&self, id: &str) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let removed = transaction.execute(
                "DELETE FROM scenario WHERE id = ?1 AND NOT EXISTS
                     (SELECT 1 FROM finding f WHERE f.scenario = ?1)",
                [id],
            )?;
            Ok(removed > 0)
        })
    }
}

struct KeptRow {
    program: Vec<u8>,
    origin: String,
    input: String,
    input_blobs: String,
    result: String,
    result_blobs: String,
    result_hash: String,
    test: Option<String>,
    notes: String,
    seconds: f64,
    others: u64,
    unsteady: String,
    blocks: Option<u64>,
}

impl KeptRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<KeptRow> {
        Ok(KeptRow {
            program: row.get(0)?,
            origin: row.get(1)?,
            input: row.get(2)?,
            input_blobs: row.get(3)?,
            result: row.get(4)?,
            result_blobs: row.get(5)?,
            result_hash: row.get(6)?,
            test: row.get(7)?,
            notes: row.get(8)?,
            seconds: row.get(9)?,
            others: row.get(10)?,
            unsteady: row.get(11)?,
            blocks: row.get(12)?,
        })
    }
}
