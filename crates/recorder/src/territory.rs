//! Which part of the file system belongs to scenarios.
//!
//! The source and build trees and whatever tests make in temporary directories do; the system's own files do not: they
//! are there in every run.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use parallax_scenario::PLACES;

/// Directories whose files are the system's.
const SYSTEM: &[&str] = &[
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc",
    "/run", "/sbin", "/snap", "/sys", "/usr", "/var",
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Territory {
    /// The source and build trees.
    tops: Vec<PathBuf>,
    /// Directories in which each test makes files of its own.
    temporary: Vec<PathBuf>,
    /// When the tests began, in nanoseconds since 1970.
    since: i64,
}

impl Territory {
    /// All paths are canonical. The tests begin now.
    pub fn new(tops: Vec<PathBuf>) -> Territory {
        let temporary = PLACES
            .map(PathBuf::from)
            .into_iter()
            .chain([std::env::temp_dir()]);
        Territory {
            tops,
            temporary: temporary
                .filter_map(|path| path.canonicalize().ok())
                .collect(),
            since: now(),
        }
    }

    /// Whether something that happened at this time did so in the course of the tests.
    pub fn is_of_tests(&self, time: i64) -> bool {
        (self.since - CLOCK_STEP..=now()).contains(&time)
    }

    /// Whether a path can be part of a scenario of a program that was started in `start`.
    pub fn covers(&self, path: &Path, start: &Path) -> bool {
        let below_temporary =
            |directory: &PathBuf| path != directory && path.starts_with(directory);
        self.tops.iter().any(|top| path.starts_with(top))
            || self.temporary.iter().any(below_temporary)
            || (is_fit(start) && path.starts_with(start))
    }

    /// Whether a path is certainly none of ours, and leads to nothing of ours.
    pub fn is_system(&self, path: &Path, start: &Path) -> bool {
        let inside = SYSTEM.iter().any(|system| path.starts_with(system));
        inside
            && !self.covers(path, start)
            && !self.tops.iter().any(|top| top.starts_with(path))
            && !self.temporary.iter().any(|top| top.starts_with(path))
            && !start.starts_with(path)
    }

    /// The directory for temporary files that a path lies in, if it is in none of the trees.
    pub fn temporary(&self, path: &Path) -> Option<&'static Path> {
        let is_of_tree = |top: &PathBuf| path.starts_with(top) || top.starts_with(path);
        if self.tops.iter().any(is_of_tree) {
            return None;
        }
        let mut places = PLACES.into_iter().map(Path::new);
        places.find(|place| path != *place && path.starts_with(place))
    }

    /// The highest directory that may become the root of a scenario that starts in `start`.
    pub fn highest(&self, start: &Path) -> PathBuf {
        let tops = self.tops.iter().filter(|top| start.starts_with(top));
        if let Some(top) = tops.min_by_key(|top| top.components().count()) {
            return top.clone();
        }
        for directory in &self.temporary {
            if let Ok(below) = start.strip_prefix(directory)
                && let Some(first) = below.components().next()
            {
                return directory.join(first);
            }
        }
        start.to_owned()
    }
}

/// Time stamps of files are taken from a clock that is behind by up to this many nanoseconds.
const CLOCK_STEP: i64 = 20_000_000;

fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    since_1970.map_or(0, |time| time.as_nanos() as i64)
}

/// Whether everything below a directory can belong to a scenario only because the program was started there.
fn is_fit(start: &Path) -> bool {
    start.components().count() > 2 && !SYSTEM.iter().any(|system| start.starts_with(system))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn territory() -> Territory {
        Territory {
            tops: vec!["/home/me/project".into(), "/home/me/project/build".into()],
            temporary: vec!["/tmp".into()],
            since: 0,
        }
    }

    fn covers(path: &str, start: &str) -> bool {
        territory().covers(Path::new(path), Path::new(start))
    }

    #[test]
    fn trees_and_temporary_files_belong_to_scenarios_and_the_system_does_not() {
        assert!(covers("/home/me/project/tests/a", "/"));
        assert!(covers("/tmp/x/y", "/"));
        assert!(!covers("/tmp", "/"));
        assert!(!covers("/usr/share/dict", "/home/me/project"));
        assert!(!covers("/home/me/other", "/home/me/project"));
        assert!(covers("/home/me/other", "/home/me/other"));
        assert!(!covers("/etc/passwd", "/etc"));
    }

    #[test]
    fn temporary_files_are_told_from_trees() {
        let territory = Territory {
            tops: vec!["/tmp/project".into()],
            temporary: Vec::new(),
            since: 0,
        };
        let temporary = |path: &str| territory.temporary(Path::new(path));
        assert_eq!(temporary("/dev/shm/x/y"), Some(Path::new("/dev/shm")));
        assert_eq!(temporary("/tmp/x"), Some(Path::new("/tmp")));
        for other in ["/tmp/project/x", "/tmp/project", "/tmp", "/home/me"] {
            assert_eq!(temporary(other), None, "{other}");
        }
    }

    #[test]
    fn a_root_is_never_above_the_tree_or_the_temporary_directory_of_the_test() {
        let highest = |start: &str| territory().highest(Path::new(start));
        assert_eq!(
            highest("/home/me/project/build/t"),
            Path::new("/home/me/project")
        );
        assert_eq!(highest("/tmp/test.1/deep/er"), Path::new("/tmp/test.1"));
        assert_eq!(highest("/srv/data/x"), Path::new("/srv/data/x"));
    }
}
