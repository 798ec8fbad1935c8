//! Files in the making: they appear complete or not at all.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::TempDir;

use super::DeriveError;

/// A file that is made in a folder of its own, beside the place where it belongs.
pub struct Making<'p> {
    place: &'p Path,
    scratch: TempDir,
}

impl<'p> Making<'p> {
    /// For a file below the cache directory.
    pub fn begin(place: &'p Path) -> Result<Making<'p>, DeriveError> {
        let parent = place.parent().expect("below the cache directory");
        let scratch = || {
            fs::create_dir_all(parent)?;
            tempfile::Builder::new().prefix(".tmp-").tempdir_in(parent)
        };
        Ok(Making {
            place,
            scratch: scratch().map_err(|error| io_error(place, error))?,
        })
    }

    /// For what is needed to make it; removed at the end.
    pub fn folder(&self) -> &Path {
        self.scratch.path()
    }

    /// A file in that folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// It could not be made.
    pub fn failed(&self, error: io::Error) -> DeriveError {
        io_error(self.place, error)
    }

    /// Puts what was made where it belongs.
    pub fn finish(self, made: &Path) -> Result<(), DeriveError> {
        fs::rename(made, self.place).map_err(|error| self.failed(error))
    }
}

fn io_error(path: &Path, error: io::Error) -> DeriveError {
    DeriveError::Io {
        path: path.to_owned(),
        error,
    }
}
