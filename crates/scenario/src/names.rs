//! What the program can call the files that it was given.

use std::collections::BTreeSet;

use super::{Scenario, WORK};

impl Scenario {
    /// Names of all files, directories and links as they are seen from where the program starts. Absolute names are
    /// among them only if the arguments have any such name: otherwise nobody would think of them.
    pub fn names(&self) -> BTreeSet<Vec<u8>> {
        let files = self.files.keys().chain(self.links.keys());
        let files = files.chain(self.hard_links.keys());
        let files = files.chain(&self.pipes);
        let paths = files.chain(&self.directories).map(|path| path.as_slice());
        let all: BTreeSet<&[u8]> = paths.flat_map(leading).collect();
        let start = self.directory.as_slice();
        let below = |path: &&[u8]| match start {
            [] => Some(path.to_vec()),
            _ => Some(path.strip_prefix(start)?.strip_prefix(b"/")?.to_vec()),
        };
        let mut names: BTreeSet<Vec<u8>> = all.iter().filter_map(below).collect();
        let work = WORK.as_bytes();
        let mut arguments = self.argv.iter();
        if arguments.any(|word| word.windows(work.len()).any(|part| part == work)) {
            names.insert(work.to_vec());
            names.extend(all.iter().map(|path| [work, b"/", *path].concat()));
        }
        names
    }
}

/// A path, and all directories that lead to it.
fn leading(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let directories = ends.map(|(end, _)| &path[..end]);
    directories.chain([path]).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(scenario: &Scenario) -> Vec<String> {
        let names = scenario.names().into_iter();
        names.map(|name| String::from_utf8(name).unwrap()).collect()
    }

    fn with_files() -> Scenario {
        Scenario {
            files: [(b"in/data/a".into(), b"".into()), (b"b".into(), b"".into())].into(),
            directories: [b"in/empty".into()].into(),
            links: [(b"in/link".into(), b"data".into())].into(),
            ..Scenario::default()
        }
    }

    #[test]
    fn directories_that_lead_to_a_file_have_names_too() {
        let expected = ["b", "in", "in/data", "in/data/a", "in/empty", "in/link"];
        assert_eq!(names(&with_files()), expected);
    }

    #[test]
    fn names_are_seen_from_where_the_program_starts() {
        let scenario = Scenario {
            directory: b"in".into(),
            ..with_files()
        };
        assert_eq!(names(&scenario), ["data", "data/a", "empty", "link"]);
    }

    #[test]
    fn absolute_names_are_there_if_an_argument_has_one() {
        let scenario = Scenario {
            argv: vec![format!("--file={WORK}/b").into_bytes().into()],
            ..with_files()
        };
        assert!(names(&scenario).contains(&format!("{WORK}/in/data")));
    }
}
