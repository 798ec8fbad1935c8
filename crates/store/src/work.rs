//! How far a search has come: its journal, which a later process goes on with.
//!
//! A search (an exploration, an amplification…) is named by a hash of everything that decides what comes out of it. Its journal
//! is a list of chunks whose meaning only the search knows; each is on the disk before the next is begun. One
//! process at a time works on a search.
//!
//! A second process that wants the same search waits for the first, and then finds its result.

use rusqlite::OptionalExtension;

use crate::error::StoreError;
use crate::lock::{Holder, Lock, now};
use crate::{Store, lock_directory, program_number};
use parallax_files::hash;

/// A search that is to be done, or gone on with.
#[derive(Clone, Debug)]
pub struct Plan<'p> {
    /// Hash of everything that decides what comes out.
    pub key: &'p str,
    pub strategy: &'p str,
    pub program: &'p [u8],
    /// For people.
    pub description: &'p str,
}

/// A search that this process works on.
#[derive(Debug)]
pub struct Work<'s> {
    store: &'s Store,
    id: i64,
    chunks: u64,
    outcome: Option<String>,
    _lock: Lock,
}

impl Store {
    /// Begins a search, or goes on with it. If another process is at it, `waiting` is told and this
    /// waits until that one has ended.
    pub fn work(
        &self,
        plan: &Plan<'_>,
        waiting: &mut dyn FnMut(&Holder),
    ) -> Result<Work<'_>, StoreError> {
        let path =
            lock_directory(&self.directory).join(format!("work-{}", hash(plan.key.as_bytes())));
        let lock = Lock::alone(&path, plan.description, waiting)?;
        let (id, chunks, outcome) = self.write(|transaction| {
            let program = program_number(transaction, plan.program)?;
            transaction.execute(
                "INSERT OR IGNORE INTO work (key, strategy, program, description, begun, updated)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
                (plan.key, plan.strategy, program, plan.description, now()),
            )?;
            Ok(transaction.query_row(
                "SELECT w.id, (SELECT count(*) FROM journal j WHERE j.work = w.id), w.outcome
                 FROM work w WHERE w.key = ?1",
                [plan.key],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )?)
        })?;
        Ok(Work {
            store: self,
            id,
            chunks,
            outcome,
            _lock: lock,
        })
    }
}

impl Work<'_> {
    /// How many chunks its journal has.
    pub fn chunks(&self) -> u64 {
        self.chunks
    }

    /// How it ended, if it has: what [`Work::finish`] was given.
    pub fn outcome(&self) -> Option<&str> {
        self.outcome.as_deref()
    }

    /// A chunk of the journal; `None` behind the last.
    pub fn chunk(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let name: Option<String> = self.store.read(|transaction| {
            let row = transaction.query_row(
                "SELECT blob FROM journal WHERE work = ?1 AND number = ?2",
                (self.id, number),
                |row| row.get(0),
            );
            Ok(row.optional()?)
        })?;
        name.map(|name| self.store.blobs.get(&name)).transpose()
    }

    /// Adds a chunk to the journal.
    pub fn append(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        let name = hash(chunk);
        self.store.blobs.put(&[(name.clone(), chunk)])?;
        self.store.write(|transaction| {
            transaction.execute(
                "INSERT INTO journal (work, number, blob) VALUES (?1, ?2, ?3)",
                (self.id, self.chunks, &name),
            )?;
            transaction.execute(
                "UPDATE work SET updated = ?2, outcome = NULL WHERE id = ?1",
                (self.id, now()),
            )?;
            Ok(())
        })?;
        self.chunks += 1;
        self.outcome = None;
        Ok(())
    }

    /// Notes how it ended.
    pub fn finish(&mut self, outcome: &str) -> Result<(), StoreError> {
        self.store.write(|transaction| {
            transaction.execute(
                "UPDATE work SET outcome = ?2, updated = ?3 WHERE id = ?1",
                (self.id, outcome, now()),
            )?;
            Ok(())
        })?;
        self.outcome = Some(outcome.to_owned());
        Ok(())
    }

    /// Forgets the journal from a chunk on, and how it ended: from 0 on, to begin anew.
    pub fn truncate(&mut self, chunks: u64) -> Result<(), StoreError> {
        self.store.write(|transaction| {
            transaction.execute(
                "DELETE FROM journal WHERE work = ?1 AND number >= ?2",
                (self.id, chunks),
            )?;
            transaction.execute("UPDATE work SET outcome = NULL WHERE id = ?1", [self.id])?;
            Ok(())
        })?;
        self.chunks = self.chunks.min(chunks);
        self.outcome = None;
        Ok(())
    }
}
