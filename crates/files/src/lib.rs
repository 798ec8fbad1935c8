//! Files that several processes use: written whole or not at all, locked, and where caches are.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, io, process};

/// Writes a file; who reads it meanwhile sees the old contents or the new ones, never a part.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut scratch = path.as_os_str().to_owned();
    scratch.push(format!(".new-{}-{number}", process::id()));
    let written = fs::write(&scratch, bytes).and_then(|()| fs::rename(&scratch, path));
    written.inspect_err(|_| {
        let _ = fs::remove_file(&scratch);
    })
}

/// Locks a file for this process alone, unless somebody has it; whether that worked. The lock is held until the file is closed, and the
/// kernel takes it back from the dead.
pub fn try_lock(file: &File) -> io::Result<bool> {
    flock(file, libc::LOCK_EX | libc::LOCK_NB)
}

/// Likewise, after waiting for whoever has it.
pub fn lock(file: &File) -> io::Result<()> {
    flock(file, libc::LOCK_EX).map(|_| ())
}

fn flock(file: &File, operation: libc::c_int) -> io::Result<bool> {
    loop {
        // SAFETY: a descriptor that is open.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(true);
        }
        let error = io::Error::last_os_error();
        match error.kind() {
            io::ErrorKind::WouldBlock => return Ok(false),
            io::ErrorKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}

/// Where Parallax caches what can be made again: below the user's cache directory; `None` if none is named.
pub fn cache_directory() -> Option<PathBuf> {
    let user = || Some(named("HOME")?.join(".cache"));
    Some(named("XDG_CACHE_HOME").or_else(user)?.join("parallax"))
}

/// The absolute path that an environment variable names.
pub fn named(variable: &str) -> Option<PathBuf> {
    let path = env::var_os(variable).map(PathBuf::from);
    path.filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for text in ["old", "new"] {
            write_whole(&path, text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        assert!(write_whole(&folder.path().join("none/file"), b"").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_lock_is_held_until_the_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (one, other) = (File::create(&path).unwrap(), File::create(&path).unwrap());
        assert!(try_lock(&one).unwrap());
        assert!(!try_lock(&other).unwrap());
        drop(one);
        lock(&other).unwrap();
    }
}
