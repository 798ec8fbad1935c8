//! Which test made a run: told from the environment and from the command lines of the processes that led to it.

use std::path::{Path, PathBuf};

use crate::recording::Start;

/// Programs that run scripts.
const INTERPRETERS: &[&str] = &[
    "ash", "bash", "dash", "expect", "ksh", "mksh", "perl", "python", "python2", "python3", "ruby",
    "sh", "tclsh", "zsh",
];

/// Scripts and programs that run tests and are none.
const RUNNERS: &[&str] = &[
    "bats",
    "bats-exec-file",
    "bats-exec-suite",
    "bats-exec-test",
    "ctest",
    "libtool",
    "make",
    "meson",
    "ninja",
    "prove",
    "test-driver",
    "timeout",
];

/// Programs whose children are tests.
const TEST_RUNNERS: &[&str] = &["ctest", "meson", "ninja", "prove"];

/// The name of the test, if one can be told.
pub fn name(start: &Start, trees: &[PathBuf]) -> Option<String> {
    let name = named_by_harness(start)
        .or_else(|| script(start))
        .or_else(|| child_of_runner(start))?;
    Some(relative(&name, trees))
}

fn named_by_harness(start: &Start) -> Option<String> {
    let variable = |name: &[u8]| {
        let mut variables = start.environment.split(|byte| *byte == 0);
        let value = variables.find_map(|text| text.strip_prefix(name)?.strip_prefix(b"="))?;
        Some(String::from_utf8_lossy(value).into_owned())
    };
    if let Some(test) = variable(b"BATS_TEST_DESCRIPTION") {
        let file = variable(b"BATS_TEST_FILENAME").unwrap_or_default();
        return Some(format!("{file}: {test}"));
    }
    // automake's test-driver.
    start.ancestors.iter().find_map(|line| {
        let mut words = words(line);
        while let Some(word) = words.next() {
            if word == "--test-name" {
                return words.next();
            }
            if let Some(name) = word.strip_prefix("--test-name=") {
                return Some(name.to_owned());
            }
        }
        None
    })
}

/// The script that is nearest to the program. A wrapper around the program itself (libtool's) does not count.
fn script(start: &Start) -> Option<String> {
    let program = file_name(&start.executable.to_string_lossy());
    start.ancestors.iter().find_map(|line| {
        let mut words = words(line);
        let interpreter = file_name(&words.next()?);
        let is_interpreter =
            INTERPRETERS.contains(&interpreter.as_str()) || interpreter.starts_with("python3.");
        if !is_interpreter {
            return None;
        }
        for word in words {
            if matches!(word.as_str(), "-c" | "-e" | "-") || word.starts_with("-c") {
                return None;
            }
            if word.starts_with('-') {
                continue;
            }
            let name = file_name(&word);
            let is_test = name != program && !RUNNERS.contains(&name.as_str());
            return is_test.then_some(word);
        }
        None
    })
}

/// What a runner that names no test has started.
fn child_of_runner(start: &Start) -> Option<String> {
    let is_runner = |line: &[u8]| {
        words(line)
            .take(2)
            .any(|word| TEST_RUNNERS.contains(&file_name(&word).as_str()))
    };
    let at = start.ancestors.iter().position(|line| is_runner(line))?;
    let line = match at {
        0 => start.command_line.as_slice(),
        _ => &start.ancestors[at - 1],
    };
    let text: Vec<String> = words(line).collect();
    (!text.is_empty()).then(|| text.join(" "))
}

fn words(line: &[u8]) -> impl Iterator<Item = String> {
    let line = line.strip_suffix(b"\0").unwrap_or(line);
    line.split(|byte| *byte == 0)
        .map(|word| String::from_utf8_lossy(word).into_owned())
}

fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// A name that is a path is shown relative to the trees.
fn relative(name: &str, trees: &[PathBuf]) -> String {
    let longest = trees
        .iter()
        .filter_map(|tree| Path::new(name).strip_prefix(tree).ok())
        .min_by_key(|path| path.as_os_str().len());
    let path = longest.map_or(name, |path| path.to_str().unwrap_or(name));
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(environment: &str, ancestors: &[&str]) -> Option<String> {
        let zeros = |text: &str| text.replace(' ', "\0").into_bytes();
        let start = Start {
            program: 0,
            executable: "/b/.libs/prog".into(),
            command_line: zeros("prog -x "),
            environment: zeros(environment),
            parent_environment: Vec::new().into(),
            ancestors: ancestors.iter().map(|line| zeros(line).into()).collect(),
            directory: "/b/t".into(),
            umask: None,
        };
        name(&start, &["/b".into(), "/src".into()])
    }

    #[test]
    fn automake_names_its_tests() {
        let ancestors = [
            "/bin/sh /src/tests/a.sh ",
            "/bin/bash /src/build-aux/test-driver --test-name tests/a.sh --log-file x ",
            "make check ",
        ];
        assert_eq!(test("", &ancestors).as_deref(), Some("tests/a.sh"));
    }

    #[test]
    fn scripts_are_tests_but_for_wrappers_and_runners() {
        let ancestors = [
            "/bin/sh ./prog -x ",
            "perl -w -I /src/tests/b.pl ",
            "sh -c perl ",
        ];
        // `-I` takes an argument; the script is what remains.
        assert_eq!(test("", &ancestors).as_deref(), Some("tests/b.pl"));
        assert_eq!(test("", &["make check "]), None);
    }

    #[test]
    fn tests_of_runners_without_names_are_called_by_their_command() {
        let found = test("", &["/b/check one ", "/usr/bin/ctest -V "]);
        assert_eq!(
            found.as_deref(),
            Some("/b/check one".strip_prefix("/b/").unwrap())
        );
        let found = test("", &["/usr/bin/python3 /usr/bin/meson test "]);
        assert_eq!(found.as_deref(), Some("prog -x"));
    }

    #[test]
    fn bats_tells_by_its_environment() {
        let found = test(
            "BATS_TEST_DESCRIPTION=adds BATS_TEST_FILENAME=/src/a.bats ",
            &[],
        );
        assert_eq!(found.as_deref(), Some("a.bats: adds"));
    }
}
