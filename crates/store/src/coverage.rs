//! What scenarios cover, for each build: measured once, looked up afterwards.
//!
//! Counters are kept as the covered program numbers them: module, then index, ascending, as differences in bytes of
//! seven bits each.

use std::collections::BTreeSet;

use parallax_scenario::Bytes;
use rusqlite::{OptionalExtension, Transaction};

use crate::error::StoreError;
use crate::scenarios::Origin;
use crate::{Store, program_number};

/// A counter of a covered program: of a block, or of one side of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Block {
    pub module: u64,
    pub index: u32,
}

/// What one scenario covers in one build.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// How many blocks.
    pub blocks: u64,
    /// All counters that were not zero, sides of branches included.
    pub counters: BTreeSet<Block>,
}

/// What one of several scenarios covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Its name.
    pub scenario: String,
    pub origin: Origin,
    pub counters: BTreeSet<Block>,
}

impl Store {
    /// Keeps what a scenario covers in the build with this hash.
    pub fn put_coverage(
        &self,
        scenario: &str,
        program: &Bytes,
        build: &str,
        covered: &Covered,
    ) -> Result<(), StoreError> {
        let counters = encode(&covered.counters);
        self.write(|transaction| {
            let build = build_number(transaction, program, build)?;
            transaction.execute(
                "INSERT OR REPLACE INTO coverage (scenario, build, blocks, counters) VALUES (?1, ?2, ?3, ?4)",
                (scenario, build, covered.blocks, counters),
            )?;
            Ok(())
        })
    }

    /// What a scenario covers in a build, if that was measured.
    pub fn coverage(&self, scenario: &str, build: &str) -> Result<Option<Covered>, StoreError> {
        let row: Option<(u64, Vec<u8>)> = self.read(|transaction| {
            let row = transaction.query_row(
                "SELECT c.blocks, c.counters FROM coverage c JOIN build b ON b.id = c.build
                 WHERE c.scenario = ?1 AND b.identity = ?2",
                (scenario, build),
                |row| Ok((row.get(0)?, row.get(1)?)),
            );
            Ok(row.optional()?)
        })?;
        let Some((blocks, bytes)) = row else {
            return Ok(None);
        };
        let counters = decode(&bytes).ok_or_else(|| self.damaged("coverage is cut off"))?;
        Ok(Some(Covered { blocks, counters }))
    }

    /// What each scenario covers in a build, as far as that was measured, in the order in which they came.
    pub fn coverages(&self, build: &str) -> Result<Vec<Measured>, StoreError> {
        let rows: Vec<(String, String, Vec<u8>)> = self.read(|transaction| {
            let mut statement = transaction.prepare(
                "SELECT s.id, s.origin, c.counters FROM coverage c JOIN build b ON b.id = c.build
                 JOIN scenario s ON s.id = c.scenario WHERE b.identity = ?1 ORDER BY s.rowid",
            )?;
            let rows =
                statement.query_map([build], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })?;
        let measured = |(scenario, origin, bytes): (String, String, Vec<u8>)| {
            let origin = origin
                .parse()
                .map_err(|error: String| self.damaged(error))?;
            let counters = decode(&bytes).ok_or_else(|| self.damaged("coverage is cut off"))?;
            Ok(Measured {
                scenario,
                origin,
                counters,
            })
        };
        rows.into_iter().map(measured).collect()
    }
}

fn build_number(
    transaction: &Transaction<'_>,
    program: &Bytes,
    identity: &str,
) -> Result<i64, StoreError> {
    let program = program_number(transaction, program)?;
    transaction.execute(
        "INSERT OR IGNORE INTO build (program, identity) VALUES (?1, ?2)",
        (program, identity),
    )?;
    Ok(transaction.query_row(
        "SELECT id FROM build WHERE program = ?1 AND identity = ?2",
        (program, identity),
        |row| row.get(0),
    )?)
}

fn encode(counters: &BTreeSet<Block>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut last = Block {
        module: 0,
        index: 0,
    };
    for counter in counters {
        // A difference of modules that is not 0 begins a new one.
        put(&mut bytes, counter.module - last.module);
        if counter.module != last.module {
            last.index = 0;
        }
        put(&mut bytes, u64::from(counter.index - last.index));
        last = *counter;
    }
    bytes
}

fn decode(mut bytes: &[u8]) -> Option<BTreeSet<Block>> {
    let mut counters = BTreeSet::new();
    let (mut module, mut index) = (0u64, 0u32);
    while !bytes.is_empty() {
        let step = take(&mut bytes)?;
        if step != 0 {
            module = module.checked_add(step)?;
            index = 0;
        }
        index = index.checked_add(u32::try_from(take(&mut bytes)?).ok()?)?;
        counters.insert(Block { module, index });
    }
    Some(counters)
}

fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_come_back() {
        let block = |module, index| Block { module, index };
        let counters: BTreeSet<Block> = [
            block(0, 0),
            block(0, 5),
            block(7, 0),
            block(7, 300),
            block(u64::MAX, u32::MAX),
        ]
        .into();
        assert_eq!(decode(&encode(&counters)), Some(counters));
        assert_eq!(decode(&[]), Some(BTreeSet::new()));
        assert_eq!(decode(&[0x80]), None);
        assert_eq!(decode(&[1]), None);
    }
}
