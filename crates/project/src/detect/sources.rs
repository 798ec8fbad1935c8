//! Which folders hold the project's own source, which hold tests and the like, and which environment variables it asks for.

use std::collections::BTreeSet;

use super::tree::{Tree, split};
use crate::pattern::lies_in;

/// Endings of files that become part of programs.
const ENDINGS: &[&str] = &["c", "h", "cc", "cpp", "cxx", "hpp", "y", "l"];

/// Names of folders whose source is not what users run.
const SKIPPED: &[&str] = &[
    "test",
    "tests",
    "testsuite",
    "t",
    "testing",
    "unittests",
    "example",
    "examples",
    "demo",
    "demos",
    "samples",
    "doc",
    "docs",
    "debian",
    "bench",
    "benchmark",
    "benchmarks",
    "fuzz",
    "fuzzing",
    "fuzzers",
    "contrib",
    "vendor",
    "third_party",
    "third-party",
    "subprojects",
    "external",
    "po",
    "man",
];

/// Ends of such names.
const SKIPPED_ENDS: &[&str] = &["_test", "_tests", "-test", "-tests"];

/// Variables that are the system's rather than the program's.
const COMMON: &[&str] = &[
    "HOME", "PATH", "PWD", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TERM", "TMPDIR",
    "TEMP", "TMP", "TZ", "NLSPATH", "DISPLAY", "EDITOR", "HOSTNAME", "OLDPWD",
];

/// More than this are not for a default.
const MOST_VARIABLES: usize = 24;

fn is_source(file: &str) -> bool {
    let name = split(file).1;
    name.rsplit_once('.')
        .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
}

/// Names of folders with source in them that is not the project's own.
pub(super) fn folders_to_skip(tree: &Tree) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in tree.files().filter(|file| is_source(file)) {
        for name in split(file).0.split('/') {
            let ends = SKIPPED_ENDS.iter().any(|end| name.ends_with(end));
            if ends || SKIPPED.contains(&name) {
                found.insert(name.to_owned());
            }
        }
    }
    found.into_iter().collect()
}

/// The other folders with source in them, by their first name.
pub(super) fn folders(tree: &Tree, skip: &[String]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in tree
        .files()
        .filter(|file| is_source(file) && !lies_in(skip, file))
    {
        match file.split_once('/') {
            Some((first, _)) => found.insert(first.to_owned()),
            // Then nothing is gained by naming folders.
            None => return vec![".".to_owned()],
        };
    }
    if found.is_empty() {
        return vec![".".to_owned()];
    }
    found.into_iter().collect()
}

/// Variables that the project's own source asks for by name.
pub(super) fn environment(tree: &Tree, skip: &[String]) -> Vec<String> {
    let mut found = BTreeSet::new();
    for file in tree
        .files()
        .filter(|file| is_source(file) && !lies_in(skip, file))
    {
        let text = tree.text(file);
        for (at, call) in text.match_indices("getenv") {
            let rest = text[at + call.len()..].trim_start();
            let name = rest
                .strip_prefix('(')
                .and_then(|rest| rest.trim_start().strip_prefix('"'))
                .and_then(|rest| rest.split_once('"'));
            if let Some((name, _)) = name
                && is_variable(name)
            {
                found.insert(name.to_owned());
            }
        }
    }
    found.into_iter().take(MOST_VARIABLES).collect()
}

fn is_variable(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && name.chars().all(fits)
        && !COMMON.contains(&name)
        && !name.starts_with("LC_")
        && !name.starts_with("LD_")
        && !name.starts_with("MALLOC_")
}
