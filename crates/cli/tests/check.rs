//! `parallax check`: a patch from two commits to a verdict.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, assert_contains, git};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\tfor test in tests/*.sh; do sh $$test || exit 1; done
";

/// `prog NUMBER` says what kind of number it is.
const OLD: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int table[10] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3};

static const char *kind(int x)
{
  if (x > 100)
    return "large";
  return "small";
}

int main(int argc, char **argv)
{
  int x = argc > 1 ? atoi(argv[1]) : 0;
  if (x >= 0 && x < 10)
    printf("%d ", table[x]);
  puts(kind(x));
  return 0;
}
"#;

/// Large begins elsewhere, and 10 is beyond the table.
fn regression() -> String {
    OLD.replace("x > 100", "x > 200")
        .replace("x < 10)", "x <= 10)")
}

/// A project with two commits and two tests.
fn project(old: &str, new: &str, message: &str) -> Folder {
    let folder = Folder::new();
    folder.file("Makefile", MAKEFILE);
    folder.file(".gitignore", "prog\n");
    std::fs::create_dir(folder.path().join("tests")).unwrap();
    folder.file("tests/one.sh", "test \"$(./prog 5)\" = '9 small'\n");
    folder.file("tests/two.sh", "test \"$(./prog 300)\" = large\n");
    folder.file("prog.c", old);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    folder.expect(0, &["init"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", new);
    git(folder.path(), &["commit", "-q", "-a", "-m", message]);
    folder
}

/// Checks; the document and what was said.
fn check(folder: &Folder, exit: i32, options: &[&str]) -> (Value, String) {
    let words = [&["check", "--json"], options].concat();
    let (text, said) = folder.expect(exit, &words);
    let document = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    (document, said)
}

fn kinds(document: &Value) -> Vec<&str> {
    let findings = document["findings"].as_array().unwrap();
    let kind = |finding: &'_ Value| -> &'static str {
        match finding["kind"].as_str().unwrap() {
            "regression" => "regression",
            "difference" => "difference",
            "fixed" => "fixed",
            _ => "other",
        }
    };
    findings.iter().map(kind).collect()
}

#[test]
fn a_regression_and_a_difference_are_found_and_what_is_accepted_does_not_fail() {
    let folder = project(OLD, &regression(), "new");
    let (document, said) = check(&folder, 1, &["--budget", "12s"]);
    assert_contains(
        &said,
        &["no upstream branch", "the last commit", "checking HEAD~1"],
    );
    assert_eq!(document["verdict"], "broken");
    let kinds = kinds(&document);
    assert!(kinds.contains(&"regression"), "{document:#}");
    assert!(kinds.contains(&"difference"), "{document:#}");
    let findings = document["findings"].as_array().unwrap();
    let searched = document["stats"]["searched"].as_f64().unwrap();
    assert!(searched <= 12.0 * 1.3, "{searched} s");
    // Each names its own hunk.
    for finding in findings {
        let line = if finding["kind"] == "regression" {
            16
        } else {
            8
        };
        let hunk = &finding["hunks"][0];
        if hunk["role"] == "guilty" && finding["message"] == "stdout" {
            assert_eq!(hunk["new"]["line"], line, "{finding:#}");
        }
    }

    // Nothing is left that fails when all is accepted: one with what is alike, the others by their names.
    let ids: Vec<&str> = findings
        .iter()
        .map(|finding| finding["id"].as_str().unwrap())
        .collect();
    let because = ["--because", "it is \"wanted\""];
    let first = ids[0];
    let words = [&["accept", first, "--alike"], &because[..]].concat();
    let (said, _) = folder.expect(0, &words);
    assert_contains(&said, &[first, "parallax-accepted.toml"]);
    let rest: Vec<&str> = ids.into_iter().filter(|id| !said.contains(id)).collect();
    assert!(!rest.is_empty(), "errors and differences are not alike");
    let words = [&["accept"], &rest[..], &because[..]].concat();
    let (said, _) = folder.expect(0, &words);
    assert_contains(&said, &rest);
    let (_, error) = folder.expect(2, &["accept", first, "--because", "again"]);
    assert_contains(&error, &["accepted already", "it is \"wanted\"", "hint:"]);
    let (list, _) = folder.expect(0, &["accept", "--list"]);
    assert_contains(&list, &[first, "it is \"wanted\""]);
    let path = folder.path().join("parallax-accepted.toml");
    let mut text = std::fs::read_to_string(&path).unwrap();
    text.push_str("\n[[accepted]]\nfinding = \"difference-gone\"\nbecause = \"it was so\"\n");
    std::fs::write(&path, text).unwrap();
    // The file is no change of the source: the same range is meant, and nothing is built again.
    let (again, _) = check(&folder, 0, &["--budget", "2s"]);
    assert_eq!(again["verdict"], "passed", "{again:#}");
    assert_eq!(again["range"], document["range"]);
    assert!(again["counts"]["accepted"].as_u64().unwrap() >= 2);
    let stale = again["stale"].as_array().unwrap();
    assert!(stale.contains(&"difference-gone".into()), "{stale:?}");
}

#[test]
fn what_the_patch_fixes_does_not_fail_and_a_line_that_no_test_runs_is_reached() {
    let old = OLD.replace("x < 10)", "x <= 10)");
    let new = OLD.replace(
        "  puts(kind(x));",
        "  if (x == 777)\n    return 7;\n  puts(kind(x));",
    );
    let folder = project(&old, &new, "new");
    git(folder.path(), &["tag", "fixed"]);
    let (document, _) = check(&folder, 1, &["HEAD~1..fixed", "--budget", "12s"]);
    assert!(kinds(&document).contains(&"fixed"), "{document:#}");
    assert_eq!(document["counts"]["errors"], 0);
    // That 777 ends otherwise is a difference, which the new line makes.
    assert!(
        document["coverage"]["new"].as_u64().unwrap() >= 1,
        "{document:#}"
    );
    let targets = document["targets"].as_array().unwrap();
    let reached = targets.iter().find(|target| target["status"] == "covered");
    assert_contains(&reached.expect("reached")["command"].to_string(), &["777"]);
}

#[test]
fn a_promise_that_nothing_changes_makes_a_difference_an_error() {
    let new = OLD.replace("x > 100", "x > 200");
    let folder = project(
        &OLD.replace("x < 10)", "x < 9)"),
        &new,
        "new\n\nBehaviour: none",
    );
    let (document, _) = check(&folder, 1, &["HEAD~1..HEAD", "--budget", "5s"]);
    assert_eq!(document["verdict"], "broken", "{document:#}");
    assert_eq!(document["promise"]["subject"], "new");
}

#[test]
fn a_version_that_does_not_build_is_skipped_by_bisection() {
    let folder = project(OLD, "int main(void) { return 0 }\n", "new");
    let (_, error) = folder.expect(125, &["check", "--budget", "1s"]);
    assert_contains(&error, &["error:", "hint:", "expected"]);
}

#[test]
fn ranges_are_what_git_users_expect() {
    let folder = project(OLD, &OLD.replace("\"large\"", "\"big\""), "new");
    // Documentation changes no program.
    folder.file("README", "text\n");
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "say so"]);
    let (document, _) = check(&folder, 0, &["--budget", "1s"]);
    assert_eq!(document["verdict"], "nothing");

    // A branch is compared with where it left the one that it will be merged into.
    git(folder.path(), &["checkout", "-q", "-b", "topic"]);
    folder.file("prog.c", &OLD.replace("\"large\"", "\"huge\""));
    git(folder.path(), &["commit", "-q", "-a", "-m", "huge"]);
    let (document, said) = check(&folder, 1, &["--budget", "2s"]);
    assert_contains(&said, &["no upstream branch", "compared with main"]);
    assert_contains(&document["findings"].to_string(), &["big", "huge"]);
    git(
        folder.path(),
        &["branch", "-q", "--set-upstream-to", "main"],
    );
    let (document, said) = check(&folder, 1, &["--budget", "2s"]);
    assert!(!said.contains("upstream"), "{said}");
    assert_eq!(document["old"]["label"], "main");

    // Uncommitted changes count.
    git(folder.path(), &["checkout", "-q", "main"]);
    folder.file("prog.c", &OLD.replace("\"large\"", "\"vast\""));
    let (document, said) = check(&folder, 1, &["--budget", "2s"]);
    assert_contains(&said, &["uncommitted changes", "HEAD"]);
    assert_contains(&document["findings"].to_string(), &["big", "vast"]);
}

