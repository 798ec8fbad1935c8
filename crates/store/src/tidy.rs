//! Taking away what is not needed any more, and moving away what is damaged.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::blobs::{Amount, Blobs};
use crate::error::StoreError;
use crate::lock::now;
use crate::{Store, database_path};

/// What a store holds, and what of it was or could be removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Journals of searches.
    pub journals: u64,
    /// Files that nothing names any more.
    pub blobs: Amount,
}

impl Store {
    /// Hashes of all blobs that rows name.
    pub(crate) fn named_blobs(&self) -> Result<HashSet<String>, StoreError> {
        self.read(|transaction| {
            let mut statement = transaction.prepare(
                "SELECT json_extract(value, '$[1]') FROM scenario, json_each(input_blobs)
                 UNION SELECT json_extract(value, '$[1]') FROM scenario, json_each(result_blobs)
                 UNION SELECT blob FROM journal
                 UNION SELECT json_extract(value, '$[1]') FROM target, json_each(entry_blobs)",
            )?;
            let names = statement.query_map([], |row| row.get(0))?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }

    /// Forgets journals of searches (they begin anew when asked for again), removes blobs that
    /// nothing names and gives free pages back. Nobody else may be using the store.
    pub fn sweep(&self) -> Result<Swept, StoreError> {
        let journals = self.write(|transaction| {
            transaction.execute("DELETE FROM journal", [])?;
            Ok(transaction.execute("DELETE FROM work", [])? as u64)
        })?;
        let blobs = self.blobs.sweep(&self.named_blobs()?);
        self.connection
            .execute_batch("VACUUM")
            .map_err(|error| StoreError::from(error).explained(&self.database))?;
        Ok(Swept { journals, blobs })
    }

    /// Bytes that the store in a directory has on the disk, whatever state it is in.
    pub fn size_in(directory: &Path) -> u64 {
        let database = database_path(directory);
        let files = ["", "-wal"].map(|suffix| with_suffix(&database, suffix));
        let size = |path: &PathBuf| fs::metadata(path).map_or(0, |metadata| metadata.len());
        let blobs = Blobs::at(directory.join("blobs"));
        files.iter().map(size).sum::<u64>() + blobs.amount().bytes
    }
}

/// Moves a store, whatever state it is in, to a directory beside it, which is returned; `None` if there
/// was none. Nobody may be using it.
pub fn set_aside(directory: &Path) -> Result<Option<PathBuf>, StoreError> {
    let database = database_path(directory);
    let mut parts: Vec<PathBuf> = ["", "-wal", "-shm"]
        .map(|suffix| with_suffix(&database, suffix))
        .into();
    parts.push(directory.join("blobs"));
    parts.retain(|path| path.exists());
    if parts.is_empty() {
        return Ok(None);
    }
    let target = fresh_directory(directory)?;
    for part in parts {
        let name = part.file_name().unwrap_or(part.as_os_str());
        fs::rename(&part, target.join(name)).map_err(|source| StoreError::io(&part, source))?;
    }
    Ok(Some(target))
}

fn fresh_directory(directory: &Path) -> Result<PathBuf, StoreError> {
    let time = now();
    for attempt in 0.. {
        let suffix = match attempt {
            0 => String::new(),
            _ => format!("-{attempt}"),
        };
        let path = directory.join(format!("store-set-aside-{time}{suffix}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StoreError::io(&path, source)),
        }
    }
    unreachable!("some number is free")
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}
