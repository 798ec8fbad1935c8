//! The files of a scenario: what was found, below one root.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parallax_scenario::{Bytes, Scenario};

use super::rewrite::Rewriter;
use crate::found::{Contents, Found};
use crate::proc::Identity;
use crate::territory::Territory;

const USUAL_FILE: u32 = 0o644;
const USUAL_DIRECTORY: u32 = 0o755;
/// Files are made as large as they were up to this size: reading zeros takes its time, too.
const LARGEST: u64 = 1 << 30;

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

    /// The name that a file has in the scenario, if it is part of it.
    pub fn name_of(&self, identity: Identity) -> Option<Bytes> {
        let mut files = self.found.iter();
        files.find_map(|(path, found)| match found {
            Found::File { stamp, .. } if stamp.identity == identity => {
                relative(&self.root, path).filter(|name| !name.is_empty())
            }
            _ => None,
        })
    }

    /// Puts everything below the root into a scenario, and what `territory` has in other places beside it.
    pub fn fill(
        self,
        scenario: &mut Scenario,
        rewriter: &Rewriter,
        territory: &Territory,
        notes: &mut BTreeSet<String>,
    ) {
        let Layout { root, found, .. } = self;
        let (own, others): (BTreeMap<_, _>, BTreeMap<_, _>) = found
            .into_iter()
            .partition(|(path, _)| path.starts_with(&root));
        put(scenario, &root, own, rewriter, notes);
        let mut places: BTreeMap<PathBuf, BTreeMap<PathBuf, Found>> = BTreeMap::new();
        // From the last on: what is in a directory comes before it.
        let mut last_kept = PathBuf::new();
        for (path, found) in others.into_iter().rev() {
            let is_kept = is_there(&found) || last_kept.starts_with(&path);
            if is_kept
                && !root.starts_with(&path)
                && let Some(place) = territory.temporary(&path)
            {
                last_kept.clone_from(&path);
                places
                    .entry(place.to_owned())
                    .or_default()
                    .insert(path, found);
            }
        }
        for (place, found) in places {
            let mut files = Scenario::default();
            put(&mut files, &place, found, rewriter, notes);
            let place = Bytes::from(place.as_os_str().as_bytes());
            scenario.elsewhere.insert(place, files);
        }
    }
}

/// Whether a scenario needs it. A directory that is only on the way to something is there with that.
fn is_there(found: &Found) -> bool {
    match found {
        Found::Absent | Found::Binary | Found::Special => false,
        Found::Directory { is_meant, .. } => *is_meant,
        Found::File { .. } | Found::Link { .. } | Found::Pipe { .. } => true,
    }
}

/// Puts what was found below `root` into a scenario.
fn put(
    scenario: &mut Scenario,
    root: &Path,
    found: BTreeMap<PathBuf, Found>,
    rewriter: &Rewriter,
    notes: &mut BTreeSet<String>,
) {
    let mut by_identity = BTreeMap::new();
    for (path, found) in found {
        let Some(name) = relative(root, &path) else {
            continue;
        };
        match found {
            Found::Directory {
                mode,
                listed,
                is_meant,
                stamp,
            } => {
                let is_root = name.is_empty();
                if mode != USUAL_DIRECTORY && (is_meant || !is_root) {
                    scenario.modes.insert(name.clone(), mode);
                }
                if let Some(entries) = listed.filter(|entries| entries.len() > 1) {
                    let entries = entries.iter().map(|name| name.as_bytes().into());
                    scenario.listings.insert(name.clone(), entries.collect());
                }
                if !is_root {
                    scenario
                        .times
                        .extend(stamp.time.map(|at| (name.clone(), at)));
                    scenario.directories.insert(name);
                }
            }
            _ if name.is_empty() => {}
            Found::Absent | Found::Binary | Found::Special => {}
            Found::Pipe { mode } => {
                if mode != USUAL_FILE {
                    scenario.modes.insert(name.clone(), mode);
                }
                scenario.pipes.insert(name);
            }
            Found::Link { target, time } => {
                scenario.times.extend(time.map(|at| (name.clone(), at)));
                let target = rewriter.apply(target.as_bytes());
                scenario.links.insert(name, target.into());
            }
            Found::File {
                mode,
                contents,
                stamp,
                ..
            } => {
                let known = match stamp.names > 1 {
                    true => by_identity.insert(stamp.identity, name.clone()),
                    false => None,
                };
                if let Some(first) = known {
                    by_identity.insert(stamp.identity, first.clone());
                    add_name(scenario, &first, name, contents);
                    continue;
                }
                if mode != USUAL_FILE {
                    scenario.modes.insert(name.clone(), mode);
                }
                scenario
                    .times
                    .extend(stamp.time.map(|at| (name.clone(), at)));
                if !stamp.holes.is_empty() && contents != Contents::Unread {
                    scenario.holes.insert(name.clone(), stamp.holes);
                }
                let shown = String::from_utf8_lossy(&name).into_owned();
                let (bytes, size) = match contents {
                    Contents::Unread => (Vec::new(), 0),
                    Contents::Unreadable => (Vec::new(), stamp.size),
                    Contents::Whole(bytes) => (bytes, 0),
                    Contents::Part(bytes, size) => {
                        let kept = bytes.len();
                        notes.insert(format!("{shown}: {kept} of {size} bytes are kept"));
                        (bytes, size)
                    }
                };
                // Programs and other binary files would not survive it.
                let bytes = if !bytes.contains(&0) && rewriter.concerns(&bytes) {
                    notes.insert(format!("{shown}: paths in it were rewritten"));
                    rewriter.apply(&bytes)
                } else {
                    bytes
                };
                if size > bytes.len() as u64 && size <= LARGEST {
                    scenario.sizes.insert(name.clone(), size);
                }
                scenario.files.insert(name, bytes.into());
            }
        }
    }
    drop_implied(scenario);
}

