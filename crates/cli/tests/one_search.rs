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
    // A tenth on a quiet machine; one under load makes runs that end seem to hang.
    assert!(hanging < 0.4 * work, "{hanging} of {work} s: {stats:#}");
    assert!(elapsed < Duration::from_secs(60), "{elapsed:?}");
    let outputs = report["findings"].to_string();
    assert!(outputs.contains("seventy-seven"), "{report:#}");
}

/// Rounds of a cipher: queries about its result are hopeless.
const CIPHER: &str = r#"#include <stdio.h>
#include <string.h>
static unsigned char box[256];
static void fill(void) {
  unsigned char p = 1, q = 1;
  do {
    p = p ^ (p << 1) ^ (p & 0x80 ? 0x1b : 0);
    q ^= q << 1; q ^= q << 2; q ^= q << 4; q ^= q & 0x80 ? 0x09 : 0;
    unsigned char x = q ^ (q << 1 | q >> 7) ^ (q << 2 | q >> 6) ^ (q << 3 | q >> 5) ^ (q << 4 | q >> 4);
    box[p] = x ^ 0x63;
  } while (p != 1);
  box[0] = 0x63;
}
int main(int argc, char **argv) {
  unsigned char s[16] = {0}, t[16];
  size_t n = argc > 1 ? strlen(argv[1]) : 0;
  memcpy(s, n ? argv[1] : "", n < 16 ? n : 16);
  fill();
  for (int round = 0; round < 6; round++) {
    for (int i = 0; i < 16; i++)
      t[i] = box[s[(i * 5) % 16]];
    for (int i = 0; i < 16; i++)
      s[i] = t[i] ^ box[t[(i + 3) % 16]] ^ (t[(i + 7) % 16] * 3) ^ round;
  }
  for (int i = 0; i < 16; i++)
    if (s[i] == 0x5a + i)
      printf("hit %d\n", i);
  puts("done");
  return 0;
}
"#;

/// A hundred thousand branches that depend on the input.
const BRANCHES: &str = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  const char *s = argc > 1 ? argv[1] : "x";
  size_t n = strlen(s), high = 0;
  for (int turn = 0; turn < 100000; turn++)
    if (((unsigned char)s[turn % n] ^ turn) % 251 > 120)
      high++;
  printf("%zu\n", high);
  return 0;
}
"#;

/// How long a command takes once its variants are there.
fn timed(folder: &Folder, words: &[&str]) -> Duration {
    let limited = |limit: [&str; 2]| {
        let words = [&words[..1], &limit[..], &words[1..]].concat();
        folder.command(&words).output().unwrap();
    };
    limited(["--time", "1s"]);
    let started = Instant::now();
    limited(["--time", "4s"]);
    started.elapsed()
}

#[test]
fn a_time_limit_holds_whatever_inputs_do_and_solvers_are_asked() {
    for program in [HANGS, CIPHER, BRANCHES] {
        let folder = versions(program, &program.replace("puts(\"", "puts(\"> "));
        let commands: [&[&str]; 2] = [
            &["diverge", "--no-sanitizers", "./old", "./new", "--", "5"],
            &["explore", "--no-sanitizers", "./new", "--", "5"],
        ];
        for command in commands {
            let taken = timed(&folder, command);
            // A twentieth more, and what a loaded machine takes to start, trace and end processes.
            assert!(taken < Duration::from_secs(9), "{command:?}: {taken:?}");
        }
    }
}

#[test]
fn an_interrupt_ends_any_search_at_once() {
    let folder = versions(HANGS, &HANGS.replace("seventy-seven", "77"));
    let commands: [&[&str]; 2] = [&["diverge", "./old", "./new"], &["explore", "./new"]];
    for command in commands {
        // Variants are made, so that the search is what is interrupted.
        let short = [command, &["--time", "1s", "--", "77"]].concat();
        folder.command(&short).output().unwrap();
        let long = [command, &["--time", "60s", "--", "5"]].concat();
        let mut child = folder
            .command(&long)
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
        // A second, and what a loaded machine adds.
        assert!(taken < Duration::from_secs(3), "{command:?}: {taken:?}");
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let folder = versions(OPTIONS, &OPTIONS.replace("*p - 32", "*p - 31"));
    let commands: [&[&str]; 2] = [
        &["diverge", "./old", "./new"],
        &["explore", "./new", "--fresh"],
    ];
    for command in commands {
        let result = |jobs: &str| {
            let options = ["--json", "--runs", "120", "--jobs", jobs, "--", "word"];
            let output = folder.command(&[command, &options[..]].concat()).output();
            let mut report = document(&text_of(&output.unwrap().stdout));
            for time in [
                "seconds",
                "solver",
                "executions",
                "comparing_seconds",
                "tracing_one_seconds",
            ] {
                report["stats"][time] = Value::Null;
            }
            for finding in report["findings"].as_array_mut().unwrap() {
                finding["seconds"] = Value::Null;
            }
            for file in report["stats"]["files"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                file["latest"]["seconds"] = Value::Null;
            }
            report
        };
        assert_eq!(result("1"), result("2"), "{command:?}");
    }
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
