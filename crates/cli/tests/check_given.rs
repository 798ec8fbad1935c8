//! What `parallax check` owes to inputs that are there: every recorded test is run on both versions, and so is every input that was made to
//! reach a line.

mod support;

use serde_json::Value;
use support::{Folder, git};

const MAKEFILE: &str = "\
CC = gcc
prog: prog.c
\t$(CC) -g -o prog prog.c
check: prog
\t./prog a >/dev/null && ./prog banana-split >/dev/null
";

/// Both tests execute the same: what they print is chosen without a branch, by a number that no solver finds the word for.
const CHOSEN: &str = r#"#include <stdio.h>
static const char *names[] = {"other", "dessert"};
int main(int argc, char **argv) {
  unsigned long sum = 14695981039346656037ul;
  for (const char *p = argc > 1 ? argv[1] : ""; *p; p++)
    sum = (sum ^ (unsigned char)*p) * 1099511628211ul;
  puts(names[sum == SUM]);
  return 0;
}
"#;

fn chosen() -> String {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(1_099_511_628_211);
    let sum = b"banana-split"
        .iter()
        .fold(14_695_981_039_346_656_037, step);
    CHOSEN.replace("SUM", &format!("{sum}ul"))
}

/// No test has the word that something is said about.
const TOLD: &str = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (!strcmp(argv[i], "--quiet"))
      fputs("late\n", stderr);
  printf("%d\n", argc);
  return 0;
}
"#;

fn project(old: &str, new: &str) -> Folder {
    let folder = Folder::new();
    folder.file("Makefile", MAKEFILE);
    folder.file(".gitignore", "prog\n");
    folder.file("prog.c", old);
    git(folder.path(), &["init", "-q", "-b", "main"]);
    folder.expect(0, &["init"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "old"]);
    folder.file("prog.c", new);
    git(folder.path(), &["commit", "-q", "-a", "-m", "new"]);
    folder
}

fn check(folder: &Folder) -> Value {
    let words = ["check", "--json", "HEAD~1..HEAD", "--budget", "10s"];
    let (text, _) = folder.expect(1, &words);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_test_that_differs_is_a_finding_though_another_executes_the_same() {
    let old = chosen();
    let document = check(&project(&old, &old.replace("dessert", "sweets")));
    let findings = document["findings"].to_string();
    assert!(findings.contains("banana-split"), "{document:#}");
}

#[test]
fn an_input_that_was_made_to_reach_a_line_is_compared() {
    let document = check(&project(TOLD, &TOLD.replace("late", "too late")));
    let findings = document["findings"].to_string();
    assert!(findings.contains("too late"), "{document:#}");
    let targets = document["targets"].as_array().unwrap();
    let mut states = targets.iter().map(|one| &one["status"]);
    assert!(states.any(|one| one == "covered"), "{document:#}");
}

#[test]
fn a_patch_that_no_input_runs_is_not_tested() {
    let program = r#"#include <stdio.h>
#include <time.h>
int main(void) {
  if (time(0) < 1000)
    puts("long ago");
  return 0;
}
"#;
    let folder = project(program, &program.replace("long ago", "very long ago"));
    let (text, _) = folder.expect(4, &["check", "HEAD~1..HEAD", "--budget", "5s"]);
    assert!(text.contains("not tested"), "{text}");
}
