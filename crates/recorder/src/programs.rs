//! The programs under test, and how they are recognised when they are executed.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::proc::Identity;

/// A program under test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// As configured: relative to the build tree.
    pub name: PathBuf,
    /// Canonical.
    pub path: PathBuf,
}

/// Programs that trace others. What they run cannot be recorded, and what they run must not have our filter.
const TRACERS: &[&str] = &["gdb", "gdbserver", "lldb", "ltrace", "rr", "strace"];

/// Finds programs by the file that was executed: by PATH, by absolute path, through a link or a wrapper script, it is the
/// same file in the end.
#[derive(Clone, Debug)]
pub struct Programs {
    pub list: Vec<Program>,
    by_identity: HashMap<Identity, usize>,
    by_path: HashMap<PathBuf, usize>,
    /// Files elsewhere that were compared with a program of the same name: tests copy and install programs.
    copies: HashMap<(Identity, i64, u64), Option<usize>>,
}

impl Programs {
    pub fn new(list: Vec<Program>) -> Programs {
        let identify = |(index, program): (usize, &Program)| {
            let metadata = fs::metadata(&program.path).ok()?;
            Some((Identity::of(&metadata), index))
        };
        // Two names of one file: the first counts.
        let by_identity = list.iter().enumerate().rev().filter_map(identify).collect();
        let paths = list.iter().enumerate().rev();
        let by_path = paths
            .flat_map(|(index, program)| {
                let paths = std::iter::once(program.path.clone());
                paths
                    .chain(relinked(&program.path))
                    .map(move |path| (path, index))
            })
            .collect();
        Programs {
            by_identity,
            by_path,
            copies: HashMap::new(),
            list,
        }
    }

    /// The program under test that an executed file is.
    pub fn find(&mut self, path: &Path, metadata: &fs::Metadata) -> Option<usize> {
        let identity = Identity::of(metadata);
        if let Some(index) = self.by_identity.get(&identity) {
            return Some(*index);
        }
        // Built again meanwhile.
        if let Some(index) = self.by_path.get(path) {
            self.by_identity.insert(identity, *index);
            return Some(*index);
        }
        let key = (identity, metadata.mtime(), metadata.len());
        if let Some(known) = self.copies.get(&key) {
            return *known;
        }
        let name = path.file_name()?;
        let same = |program: &Program| {
            program.path.file_name() == Some(name)
                && fs::metadata(&program.path).is_ok_and(|own| own.len() == metadata.len())
                && matches!((fs::read(&program.path), fs::read(path)), (Ok(one), Ok(two)) if one == two)
        };
        let found = self.list.iter().position(same);
        self.copies.insert(key, found);
        found
    }
}

/// Where libtool puts a program that is linked again when its wrapper script first runs it.
fn relinked(path: &Path) -> Option<PathBuf> {
    let folder = path.parent()?;
    let name = path.file_name()?.to_str()?;
    (folder.file_name()? == ".libs").then(|| folder.join(format!("lt-{name}")))
}

/// Whether a program traces others.
pub fn is_tracer(path: &Path) -> bool {
    path.file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| TRACERS.contains(&name))
}

/// Whether an argument of a command line (arguments end with zero bytes) names a program that traces others.
pub fn mentions_tracer(command_line: &[u8]) -> bool {
    command_line
        .split(|byte| *byte == 0)
        .skip(1)
        .filter_map(|argument| std::str::from_utf8(argument).ok())
        .any(|argument| is_tracer(Path::new(argument)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_copies_and_rebuilt_programs_are_recognised() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        fs::create_dir(path("sub")).unwrap();
        fs::write(path("prog"), "one").unwrap();
        fs::hard_link(path("prog"), path("link")).unwrap();
        fs::copy(path("prog"), path("sub/prog")).unwrap();
        fs::write(path("other"), "one").unwrap();
        let mut programs = Programs::new(vec![Program {
            name: "prog".into(),
            path: path("prog"),
        }]);
        let mut find = |name: &str| programs.find(&path(name), &fs::metadata(path(name)).unwrap());
        assert_eq!(find("prog"), Some(0));
        assert_eq!(find("link"), Some(0));
        assert_eq!(find("sub/prog"), Some(0));
        assert_eq!(find("other"), None);
        fs::remove_file(path("prog")).unwrap();
        fs::write(path("prog"), "two").unwrap();
        assert_eq!(find("prog"), Some(0));
    }

    #[test]
    fn what_libtool_links_again_is_the_same_program() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(".libs").join(name);
        fs::create_dir(directory.path().join(".libs")).unwrap();
        fs::write(path("prog"), "one").unwrap();
        let mut programs = Programs::new(vec![Program {
            name: "prog".into(),
            path: path("prog"),
        }]);
        for (name, expected) in [("lt-prog", Some(0)), ("lt-other", None)] {
            fs::write(path(name), "two").unwrap();
            let metadata = fs::metadata(path(name)).unwrap();
            assert_eq!(programs.find(&path(name), &metadata), expected);
        }
    }

    #[test]
    fn programs_that_run_a_tracer_are_recognised() {
        assert!(mentions_tracer(b"timeout\x0010\0strace\0-o\0log\0ls\0"));
        assert!(mentions_tracer(b"env\0/usr/bin/gdb\0"));
        assert!(!mentions_tracer(b"strace\0ls\0"));
        assert!(!mentions_tracer(b"ls\0strace.out\0"));
    }
}
