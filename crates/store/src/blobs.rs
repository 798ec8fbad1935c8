//! Byte strings that are too large for rows: files named by the hash of their contents.
//!
//! A blob is there whole or not at all: it is written under another name, brought to the disk, and renamed, all
//! before the row that names it is committed. Blobs that no row names do no harm; `clean` takes them away.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use parallax_files::{is_hash, replace};

use crate::error::StoreError;

/// From so many new blobs on, the whole file system is brought to the disk at once.
const MANY: usize = 8;

/// A directory of blobs.
#[derive(Debug)]
pub struct Blobs {
    directory: PathBuf,
}

/// Number and size of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    pub files: u64,
    pub bytes: u64,
}

impl Blobs {
    pub fn at(directory: PathBuf) -> Blobs {
        Blobs { directory }
    }

    /// Where a blob is.
    fn path(&self, hash: &str) -> PathBuf {
        self.directory.join(&hash[..2]).join(&hash[2..])
    }

    /// Puts blobs on the disk; they are safe there when this returns.
    pub fn put(&self, blobs: &[(String, &[u8])]) -> Result<(), StoreError> {
        let mut written = 0;
        let mut directories = HashSet::new();
        for (hash, bytes) in blobs {
            let path = self.path(hash);
            if has_size(&path, bytes.len()) {
                continue;
            }
            let directory = path.parent().unwrap_or(&self.directory).to_owned();
            let write = || -> io::Result<()> {
                fs::create_dir_all(&directory)?;
                replace(&path, |scratch| {
                    let mut file = File::create(scratch)?;
                    file.write_all(bytes)?;
                    match blobs.len() < MANY {
                        true => file.sync_all(),
                        false => Ok(()),
                    }
                })
            };
            write().map_err(|source| StoreError::io(&path, source))?;
            written += 1;
            directories.insert(directory);
        }
        if written == 0 {
            return Ok(());
        }
        let sync = || match blobs.len() < MANY {
            true => directories
                .iter()
                .chain([&self.directory])
                .try_for_each(|directory| File::open(directory)?.sync_all()),
            false => sync_file_system(&self.directory),
        };
        sync().map_err(|source| StoreError::io(&self.directory, source))
    }

    /// The blob's contents. What does not fit its name is damaged.
    pub fn get(&self, hash: &str) -> Result<Vec<u8>, StoreError> {
        if !is_hash(hash) {
            return Err(StoreError::damaged(
                &self.directory,
                format!("{hash:?} names no blob"),
            ));
        }
        let path = self.path(hash);
        match fs::read(&path) {
            Ok(bytes) if parallax_files::hash(&bytes) == hash => Ok(bytes),
            Ok(_) => Err(StoreError::damaged(&path, "its contents have changed")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::damaged(&path, "it is missing"))
            }
            Err(source) => Err(StoreError::io(&path, source)),
        }
    }

    /// Everything that is there.
    pub fn amount(&self) -> Amount {
        let mut amount = Amount::default();
        self.each(|_, size| {
            amount.files += 1;
            amount.bytes += size;
        });
        amount
    }

    /// Removes what is not in `named`, and files that were never finished. Nobody may be writing.
    pub fn sweep(&self, named: &HashSet<String>) -> Amount {
        let mut removed = Amount::default();
        self.each(|path, size| {
            let is_named = name_of(path).is_some_and(|hash| named.contains(&hash));
            if !is_named && fs::remove_file(path).is_ok() {
                removed.files += 1;
                removed.bytes += size;
            }
        });
        removed
    }

    fn each(&self, mut action: impl FnMut(&Path, u64)) {
        for directory in entries(&self.directory) {
            for path in entries(&directory) {
                if let Ok(metadata) = path.metadata() {
                    action(&path, metadata.len());
                }
            }
        }
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let list = fs::read_dir(directory).into_iter().flatten().flatten();
    list.map(|entry| entry.path()).collect()
}

/// A file of another size is a wreck of the file system: it is written again.
fn has_size(path: &Path, size: usize) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.len() == size as u64)
}

fn sync_file_system(directory: &Path) -> io::Result<()> {
    let directory = File::open(directory)?;
    // SAFETY: a descriptor that is open.
    match unsafe { libc::syncfs(directory.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn name_of(path: &Path) -> Option<String> {
    let last = path.file_name()?.to_str()?;
    let first = path.parent()?.file_name()?.to_str()?;
    Some(format!("{first}{last}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_files::hash;

    fn put(blobs: &Blobs, bytes: &[u8]) -> String {
        let name = hash(bytes);
        blobs.put(&[(name.clone(), bytes)]).unwrap();
        name
    }

    #[test]
    fn blobs_come_back_by_their_hash() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::at(directory.path().join("blobs"));
        let name = put(&blobs, b"large");
        assert_eq!(put(&blobs, b"large"), name);
        assert_eq!(blobs.get(&name).unwrap(), b"large");
        assert_eq!(blobs.amount(), Amount { files: 1, bytes: 5 });
    }

    #[test]
    fn many_blobs_are_put_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::at(directory.path().join("blobs"));
        let contents: Vec<Vec<u8>> = (0..40u8).map(|byte| vec![byte; 10]).collect();
        let named: Vec<_> = contents.iter().map(|c| (hash(c), c.as_slice())).collect();
        blobs.put(&named).unwrap();
        assert_eq!(blobs.amount().files, 40);
        assert_eq!(blobs.get(&named[7].0).unwrap(), contents[7]);
    }

    #[test]
    fn a_changed_or_missing_blob_is_damage() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::at(directory.path().to_owned());
        let name = put(&blobs, b"large");
        fs::write(blobs.path(&name), b"lArge").unwrap();
        assert!(matches!(blobs.get(&name), Err(StoreError::Damaged { .. })));
        fs::remove_file(blobs.path(&name)).unwrap();
        assert!(matches!(blobs.get(&name), Err(StoreError::Damaged { .. })));
        assert!(matches!(
            blobs.get("../../etc/passwd"),
            Err(StoreError::Damaged { .. })
        ));
    }

    #[test]
    fn blobs_that_nobody_names_and_unfinished_ones_are_swept() {
        let directory = tempfile::tempdir().unwrap();
        let blobs = Blobs::at(directory.path().to_owned());
        let (named, other) = (put(&blobs, b"1"), put(&blobs, b"2"));
        let unfinished = blobs.path(&named).with_file_name(".new-x");
        fs::write(&unfinished, b"half").unwrap();
        let removed = blobs.sweep(&[named.clone()].into());
        assert_eq!(removed, Amount { files: 2, bytes: 5 });
        assert!(blobs.get(&named).is_ok() && blobs.get(&other).is_err());
        assert!(!unfinished.exists());
    }
}
