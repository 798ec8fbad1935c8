//! `cover` over a project: a patch, a test suite, and what becomes of every changed line.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::schema::Schema;
use support::{Folder, assert_contains, git};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\t./prog show 7 >/dev/null
\techo abc | ./prog count >/dev/null
";

const OLD: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  if (argc < 2)
    return 2;
  if (!strcmp (argv[1], "show"))
    {
      int n = argc > 2 ? atoi (argv[2]) : 0;
      printf ("%d\n", n);
      return 0;
    }
  return 1;
}
"#;

/// Line 12 is what the tests run, 14 takes a number, 16 another input, 18 cannot be, 28 is never called.
const NEW: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
  if (argc < 2)
    return 2;
  if (!strcmp (argv[1], "show"))
    {
      int n = argc > 2 ? atoi (argv[2]) : 0;
      if (n < 100)
        printf ("%d\n", n);
      if (n == 4711)
        puts ("cologne");
      if (n < 50 && argv[2] && argv[2][0] == 'x')
        puts ("letter");
      if (n > 100 && n < 90)
        puts ("never");
      return 0;
    }
  if (!strcmp (argv[1], "count") && getchar () == 'q')
    puts ("quit");
  return 1;
}

void unused (void)
{
  puts ("unused");
}
"#;

fn project() -> Folder {
    let folder = Folder::patched(MAKEFILE, OLD, NEW);
    folder.expect(0, &["record", "--", "make", "check"]);
    folder
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Status of each target, by its first line.
fn statuses(document: &Value) -> Vec<(u64, String)> {
    let targets = document["targets"].as_array().unwrap().iter();
    targets
        .map(|target| {
            let status = target["status"].as_str().unwrap().to_owned();
            (target["line"].as_u64().unwrap(), status)
        })
        .collect()
}

fn test_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

#[test]
fn every_changed_line_gets_an_end_and_the_ledger_says_why() {
    let folder = project();
    let ask = [
        "cover",
        "HEAD~1..HEAD",
        "--runs",
        "400",
        "--time",
        "60s",
        "--json",
    ];
    let (said, _) = folder.expect(0, &ask);
    let document = parsed(&said);
    Schema::of_the_tool(&folder).assert_valid(&document);
    let status = |line: u64| {
        let all = statuses(&document);
        let found = all.iter().find(|(first, _)| *first == line);
        found.map(|(_, status)| status.clone())
    };
    assert_eq!(status(12).as_deref(), Some("suite"), "{said}");
    assert_eq!(status(14).as_deref(), Some("covered"), "{said}");
    assert_eq!(status(16).as_deref(), Some("covered"), "{said}");
    assert_eq!(status(18).as_deref(), Some("infeasible"), "{said}");
    assert_eq!(status(22).as_deref(), Some("covered"), "{said}");
    assert_eq!(status(28).as_deref(), Some("missed"), "{said}");
    assert_eq!(document["stats"]["coverage"]["covered"], 3);
    for target in document["targets"].as_array().unwrap() {
        if target["status"] == "covered" {
            assert!(!target["steps"].as_array().unwrap().is_empty());
        }
    }

    // Each verdict in words.
    let why = |line: u32| folder.expect(0, &["why", &format!("prog.c:{line}")]).0;
    assert_contains(&why(12), &["covered by the tests", "show 7", "printf"]);
    assert_contains(
        &why(14),
        &[
            "covered by a new input",
            "4711",
            "from scenario",
            "test file",
        ],
    );
    assert_contains(&why(18), &["infeasible", "n > 100 && n < 90"]);
    assert_contains(&why(28), &["out of reach", "no way leads there"]);
    assert_contains(&why(4), &["cannot be covered: declaration"]);
    let (said, _) = folder.expect(0, &["why", "prog.c:18", "--json"]);
    let document = parsed(&said);
    Schema::of_the_tool(&folder).assert_valid(&document);
    assert_eq!(document["targets"][0]["status"], "infeasible");

    // New inputs are scenarios, and test files that can be run.
    let (said, _) = folder.expect(0, &["scenarios"]);
    assert_contains(&said, &["4711", "covering"]);
    let files = test_files(&folder.path().join(".parallax/cover/tests"));
    assert_eq!(files.len(), 3, "{files:?}");
    for file in &files {
        let output = Command::new(file).output().unwrap();
        assert!(output.status.success(), "{file:?} {output:?}");
        // The old version does something else.
        let output = Command::new(file).arg("/bin/false").output().unwrap();
        assert!(!output.status.success(), "{file:?} {output:?}");
    }

    // A second run knows all of it.
    let (said, told) = folder.expect(0, &ask);
    assert_contains(&told, &["settled before"]);
    let again = parsed(&said);
    assert_eq!(again["stats"]["coverage"]["covered"], 3);
    let (said, _) = folder.expect(
        0,
        &["cover", "HEAD~1..HEAD", "--runs", "400", "--time", "60s"],
    );
    assert_contains(
        &said,
        &["prog.c:14", "3 by new inputs", "coverage of the patch"],
    );
}

#[test]
fn tests_are_written_as_the_project_writes_them() {
    let folder = project();
    let cover = |options: &[&str]| {
        let ask = [
            "cover",
            "--at",
            "prog.c:14",
            "--time",
            "30s",
            "--again",
            "-o",
            "out",
        ];
        folder.expect(0, &[&ask, options].concat())
    };
    folder.file(
        "test.sh.in",
        "#!/bin/sh\n# {{title}}\nprogram={{program}}\n{{setup}}\n{{run}}\n{{check}}\n",
    );
    let (said, _) = cover(&["--set", "test.template=test.sh.in"]);
    assert_contains(&said, &["test file: out/prog-prog.c-14.sh"]);
    let text = fs::read_to_string(folder.path().join("out/prog-prog.c-14.sh")).unwrap();
    assert_contains(&text, &["# prog reaches prog.c:14", "4711"]);
    let (_, said) = folder.expect(
        2,
        &[
            "cover",
            "--at",
            "prog.c:14",
            "--set",
            "test.template=Makefile",
        ],
    );
    assert_contains(&said, &["none of the marks", "{{setup}}"]);
}

#[test]
fn what_is_not_to_be_covered_is_said_in_words() {
    let folder = project();
    folder.file("notes.txt", "nothing\n");
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "notes"]);
    let (said, _) = folder.expect(0, &["cover", "HEAD~1..HEAD"]);
    assert_contains(&said, &["there is nothing to cover"]);
    let (said, _) = folder.expect(0, &["targets", "HEAD~1..HEAD"]);
    assert_contains(&said, &["there is nothing to cover"]);
}

