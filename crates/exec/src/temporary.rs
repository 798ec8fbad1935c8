//! Directories for temporary files that do not outlive the process that made them, even if it was killed: whoever makes the next one
//! removes what nobody uses any more.
//!
//! A directory in use is locked. The kernel takes the lock back when the last process that had it is gone.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use parallax_files::try_lock;
use tempfile::{Builder, TempDir};

const PREFIX: &str = "parallax-run-";
/// Younger ones may be about to be locked.
const AGE: Duration = Duration::from_secs(60);

/// A directory, removed at the end.
#[derive(Debug)]
pub struct Temporary {
    directory: TempDir,
    /// Says that it is in use.
    _lock: File,
}

impl Temporary {
    pub fn new() -> io::Result<Temporary> {
        static SWEPT: Once = Once::new();
        let place = std::env::temp_dir();
        SWEPT.call_once(|| {
            sweep(&place, AGE);
        });
        Temporary::new_in(&place)
    }

    fn new_in(place: &Path) -> io::Result<Temporary> {
        let directory = Builder::new().prefix(PREFIX).tempdir_in(place)?;
        let lock = File::open(directory.path())?;
        parallax_files::lock(&lock)?;
        Ok(Temporary {
            directory,
            _lock: lock,
        })
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }
}

/// Removes what killed processes of this user left behind; how many directories.
pub fn sweep_all() -> usize {
    sweep(&std::env::temp_dir(), AGE)
}

fn sweep(place: &Path, age: Duration) -> usize {
    let Ok(entries) = fs::read_dir(place) else {
        return 0;
    };
    let is_ours = |name: &[u8]| name.starts_with(PREFIX.as_bytes());
    let names = entries.filter_map(Result::ok);
    let left: Vec<PathBuf> = names
        .filter(|entry| is_ours(entry.file_name().as_encoded_bytes()))
        .map(|entry| entry.path())
        .filter(|path| is_left(path, age))
        .collect();
    // Those of other users cannot be removed, and need not be.
    let removed = left.iter().filter(|path| fs::remove_dir_all(path).is_ok());
    removed.count()
}

/// Whether a directory is old enough and in nobody's use.
fn is_left(path: &Path, age: Duration) -> bool {
    let old = fs::symlink_metadata(path).is_ok_and(|metadata| {
        let since = metadata
            .modified()
            .ok()
            .and_then(|time| time.elapsed().ok());
        metadata.is_dir() && since.is_some_and(|since| since >= age)
    });
    old && File::open(path).is_ok_and(|directory| matches!(try_lock(&directory), Ok(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_uses_any_more_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let used = Temporary::new_in(place.path()).unwrap();
        let left = place.path().join("parallax-run-left");
        fs::create_dir_all(left.join("deep")).unwrap();
        fs::create_dir(place.path().join("other")).unwrap();
        std::os::unix::fs::symlink("other", place.path().join("parallax-run-link")).unwrap();
        assert_eq!(sweep(place.path(), AGE), 0);
        assert!(left.exists(), "it could be about to be used");
        assert_eq!(sweep(place.path(), Duration::ZERO), 1);
        assert!(!left.exists());
        assert!(used.path().exists() && place.path().join("other").exists());
        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
