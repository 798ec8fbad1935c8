//! One process at a time makes a build; the others wait, and then find it made.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use parallax_files::try_lock;

use super::BuildError;

/// Held until dropped; the system lets go of it when the process dies.
pub(super) struct Lock {
    _file: File,
}

/// Between two looks whether the other one is done.
const PAUSE: Duration = Duration::from_millis(50);

impl Lock {
    /// `waiting` is called if somebody else has it.
    pub fn take(directory: &Path, waiting: impl FnOnce()) -> Result<Lock, BuildError> {
        let lock = Lock::take_until(directory, waiting, || false)?;
        // Only who is stopped has none.
        lock.ok_or_else(|| BuildError::io(directory)(io::ErrorKind::Interrupted.into()))
    }

    /// The same, unless `stop` says so first.
    pub fn take_until(
        directory: &Path,
        waiting: impl FnOnce(),
        stop: impl Fn() -> bool,
    ) -> Result<Option<Lock>, BuildError> {
        let path = directory.with_extension("lock");
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(BuildError::io(parent))?;
        }
        let file = File::create(&path).map_err(BuildError::io(&path))?;
        let mut waiting = Some(waiting);
        while !try_lock(&file).map_err(BuildError::io(&path))? {
            if let Some(waiting) = waiting.take() {
                waiting();
            }
            if stop() {
                return Ok(None);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(Some(Lock { _file: file }))
    }
}
