//! A source tree without version control, as it is.
//!
//! Times are kept, so that generated files that came with the source are not taken for outdated. What an earlier build left
//! behind is not copied: `make` would take the user's objects, which carry nothing for us, for finished.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Kind, Revision, RevisionError, set_time};
use crate::config::FILE_NAME;
use crate::project::STATE;

/// The files of a tree that are source.
pub(super) struct Snapshot {
    root: PathBuf,
    /// Relative, sorted; directories included.
    entries: Vec<Entry>,
    id: String,
}

struct Entry {
    path: PathBuf,
    kind: EntryKind,
    mode: u32,
    modified: SystemTime,
}

#[derive(PartialEq, Eq)]
enum EntryKind {
    Directory,
    File,
    Link,
}

/// Left by configuring: with them in place a second configuring would believe the first.
const CONFIGURED: &[&str] = &[
    "config.status",
    "config.cache",
    "config.log",
    "CMakeCache.txt",
];

/// At the top: ours, and what version control keeps.
const NO_SOURCE: &[&str] = &[STATE, FILE_NAME, ".git", ".hg", ".svn"];

impl Snapshot {
    /// Looks at a tree.
    pub(super) fn of(root: &Path) -> Result<Snapshot, RevisionError> {
        let mut entries = list(root)?;
        if let Some(built) = first_built(root, &entries) {
            entries.retain(|entry| !is_product(root, entry, built));
        }
        let id = hash(root, &entries)?;
        Ok(Snapshot {
            root: root.to_owned(),
            entries,
            id,
        })
    }

    /// Its name.
    pub(super) fn revision(&self) -> Revision {
        Revision {
            label: "source as it is".to_owned(),
            id: self.id.clone(),
            kind: Kind::Copy,
        }
    }

    /// Copies it to a directory that does not exist yet.
    pub(super) fn copy_to(&self, destination: &Path) -> Result<(), RevisionError> {
        fs::create_dir_all(destination).map_err(RevisionError::io(destination))?;
        for entry in &self.entries {
            let (from, to) = (self.root.join(&entry.path), destination.join(&entry.path));
            let copy = || -> io::Result<()> {
                match entry.kind {
                    EntryKind::Directory => fs::create_dir(&to),
                    EntryKind::Link => symlink(fs::read_link(&from)?, &to),
                    EntryKind::File => {
                        fs::copy(&from, &to)?;
                        set_time(&to, entry.modified)
                    }
                }
            };
            copy().map_err(RevisionError::io(&from))?;
        }
        Ok(())
    }
}

