//! `parallax record`: from a test command to scenarios in the store.

mod support;

use support::{Folder, assert_contains};

/// Prints the first byte of its argument's file, or fails.
const FIRST: &str = r#"
#include <stdio.h>
int main(int argc, char **argv) {
    FILE *f = fopen(argv[1], "r");
    if (!f) { fprintf(stderr, "no %s\n", argv[1]); return 1; }
    putchar(getc(f));
    return 0;
}"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.build("first", FIRST);
    folder.file("in", "xyz");
    folder
}

#[test]
fn every_run_of_a_captured_program_becomes_a_scenario() {
    let folder = folder();
    folder.file("test.sh", "./first in; ./first in; ./first none\n");
    let (text, _) = folder.expect(0, &["record", "-C", ".", "--", "sh", "test.sh"]);
    assert_contains(
        &text,
        &[
            "failed (exit code 1)",
            "2 scenarios",
            "3 runs",
            "1 repeated",
        ],
    );
    let (json, _) = folder.expect(0, &["scenarios", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    let scenarios = document["scenarios"].as_array().unwrap();
    assert_eq!(scenarios.len(), 2);
    assert_eq!(scenarios[0]["program"], "first");
    assert_eq!(scenarios[0]["scenario"]["files"]["in"], "xyz");
    assert_eq!(scenarios[0]["result"]["stdout"], "x");
    assert_eq!(scenarios[0]["test"], "test.sh");
    assert_eq!(scenarios[1]["result"]["stderr"], "no none\n");
    // What the tests printed is kept.
    let log = std::fs::read_to_string(folder.path().join(".parallax/record.log")).unwrap();
    assert_contains(&log, &["no none"]);
    // The same again is nothing new.
    let arguments = ["record", "-C", ".", "--json", "--", "sh", "test.sh"];
    let (json, _) = folder.expect(0, &arguments);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["new"], 0);
    assert_eq!(document["scenarios"], 2);
}

#[test]
fn a_test_command_that_cannot_be_run_is_an_error_and_failing_tests_are_none() {
    let folder = folder();
    let (_, error) = folder.expect(3, &["record", "-C", ".", "--", "./no-such-command"]);
    assert_contains(&error, &["cannot start ./no-such-command"]);
    let (text, _) = folder.expect(0, &["record", "-C", ".", "--", "false"]);
    assert_contains(&text, &["ran none of the programs"]);
}

#[test]
fn a_tree_without_captured_programs_is_wrong_use() {
    let folder = Folder::new();
    let (_, error) = folder.expect(2, &["record", "-C", ".", "--", "true"]);
    assert_contains(&error, &["no program", "--program"]);
    let (_, error) = folder.expect(2, &["record"]);
    assert_contains(&error, &["parallax.toml"]);
}
