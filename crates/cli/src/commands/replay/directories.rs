//! Differences that are only about how much directories take up.
//!
//! What a directory itself takes is for each file system to say: scenarios are replayed in one in memory, and were recorded
//! in another. Between two replays such a difference counts; against a recording it says nothing about the program.

use std::collections::BTreeSet;

use parallax_exec::compare::{Difference, Line};
use parallax_scenario::{Scenario, WORK};

/// Why such a difference does not count.
pub const REASON: &str = "prints how much directories take up, which is the file system's to say";

/// Whether all that differs are lines that have a size and the name of a directory, as `du` prints them.
pub fn is_about_them(differences: &[Difference], scenario: &Scenario) -> bool {
    let directories = Directories::of(scenario);
    let is_size = |line: &Line| match line {
        Line::Same(_) => true,
        Line::One(text) | Line::Other(text) => directories.is_size(text),
    };
    differences.iter().all(|difference| match difference {
        Difference::Stdout(diff) => diff.lines.iter().all(is_size),
        _ => false,
    })
}

/// The directories of a scenario.
struct Directories<'s> {
    /// By their paths from the root; without links, and with those that lead to one.
    paths: BTreeSet<&'s [u8]>,
    start: &'s [u8],
}

impl<'s> Directories<'s> {
    fn of(scenario: &'s Scenario) -> Directories<'s> {
        let names = scenario.files.keys().chain(scenario.links.keys());
        let names = names.chain(scenario.hard_links.keys());
        let named = || scenario.directories.iter().chain([&scenario.directory]);
        let above = names.chain(named()).flat_map(|name| {
            let slashes = name.iter().enumerate().filter(|(_, byte)| **byte == b'/');
            slashes.map(|(end, _)| &name[..end])
        });
        let mut paths: BTreeSet<&[u8]> = above.collect();
        paths.extend(named().map(|name| name.as_slice()));
        paths.insert(b"");
        let links = scenario.links.iter();
        let leading = links.filter(|(_, target)| paths.contains(target.as_slice()));
        let leading: Vec<&[u8]> = leading.map(|(name, _)| name.as_slice()).collect();
        paths.extend(leading);
        Directories {
            paths,
            start: &scenario.directory,
        }
    }

    /// Whether a line is a number, maybe with a unit, and the name of a directory or what stands for the sum of all.
    fn is_size(&self, line: &[u8]) -> bool {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
            return false;
        };
        let (number, name) = (&line[..tab], &line[tab + 1..]);
        let is_number = number.first().is_some_and(u8::is_ascii_digit)
            && number
                .iter()
                .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
        is_number && (name == b"total" || self.has(name))
    }

    /// Whether a name means one of them, seen from where the program starts.
    fn has(&self, name: &[u8]) -> bool {
        let (start, name) = match name.strip_prefix(WORK.as_bytes()) {
            Some(below) => (&b""[..], below),
            None => (self.start, name),
        };
        let mut path: Vec<&[u8]> = Vec::new();
        for part in start
            .split(|byte| *byte == b'/')
            .chain(name.split(|byte| *byte == b'/'))
        {
            match part {
                b"" | b"." => {}
                b".." => drop(path.pop()),
                part => path.push(part),
            }
        }
        self.paths.contains(path.join(&b'/').as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_exec::compare::diff;

    fn about(one: &str, other: &str) -> bool {
        let scenario = Scenario {
            files: [("a/b/file".into(), "x".into())].into(),
            directories: ["empty".into()].into(),
            links: [("link".into(), "empty".into())].into(),
            ..Scenario::default()
        };
        let difference = Difference::Stdout(diff(one.as_bytes(), other.as_bytes()));
        is_about_them(&[difference], &scenario)
    }

    #[test]
    fn sizes_of_directories_are_told_from_those_of_files() {
        assert!(about(
            "4\ta/b\n8\ta\n12\ttotal\n",
            "0\t./a/b\n4\ta/\n4\ttotal\n"
        ));
        assert!(about(
            "4.0K\tempty\n4\tlink\n4\t.\n",
            "0\tempty\n0\tlink\n0\t.\n"
        ));
        // Below a threshold one of them is missing.
        assert!(about("4096\ta\n", ""));
        assert!(!about("4\ta/b/file\n", "8\ta/b/file\n"));
        assert!(!about("4\tnone\n", "8\tnone\n"));
        assert!(!about("a\ta\n", "b\ta\n"));
        assert!(!about("four\n", "eight\n"));
    }

    #[test]
    fn another_end_is_not_about_directories() {
        let end = Difference::End {
            one: "exit 0".into(),
            other: "exit 1".into(),
        };
        assert!(!is_about_them(&[end], &Scenario::default()));
    }
}
