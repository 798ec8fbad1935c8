//! `parallax replay`: findings and scenarios are run again, and differences are shown.

mod support;

use serde_json::{Value, json};
use support::{Folder, assert_contains};

/// Aborts on a word, reads beyond a buffer on another, and is of two minds about a third.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static int last(const char *word) {
    char *copy = malloc(4);
    strncpy(copy, word, 4);
    int found = copy[4];
    free(copy);
    return found;
}
int main(int argc, char **argv) {
    if (argc < 2) return 1;
    if (strcmp(argv[1], "abort") == 0) abort();
    if (strcmp(argv[1], "beyond") == 0) return last(argv[1]) & 0;
    if (strcmp(argv[1], "chance") == 0) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("%ld\n", now.tv_nsec);
    }
    printf("%s: %s at %p\n", argv[0], argv[1], (void *)argv);
    fprintf(stderr, "%s: done\n", argv[0]);
    return 3;
}
"#;

fn scenario(argument: &str) -> Value {
    json!({"argv": [argument], "stdin": "", "files": {}, "env": {}})
}

fn recorded(argument: &str, stdout: &str, exit: i32) -> String {
    let result = json!({
        "exit": exit, "signal": null, "stdout": stdout, "stderr": "./old/prog: done\n", "sanitizer": null,
    });
    let name = "./old/prog";
    let mut scenario = scenario(argument);
    scenario["name"] = name.into();
    json!({"program": "prog", "scenario": scenario, "result": result, "seconds": 0.1}).to_string()
}

fn replay(folder: &Folder, exit: i32, arguments: &[&str]) -> Value {
    let all = [&["replay", "--json"], arguments].concat();
    serde_json::from_str(&folder.expect(exit, &all).0).unwrap()
}

#[test]
fn a_run_that_gives_what_was_recorded_is_the_same() {
    let folder = Folder::new();
    folder.build("prog", PROGRAM);
    // Another address than any run has.
    let stdout = "./old/prog: word at 0x7ffd00000018\n";
    folder.file("same.json", &recorded("word", stdout, 3));
    let report = replay(&folder, 0, &["same.json"]);
    assert_eq!(report["same"], true, "{report:#}");
    assert_eq!(report["replayed"][0]["result"]["exit"], 3);
    let (text, _) = folder.expect(0, &["replay", "same.json"]);
    assert_contains(
        &text,
        &["recorded", "plain", "exit 3", "the same as recorded"],
    );
}

#[test]
fn what_is_not_as_recorded_is_shown() {
    let folder = Folder::new();
    folder.build("prog", PROGRAM);
    folder.file("other.json", &recorded("word", "something else\n", 4));
    let report = replay(&folder, 1, &["other.json"]);
    let differences = report["replayed"][0]["differences"].as_array().unwrap();
    let parts: Vec<_> = differences.iter().map(|one| &one["in"]).collect();
    assert_eq!(parts, ["end", "stdout"], "{report:#}");
    let (text, _) = folder.expect(1, &["replay", "other.json"]);
    let parts = [
        "exit 4",
        "exit 3",
        "- something else",
        "+ prog: word at {address}",
        "different from recorded",
    ];
    assert_contains(&text, &parts);
}

#[test]
fn what_is_not_the_same_each_time_is_flaky() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    folder.file("chance.json", &scenario("chance").to_string());
    let report = replay(&folder, 1, &["chance.json", "--program", &program]);
    assert_eq!(report["replayed"][0]["flaky"], true, "{report:#}");
    let (text, _) = folder.expect(1, &["replay", "chance.json", "--program", &program]);
    assert_contains(&text, &["flaky"]);
}

#[test]
fn the_checked_build_says_what_is_wrong_and_where() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    folder.file("beyond.json", &scenario("beyond").to_string());
    let options = [
        "beyond.json",
        "--program",
        &program,
        "--build",
        "plain",
        "--build",
        "checked",
    ];
    let report = replay(&folder, 1, &options);
    assert_eq!(report["replayed"][0]["problems"], json!([]), "{report:#}");
    let problem = &report["replayed"][1]["problems"][0];
    assert_eq!(problem["kind"], "out-of-bounds", "{report:#}");
    assert_eq!(problem["functions"], json!(["last", "main"]));
    assert_eq!(report["same"], true);
}

#[test]
fn a_finding_of_an_exploration_is_run_again_by_its_name() {
    let folder = Folder::new();
    let program = folder.build("prog", PROGRAM);
    let (text, _) = folder.expect(
        1,
        &[
            "explore", &program, "--json", "--runs", "300", "--", "abxrt",
        ],
    );
    let report: Value = serde_json::from_str(&text).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let abort = findings
        .iter()
        .find(|finding| finding["kind"] == "abort")
        .unwrap();
    // As small as it can be.
    assert_eq!(abort["scenario"]["argv"], json!(["abort"]), "{report:#}");
    let directory = abort["directory"].as_str().unwrap();
    let id = abort["id"].as_str().unwrap();
    for name in [directory, id] {
        let report = replay(&folder, 1, &[name]);
        assert_eq!(
            report["replayed"][0]["problems"][0]["kind"], "abort",
            "{report:#}"
        );
        assert_eq!(report["same"], true);
    }
}

#[test]
fn what_cannot_be_run_again_is_said() {
    let folder = Folder::new();
    folder.file("bare.json", &scenario("x").to_string());
    folder.file("wrong.json", "{\"argv\": 3}");
    let cases = [
        (
            &["replay", "nothing"][..],
            "neither a finding nor a scenario",
        ),
        (&["replay", "bare.json"], "which program"),
        (&["replay", "wrong.json"], "holds no scenario"),
        (&["replay"], "required"),
        (&["replay", "--all"], "recorded"),
    ];
    for (arguments, message) in cases {
        let (_, error) = folder.expect(2, arguments);
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
}
