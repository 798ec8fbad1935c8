//! The files of a source tree, by name.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::project::STATE;

/// A source tree. Files are read at most once.
pub struct Tree {
    root: PathBuf,
    /// Relative, with `/`, sorted. What is no text is left out.
    files: Vec<String>,
    read: RefCell<BTreeMap<String, Rc<str>>>,
}

/// Larger files are not looked into.
const LARGEST: u64 = 4 << 20;

impl Tree {
    /// A tree of these files.
    pub fn new(root: &Path, files: Vec<PathBuf>) -> Tree {
        let mut files: Vec<String> = files
            .into_iter()
            .filter_map(|path| path.into_os_string().into_string().ok())
            .collect();
        files.sort();
        Tree {
            root: root.to_owned(),
            files,
            read: RefCell::default(),
        }
    }

    /// All files below a directory but our own and those of version control.
    pub fn walk(root: &Path) -> Tree {
        const SKIPPED: &[&str] = &[".git", ".hg", ".svn", ".pc", STATE];
        let mut files = Vec::new();
        let mut open = vec![PathBuf::new()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(root.join(&folder))
                .into_iter()
                .flatten()
                .flatten()
            {
                let path = folder.join(entry.file_name());
                let skipped = SKIPPED.iter().any(|name| entry.file_name() == *name);
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && !skipped => open.push(path),
                    Ok(kind) if !kind.is_dir() => files.push(path),
                    _ => {}
                }
            }
        }
        Tree::new(root, files)
    }

    pub fn has(&self, path: &str) -> bool {
        self.files
            .binary_search_by(|file| file.as_str().cmp(path))
            .is_ok()
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(String::as_str)
    }

    /// Files of this name, in all folders.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.files().filter(move |file| split(file).1 == name)
    }

    /// The text of a file; empty if it cannot be had.
    pub fn text(&self, path: &str) -> Rc<str> {
        if let Some(text) = self.read.borrow().get(path) {
            return text.clone();
        }
        let full = self.root.join(path);
        let small = fs::metadata(&full).is_ok_and(|found| found.len() <= LARGEST);
        let bytes = if small {
            fs::read(&full)
        } else {
            Ok(Vec::new())
        };
        let text: Rc<str> = String::from_utf8_lossy(&bytes.unwrap_or_default()).into();
        self.read.borrow_mut().insert(path.to_owned(), text.clone());
        text
    }
}

/// Folder (empty at the top) and name.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// `folder/name`, or the name at the top.
pub(super) fn join(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        _ => format!("{folder}/{name}"),
    }
}
