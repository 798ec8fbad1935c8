//! `parallax amplify` on the tests of a project: recorded, sampled, ordered, interrupted.

mod support;

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use support::schema::Schema;
use support::{Folder, assert_contains};

/// The first argument selects an entry; one that is too large or not a digit is not noticed.
const PICK: &str = r#"
#include <stdio.h>
static const char *const names[] = {"zero", "one", "two", "three"};
int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    if (argv[1][0] == '-') {
        puts("pick NUMBER");
        return 0;
    }
    puts(names[argv[1][0] - '0']);
    return 0;
}
"#;

/// Divides by what it is given, unless that is nothing.
const SHARE: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    int people = argc > 1 ? argv[1][0] - '0' : 1;
    char line[16] = "";
    if (!fgets(line, sizeof line, stdin) || !strchr(line, '\n'))
        return 1;
    printf("%d\n", 100 / people);
    return 0;
}
"#;

const SCRIPT: &str =
    "./pick 1; ./pick 2; ./pick -h; ./pick 3\necho x | ./share 4; echo yz | ./share 5\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.build("pick", PICK);
    folder.build("share", SHARE);
    folder.file("test.sh", SCRIPT);
    folder
}

fn recorded() -> Folder {
    let folder = folder();
    folder.expect(0, &["record", "-C", ".", "--", "sh", "test.sh"]);
    folder
}

fn report(folder: &Folder, exit: i32, options: &[&str]) -> Value {
    let (text, _) = folder.expect(exit, &[&["amplify", "--json"], options].concat());
    serde_json::from_str(&text).unwrap()
}

/// Program and kind of each finding.
fn findings(report: &Value) -> Vec<(&str, &str)> {
    let list = report["findings"].as_array().unwrap().iter();
    list.map(|found| {
        let text = |name: &str| found[name].as_str().unwrap();
        (text("program"), text("kind"))
    })
    .collect()
}

#[test]
fn tests_are_recorded_and_amplified_in_one_go() {
    let folder = folder();
    let options = ["-C", ".", "--max-distance", "0", "--", "sh", "test.sh"];
    let (text, told) = folder.expect(1, &[&["amplify"], &options[..]].concat());
    assert_contains(&told, &["6 scenarios"]);
    assert_contains(
        &text,
        &[
            "2 programs: 2 errors found",
            "6 tests up to distance 0",
            "program  tests  sensitive  checks  lines  safe",
            "pick.c:11",
            "out-of-bounds",
            "share.c:9",
            "division-by-zero",
        ],
    );
}

#[test]
fn every_recorded_test_is_amplified_and_the_document_is_what_the_schema_says() {
    let folder = recorded();
    let report = report(&folder, 1, &["--max-distance", "0"]);
    Schema::of_the_tool(&folder).assert_valid(&report);
    assert_eq!(
        findings(&report),
        [("pick", "out-of-bounds"), ("share", "division-by-zero")]
    );
    let pick = &report["findings"][0];
    assert_eq!((&pick["distance"], &pick["depth"]), (&json!(0), &json!(2)));
    assert!(pick["test"].as_str().unwrap().ends_with("test.sh"));
    // One defect, however many tests show it.
    assert_eq!(pick["tests"], 3);
    let stats = &report["stats"];
    assert_eq!(stats["tests"], json!({"given": 6, "run": 6}));
    assert_eq!(stats["ended"], "exhausted");
    let programs = stats["programs"].as_array().unwrap();
    assert_eq!(programs.len(), 2);
    assert_eq!(programs[0]["tests"], json!({"given": 4, "run": 4}));
    let sum = |name: &str| -> u64 {
        let counts = programs.iter().map(|one| one["checks"][name].as_u64());
        counts.map(Option::unwrap).sum()
    };
    for name in ["made", "safe", "confirmed", "undecided"] {
        assert_eq!(stats["checks"][name], sum(name), "{name}");
    }
    // A check whose input another test has made already may count as not confirmed, although its place is.
    assert!(
        stats["checks"]["unconfirmed"].as_u64() <= Some(1),
        "{stats:#}"
    );
    // Every check comes to something.
    let outcomes = ["safe", "confirmed", "unconfirmed", "undecided"];
    let outcomes: u64 = outcomes.map(sum).iter().sum();
    assert_eq!(outcomes, sum("made"));
}

