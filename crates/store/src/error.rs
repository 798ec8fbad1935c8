//! Why the store could not do what it was asked, and whose fault that is.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// What went wrong with the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database or something beside it is not what was written. Nothing is repaired or removed by itself.
    #[error("the store {} is damaged: {detail}", path.display())]
    Damaged { path: PathBuf, detail: String },
    /// Made by a later version.
    #[error("the store {} was made by a later parallax (its version is {version}, this one knows {known})", path.display())]
    Newer {
        path: PathBuf,
        version: u32,
        known: u32,
    },
    /// What was being written is not there; everything before is.
    #[error("no room for the store {}", path.display())]
    Full {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot use {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another process held the database for longer than anyone should.
    #[error("the store {} is being written by another process, and that for too long", path.display())]
    Busy { path: PathBuf },
    #[error("there is no scenario {0}")]
    NoScenario(String),
    #[error("{id} is the beginning of {count} scenarios")]
    Ambiguous { id: String, count: usize },
    /// Any other error of the database: a defect of ours.
    #[error("the store's database refused")]
    Database(#[from] rusqlite::Error),
}

impl StoreError {
    /// An error while using a file; a full disk is told apart.
    pub(crate) fn io(path: &Path, source: io::Error) -> StoreError {
        let path = path.to_owned();
        match source.raw_os_error() {
            Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG) => StoreError::Full { path, source },
            _ => StoreError::Io { path, source },
        }
    }

    pub(crate) fn damaged(path: &Path, detail: impl Into<String>) -> StoreError {
        StoreError::Damaged {
            path: path.to_owned(),
            detail: detail.into(),
        }
    }

    /// Gives errors of the database the meaning that they have for the user.
    pub(crate) fn explained(self, path: &Path) -> StoreError {
        let StoreError::Database(error) = self else {
            return self;
        };
        let owned = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::damaged(path, error.to_string())
            }
            Some(ErrorCode::DiskFull) => StoreError::Full {
                path: owned,
                source: io::Error::other(error.to_string()),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                StoreError::Busy { path: owned }
            }
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied,
            ) => StoreError::Io {
                path: owned,
                source: io::Error::other(error.to_string()),
            },
            _ => StoreError::Database(error),
        }
    }
}
