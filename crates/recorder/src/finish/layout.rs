//! The files of a scenario: what was found, below one root.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parallax_scenario::{Bytes, Scenario};

use super::rewrite::Rewriter;
use crate::files::{Contents, Found};

const USUAL_FILE: u32 = 0o644;
const USUAL_DIRECTORY: u32 = 0o755;

/// Everything that was there, and the directory that all of it is relative to.
pub struct Layout {
    pub root: PathBuf,
    start: PathBuf,
    found: BTreeMap<PathBuf, Found>,
}

impl Layout {
    /// The root is the directory that the program was started in, or the lowest one above it that also holds whatever else
    /// it found, but none above `highest`.
    pub fn new(found: HashMap<PathBuf, Found>, start: &Path, highest: &Path) -> Layout {
        let mut root = start.to_owned();
        let counts = |path: &&PathBuf| path.starts_with(highest) && !start.starts_with(path);
        let is_there = |found: &Found| match found {
            Found::Absent | Found::Binary | Found::Special => false,
            Found::Directory { is_meant, .. } => *is_meant,
            Found::File { .. } | Found::Link { .. } => true,
        };
        let paths = found.iter().filter(|(_, found)| is_there(found));
        for path in paths.map(|(path, _)| path).filter(counts) {
            while !path.starts_with(&root) {
                root.pop();
            }
        }
        Layout {
            root,
            start: start.to_owned(),
            found: found.into_iter().collect(),
        }
    }

    /// Programs and libraries that were found, and directories that hold nothing else: they are no part of the
    /// scenario, so their paths must go on leading to them.
    pub fn binaries(&self) -> Vec<Vec<u8>> {
        let holds_files = |directory: &Path| {
            self.found.iter().any(|(path, found)| {
                matches!(found, Found::File { .. } | Found::Link { .. })
                    && path.starts_with(directory)
            })
        };
        let mut paths = BTreeSet::new();
        for (path, found) in &self.found {
            if *found != Found::Binary {
                continue;
            }
            paths.insert(path.as_path());
            if let Some(parent) = path.parent()
                && parent != self.root
                && parent != self.start
                && !paths.contains(parent)
                && !holds_files(parent)
            {
                paths.insert(parent);
            }
        }
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        paths.into_iter().map(bytes).collect()
    }

    /// Where the program starts, relative to the root.
    pub fn directory(&self) -> Bytes {
        relative(&self.root, &self.start).unwrap_or_default()
    }

    /// Puts everything below the root into a scenario.
    pub fn fill(self, scenario: &mut Scenario, rewriter: &Rewriter, notes: &mut BTreeSet<String>) {
        for (path, found) in self.found {
            let Some(name) = relative(&self.root, &path).filter(|name| !name.is_empty()) else {
                continue;
            };
            match found {
                Found::Absent | Found::Binary | Found::Special => {}
                Found::Directory { mode, .. } => {
                    if mode != USUAL_DIRECTORY {
                        scenario.modes.insert(name.clone(), mode);
                    }
                    scenario.directories.insert(name);
                }
                Found::Link { target } => {
                    let target = rewriter.apply(target.as_bytes());
                    scenario.links.insert(name, target.into());
                }
                Found::File { mode, contents, .. } => {
                    if mode != USUAL_FILE {
                        scenario.modes.insert(name.clone(), mode);
                    }
                    let shown = String::from_utf8_lossy(&name).into_owned();
                    let bytes = match contents {
                        Contents::Unread | Contents::Unreadable => Vec::new(),
                        Contents::Whole(bytes) => bytes,
                        Contents::Part(bytes, size) => {
                            let kept = bytes.len();
                            notes.insert(format!("{shown}: {kept} of {size} bytes are kept"));
                            bytes
                        }
                    };
                    let bytes = if rewriter.concerns(&bytes) {
                        notes.insert(format!("{shown}: paths in it were rewritten"));
                        rewriter.apply(&bytes)
                    } else {
                        bytes
                    };
                    scenario.files.insert(name, bytes.into());
                }
            }
        }
        drop_implied(scenario);
    }
}

/// Directories that files, links or other directories lie in need not be named.
fn drop_implied(scenario: &mut Scenario) {
    let mut implied = BTreeSet::new();
    let named = scenario.files.keys().chain(scenario.links.keys());
    for name in named.chain(&scenario.directories) {
        let mut path = Path::new(name.as_os_str());
        while let Some(parent) = path.parent() {
            implied.insert(Bytes::from(parent.as_os_str().as_bytes()));
            path = parent;
        }
    }
    scenario.directories.retain(|name| !implied.contains(name));
    // The one that the program starts in is there in any case.
    scenario.directories.remove(&scenario.directory);
}

fn relative(root: &Path, path: &Path) -> Option<Bytes> {
    let below = path.strip_prefix(root).ok()?;
    Some(below.as_os_str().as_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Found {
        Found::File {
            mode: 0o644,
            contents: Contents::Whole(text.into()),
            is_changed: false,
        }
    }

    fn directory(mode: u32) -> Found {
        Found::Directory {
            mode,
            is_listed: false,
            is_meant: true,
        }
    }

    fn scenario(found: &[(&str, Found)], start: &str, highest: &str) -> (PathBuf, Scenario) {
        let found = found
            .iter()
            .map(|(path, found)| (PathBuf::from(path), found.clone()))
            .collect();
        let layout = Layout::new(found, Path::new(start), Path::new(highest));
        let root = layout.root.clone();
        let mut scenario = Scenario {
            directory: layout.directory(),
            ..Scenario::default()
        };
        let rewriter = Rewriter::new(root.as_os_str().as_bytes(), b"/work");
        layout.fill(&mut scenario, &rewriter, &mut BTreeSet::new());
        (root, scenario)
    }

    #[test]
    fn the_root_is_where_the_program_started_if_it_looked_nowhere_else() {
        let found = [
            ("/p", directory(0o755)),
            ("/p/t", directory(0o700)),
            ("/p/t/in", file("x")),
            ("/p/t/new", Found::Absent),
        ];
        let (root, scenario) = scenario(&found, "/p/t", "/p");
        assert_eq!(root, Path::new("/p/t"));
        assert_eq!(
            scenario.files.keys().collect::<Vec<_>>(),
            [&Bytes::from("in")]
        );
        assert_eq!(scenario.directory, Bytes::default());
        assert!(scenario.directories.is_empty() && scenario.modes.is_empty());
    }

    #[test]
    fn directories_on_the_way_to_nothing_do_not_move_the_root() {
        let passed = Found::Directory {
            mode: 0o755,
            is_listed: false,
            is_meant: false,
        };
        let found = [("/p/src", passed), ("/p/src/none", Found::Absent)];
        let (root, _) = scenario(&found, "/p/t", "/p");
        assert_eq!(root, Path::new("/p/t"));
    }

    #[test]
    fn the_root_moves_up_for_files_beside_it_but_not_out_of_the_project() {
        let found = [
            ("/p/data/in", file("see /p/data")),
            ("/p/empty", directory(0o755)),
            ("/other/in", file("y")),
        ];
        let (root, scenario) = scenario(&found, "/p/build/t", "/p");
        assert_eq!(root, Path::new("/p"));
        assert_eq!(scenario.directory, Bytes::from("build/t"));
        assert_eq!(
            scenario.files[&Bytes::from("data/in")],
            Bytes::from("see /work/data")
        );
        assert_eq!(scenario.files.len(), 1);
        assert!(scenario.directories.contains(&Bytes::from("empty")));
    }
}
