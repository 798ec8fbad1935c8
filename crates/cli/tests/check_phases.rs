//! Parts of `parallax check` that need a patch of their own: changes that only do something together, a version that is known to be right,
//! and an end while versions are built.

mod support;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, assert_contains, expect, git};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\t./prog 1 >/dev/null && ./prog 5- >/dev/null
";

/// A project with a commit for each of these texts of its program, and the tags v0, v1 and so on.
fn project(versions: &[&str]) -> Folder {
    let folder = Folder::new();
    folder.file("Makefile", MAKEFILE);
    folder.file(".gitignore", "prog\n");
    folder.file("prog.c", versions[0]);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    folder.expect(0, &["init"]);
    for (number, text) in versions.iter().enumerate() {
        folder.file("prog.c", text);
        git(folder.path(), &["add", "-A"]);
        git(folder.path(), &["commit", "-q", "-m", "version"]);
        git(folder.path(), &["tag", &format!("v{number}")]);
    }
    folder
}

fn check(folder: &Folder, exit: i32, options: &[&str]) -> Value {
    let words = [&["check", "--json"], options].concat();
    let (text, _) = folder.expect(exit, &words);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn phase<'d>(document: &'d Value, name: &str) -> &'d Value {
    let phases = document["phases"].as_array().unwrap();
    let phase = phases.iter().find(|phase| phase["name"] == name);
    phase.unwrap_or_else(|| panic!("no {name} in {document:#}"))
}

#[test]
fn changes_that_break_something_only_together_are_named_in_their_order() {
    let read = |version: &str| {
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interact");
        fs::read_to_string(format!("{sources}/figure5/{version}.c")).unwrap()
    };
    let folder = project(&[&read("old"), &read("new")]);
    let document = check(&folder, 1, &["v0..v1", "--budget", "25s", "--no-blame"]);
    let interact = phase(&document, "interact");
    assert!(interact["seconds"].as_f64().unwrap() > 0.0, "{interact}");
    let findings = document["findings"].as_array().unwrap();
    let together: Vec<&Value> = findings
        .iter()
        .map(|finding| &finding["interaction"])
        .filter(|interaction| !interaction.is_null())
        .collect();
    let critical = together.iter().find(|one| one["critical"] == true);
    let critical = critical.unwrap_or_else(|| panic!("none is critical: {document:#}"));
    let sequence = critical["sequence"].as_array().unwrap();
    assert!(sequence.len() >= 2, "{critical:#}");
    assert_contains(&critical.to_string(), &["prog.c"]);
    // People read it in words.
    let (text, _) = folder.expect(1, &["report"]);
    assert_contains(&text, &["needs all of these changes, in this order:"]);
}

/// `prog NUMBER` says what kind of number it is.
const OLD: &str = r#"#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
  int x = argc > 1 ? atoi(argv[1]) : 0;
  puts(x > 100 ? "large" : "small");
  if (x == 77)
    puts("odd");
  return 0;
}
"#;

#[test]
fn what_the_version_does_that_is_known_to_be_right_does_not_fail() {
    // The patch moves a limit, which is meant, and breaks something else, which is not.
    let limit = OLD.replace("x > 100", "x > 200");
    let new = limit.replace("x == 77", "x == 78");
    let folder = project(&[OLD, &new, &limit]);
    let document = check(
        &folder,
        1,
        &["v0..v1", "--golden", "v2", "--budget", "15s", "--no-blame"],
    );
    let findings = document["findings"].as_array().unwrap();
    let judged = |golden: &str| -> Vec<&Value> {
        let all = findings.iter();
        all.filter(|finding| finding["golden"] == golden).collect()
    };
    let meant = judged("intended");
    assert!(!meant.is_empty(), "{document:#}");
    assert!(meant.iter().all(|one| one["fails"] == false), "{meant:#?}");
    let wrong = judged("regression");
    assert!(!wrong.is_empty(), "{document:#}");
    assert!(wrong.iter().all(|one| one["fails"] == true), "{wrong:#?}");
    // With nothing but what is meant it passes.
    let document = check(
        &folder,
        0,
        &["v0..v2", "--golden", "v2", "--budget", "5s", "--no-blame"],
    );
    assert_eq!(document["verdict"], "passed", "{document:#}");
}

#[test]
fn a_cache_that_was_cleared_since_hides_no_change() {
    let folder = project(&[OLD, &OLD.replace("large", "big")]);
    let words = ["check", "v0..v1", "--budget", "4s", "--no-blame", "--json"];
    check(&folder, 1, &words[1..5]);
    let mut command = folder.command(&words);
    command.env("XDG_CACHE_HOME", folder.path().join("cleared"));
    let (text, said) = expect(1, command);
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["verdict"], "differs", "{document:#}");
    assert_contains(&said, &["no longer in the cache", "parallax build --force"]);
}

#[test]
fn ctrl_c_ends_a_build_and_what_it_started() {
    let folder = project(&[OLD, &OLD.replace("large", "big")]);
    let marker = folder.path().join("building");
    let build = format!("build.build=echo $$ >{}; sleep 600", marker.display());
    let mut child = folder
        .command(&["check", "v0..v1", "--set", &build])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let building = loop {
        let text = fs::read_to_string(&marker).unwrap_or_default();
        if text.ends_with('\n') {
            break text.trim().to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    };
    // As a terminal sends it: to everything that is in the foreground, and no more.
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let began = Instant::now();
    let said = BufReader::new(child.stderr.take().unwrap());
    let said: Vec<String> = said.lines().map_while(Result::ok).collect();
    let status = child.wait().unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{said:?}");
    assert_eq!(status.code(), Some(130), "{said:?}");
    let is_running = fs::exists(format!("/proc/{building}")).unwrap();
    assert!(!is_running, "the build goes on");
}
