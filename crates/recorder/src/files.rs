//! What a program found in the file system: for every path that it named, what was there at first.
//!
//! First, because later the program may have changed it. What it made itself was not there when it was first named, so it
//! never counts as input; whatever is below something that was not there is not looked at.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::found::{Contents, Found, Stamp};
use crate::limits::Limits;
use crate::proc;
use crate::territory::Territory;

/// As the kernel has it.
const MOST_LINKS: usize = 40;
const ELF: &[u8] = b"\x7fELF";

/// How much of a file is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// It is named: its contents are kept if they are small.
    Glance,
    /// It is opened.
    Open,
    /// It is executed: if it is a binary, it is none of the input.
    Execute,
}

/// How a path is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    pub interest: Interest,
    /// Whether a link at its end is followed.
    pub follow: bool,
    /// Whether what is there may change after this.
    pub changes: bool,
    /// Whether something is made there if there is nothing.
    pub creates: bool,
}

impl Look {
    pub const GLANCE: Look = Look {
        interest: Interest::Glance,
        follow: true,
        changes: false,
        creates: false,
    };
}

/// What one recorded program found.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// By canonical path.
    found: HashMap<PathBuf, Found>,
    /// Bytes that are kept.
    size: u64,
    /// Files outside of everything that can be part of a scenario.
    pub outside: BTreeSet<PathBuf>,
    /// Shared libraries that are neither the system's nor input.
    pub libraries: BTreeSet<PathBuf>,
    pub notes: BTreeSet<String>,
}

/// Who looks.
#[derive(Clone, Copy, Debug)]
pub struct Viewer<'a> {
    pub territory: &'a Territory,
    pub limits: &'a Limits,
    /// Where the program was started.
    pub start: &'a Path,
}

impl Files {
    /// Everything that was found, by path.
    pub fn into_found(self) -> HashMap<PathBuf, Found> {
        self.found
    }

    /// The numbers that the file system has for what was found, but for those that are too small to be recognised.
    pub fn inodes(&self) -> BTreeSet<u64> {
        const SMALL: u64 = 10_000;
        let stamps = self.found.values().filter_map(|found| match found {
            Found::File { stamp, .. } | Found::Directory { stamp, .. } => Some(stamp.identity),
            _ => None,
        });
        let numbers = stamps.flat_map(|identity| [identity.number, identity.device]);
        numbers.filter(|number| *number >= SMALL).collect()
    }

    /// Notes what is at an absolute path, and at every link on the way.
    pub fn look(&mut self, viewer: &Viewer, path: &Path, look: Look) {
        let end = self.walk(viewer, path, look);
        let meant = if look.creates { end.parent() } else { None };
        for path in meant.into_iter().chain([end.as_path()]) {
            if let Some(Found::Directory { is_meant, .. }) = self.found.get_mut(path) {
                *is_meant = true;
            }
        }
        if (look.interest == Interest::Open || look.changes)
            && let Some(found @ Found::Pipe { .. }) = self.found.get_mut(&end)
        {
            *found = Found::Special;
            self.notes.insert(special_note(&end));
        }
        if look.changes
            && let Some(Found::File { is_changed, .. }) = self.found.get_mut(&end)
        {
            *is_changed = true;
        }
    }

    /// Goes the way of a path; returns where it ended.
    fn walk(&mut self, viewer: &Viewer, path: &Path, look: Look) -> PathBuf {
        // The rest of the way, last step first.
        let mut steps = steps(path);
        let mut at = PathBuf::from("/");
        let mut links = 0;
        while let Some(step) = steps.pop() {
            if step == ".." {
                at.pop();
                continue;
            }
            at.push(&step);
            if viewer.territory.is_system(&at, viewer.start) {
                return at;
            }
            let is_last = steps.is_empty();
            let is_covered = viewer.territory.covers(&at, viewer.start);
            let target = if is_covered {
                let interest = match is_last {
                    true => look.interest,
                    false => Interest::Glance,
                };
                match self.find(viewer, &at, interest) {
                    Found::Directory { .. } => continue,
                    Found::Link { target, .. } => target.clone(),
                    _ => return at,
                }
            } else {
                match fs::symlink_metadata(&at) {
                    Ok(metadata) if metadata.is_dir() => continue,
                    Ok(metadata) if metadata.is_symlink() => match fs::read_link(&at) {
                        Ok(target) => target.into_os_string(),
                        Err(_) => return at,
                    },
                    Ok(metadata) if metadata.is_file() && is_last => {
                        if look.interest == Interest::Open {
                            self.outside.insert(at.clone());
                        }
                        return at;
                    }
                    _ => return at,
                }
            };
            links += 1;
            if (is_last && !look.follow) || links > MOST_LINKS {
                return at;
            }
            let target = Path::new(&target);
            if target.is_absolute() {
                at = PathBuf::from("/");
            } else {
                at.pop();
            }
            steps.extend(self::steps(target));
        }
        at
    }

