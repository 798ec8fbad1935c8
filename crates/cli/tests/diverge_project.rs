//! `diverge` over a project: two commits, recorded tests, the hunks that differences come from.

mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::schema::Schema;
use support::{Folder, assert_contains, git};

fn makefile(test: &str) -> String {
    format!("CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t{test}\n")
}

/// A repository with two versions of a program and one recorded test; `HEAD~1..HEAD` is the patch.
fn project(old: &str, new: &str, test: &str) -> Folder {
    let folder = Folder::patched(&makefile(test), old, new);
    folder.expect(0, &["record", "--", "make", "check"]);
    folder
}

/// Compares; the document.
fn compare(folder: &Folder, exit: i32, options: &[&str]) -> Value {
    let ask = ["diverge", "HEAD~1..HEAD", "--time", "60s", "--json"];
    let (text, _) = folder.expect(exit, &[&ask, options].concat());
    let document: Value = serde_json::from_str(&text).unwrap();
    Schema::of_the_tool(folder).assert_valid(&document);
    document
}

/// Roles and first new lines of the hunks of a finding.
fn hunks(finding: &Value) -> Vec<(String, u64)> {
    let list = finding["hunks"].as_array().expect("hunks");
    let role = |hunk: &Value| hunk["role"].as_str().unwrap().to_owned();
    list.iter()
        .map(|hunk| (role(hunk), hunk["new"]["line"].as_u64().unwrap()))
        .collect()
}

const THREE: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int limit(int x)
{
  return x > 10;
}

static int twice(int x)
{
  return x + x;
}

int main(int argc, char **argv)
{
  int x = argc > 1 ? atoi(argv[1]) : 0;
  if (limit(x))
    puts("large");
  else
    puts("small");
  return twice(x) == 1;
}
"#;

/// Line 6 is what matters; 11 and 16 say the same in other words.
fn three_hunks() -> String {
    THREE
        .replace("x > 10", "x > 20")
        .replace("x + x", "2 * x")
        .replace(
            "argc > 1 ? atoi(argv[1]) : 0",
            "argc < 2 ? 0 : atoi(argv[1])",
        )
}

#[test]
fn of_three_hunks_the_guilty_one_is_named_everywhere() {
    let folder = project(THREE, &three_hunks(), "./prog 3");
    let document = compare(&folder, 1, &["--runs", "100"]);
    let findings = document["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{document:#}");
    let finding = &findings[0];
    assert_eq!(finding["kind"], "difference");
    assert_eq!(finding["program"], "prog");
    assert_eq!(hunks(finding), [("guilty".to_owned(), 6)]);
    assert_eq!(finding["hunks"][0]["file"], "prog.c");
    assert_eq!(finding["hunks"][0]["old"]["lines"][0], "  return x > 10;");
    assert_eq!(finding["hunks_minimal"], true);
    assert_eq!(document["stats"]["hunks"], 3);

    // The input is a scenario, and shows it again.
    let id = finding["scenario_id"].as_str().unwrap();
    let (list, _) = folder.expect(0, &["scenarios"]);
    assert_contains(&list, &[&id[..8], "diverging"]);
    let replay = finding["replay"].as_str().unwrap();
    let words: Vec<&str> = replay.split(' ').skip(1).collect();
    let (said, _) = folder.expect(1, &words);
    assert_contains(&said, &["large", "small"]);

    // What was done is not repeated, and is said in every form.
    let ask = ["diverge", "HEAD~1..HEAD", "--runs", "100", "--time", "60s"];
    let (text, told) = folder.expect(1, &ask);
    assert_contains(&told, &["was done before"]);
    assert_contains(
        &text,
        &[
            "1 difference",
            "does not happen without the change at prog.c:6",
            "- ",
            "return x > 10;",
            "return x > 20;",
            replay,
        ],
    );
    let (text, _) = folder.expect(1, &[&ask[..], &["--format", "sarif"]].concat());
    let log: Value = serde_json::from_str(&text).unwrap();
    support::sarif::assert_valid(&log);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "diverge/difference");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "prog.c");
    assert_eq!(place["region"]["startLine"], 6);
    assert_eq!(result["properties"]["replay"], replay);

    // Asked for once more, it has the same name.
    let again = compare(&folder, 1, &["--runs", "100", "--again"]);
    assert_eq!(again["findings"][0]["id"], finding["id"]);
    // The user's checkout is as it was.
    let status = Command::new("git")
        .arg("-C")
        .arg(folder.path())
        .args(["status", "--porcelain"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&status.stdout), "");
}

const PAIR: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int low(void)
{
  return 3;
}

static int high(void)
{
  return 9;
}

int main(int argc, char **argv)
{
  int x = argc > 1 ? atoi(argv[1]) : 0;
  char *between = high() < low() ? NULL : "ok";
  if (x > 100)
    printf("%c\n", between[0]);
  return 0;
}
"#;

#[test]
fn hunks_that_only_crash_together_are_named_together() {
    let new = PAIR
        .replace("return 3;", "return 6;")
        .replace("return 9;", "return 5;")
        .replace("x > 100", "x >= 100 + 1");
    let folder = project(PAIR, &new, "./prog 1000");
    let document = compare(&folder, 1, &["--runs", "60"]);
    let findings = document["findings"].as_array().unwrap();
    let mut regressions = findings
        .iter()
        .filter(|finding| finding["kind"] == "regression");
    let crash = regressions.next().unwrap_or_else(|| panic!("{document:#}"));
    assert_eq!(
        hunks(crash),
        [("guilty".to_owned(), 6), ("guilty".to_owned(), 11)]
    );
}