/// One line that is easily reached, and one behind a hash that no solver inverts.
const HARD: &str = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv)
{
  if (argc < 2)
    return 2;
  unsigned hash = 1;
  for (int round = 0; round < 8; round++)
    hash = (hash ^ (unsigned char) argv[1][round % strlen (argv[1])]) * 0x9e3779b1u ^ hash >> 7;
  if (argv[1][0] == 'k')
    puts ("easy");
  if (hash == 0x12345678)
    puts ("hard");
  return 0;
}
"#;

#[test]
fn an_interrupted_search_keeps_what_it_found_and_goes_on() {
    let makefile = MAKEFILE.replace("./prog show 7", "./prog; ./prog abcdefgh");
    let folder = Folder::patched(&makefile, "int main(void)\n{\n  return 0;\n}\n", HARD);
    folder.expect(0, &["record", "--", "make", "-k", "check"]);
    let mut running = folder
        .command(&["cover", "HEAD~1..HEAD", "--time", "600s"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The first letter is the one that is asked for.
    let is_found = || {
        let (list, _) = folder.expect(0, &["scenarios"]);
        let mut lines = list.lines();
        lines.any(|line| line.contains("covering") && line.contains("prog k"))
    };
    let began = Instant::now();
    while !is_found() && began.elapsed() < Duration::from_secs(300) {
        assert!(running.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(300));
    }
    let process = running.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &process])
            .status()
            .unwrap()
            .success()
    );
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_contains(
        &said,
        &["covered  prog.c:11", "prog.c:13  not searched for yet"],
    );

    let ask = ["cover", "HEAD~1..HEAD", "--runs", "30", "--json"];
    let (said, told) = folder.expect(0, &ask);
    assert_contains(&told, &["1 target settled before"]);
    let document = parsed(&said);
    let status = |line: u64| {
        let mut all = statuses(&document).into_iter();
        all.find(|(first, _)| *first == line)
            .map(|(_, status)| status)
    };
    assert_eq!(status(11).as_deref(), Some("covered"), "{said}");
    assert_eq!(status(13).as_deref(), Some("blocked"), "{said}");
    assert_contains(
        &folder.expect(0, &["why", "prog.c:13"]).0,
        &["blocked", "hash == 0x12345678"],
    );
    // Settled for as many runs, not for more.
    let (_, told) = folder.expect(0, &ask);
    assert_contains(&told, &["2 targets settled before"]);
    let (_, told) = folder.expect(0, &["cover", "HEAD~1..HEAD", "--runs", "40", "--json"]);
    assert_contains(&told, &["1 target settled before"]);
}