    /// Notes the entries of a directory.
    pub fn list(&mut self, viewer: &Viewer, directory: &Path) {
        self.look(viewer, directory, Look::GLANCE);
        let Some(Found::Directory { listed, .. }) = self.found.get_mut(directory) else {
            return;
        };
        if listed.is_some() {
            return;
        }
        let Ok(mut entries) = proc::entries(directory) else {
            return;
        };
        let is_cut = entries.len() > viewer.limits.entries;
        entries.truncate(viewer.limits.entries);
        let names = entries.iter().map(|entry| entry.name.clone());
        *listed = Some(names.collect());
        if is_cut {
            self.notes.insert(format!(
                "{}: only {} entries of the directory are kept",
                directory.display(),
                viewer.limits.entries
            ));
        }
        for entry in entries {
            let path = directory.join(&entry.name);
            if self.found.contains_key(&path) {
                continue;
            }
            let found = match fs::symlink_metadata(&path) {
                Ok(metadata) => Found::at(&path, &metadata, viewer.territory),
                Err(_) => Found::listed(&entry),
            };
            if found == Found::Special {
                self.notes.insert(special_note(&path));
            }
            self.found.insert(path, found);
        }
    }

    fn find(&mut self, viewer: &Viewer, path: &Path, interest: Interest) -> &Found {
        let missing = !self.found.contains_key(path);
        if missing {
            let found = match fs::symlink_metadata(path) {
                Ok(metadata) => Found::at(path, &metadata, viewer.territory),
                Err(_) => Found::Absent,
            };
            if found == Found::Special {
                self.notes.insert(special_note(path));
            }
            self.found.insert(path.to_owned(), found);
        }
        self.read(viewer, path, interest);
        &self.found[path]
    }

    /// Keeps the contents of a file as far as they are wanted.
    fn read(&mut self, viewer: &Viewer, path: &Path, interest: Interest) {
        let (mode, old, stamp) = match self.found.get(path) {
            Some(Found::File {
                mode,
                contents,
                is_changed: false,
                stamp,
            }) => (*mode, contents, stamp.clone()),
            Some(Found::Binary) if interest == Interest::Open => {
                (0o755, &Contents::Unread, Stamp::default())
            }
            _ => return,
        };
        let old_size = match old {
            Contents::Unread => 0,
            Contents::Part(bytes, _) if interest == Interest::Open => bytes.len() as u64,
            _ => return,
        };
        let room = viewer.limits.scenario.saturating_sub(self.size) + old_size;
        let limit = match interest {
            Interest::Open => viewer.limits.file,
            Interest::Glance | Interest::Execute => viewer.limits.glance,
        };
        let contents = match proc::read_file(path, limit.min(room)) {
            Err(_) => Contents::Unreadable,
            // A library that a test has made for itself is part of the test.
            Ok(read)
                if is_binary(path, mode, &read.bytes, interest)
                    && !(is_library(path) && stamp.is_fresh && path.starts_with(viewer.start)) =>
            {
                if is_library(path) {
                    self.libraries.insert(path.to_owned());
                }
                self.found.insert(path.to_owned(), Found::Binary);
                return;
            }
            Ok(read) if read.size > read.bytes.len() as u64 => {
                Contents::Part(read.bytes, read.size)
            }
            Ok(read) => Contents::Whole(read.bytes),
        };
        let size = match &contents {
            Contents::Whole(bytes) | Contents::Part(bytes, _) => bytes.len() as u64,
            Contents::Unread | Contents::Unreadable => 0,
        };
        self.size = self.size + size - old_size;
        let found = Found::File {
            mode,
            contents,
            is_changed: false,
            stamp,
        };
        self.found.insert(path.to_owned(), found);
    }
}

/// Programs are looked at by whoever searches the PATH for them, libraries are opened by the dynamic
/// linker: neither makes them input.
fn is_binary(path: &Path, mode: u32, bytes: &[u8], interest: Interest) -> bool {
    let is_executable = mode & 0o111 != 0;
    bytes.starts_with(ELF) && (is_library(path) || (is_executable && interest != Interest::Open))
}

fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.ends_with(b".so") || name.windows(4).any(|part| part == b".so.")
}

fn special_note(path: &Path) -> String {
    format!(
        "{}: a pipe, socket or device; it is left out",
        path.display()
    )
}

/// The steps of a path, last one first.
fn steps(path: &Path) -> Vec<OsString> {
    let step = |component: Component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().rev().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    const OPEN: Look = Look {
        interest: Interest::Open,
        ..Look::GLANCE
    };

    struct Place {
        directory: tempfile::TempDir,
        territory: Territory,
        limits: Limits,
        root: PathBuf,
    }

    impl Place {
        fn new() -> Place {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path().canonicalize().unwrap();
            Place {
                territory: Territory::new(vec![root.clone()]),
                limits: Limits::default(),
                root,
                directory,
            }
        }

        fn viewer(&self) -> Viewer<'_> {
            Viewer {
                territory: &self.territory,
                limits: &self.limits,
                start: &self.root,
            }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.directory.path().join(name)
        }
    }

    fn whole(text: &str) -> Contents {
        Contents::Whole(text.into())
    }

    fn contents(files: &Files, path: &Path) -> Option<Contents> {
        match files.found.get(path)? {
            Found::File { contents, .. } => Some(contents.clone()),
            _ => None,
        }
    }

    #[test]
    fn the_first_look_counts() {
        let place = Place::new();
        let (old, new) = (place.root.join("old"), place.root.join("new"));
        fs::write(&old, "before").unwrap();
        let mut files = Files::default();
        for path in [&old, &new] {
            files.look(&place.viewer(), path, OPEN);
        }
        fs::write(&old, "after").unwrap();
        fs::write(&new, "made by the program").unwrap();
        files.list(&place.viewer(), &place.root);
        for path in [&old, &new] {
            files.look(&place.viewer(), path, OPEN);
        }
        assert_eq!(contents(&files, &old), Some(whole("before")));
        assert_eq!(files.found[&new], Found::Absent);
    }

    #[test]
    fn links_are_kept_together_with_where_they_lead() {
        let place = Place::new();
        fs::create_dir(place.path("d")).unwrap();
        fs::write(place.path("d/file"), "x").unwrap();
        symlink("d", place.path("link")).unwrap();
        let mut files = Files::default();
        let path = place.path("link/../d/./file");
        files.look(&place.viewer(), &path, OPEN);
        let link = Found::Link {
            target: "d".into(),
            time: None,
        };
        assert_eq!(files.found[&place.root.join("link")], link);
        assert_eq!(
            contents(&files, &place.root.join("d/file")),
            Some(whole("x"))
        );
        // A link to itself ends.
        symlink("loop", place.path("loop")).unwrap();
        files.look(&place.viewer(), &place.path("loop"), Look::GLANCE);
    }

    #[test]
    fn large_files_are_cut_off_and_more_is_kept_of_what_is_opened() {
        let mut place = Place::new();
        place.limits.glance = 2;
        place.limits.file = 5;
        let path = place.root.join("big");
        fs::write(&path, "0123456789").unwrap();
        let mut files = Files::default();
        files.look(&place.viewer(), &path, Look::GLANCE);
        let part = |text: &str| Some(Contents::Part(text.into(), 10));
        assert_eq!(contents(&files, &path), part("01"));
        files.look(&place.viewer(), &path, OPEN);
        assert_eq!(contents(&files, &path), part("01234"));
        assert_eq!(files.size, 5);
    }

    #[test]
    fn a_listed_directory_has_names_without_contents() {
        let place = Place::new();
        fs::write(place.path("a"), "x").unwrap();
        fs::create_dir(place.path("sub")).unwrap();
        let mut files = Files::default();
        files.list(&place.viewer(), &place.root);
        assert_eq!(
            contents(&files, &place.root.join("a")),
            Some(Contents::Unread)
        );
        assert!(matches!(
            files.found[&place.root.join("sub")],
            Found::Directory { listed: None, .. }
        ));
    }

    #[test]
    fn programs_found_by_path_are_no_input_unless_they_are_read() {
        let place = Place::new();
        let program = place.root.join("tool");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let mut files = Files::default();
        let execute = Look {
            interest: Interest::Execute,
            ..Look::GLANCE
        };
        files.look(&place.viewer(), &program, execute);
        assert_eq!(files.found[&program], Found::Binary);
        files.look(&place.viewer(), &program, OPEN);
        assert!(matches!(
            contents(&files, &program),
            Some(Contents::Part(..))
        ));
    }
}