/// The second hunk uses what the first one declares.
#[test]
fn a_hunk_that_does_not_build_alone_is_named_with_what_it_needs() {
    let new = THREE
        .replace(
            "static int limit",
            "enum { MOST = 20 };\n\nstatic int limit",
        )
        .replace("x > 10", "x > MOST")
        .replace("x + x", "2 * x");
    let folder = project(THREE, &new, "./prog 3");
    let document = compare(&folder, 1, &["--runs", "60"]);
    let finding = &document["findings"][0];
    assert_eq!(
        hunks(finding),
        [("guilty".to_owned(), 8), ("needed".to_owned(), 4)],
        "{document:#}"
    );
    assert_eq!(finding["hunks_minimal"], true);
}

const COMMANDS: &str = r#"#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
  if (argc < 2)
    return 2;
  if (!strcmp(argv[1], "sum"))
    printf("%d\n", argc > 2 ? argv[2][0] - '0' : 0);
  return 0;
}
"#;

#[test]
fn where_no_test_runs_changed_code_an_input_is_made_that_does() {
    let new = COMMANDS.replace("argv[2][0] - '0'", "argv[2][0] - '1'");
    let folder = project(COMMANDS, &new, "./prog other");
    let ask = ["diverge", "HEAD~1..HEAD", "--time", "40s"];
    let (text, told) = folder.expect(1, &ask);
    assert_contains(&told, &["no scenario of prog runs changed code"]);
    assert_contains(&text, &["prog sum", "comes from the only hunk prog.c:9"]);
    let (list, _) = folder.expect(0, &["scenarios"]);
    assert_contains(&list, &["covering", "diverging"]);
}

#[test]
fn what_has_no_effect_is_said_to_have_none() {
    let new = THREE.replace("x + x", "2 * x");
    let folder = project(THREE, &new, "./prog 3");
    let (text, _) = folder.expect(0, &["diverge", "HEAD~1..HEAD", "--runs", "40"]);
    assert_contains(
        &text,
        &["nothing differs", "1 of 1 scenario run changed code"],
    );
    folder.file("notes.txt", "nothing\n");
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "notes"]);
    let (text, _) = folder.expect(0, &["diverge", "HEAD~1..HEAD", "--runs", "40"]);
    assert_contains(&text, &["nothing was compared", "none of them in code"]);
}

/// As the C library does it: what is too large for a long is the largest, and of that the lower half counts.
fn atoi(text: &str) -> i32 {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['-', '+']));
    let digits = text[sign..].bytes().take_while(u8::is_ascii_digit).count();
    match (text[..sign + digits].parse::<i64>(), text.starts_with('-')) {
        (Ok(number), _) => number as i32,
        (Err(_), _) if digits == 0 => 0,
        (Err(_), true) => i64::MIN as i32,
        (Err(_), false) => i64::MAX as i32,
    }
}

#[test]
fn a_later_version_tells_what_was_intended() {
    let folder = project(THREE, &three_hunks(), "./prog 3");
    folder.file("prog.c", &three_hunks().replace("x > 20", "x > 12"));
    git(folder.path(), &["commit", "-q", "-a", "-m", "right"]);
    let ask = ["diverge", "HEAD~2..HEAD~1", "--golden", "HEAD"];
    let options = ["--runs", "100", "--time", "60s", "--no-blame", "--json"];
    let (text, _) = folder.expect(1, &[&ask[..], &options].concat());
    let document: Value = serde_json::from_str(&text).unwrap();
    let findings = document["findings"].as_array().unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let argument = finding["scenario"]["argv"][0].as_str().unwrap();
        let expected = if atoi(argument) > 12 {
            "regression"
        } else {
            "intended"
        };
        assert_eq!(finding["golden"], expected, "{finding:#}");
        assert_eq!(finding["hunks"], Value::Null);
    }
}

/// Has so many paths that there is always something left to compare.
const LONG: &str = r#"#include <stdio.h>

int main(int argc, char **argv)
{
  int count = 0;
  char line[200];
  while (fgets(line, sizeof line, stdin))
    for (char *c = line; *c; c++)
      {
        if (*c > 'q')
          count++;
        if (*c == 'e')
          count += 2;
        if (*c < '5')
          count--;
      }
  if (argc > 1 && argv[1][0] == 'v')
    puts("chosen");
  return count > 100;
}
"#;

#[test]
fn an_interrupted_comparison_keeps_what_it_found_and_goes_on() {
    let new = LONG.replace("== 'v'", "== 'z'");
    let test = "for i in 1 2 3 4 5 6; do seq $$i 9 | ./prog a$$i; done";
    let folder = project(LONG, &new, test);
    let mut running = folder
        .command(&["diverge", "HEAD~1..HEAD", "--time", "600s", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let is_found = || folder.expect(0, &["scenarios"]).0.contains("diverging");
    let began = Instant::now();
    while !is_found() && began.elapsed() < Duration::from_secs(300) {
        assert!(running.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(300));
    }
    // So that one of the scenarios is done with.
    std::thread::sleep(Duration::from_secs(8));
    let process = running.id().to_string();
    let kill = Command::new("kill").args(["-INT", &process]).status();
    assert!(kill.unwrap().success());
    let output = running.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_contains(&said, &["difference", "stopped"]);

    let ask = ["diverge", "HEAD~1..HEAD", "--runs", "12", "--jobs", "1"];
    let (text, told) = folder.expect(1, &ask);
    assert_contains(&told, &["compared on before"]);
    assert_contains(
        &text,
        &["1 difference", "comes from the only hunk prog.c:17"],
    );
    let (_, told) = folder.expect(1, &ask);
    assert_contains(&told, &["was done before"]);
}