fn list(root: &Path) -> Result<Vec<Entry>, RevisionError> {
    let mut entries = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let directory = root.join(&folder);
        let found = fs::read_dir(&directory).map_err(RevisionError::io(&directory))?;
        for entry in found {
            let entry = entry.map_err(RevisionError::io(&directory))?;
            let path = folder.join(entry.file_name());
            if NO_SOURCE.iter().any(|name| path == Path::new(name)) {
                continue;
            }
            let metadata = entry.metadata().map_err(RevisionError::io(&entry.path()))?;
            let Some(kind) = kind_of(&metadata) else {
                continue;
            };
            if kind == EntryKind::Directory {
                open.push(path.clone());
            }
            entries.push(Entry {
                path,
                kind,
                mode: metadata.permissions().mode() & 0o7777,
                modified: metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            });
        }
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// `None` for sockets, pipes and devices, which are no source.
fn kind_of(metadata: &Metadata) -> Option<EntryKind> {
    if metadata.is_dir() {
        Some(EntryKind::Directory)
    } else if metadata.is_file() {
        Some(EntryKind::File)
    } else if metadata.is_symlink() {
        Some(EntryKind::Link)
    } else {
        None
    }
}

/// When the tree was first configured or compiled in, if it was. Objects and programs that are older came with
/// the source, as data for its tests.
fn first_built(root: &Path, entries: &[Entry]) -> Option<SystemTime> {
    let has_source = |object: &Path| {
        let source = |extension: &str| root.join(object.with_extension(extension)).exists();
        ["c", "cc", "cpp", "cxx", "S"]
            .iter()
            .any(|extension| source(extension))
    };
    let is_evidence = |entry: &&Entry| {
        let name = entry.path.file_name().and_then(|name| name.to_str());
        let configured = name.is_some_and(|name| CONFIGURED.contains(&name));
        let object = entry.path.extension().is_some_and(|end| end == "o");
        entry.kind == EntryKind::File && (configured || object && has_source(&entry.path))
    };
    entries
        .iter()
        .filter(is_evidence)
        .map(|entry| entry.modified)
        .min()
}

fn is_product(root: &Path, entry: &Entry, built: SystemTime) -> bool {
    let inside = |name: &str| entry.path.iter().any(|part| part == name);
    if inside(".libs") || inside("CMakeFiles") || inside("meson-private") {
        return true;
    }
    if entry.kind != EntryKind::File || entry.modified < built {
        return false;
    }
    let name = entry.path.file_name().and_then(|name| name.to_str());
    if name.is_some_and(|name| CONFIGURED.contains(&name)) {
        return true;
    }
    let extension = entry.path.extension().and_then(|end| end.to_str());
    if matches!(extension, Some("o" | "lo" | "la" | "a")) {
        return true;
    }
    let mut start = [0; 8];
    let read = fs::File::open(root.join(&entry.path)).and_then(|mut file| file.read(&mut start));
    read.is_ok() && start.starts_with(b"\x7fELF")
}

/// Depends on names, modes and content, not on times.
fn hash(root: &Path, entries: &[Entry]) -> Result<String, RevisionError> {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for entry in entries {
        let path = root.join(&entry.path);
        part(entry.path.as_os_str().as_bytes());
        match entry.kind {
            EntryKind::Directory => part(b"directory"),
            EntryKind::Link => {
                let target = fs::read_link(&path).map_err(RevisionError::io(&path))?;
                part(b"link");
                part(target.as_os_str().as_bytes());
            }
            EntryKind::File => {
                part(if entry.mode & 0o100 != 0 {
                    b"program"
                } else {
                    b"file"
                });
                part(&fs::read(&path).map_err(RevisionError::io(&path))?);
            }
        }
    }
    Ok(hasher.finalize().to_hex()[..40].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn tree() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/a.c"), "int main(){}").unwrap();
        fs::write(folder.path().join("configure"), "#!/bin/sh\n").unwrap();
        symlink("a.c", folder.path().join("src/b.c")).unwrap();
        folder
    }

    #[test]
    fn a_copy_keeps_times_modes_and_links() {
        let folder = tree();
        let script = folder.path().join("configure");
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        set_time(&script, long_ago).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let to = elsewhere.path().join("copy");
        Snapshot::of(folder.path()).unwrap().copy_to(&to).unwrap();
        let copied = fs::metadata(to.join("configure")).unwrap();
        assert_eq!(copied.modified().unwrap(), long_ago);
        assert_eq!(copied.permissions().mode() & 0o777, 0o755);
        assert_eq!(fs::read_link(to.join("src/b.c")).unwrap(), Path::new("a.c"));
    }

    #[test]
    fn the_name_of_a_tree_depends_on_content_and_not_on_times_or_on_our_own_files() {
        let folder = tree();
        let id = || Snapshot::of(folder.path()).unwrap().id;
        let first = id();
        set_time(&folder.path().join("configure"), SystemTime::UNIX_EPOCH).unwrap();
        fs::create_dir(folder.path().join(STATE)).unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        fs::write(folder.path().join(FILE_NAME), "").unwrap();
        assert_eq!(id(), first);
        fs::write(folder.path().join("src/a.c"), "int main(){return 1;}").unwrap();
        assert_ne!(id(), first);
    }

    #[test]
    fn what_an_earlier_build_left_is_not_copied_but_objects_that_came_with_the_source_are() {
        let folder = tree();
        let write = |name: &str, age: u64| {
            let path = folder.path().join(name);
            fs::write(&path, b"\x7fELF and more").unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            set_time(&path, time).unwrap();
        };
        write("src/testdata.o", 5000);
        write("src/a.o", 100);
        write("src/prog", 50);
        let snapshot = Snapshot::of(folder.path()).unwrap();
        let names: Vec<_> = snapshot
            .entries
            .iter()
            .map(|entry| entry.path.to_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["configure", "src", "src/a.c", "src/b.c", "src/testdata.o"]
        );
    }
}
