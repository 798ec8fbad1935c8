//! `parallax tests`: what was found, as tests that a project can commit.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt;
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

/// A project whose tests are scripts in `tests`, with two commits and further files.
fn repository(old: &str, new: &str, files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.file(
        "Makefile",
        "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\tfor test in tests/*.sh; do sh $$test || exit 1; done\n",
    );
    folder.file(".gitignore", "prog\nout\nout.log\n");
    fs::create_dir(folder.path().join("tests")).unwrap();
    let test = folder.file(
        "tests/one.sh",
        "#!/bin/sh\ntest \"$(${1:-./prog} 5)\" = small\n",
    );
    fs::set_permissions(test, fs::Permissions::from_mode(0o755)).unwrap();
    for (name, text) in files {
        folder.file(name, text);
    }
    folder.file("prog.c", old);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    commit(&folder, "old");
    folder.file("prog.c", new);
    commit(&folder, "new");
    folder
}

fn commit(folder: &Folder, message: &str) {
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", message]);
}

/// Such a project, checked for a while; `list` is what lists its tests.
fn checked(list: Option<(&str, &str)>) -> Folder {
    let files: Vec<_> = list.into_iter().collect();
    let folder = repository(OLD, &new(), &files);
    folder.expect(0, &["init", "--system", "make"]);
    folder.expect(1, &["check", "HEAD~1..HEAD", "--budget", "8s", "--json"]);
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
    let (_, said) = folder.expect(0, &["tests", "HEAD~1..HEAD", "-o", "tests.patch"]);
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
    let (patch, said) = folder.expect(0, &["tests", "HEAD~1..HEAD"]);
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
    let (patch, said) = folder.expect(
        0,
        &[
            "tests",
            "HEAD~1..HEAD",
            "--idiom",
            "bats",
            "--folder",
            "test/bats",
        ],
    );
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

#[test]
fn a_difference_on_standard_error_alone_becomes_a_test() {
    let old = OLD.replace(
        "  puts(x",
        "  if (x < 0)\n    fputs(\"negative\\n\", stderr);\n  puts(x",
    );
    let folder = repository(&old, &old.replace("negative", "below zero"), &[]);
    folder.expect(0, &["init", "--system", "make"]);
    commit(&folder, "set up");
    folder.expect(1, &["check", "HEAD~2..HEAD", "--budget", "8s", "--json"]);
    let words = ["tests", "HEAD~2..HEAD", "-o", "tests.patch"];
    let (_, said) = folder.expect(0, &words);
    assert_contains(&said, &["fails on the old version"]);
    let patch = fs::read_to_string(folder.path().join("tests.patch")).unwrap();
    assert_contains(&patch, &["below zero", "$work/stderr"]);
    git(folder.path(), &["apply", "tests.patch"]);
    assert!(make_check(&folder), "the new version does what they state");
    git(folder.path(), &["checkout", "-q", "HEAD~2", "--", "prog.c"]);
    assert!(!make_check(&folder), "the old version says something else");
}

const MESON: &str = "project('prog', 'c')\n\
prog = executable('prog', 'prog.c')\n\
test('one', find_program('tests/one.sh'), args: [prog])\n";

const CMAKE: &str = "cmake_minimum_required(VERSION 3.10)\n\
project(prog C)\n\
enable_testing()\n\
add_executable(prog prog.c)\n\
add_test(NAME one COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/one.sh $<TARGET_FILE:prog>)\n";

/// A build in a folder of its own, and its tests: whether they pass.
fn passes(folder: &Folder, build: &str, test: &str) -> bool {
    let script =
        format!("rm -rf out && ({build}) >out.log 2>&1 && cd out && {test} >>../out.log 2>&1");
    let status = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .status();
    let passes = status.unwrap().success();
    if !passes {
        let log = fs::read_to_string(folder.path().join("out.log")).unwrap_or_default();
        assert!(log.contains("prog-"), "nothing of ours was run: {log}");
    }
    passes
}

/// Tests that Parallax writes are found and run by the project's own build system, pass on the new version and fail on the old one.
fn listed_by(system: &str, list: (&str, &str), needs: &[&str], build: &str, test: &str) {
    let is_there = |tool: &&str| {
        let script = format!("command -v {tool}");
        let found = Command::new("sh").args(["-c", &script]).output();
        found.unwrap().status.success()
    };
    if !needs.iter().all(is_there) {
        // What is not installed cannot be tried; the lists themselves have unit tests.
        return;
    }
    let folder = repository(OLD, &new(), &[list]);
    folder.expect(0, &["init", "--system", system]);
    commit(&folder, "set up");
    folder.expect(1, &["check", "HEAD~2..HEAD", "--budget", "8s", "--json"]);
    let words = ["tests", "HEAD~2..HEAD", "-o", "tests.patch"];
    let (_, said) = folder.expect(0, &words);
    let idiom = if system == "cmake" { "ctest" } else { system };
    assert_contains(&said, &[&format!("as {idiom} tests")]);
    git(folder.path(), &["apply", "tests.patch"]);
    assert!(passes(&folder, build, test));
    git(folder.path(), &["checkout", "-q", "HEAD~2", "--", "prog.c"]);
    assert!(!passes(&folder, build, test));
}

#[test]
fn meson_runs_the_tests_that_are_put_on_its_list() {
    let build = "meson setup out && ninja -C out";
    let list = ("meson.build", MESON);
    listed_by("meson", list, &["meson", "ninja"], build, "meson test");
}

#[test]
fn ctest_runs_the_tests_that_are_put_on_its_list() {
    let build = "cmake -S . -B out && cmake --build out";
    let list = ("CMakeLists.txt", CMAKE);
    let test = "ctest --output-on-failure";
    listed_by("cmake", list, &["cmake", "ctest"], build, test);
}
