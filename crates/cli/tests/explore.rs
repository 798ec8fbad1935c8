//! `parallax explore` on small programs: each has a number of paths that is known, or an error that
//! takes more than luck to find.

mod support;

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::Folder;

/// Explores and gives the JSON document. More `options` come before the program's arguments.
fn explore(folder: &Folder, program: &str, options: &[&str], exit: i32) -> Value {
    let mut all = vec!["explore", program, "--json"];
    all.extend(options);
    let (text, _) = folder.expect(exit, &all);
    serde_json::from_str(&text).unwrap()
}

/// Builds one of the programs beside this file.
fn build(folder: &Folder, name: &str) -> String {
    let path = format!("{}/tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    folder.build(name, &fs::read_to_string(path).unwrap())
}

/// The finding of a kind.
#[track_caller]
fn finding<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {report:#}"))
}

fn arguments(finding: &Value) -> Vec<String> {
    let argv = finding["scenario"]["argv"].as_array().unwrap();
    argv.iter()
        .map(|word| word.as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_sign_of_a_number_has_three_paths() {
    let folder = Folder::new();
    let program = build(&folder, "sign");
    let report = explore(&folder, &program, &["--time", "60"], 0);
    assert_eq!(report["stats"]["paths"], 3, "{report:#}");
    assert_eq!(report["stats"]["ended"], "exhausted");
}

#[test]
fn a_range_of_letters_has_three_paths() {
    let folder = Folder::new();
    let program = build(&folder, "lower");
    let report = explore(&folder, &program, &["--time", "60"], 0);
    assert_eq!(report["stats"]["paths"], 3, "{report:#}");
    assert_eq!(report["stats"]["ended"], "exhausted");
}

#[test]
fn a_second_switch_over_the_same_byte_is_another_question() {
    let folder = Folder::new();
    let program = folder.build(
        "twice",
        "#include <stdio.h>\n\
         int main(int argc, char **argv) {\n\
           if (argc != 2) return 1;\n\
           switch (argv[1][0]) {\n\
             case 'a': puts(\"1\"); break; case 'b': puts(\"2\"); break; case 'c': puts(\"3\"); break; }\n\
           switch (argv[1][0]) {\n\
             case 'x': puts(\"4\"); break; case 'y': puts(\"5\"); break; case 'z': puts(\"6\"); break; }\n\
           return 0;\n\
         }\n",
    );
    let report = explore(&folder, &program, &["--time", "60", "--", "A"], 0);
    // Six letters, any other, and another number of arguments.
    assert_eq!(report["stats"]["paths"], 8, "{report:#}");
    assert_eq!(report["stats"]["ended"], "exhausted");
}

#[test]
fn the_budget_of_the_project_counts_unless_another_is_given() {
    let folder = Folder::new();
    let program = build(&folder, "maze");
    fs::write(folder.path().join("parallax.toml"), "[budget]\nruns = 3\n").unwrap();
    let runs = |options: &[&str]| {
        let report = explore(
            &folder,
            &program,
            &[&["--sym-stdin", "18"], options].concat(),
            0,
        );
        report["stats"]["runs"].as_u64().unwrap()
    };
    assert_eq!(runs(&[]), 3);
    assert_eq!(runs(&["--runs", "5"]), 5);
}

#[test]
fn all_ways_out_of_the_maze_are_found() {
    let folder = Folder::new();
    let program = build(&folder, "maze");
    let options = ["--sym-stdin", "18", "--keep", "paths", "--runs", "2000"];
    explore(&folder, &program, &options, 0);
    let mut ways = Vec::new();
    let tests = folder.path().join(".parallax/explore/maze/tests");
    for test in fs::read_dir(tests).unwrap() {
        let text = fs::read_to_string(test.unwrap().path()).unwrap();
        let scenario: Value = serde_json::from_str(&text).unwrap();
        let Some(moves) = scenario["stdin"].as_str() else {
            continue;
        };
        let mut run = Command::new(folder.path().join("maze"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        run.stdin
            .take()
            .unwrap()
            .write_all(moves.as_bytes())
            .unwrap();
        if run.wait_with_output().unwrap().stdout == b"out\n" {
            ways.push(moves[..12].to_owned());
        }
    }
    ways.sort();
    ways.dedup();
    assert_eq!(ways, ["ddddddddssss", "ssssdddddddd"]);
}

#[test]
fn a_pattern_that_reads_beyond_its_end_is_found() {
    let folder = Folder::new();
    let program = build(&folder, "matcher");
    let report = explore(&folder, &program, &["--sym-arg", "3", "--runs", "400"], 1);
    let found = finding(&report, "out-of-bounds");
    assert_eq!(arguments(found), ["^*"]);
    assert!(
        found["location"]["file"]
            .as_str()
            .unwrap()
            .ends_with("matcher.c")
    );
}

#[test]
fn a_crash_behind_two_options_is_found() {
    let folder = Folder::new();
    let program = build(&folder, "options");
    let options = ["--runs", "3000", "--", "--level=1", "-v"];
    let report = explore(&folder, &program, &options, 1);
    let words = arguments(finding(&report, "null-dereference")).join(" ");
    assert!(words.contains("37") && words.contains('x'), "{words}");
}

#[test]
fn a_record_that_is_too_long_is_found_behind_lengths_and_a_checksum() {
    let folder = Folder::new();
    let program = build(&folder, "format");
    folder.file("seed", "PX\u{1}\u{1}\u{5}\u{1}\u{2}\u{3}\u{4}\u{5}\u{0}");
    let report = explore(&folder, &program, &["--runs", "1500", "--", "seed"], 1);
    let found = finding(&report, "out-of-bounds");
    assert!(
        found["location"]["file"]
            .as_str()
            .unwrap()
            .ends_with("format.c")
    );
}

#[test]
fn a_square_in_floating_point_is_solved() {
    let folder = Folder::new();
    let program = build(&folder, "square");
    let report = explore(&folder, &program, &["--sym-stdin", "8", "--runs", "100"], 1);
    finding(&report, "abort");
}

#[test]
fn every_case_behind_a_table_is_reached() {
    let folder = Folder::new();
    let program = build(&folder, "table");
    let report = explore(&folder, &program, &["--sym-arg", "2", "--runs", "400"], 1);
    let words = arguments(finding(&report, "abort"));
    assert!(
        ["+0", "-0", "+2", "-2"].contains(&words[0].as_str()),
        "{words:?}"
    );
    // All but the line for a wrong number of arguments.
    let lines = &report["stats"]["lines"];
    assert_eq!(
        lines["covered"].as_u64().unwrap() + 1,
        lines["total"].as_u64().unwrap()
    );
}

#[test]
fn a_key_is_found_through_its_hash() {
    let folder = Folder::new();
    let program = build(&folder, "hashed");
    let report = explore(&folder, &program, &["--runs", "1500", "--", "abcd"], 1);
    assert_eq!(arguments(finding(&report, "abort")), ["stop"]);
}

#[test]
fn two_files_are_made_to_agree() {
    let folder = Folder::new();
    let program = build(&folder, "agree");
    folder.file("left", "abc\n");
    folder.file("right", "xyz\n");
    let options = ["--file", "left", "--file", "right", "--runs", "500"];
    let report = explore(&folder, &program, &options, 1);
    let files = &finding(&report, "abort")["scenario"]["files"];
    assert!(
        files["left"].as_str().unwrap().starts_with("yes"),
        "{files}"
    );
    // One may be a link to the other.
    let links = finding(&report, "abort")["scenario"]["links"].to_string();
    assert!(
        files["left"] == files["right"] || links.contains("right"),
        "{links}"
    );
}

#[test]
fn the_same_seed_and_runs_give_the_same_result_on_any_number_of_threads() {
    let folder = Folder::new();
    let program = build(&folder, "options");
    let result = |jobs: &str| {
        let options = [
            "--fresh", "--runs", "150", "--seed", "7", "--jobs", jobs, "--", "-v",
        ];
        let mut report = explore(&folder, &program, &options, 0);
        for time in ["seconds", "solver"] {
            report["stats"][time] = Value::Null;
        }
        for file in report["stats"]["files"].as_array_mut().unwrap() {
            file["latest"]["seconds"] = Value::Null;
        }
        report
    };
    assert_eq!(result("1"), result("2"));
}

#[test]
fn findings_are_kept_with_a_script_that_shows_them_again() {
    let folder = Folder::new();
    let program = build(&folder, "table");
    let report = explore(&folder, &program, &["--sym-arg", "2", "--runs", "400"], 1);
    let directory = finding(&report, "abort")["directory"].as_str().unwrap();
    let status = Command::new(folder.path().join(directory).join("run.sh"))
        .status()
        .unwrap();
    // As a shell reports SIGABRT: a script that cannot start ends otherwise.
    assert_eq!(status.code(), Some(134));
}

#[test]
fn an_error_that_every_run_shows_is_confirmed_once() {
    let folder = Folder::new();
    let source = r#"#include <stdio.h>
char *end(char *start, int length) { return start + length; }
int main(int argc, char **argv) {
  char *nothing = NULL;
  int count = end(nothing, argc - argc) != NULL;
  for (int c = getchar(); c != EOF; c = getchar())
    if (c == 'a' || c == 'z')
      count++;
  return count;
}
"#;
    let program = folder.build("offset", source);
    let options = ["--runs", "40", "--sym-stdin", "6"];
    let report = explore(&folder, &program, &options, 1);
    // Nothing is read or written there.
    let found = finding(&report, "undefined");
    assert!(
        found["message"].as_str().unwrap().contains("null pointer"),
        "{found:#}"
    );
    assert_eq!(report["findings"].as_array().unwrap().len(), 1);
    let stats = |name: &str| report["stats"][name].as_u64().unwrap();
    // Each input natively once, and traced, plain and checked once each where that is worth it; to confirm it in each run would take
    // two more. Making the first input small takes some, too.
    let most = stats("inputs") + 4 * stats("runs") + 40;
    assert!(stats("executions") < most, "{report:#}");
}
