//! One process at a time makes a build; the others wait, and then find it made.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use super::BuildError;

/// Held until dropped; the system lets go of it when the process dies.
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// `waiting` is called if somebody else has it.
    pub fn take(directory: &Path, waiting: impl FnOnce()) -> Result<Lock, BuildError> {
        let path = directory.with_extension("lock");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(BuildError::io(parent))?;
        }
        let file = File::create(&path).map_err(BuildError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                waiting();
                file.lock().map_err(BuildError::io(&path))?;
            }
            Err(TryLockError::Error(error)) => return Err(BuildError::io(&path)(error)),
        }
        Ok(Lock { _file: file })
    }
}