#[test]
fn there_must_be_something_to_compare_with() {
    let folder = Folder::new();
    folder.file("Makefile", MAKEFILE);
    folder.file("prog.c", OLD);
    folder.expect(0, &["init"]);
    let (_, error) = folder.expect(2, &["check"]);
    assert_contains(&error, &["not in a git repository"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    let (_, error) = folder.expect(2, &["check"]);
    assert_contains(&error, &["no commit before this one", "hint:"]);
    let (_, error) = folder.expect(2, &["check", "HEAD~5..HEAD"]);
    assert_contains(&error, &["HEAD~5", "hint:"]);
}

/// A check that has found something and goes on.
fn begun(folder: &Folder) -> Child {
    let mut command = folder.command(&["check", "HEAD~1..HEAD", "--budget", "10m", "--json"]);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap());
    let started = Instant::now();
    let mut said = String::new();
    while !said.contains("prog: ") {
        let read = lines.read_line(&mut said).unwrap();
        assert!(read > 0, "it ended: {said}");
        assert!(started.elapsed() < Duration::from_secs(300), "{said}");
    }
    child
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
}

#[test]
fn interrupted_it_says_what_is_known_and_killed_it_goes_on() {
    let folder = project(OLD, &OLD.replace("x > 100", "x > 200"), "new");
    let mut killed = begun(&folder);
    signal(&killed, "KILL");
    killed.wait().unwrap();

    // Recorded and found before: both are known.
    let interrupted = begun(&folder);
    signal(&interrupted, "INT");
    let started = Instant::now();
    let output = interrupted.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(output.status.code(), Some(130));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["interrupted"], true);
    assert_eq!(document["verdict"], "differs", "{document:#}");

    let (document, said) = check(&folder, 1, &["HEAD~1..HEAD", "--budget", "1s"]);
    assert!(!said.contains("tests passed"), "recorded again: {said}");
    assert_eq!(kinds(&document), ["difference"], "{document:#}");
}
