//! One process at a time makes a build; the others wait, and then find it made.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::Duration;

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
        while let Err(error) = lock(&file, libc::LOCK_EX | libc::LOCK_NB) {
            if error.kind() != io::ErrorKind::WouldBlock {
                return Err(BuildError::io(&path)(error));
            }
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

fn lock(file: &File, operation: libc::c_int) -> io::Result<()> {
    loop {
        // Safety: a descriptor that is open.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