/// A file has one more name. What is known of it may only be known by this one.
fn add_name(scenario: &mut Scenario, first: &Bytes, name: Bytes, contents: Contents) {
    if let Contents::Whole(bytes) = contents
        && let Some(known) = scenario.files.get_mut(first)
        && known.is_empty()
    {
        scenario.sizes.remove(first);
        *known = bytes.into();
    }
    scenario.hard_links.insert(name, first.clone());
}

/// Directories that files, links or other directories lie in need not be named.
fn drop_implied(scenario: &mut Scenario) {
    let mut implied = BTreeSet::new();
    let named = scenario.files.keys().chain(scenario.links.keys());
    let named = named.chain(scenario.hard_links.keys());
    let named = named.chain(&scenario.pipes);
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
    use crate::found::Stamp;

    fn file(text: &str) -> Found {
        Found::File {
            mode: 0o644,
            contents: Contents::Whole(text.into()),
            is_changed: false,
            stamp: Stamp::default(),
        }
    }

    fn directory(mode: u32) -> Found {
        Found::Directory {
            mode,
            listed: None,
            is_meant: true,
            stamp: Stamp::default(),
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
        let territory = Territory::new(vec!["/p".into()]);
        layout.fill(&mut scenario, &rewriter, &territory, &mut BTreeSet::new());
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
        assert!(scenario.directories.is_empty());
        // The program asked for it by itself.
        assert_eq!(scenario.modes, [(Bytes::default(), 0o700)].into());
    }

    #[test]
    fn directories_on_the_way_to_nothing_do_not_move_the_root() {
        let passed = Found::Directory {
            mode: 0o755,
            listed: None,
            is_meant: false,
            stamp: Stamp::default(),
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

    #[test]
    fn files_in_directories_for_temporary_files_are_beside_the_root() {
        let passed = Found::Directory {
            mode: 0o700,
            listed: None,
            is_meant: false,
            stamp: Stamp::default(),
        };
        let found = [
            ("/p/in", file("x")),
            ("/dev/shm/t.1", passed.clone()),
            ("/dev/shm/t.1/a", file("/dev/shm/t.1")),
            ("/dev/shm/t.2", passed),
            ("/dev/shm/t.2/none", Found::Absent),
            ("/home/other", file("y")),
        ];
        let (root, scenario) = scenario(&found, "/p", "/p");
        assert_eq!(root, Path::new("/p"));
        assert_eq!(scenario.files.len(), 1);
        let expected = Scenario {
            files: [("t.1/a".into(), "/dev/shm/t.1".into())].into(),
            modes: [("t.1".into(), 0o700)].into(),
            ..Scenario::default()
        };
        assert_eq!(scenario.elsewhere, [("/dev/shm".into(), expected)].into());
    }

    #[test]
    fn names_of_one_file_have_one_content_and_old_files_their_time() {
        let named = |contents| Found::File {
            mode: 0o600,
            contents,
            is_changed: false,
            stamp: Stamp {
                time: Some(5),
                identity: Identity {
                    device: 1,
                    number: 2,
                },
                names: 2,
                size: 1,
                ..Stamp::default()
            },
        };
        let found = [
            ("/p/a", named(Contents::Unread)),
            ("/p/b", named(Contents::Whole("x".into()))),
        ];
        let (_, scenario) = scenario(&found, "/p", "/p");
        let a = Bytes::from("a");
        assert_eq!(scenario.files, [(a.clone(), "x".into())].into());
        assert_eq!(scenario.hard_links, [("b".into(), a.clone())].into());
        assert_eq!(scenario.times, [(a.clone(), 5)].into());
        assert_eq!(scenario.modes, [(a, 0o600)].into());
    }

    #[test]
    fn what_is_kept_in_part_or_cannot_be_read_has_its_size() {
        let stamp = Stamp {
            size: 7,
            ..Stamp::default()
        };
        let unread = |contents| Found::File {
            mode: 0o644,
            contents,
            is_changed: false,
            stamp: stamp.clone(),
        };
        let found = [
            ("/p/part", unread(Contents::Part("ab".into(), 7))),
            ("/p/secret", unread(Contents::Unreadable)),
        ];
        let (_, scenario) = scenario(&found, "/p", "/p");
        let expected = [("part".into(), 7), ("secret".into(), 7)];
        assert_eq!(scenario.sizes, expected.into());
    }

    #[test]
    fn listed_entries_keep_their_order() {
        let listed = Found::Directory {
            mode: 0o700,
            listed: Some(vec!["b".into(), "a".into()]),
            is_meant: true,
            stamp: Stamp::default(),
        };
        let found = [("/p", listed), ("/p/a", file("")), ("/p/b", file(""))];
        let (_, scenario) = scenario(&found, "/p", "/p");
        let order = vec!["b".into(), "a".into()];
        assert_eq!(scenario.listings, [(Bytes::default(), order)].into());
        assert_eq!(scenario.modes, [(Bytes::default(), 0o700)].into());
    }
}
