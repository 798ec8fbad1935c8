//! Which commands have used the store, and which do now.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::lock::{Holder, Lock, Usage, now};
use crate::{Store, lock_directory};

/// A command at work. As long as it lives, others know that the store is in use.
#[derive(Debug)]
pub struct Run<'s> {
    store: &'s Store,
    id: i64,
    _usage: Usage,
}

impl Store {
    /// Announces a command; waits for one that must be alone.
    pub fn begin(&self, command: &str) -> Result<Run<'_>, StoreError> {
        let usage = announce(&self.directory, command)?;
        let id = self.write(|transaction| {
            transaction.execute(
                "INSERT INTO run (command, process, version, begun) VALUES (?1, ?2, ?3, ?4)",
                (
                    command,
                    std::process::id(),
                    env!("CARGO_PKG_VERSION"),
                    now(),
                ),
            )?;
            Ok(transaction.last_insert_rowid())
        })?;
        Ok(Run {
            store: self,
            id,
            _usage: usage,
        })
    }
}

impl Run<'_> {
    /// Notes how the command ended.
    pub fn end(self, exit: u8) -> Result<(), StoreError> {
        self.store.write(|transaction| {
            transaction.execute(
                "UPDATE run SET ended = ?2, exit = ?3 WHERE id = ?1",
                (self.id, now(), exit),
            )?;
            Ok(())
        })
    }
}

/// Says that a directory of Parallax is in use; waits for a command that must be alone there.
pub fn announce(directory: &Path, command: &str) -> Result<Usage, StoreError> {
    let _gate = Lock::alone(&gate(directory), command, &mut |_| {})?;
    Usage::announce(&users(directory), command)
}

/// As long as it lives, no other command begins.
#[derive(Debug)]
pub struct Alone {
    _gate: Lock,
}

impl Alone {
    /// Keeps others out of this directory; `Err` inside are those who are in it.
    pub fn try_enter(
        directory: &Path,
        command: &str,
    ) -> Result<Result<Alone, Vec<Holder>>, StoreError> {
        let gate = match Lock::try_alone(&gate(directory), command)? {
            Ok(gate) => gate,
            Err(holder) => return Ok(Err(vec![holder])),
        };
        let others = Usage::others(&users(directory));
        match others.is_empty() {
            true => Ok(Ok(Alone { _gate: gate })),
            false => Ok(Err(others)),
        }
    }
}

fn users(directory: &Path) -> PathBuf {
    lock_directory(directory).join("users")
}

fn gate(directory: &Path) -> PathBuf {
    lock_directory(directory).join("gate")
}