#[test]
fn near_duplicates_come_last() {
    let folder = recorded();
    let report = report(&folder, 1, &["--program", "pick", "--max-distance", "0"]);
    let order = &report["stats"]["programs"][0]["order"];
    // 1, 2 and 3 do the same; -h does something else.
    assert_eq!(*order, json!([0, 2, 1, 3]), "{report:#}");
}

#[test]
fn a_sample_says_what_it_may_miss() {
    let folder = recorded();
    let report = report(&folder, 1, &["--sample", "50%", "--max-distance", "0"]);
    assert_eq!(report["stats"]["tests"], json!({"given": 6, "run": 3}));
    // Of 6 tests 1 exposes it, and 3 are drawn.
    assert_eq!(
        report["stats"]["risks"][0],
        json!({"percent": 6, "missed": 0.5})
    );
    let arguments = ["amplify", "--sample", "3", "--max-distance", "0"];
    let (text, _) = folder.expect(1, &arguments);
    assert_contains(
        &text,
        &["6 % of the 6 tests expose is missed with probability 0.500"],
    );
}

#[test]
fn programs_are_chosen_by_name_and_wrong_use_is_told() {
    let folder = recorded();
    let one = report(&folder, 1, &["--program", "share", "--max-distance", "0"]);
    assert_eq!(findings(&one), [("share", "division-by-zero")]);
    let (_, error) = folder.expect(2, &["amplify", "--program", "other"]);
    assert_contains(
        &error,
        &["no tests of such a program", "parallax scenarios"],
    );
    let (_, error) = folder.expect(2, &["amplify", "--stdin", "test.sh"]);
    assert_contains(&error, &["belong to a command line"]);
    let empty = Folder::new();
    let (_, error) = empty.expect(2, &["amplify"]);
    assert_contains(&error, &["nothing has been recorded here", "make check"]);
}

#[test]
fn what_was_amplified_is_not_repeated() {
    let folder = recorded();
    let options = ["--max-distance", "1", "--runs", "200"];
    let first = report(&folder, 1, &options);
    let (again, told) = folder.expect(1, &[&["amplify", "--json"], &options[..]].concat());
    assert_contains(&told, &["done before"]);
    assert_eq!(serde_json::from_str::<Value>(&again).unwrap(), first);
}

/// Everything but how long it took.
fn comparable(mut report: Value) -> Value {
    let stats = &mut report["stats"];
    for time in ["seconds", "solver"] {
        stats[time] = Value::Null;
    }
    for program in stats["programs"].as_array_mut().unwrap() {
        program["solver_seconds"] = Value::Null;
    }
    for finding in report["findings"].as_array_mut().unwrap() {
        finding["directory"] = Value::Null;
        finding["location"]["file"] = Value::Null;
    }
    // Names of folders are their own; what is traced again after a break is no new run.
    for path in ["/stats/executions", "/stats/divergences"] {
        *report.pointer_mut(path).unwrap() = Value::Null;
    }
    for program in report["stats"]["programs"].as_array_mut().unwrap() {
        program["executions"] = Value::Null;
        for place in program["unconfirmed"].as_array_mut().unwrap() {
            place["location"]["file"] = Value::Null;
        }
    }
    for finding in report["findings"].as_array_mut().unwrap() {
        finding["new"] = Value::Null;
    }
    report
}

#[test]
fn an_amplification_that_is_killed_comes_to_the_same_end() {
    let options = ["--max-distance", "2", "--runs", "400"];
    let expected = comparable(report(&recorded(), 1, &options));
    let folder = recorded();
    let all = [&["amplify", "--json"], &options[..]].concat();
    for wait in [300, 700, 1100] {
        let mut command = folder.command(&all);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap();
        sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(comparable(report(&folder, 1, &options)), expected);
}

#[test]
fn an_interrupted_amplification_says_what_is_known() {
    let folder = recorded();
    let mut command = folder.command(&["amplify", "--json", "--time", "10m"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.unwrap();
    let told = BufReader::new(child.stderr.take().unwrap()).lines();
    let found = told
        .map_while(Result::ok)
        .filter(|line| line.starts_with("found"));
    assert_eq!(found.take(2).count(), 2);
    // SAFETY: the process is our own child, which has not been waited for.
    unsafe { libc::kill(child.id() as i32, libc::SIGINT) };
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["stats"]["ended"], "stopped");
    assert_eq!(report["findings"].as_array().unwrap().len(), 2);
}
