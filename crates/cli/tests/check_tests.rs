//! `parallax tests`: what was found, as tests that a project can commit.

mod support;

use std::fs;
use std::process::Command;

use support::{Folder, assert_contains, git, text_of};

const OLD: &str = r#"#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int x = argc > 1 ? atoi(argv[1]) : 0;
  puts(x > 100 ? "large" : "small");
  return 0;
}
"#;

/// Another limit, and a line that no test runs.
fn new() -> String {
    OLD.replace("x > 100", "x > 200")
        .replace("  puts", "  if (x == 777)\n    puts(\"jackpot\");\n  puts")
}

const AUTOMAKE: &str = "TESTS = one.sh\nEXTRA_DIST = $(TESTS)\n";

/// A project whose tests are scripts in `tests`, checked for a while; `list` is what lists them.
fn checked(list: Option<(&str, &str)>) -> Folder {
    let folder = Folder::new();
    folder.file(
        "Makefile",
        "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\tfor test in tests/*.sh; do sh $$test || exit 1; done\n",
    );
    folder.file(".gitignore", "prog\n");
    fs::create_dir(folder.path().join("tests")).unwrap();
    folder.file("tests/one.sh", "test \"$(./prog 5)\" = small\n");
    if let Some((name, text)) = list {
        folder.file(name, text);
    }
    folder.file("prog.c", OLD);
    folder.expect(0, &["init", "--system", "make"]);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", &new());
    git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
    folder.expect(1, &["check", "--budget", "8s", "--json"]);
    folder
}

fn make_check(folder: &Folder) -> bool {
    let make = Command::new("make")
        .arg("check")
        .current_dir(folder.path())
        .output()
        .unwrap();
    make.status.success()
}

#[test]
fn tests_are_a_patch_and_pass_on_the_version_that_they_state_only() {
    let folder = checked(None);
    let (_, said) = folder.expect(0, &["tests", "-o", "tests.patch"]);
    assert_contains(
        &said,
        &["in tests, as sh tests", "fails on the old version"],
    );
    let patch = fs::read_to_string(folder.path().join("tests.patch")).unwrap();
    assert_contains(&patch, &["new file mode 100755", "+++ b/tests/prog-"]);
    // Nothing of this machine is in them.
    let place = folder.path().to_string_lossy().into_owned();
    assert!(!patch.contains(&place), "{patch}");
    git(folder.path(), &["apply", "tests.patch"]);
    assert!(make_check(&folder), "the new version does what they state");
    // What was 777 for is in one of them.
    assert_contains(&patch, &["777", "jackpot"]);
    git(folder.path(), &["checkout", "-q", "HEAD~1", "--", "prog.c"]);
    assert!(!make_check(&folder), "the old version does something else");
}

#[test]
fn tests_are_put_on_the_list_that_automake_reads() {
    let folder = checked(Some(("tests/Makefile.am", AUTOMAKE)));
    let (patch, said) = folder.expect(0, &["tests"]);
    assert_contains(&said, &["as automake tests"]);
    assert_contains(&patch, &["+TESTS += prog-", "+EXTRA_DIST += prog-"]);
    let apply = Command::new("git")
        .args(["apply", "--check", "-"])
        .current_dir(folder.path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .and_then(|mut child| {
            use std::io::Write as _;
            child.stdin.take().unwrap().write_all(patch.as_bytes())?;
            child.wait_with_output()
        })
        .unwrap();
    assert!(apply.status.success(), "{}", text_of(&apply.stderr));
    // As the user wants it.
    let (patch, said) = folder.expect(0, &["tests", "--idiom", "bats", "--folder", "test/bats"]);
    assert_contains(&said, &["in test/bats, as bats tests"]);
    assert_contains(&patch, &["+++ b/test/bats/prog-", ".bats", "+@test "]);
}

#[test]
fn without_inputs_there_is_nothing_to_write() {
    let folder = Folder::new();
    folder.file(
        "Makefile",
        "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\n",
    );
    folder.file("prog.c", OLD);
    folder.expect(0, &["init"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", &new());
    let (patch, said) = folder.expect(0, &["tests"]);
    assert_eq!(patch, "");
    assert_contains(&said, &["nothing to write", "parallax check"]);
}
