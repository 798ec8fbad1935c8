//! Files that several processes use: replaced at once, named by their contents, locked; and where caches are.

use std::ffi::CString;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::{env, io};

/// Writes a file at once: whoever reads it meanwhile sees the old contents or the new ones, never a part.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |scratch| fs::write(scratch, bytes))
}

/// Replaces a file, link or directory at once. `make` makes the new one under another name in the same directory. The name is random,
/// because processes in other containers may have our number.
pub fn replace(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let number = RandomState::new().hash_one(path);
    let scratch = path.with_file_name(format!(".new-{number:016x}"));
    let result = make(&scratch).and_then(|()| match fs::rename(&scratch, path) {
        Err(error) if is_occupied(&error) => exchange(&scratch, path),
        renamed => renamed,
    });
    // What could not be put in place, or the directory that was there before.
    if fs::symlink_metadata(&scratch).is_ok_and(|metadata| metadata.is_dir()) {
        let _ = fs::remove_dir_all(&scratch);
    } else {
        let _ = fs::remove_file(&scratch);
    }
    result
}

/// Whether something could not be renamed because a directory with something in it has the name.
fn is_occupied(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
    )
}

/// Swaps two directories. A crash leaves both, under whatever names.
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let [first, second] = [one, other].map(|path| CString::new(path.as_os_str().as_bytes()));
    let (first, second) = (first?, second?);
    let (here, flags) = (libc::AT_FDCWD, libc::RENAME_EXCHANGE);
    // SAFETY: two C strings that live long enough.
    match unsafe { libc::renameat2(here, first.as_ptr(), here, second.as_ptr(), flags) } {
        0 => Ok(()),
        // Some file systems cannot, network ones among them.
        _ => {
            let aside = one.with_extension("old");
            fs::rename(other, &aside)?;
            fs::rename(one, other).inspect_err(|_| {
                let _ = fs::rename(&aside, other);
            })?;
            fs::rename(&aside, one)
        }
    }
}

/// Names contents: half a blake3 hash in hexadecimal, 128 bits, which are plenty against accidents.
pub fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Whether a text can be such a name.
pub fn is_hash(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Makes a directory that git ignores: what is kept there is not part of the user's sources.
pub fn create_ignored(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let path = directory.join(".gitignore");
    match path.exists() {
        true => Ok(()),
        false => fs::write(path, "*\n"),
    }
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
    fn a_directory_is_there_while_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("directory");
        let write = |number: u32| {
            replace(&path, |scratch| {
                fs::create_dir(scratch)?;
                fs::write(scratch.join("file"), number.to_string())
            })
        };
        write(0).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| (1..=200).try_for_each(write).unwrap());
            while !writer.is_finished() {
                assert!(path.is_dir());
            }
        });
        assert_eq!(fs::read_to_string(path.join("file")).unwrap(), "200");
        let failed = replace(&path, |scratch| {
            fs::create_dir(scratch)?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err() && path.join("file").exists());
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
