//! The store: what must outlive a run of Parallax, in one SQLite database with large byte strings beside it.
//!
//! Scenarios with the results that they had, what each of them covers, findings, and how far searches have come. The
//! database is the truth; files that the user sees (tests, findings) are written after it and can be made
//! again from it.
//!
//! * **Nothing that was reported is lost.** Every change is one short transaction that is on the disk when the call returns;
//!   blobs are there before the row that names them. A process can be killed at any moment.
//! * **Processes share a store.** Writers wait for each other; what only one may do at a time ([`Work`]) has a lock
//!   that says who holds it and that the kernel takes back from the dead.
//! * **Damage is said, never hidden and never repaired by guessing.** What is read is compared with the hash that names it.
//!   [`set_aside`] is the way out: it moves the damaged store away, whole.

mod blobs;
mod coverage;
mod error;
mod findings;
pub mod ledger;
mod lock;
mod packed;
mod runs;
mod scenarios;
mod schema;
mod tidy;
mod work;

use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_scenario::Bytes;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

pub use blobs::Amount;
pub use coverage::{Block, Covered, Measured};
pub use error::StoreError;
pub use findings::{KeptFinding, State};
pub use lock::{Holder, Lock, Usage};
pub use parallax_files::hash;
pub use runs::{Alone, Run, announce};
pub use scenarios::{Added, Filter, Kept, Listed, Origin, scenario_id};
pub use tidy::{Swept, set_aside};
pub use work::{Plan, Work};

use blobs::Blobs;

/// Longer than any of our transactions takes, even on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    directory: PathBuf,
    database: PathBuf,
    blobs: Blobs,
}

impl Store {
    /// Opens the store in a directory, usually `.parallax`; makes it if there is none.
    pub fn open(directory: &Path) -> Result<Store, StoreError> {
        let fail = |source| StoreError::io(directory, source);
        parallax_files::create_ignored(directory).map_err(fail)?;
        let database = database_path(directory);
        // Two processes that make or change tables at the same moment could fail each other.
        let _opening = Lock::alone(&lock_directory(directory).join("opening"), "", &mut |_| {})?;
        let connection = connect(&database).map_err(|error| error.explained(&database))?;
        Ok(Store {
            connection,
            blobs: Blobs::at(directory.join("blobs")),
            directory: directory.to_owned(),
            database,
        })
    }

    /// Opens the store only if there is one.
    pub fn open_existing(directory: &Path) -> Result<Option<Store>, StoreError> {
        match database_path(directory).exists() {
            true => Store::open(directory).map(Some),
            false => Ok(None),
        }
    }

    /// The directory that it was opened in.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Names of all programs that anything is known about.
    pub fn programs(&self) -> Result<Vec<Bytes>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare("SELECT name FROM program ORDER BY name")?;
            let names = statement.query_map([], |row| row.get(0).map(Bytes))?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }

    /// Looks at every page of the database and every blob that is named.
    pub fn verify(&self) -> Result<(), StoreError> {
        let report: String = self.read(|connection| {
            Ok(connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?)
        })?;
        if report != "ok" {
            return Err(StoreError::damaged(&self.database, report));
        }
        for name in self.named_blobs()? {
            self.blobs.get(&name)?;
        }
        Ok(())
    }

    /// Reads; what it sees is one moment of the store.
    fn read<T>(
        &self,
        action: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Deferred, action)
    }

    /// Changes the store; all of it or nothing, and on the disk when this returns.
    fn write<T>(
        &self,
        action: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.transaction(TransactionBehavior::Immediate, action)
    }

    fn transaction<T>(
        &self,
        behavior: TransactionBehavior,
        action: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let run = || {
            let transaction = Transaction::new_unchecked(&self.connection, behavior)?;
            let value = action(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|error: StoreError| error.explained(&self.database))
    }

    fn damaged(&self, detail: impl Into<String>) -> StoreError {
        StoreError::damaged(&self.database, detail)
    }
}

fn database_path(directory: &Path) -> PathBuf {
    directory.join("store.sqlite")
}

/// Locks and announcements are in a directory of their own: it may be removed when nobody is there.
fn lock_directory(directory: &Path) -> PathBuf {
    directory.join("locks")
}

fn connect(database: &Path) -> Result<Connection, StoreError> {
    let mut connection = Connection::open(database)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    schema::migrate(&mut connection, database)?;
    Ok(connection)
}

/// The number of a program, which gets one if it has none.
fn program_number(transaction: &Transaction<'_>, name: &[u8]) -> Result<i64, StoreError> {
    let known = transaction
        .query_row("SELECT id FROM program WHERE name = ?1", [name], |row| {
            row.get(0)
        })
        .optional()?;
    match known {
        Some(id) => Ok(id),
        None => {
            transaction.execute("INSERT INTO program (name) VALUES (?1)", [name])?;
            Ok(transaction.last_insert_rowid())
        }
    }
}
