//! The rules of the search (ARCHITECTURE.md, "The search"), each by a program that needs it.

mod support;

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, text_of};

fn versions(old: &str, new: &str) -> Folder {
    let folder = Folder::new();
    folder.build("old", old);
    folder.build("new", new);
    folder
}

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The cost of one kind of work, in seconds, and what it found.
fn yields(report: &Value, source: &str) -> (f64, u64) {
    let all = report["stats"]["yields"].as_array().unwrap().iter();
    let mut own = all.filter(|one| one["source"] == source);
    own.next().map_or((0.0, 0), |one| {
        let number = |name: &str| one[name].as_f64().unwrap_or_default();
        (number("cost"), number("found") as u64)
    })
}

const SIGN: &str = r#"#include <stdio.h>
int main(int argc, char **argv) {
  puts(argc > 1 && argv[1][0] == '-' ? "negative" : "positive");
  return 0;
}
"#;

#[test]
fn a_given_input_that_differs_is_said_before_any_variant_is_derived() {
    let folder = versions(SIGN, &SIGN.replace("\"negative\"", "\"below zero\""));
    // Nothing can be derived without a compiler.
    let mut command = folder.command(&["diverge", "./old", "./new", "--", "-1"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let said = text_of(&output.stderr);
    assert!(!output.status.success());
    let (found, failed) = (said.find("stdout"), said.find("error:"));
    assert!(found.is_some() && found < failed, "{said}");
}

const OPTIONS: &str = r#"#include <getopt.h>
#include <stdio.h>
int main(int argc, char **argv) {
  static const struct option longs[] = {{"shout", no_argument, 0, 's'}, {"width", required_argument, 0, 'w'}, {0}};
  int c, shout = 0;
  while ((c = getopt_long(argc, argv, "sw:", longs, 0)) != -1)
    if (c == 's')
      shout = 1;
  for (int i = optind; i < argc; i++)
    for (char *p = argv[i]; *p; p++)
      putchar(shout && *p >= 'a' && *p <= 'z' ? *p - 32 : *p);
  putchar('\n');
  return 0;
}
"#;

#[test]
fn a_change_behind_an_option_that_no_given_input_has_is_found() {
    let folder = versions(OPTIONS, &OPTIONS.replace("*p - 32", "*p - 31"));
    let (text, _) = folder.expect(
        1,
        &[
            "diverge", "./old", "./new", "--json", "--runs", "60", "--", "word",
        ],
    );
    let report = document(&text);
    let argv = report["findings"][0]["scenario"]["argv"].to_string();
    assert!(argv.contains("-s"), "{report:#}");
}

/// Waits for ever for words that begin with h and for numbers above 1000; versions differ for 77.
const HANGS: &str = r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : "";
  volatile unsigned long turns = 0;
  while (s[0] == 'h' || atol(s) > 1000)
    turns++;
  puts(atol(s) == 77 ? "seventy-seven" : "other");
  return 0;
}
"#;

#[test]
fn inputs_that_hang_take_a_small_share_of_the_time() {
    let folder = versions(HANGS, &HANGS.replace("seventy-seven", "77"));
    let started = Instant::now();
    let (text, _) = folder.expect(
        1,
        &[
            "diverge",
            "./old",
            "./new",
            "--json",
            "--no-sanitizers",
            "--time",
            "10s",
            "--",
            "5",
        ],
    );
    let elapsed = started.elapsed();
    let report = document(&text);
    let stats = &report["stats"];
    let hanging = stats["hanging_seconds"].as_f64().unwrap();
    // Of all threads together.
    let work: f64 = stats["yields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["cost"].as_f64().unwrap())
        .sum();
    // Both versions hang, each for its limit.
    assert!(hanging < 0.4 * work, "{hanging} of {work} s: {stats:#}");
    assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
    let outputs = report["findings"].to_string();
    assert!(outputs.contains("seventy-seven"), "{report:#}");
}

#[test]
fn an_interrupt_ends_a_comparison_at_once() {
    let folder = versions(HANGS, &HANGS.replace("seventy-seven", "77"));
    // Variants are made, so that the search is what is interrupted.
    folder.expect(1, &["diverge", "./old", "./new", "--runs", "4", "--", "77"]);
    let mut command = folder.command(&["diverge", "./old", "./new", "--time", "60s", "--", "5"]);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let started = Instant::now();
    // SAFETY: a signal to a child of ours.
    unsafe { libc::kill(child.id() as libc::pid_t, libc::SIGINT) };
    child.wait().unwrap();
    let taken = started.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
}

#[test]
fn random_changes_and_the_solver_work_on_one_corpus() {
    // The solver knows how to get past the first condition, the second needs a piece to be repeated.
    let old = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : "";
  unsigned commas = 0;
  for (const char *p = s; *p; p++)
    commas += *p == ',';
  if (strncmp(s, "list:", 5) == 0)
    printf("%u items\n", commas + 1);
  else
    puts("no list");
  return 0;
}
"#;
    let folder = versions(old, &old.replace("commas + 1)", "commas + (commas < 4))"));
    let (text, _) = folder.expect(
        1,
        &[
            "diverge",
            "./old",
            "./new",
            "--json",
            "--no-sanitizers",
            "--time",
            "30s",
            "--",
            "a,b",
        ],
    );
    let report = document(&text);
    let found = report["findings"].to_string();
    assert!(found.contains("list:"), "{report:#}");
    let (mutating, _) = yields(&report, "mutate");
    assert!(mutating > 0.0, "{report:#}");
}
