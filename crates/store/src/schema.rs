//! Tables, and how stores of earlier versions become stores of this one.
//!
//! | table | what | named by |
//! |---|---|---|
//! | `scenario`, `scenario_test` | input, result, origin; which tests ran it | hash of program and input |
//! | `coverage`, `build` | counters that were not zero | scenario and hash of the executable |
//! | `finding` | kind, place, scenario, results, state | program and what makes findings the same |
//! | `target` | the ledger: what became of lines to be covered | revision and blocks |
//! | `work`, `journal` | how far searches are, and how they ended | hash of everything that decides the result |
//! | `run`, `migration` | which commands used the store, which versions made it | |

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;
use crate::lock::now;

/// Marks a database as a store of Parallax: "plx1".
const APPLICATION: i32 = 0x706c_7831;

/// Each brings a store from the version before to the next; they are never edited, only added to.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE program (
        id INTEGER PRIMARY KEY,
        name BLOB NOT NULL UNIQUE            -- as configured, relative to the build tree
    );
    CREATE TABLE build (
        id INTEGER PRIMARY KEY,
        program INTEGER NOT NULL REFERENCES program,
        identity TEXT NOT NULL,              -- hash of the executable
        UNIQUE (program, identity)
    );
    CREATE TABLE scenario (
        id TEXT PRIMARY KEY,                 -- hash of program and input
        program INTEGER NOT NULL REFERENCES program,
        origin TEXT NOT NULL,                -- recorded, added, imported, generated
        input TEXT NOT NULL,                 -- JSON, without what is large
        input_blobs TEXT NOT NULL,           -- JSON: [place, hash] of what is large
        size INTEGER NOT NULL,
        result TEXT NOT NULL,                -- JSON, without what is large
        result_blobs TEXT NOT NULL,
        result_hash TEXT NOT NULL,           -- of the whole result
        others INTEGER NOT NULL DEFAULT 0,   -- how often the same input ended otherwise
        test TEXT,                           -- that ran it first
        notes TEXT NOT NULL,                 -- JSON: limits that were hit, in words
        seconds REAL NOT NULL,
        added INTEGER NOT NULL
    );
    CREATE INDEX scenario_program ON scenario (program, origin);
    CREATE TABLE scenario_test (
        test TEXT NOT NULL,
        scenario TEXT NOT NULL REFERENCES scenario ON DELETE CASCADE,
        PRIMARY KEY (test, scenario)
    ) WITHOUT ROWID;
    CREATE TABLE coverage (
        scenario TEXT NOT NULL REFERENCES scenario ON DELETE CASCADE,
        build INTEGER NOT NULL REFERENCES build,
        blocks INTEGER NOT NULL,             -- how many
        counters BLOB NOT NULL,              -- which: see coverage.rs
        PRIMARY KEY (scenario, build)
    ) WITHOUT ROWID;
    CREATE TABLE finding (
        program INTEGER NOT NULL REFERENCES program,
        id TEXT NOT NULL,
        command TEXT NOT NULL,               -- that found it
        kind TEXT NOT NULL,
        file TEXT,
        line INTEGER,
        message TEXT NOT NULL,
        scenario TEXT NOT NULL REFERENCES scenario,
        old TEXT,                            -- JSON
        new TEXT,
        distance INTEGER,
        depth INTEGER,
        state TEXT NOT NULL,                 -- found, confirmed, flaky
        directory BLOB,
        found INTEGER NOT NULL,
        PRIMARY KEY (program, id)
    ) WITHOUT ROWID;
    CREATE TABLE work (
        id INTEGER PRIMARY KEY,
        key TEXT NOT NULL UNIQUE,            -- hash of everything that decides what comes out
        strategy TEXT NOT NULL,
        program INTEGER NOT NULL REFERENCES program,
        description TEXT NOT NULL,           -- for people
        outcome TEXT,                        -- JSON: how it ended; NULL while it has not
        begun INTEGER NOT NULL,
        updated INTEGER NOT NULL
    );
    CREATE TABLE journal (
        work INTEGER NOT NULL REFERENCES work ON DELETE CASCADE,
        number INTEGER NOT NULL,
        blob TEXT NOT NULL,
        PRIMARY KEY (work, number)
    ) WITHOUT ROWID;
    CREATE TABLE run (
        id INTEGER PRIMARY KEY,
        command TEXT NOT NULL,
        process INTEGER NOT NULL,
        version TEXT NOT NULL,
        begun INTEGER NOT NULL,
        ended INTEGER,
        exit INTEGER
    );
",
    "
    ALTER TABLE scenario ADD COLUMN
        unsteady TEXT NOT NULL DEFAULT '[]'; -- JSON: why it may come out otherwise, in words
",
    "
    CREATE TABLE target (
        revision TEXT NOT NULL,              -- of the source
        key TEXT NOT NULL,                   -- names lines that run together
        file TEXT NOT NULL,
        lines TEXT NOT NULL,                 -- JSON
        status TEXT NOT NULL,                -- suite, covered, infeasible, blocked, missed
        conditions TEXT NOT NULL,            -- hash of what the search was given but for its budget
        entry TEXT NOT NULL,                 -- JSON, without what is large: see ledger.rs
        entry_blobs TEXT NOT NULL,
        updated INTEGER NOT NULL,
        PRIMARY KEY (revision, key)
    );
    CREATE INDEX target_file ON target (file);
",
];

/// Version of stores that this program makes.
pub const VERSION: u32 = MIGRATIONS.len() as u32;

/// Brings the database up to date.
pub fn migrate(connection: &mut Connection, path: &std::path::Path) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let application: i32 = transaction.query_row("PRAGMA application_id", [], |row| row.get(0))?;
    let tables: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables > 0 && application != APPLICATION {
        return Err(StoreError::damaged(path, "it is no store of Parallax"));
    }
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migration (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL)",
    )?;
    let version: u32 = transaction.query_row(
        "SELECT coalesce(max(version), 0) FROM migration",
        [],
        |row| row.get(0),
    )?;
    if version > VERSION {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            version,
            known: VERSION,
        });
    }
    for (index, text) in MIGRATIONS.iter().enumerate().skip(version as usize) {
        transaction.execute_batch(text)?;
        transaction.execute(
            "INSERT INTO migration VALUES (?1, ?2)",
            (index as u64 + 1, now()),
        )?;
    }
    if application != APPLICATION {
        transaction.pragma_update(None, "application_id", APPLICATION)?;
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_an_older_store_holds_is_there_after_all_migrations() {
        let mut connection = Connection::open_in_memory().unwrap();
        let old = format!(
            "PRAGMA application_id = {APPLICATION};
             CREATE TABLE migration (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL);
             INSERT INTO migration VALUES (1, 0);
             {}
             INSERT INTO program VALUES (1, 'prog');
             INSERT INTO scenario VALUES
                 ('id', 1, 'recorded', '{{}}', '[]', 0, '{{}}', '[]', '', 0, NULL, '[]', 0, 0);",
            MIGRATIONS[0]
        );
        connection.execute_batch(&old).unwrap();
        migrate(&mut connection, Path::new("store")).unwrap();
        let (id, unsteady): (String, String) = connection
            .query_row("SELECT id, unsteady FROM scenario", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!((id.as_str(), unsteady.as_str()), ("id", "[]"));
        let version: u32 = connection
            .query_row("SELECT max(version) FROM migration", [], |row| row.get(0))
            .unwrap();
        assert_eq!(version, VERSION);
    }
}
