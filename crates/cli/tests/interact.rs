//! `parallax interact` on the examples of "Regression Tests to Expose Change Interaction Errors" (FSE 2013), written anew, and on programs
//! of our own.

mod support;

use std::fs;

use serde_json::Value;
use support::schema::Schema;
use support::{Folder, assert_contains};

/// Both versions of a program in `tests/interact`, built.
fn versions(name: &str) -> Folder {
    let folder = Folder::new();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/interact");
    for version in ["old", "new"] {
        let source = fs::read_to_string(format!("{sources}/{name}/{version}.c")).unwrap();
        fs::create_dir(folder.path().join(version)).unwrap();
        folder.build(&format!("{version}/prog"), &source);
    }
    folder
}

/// Searches and finds something.
fn search(folder: &Folder, more: &[&str]) -> Value {
    let words = [&["interact", "old/prog", "new/prog", "--json"], more].concat();
    let (json, _) = folder.expect(1, &words);
    let report: Value = serde_json::from_str(&json).unwrap();
    Schema::of_the_tool(folder).assert_valid(&report);
    report
}

/// The finding of this kind.
fn finding<'r>(report: &'r Value, kind: &str) -> &'r Value {
    let findings = report["findings"].as_array().unwrap();
    let mut found = findings.iter().filter(|finding| finding["kind"] == kind);
    let one = found
        .next()
        .unwrap_or_else(|| panic!("no {kind} in {report:#}"));
    assert!(found.next().is_none(), "more than one {kind} in {report:#}");
    one
}

/// Lines of an executed sequence.
fn lines(sequence: &Value) -> Vec<&str> {
    let changes = sequence.as_array().unwrap().iter();
    changes
        .map(|change| change["text"].as_str().unwrap())
        .collect()
}

/// Whether a sequence of changes was seen, and is critical.
fn is_critical(report: &Value, sequence: &[&str]) -> Option<bool> {
    let rows = report["stats"]["programs"][0]["sequences"]
        .as_array()
        .unwrap();
    let row = rows.iter().find(|row| {
        let changes = row["sequence"].as_array().unwrap();
        changes
            .iter()
            .map(|one| one.as_str().unwrap())
            .eq(sequence.iter().copied())
    })?;
    row["critical"].as_bool()
}

#[test]
fn the_error_of_the_running_example_is_an_interaction_of_three_changes() {
    let folder = versions("figure5");
    // From nothing: an argument of two characters.
    let report = search(&folder, &["--sym-arg", "3", "--runs", "200"]);
    let error = finding(&report, "regression");
    assert_eq!(error["scenario"]["argv"], serde_json::json!(["0-"]));
    assert_eq!(error["critical"], true);
    assert!(error["rests_on"].as_u64().unwrap() >= 3, "{error:#}");
    assert_eq!(
        lines(&error["sequence"]),
        [
            "bool has_number = false; /* 1 */",
            "has_number = true; /* 5 */",
            "chosen = has_number; /* 7 */",
        ]
    );
    // C1, C2 and C3 are lines 1, 5 and 7 of the figure.
    assert_eq!(is_critical(&report, &["C1", "C2", "C3"]), Some(true));
    assert_eq!(is_critical(&report, &["C1", "C3", "C3"]), Some(false));
    assert_eq!(is_critical(&report, &["C1", "C3", "C2"]), Some(false));
}

#[test]
fn the_error_of_figure_3_is_an_interaction_of_its_changes() {
    let folder = versions("figure3");
    let words = ["--runs", "300", "--", "-o", "1-2", "3-"];
    let report = search(&folder, &words);
    let error = finding(&report, "regression");
    assert_eq!(error["critical"], true, "{report:#}");
    let sequence = lines(&error["sequence"]);
    // Both checks of the patch, then the access that depends on them.
    let position = |part: &str| sequence.iter().position(|line| line.contains(part));
    let (first, second) = (position("508: C.1").unwrap(), position("534: C.2").unwrap());
    assert!(first < second, "{sequence:?}");
}

#[test]
fn what_people_read_names_the_changes_and_what_it_rests_on() {
    let folder = versions("figure5");
    let words = [
        "interact", "old/prog", "new/prog", "--runs", "120", "--", "3-",
    ];
    let (text, _) = folder.expect(1, &words);
    assert_contains(
        &text,
        &[
            "old/prog → new/prog: 1 regression",
            "new/prog 0-",
            "changes executed: C1 → C2 → C3",
            "chosen = has_number; /* 7 */",
            "change interaction error: none of the ",
            "that skip one of C1, C2, C3 shows it",
            "orders of changes",
            "critical",
            "not listed without -v: ",
            "inputs are kept in .parallax/interact/prog",
        ],
    );
    // The whole has every order that the document has.
    let (whole, _) = folder.expect(1, &[&words[..5], &["-v"], &words[5..]].concat());
    assert!(!whole.contains("without -v"), "{whole}");
    let report = search(&folder, &words[3..]);
    let orders = report["stats"]["programs"][0]["sequences"].as_array();
    let table = whole.split_once("orders of changes ").unwrap().1;
    let lines = table.lines().skip(1);
    let lines = lines.take_while(|line| line.starts_with('C')).count();
    assert_eq!(lines, orders.unwrap().len(), "{whole}");
    assert!(text.lines().count() < whole.lines().count());
}

#[test]
fn a_golden_version_tells_what_was_meant() {
    let folder = versions("figure5");
    // The figure's error mended: a range may not begin at 0.
    let source = include_str!("../../../tests/interact/figure5/new.c");
    let mended = source.replace("chosen ? value : 1", "chosen && value ? value : 1");
    assert_ne!(source, mended);
    fs::create_dir(folder.path().join("golden")).unwrap();
    folder.build("golden/prog", &mended);
    let words = ["--golden", "golden/prog", "--runs", "120", "--", "3-"];
    let report = search(&folder, &words);
    let error = finding(&report, "regression");
    assert_eq!(error["golden"], "regression");
    // What is wrong in another way than before is an incomplete fix, and what is as it should be is none.
    let old = source.replace("chosen ? value : 1", "2");
    folder.file("golden/prog.c", &old);
    folder.build("golden/prog", &old);
    let report = search(&folder, &words);
    let kinds: Vec<&str> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    assert!(kinds.contains(&"incomplete-fix"), "{kinds:?}");
    let itself = ["--golden", "new/prog", "--runs", "120", "--", "3-"];
    let report = search(&folder, &itself);
    finding(&report, "progression");
}

#[test]
fn errors_of_our_own_programs_are_found_with_the_graph() {
    let cases: [(&str, &[&str], &str); 2] = [
        ("session", &["--", "open,"], "connection = -connection;"),
        (
            "columns",
            &["--sym-args", "0", "2", "3"],
            "column = value > 0 ? value : width;",
        ),
    ];
    for (name, words, change) in cases {
        let folder = versions(name);
        let words = [&["--runs", "2000"], words].concat();
        let report = search(&folder, &words);
        let error = finding(&report, "regression");
        assert_eq!(error["critical"], true, "{name}: {error:#}");
        let sequence = lines(&error["sequence"]);
        assert!(sequence.contains(&change), "{name}: {sequence:?}");
    }
}

#[test]
fn an_order_of_changes_is_found_with_the_graph_and_not_with_changes_in_isolation() {
    let cases = [
        ("editor", "aiaip\n", "mark -= is_marked;"),
        ("pool", "d1b2a3s4", "reserve -= number % 4;"),
    ];
    for (name, stdin, change) in cases {
        let folder = versions(name);
        folder.file("input", stdin);
        // Both by what the solver makes alone: mutation has its own luck.
        let sources = "words,world,data,numbers,splice,mutate";
        let words = ["--without", sources, "--runs", "600", "--stdin", "input"];
        let report = search(&folder, &words);
        let error = finding(&report, "regression");
        assert_eq!(error["critical"], true, "{name}: {error:#}");
        let sequence = lines(&error["sequence"]);
        assert!(sequence.contains(&change), "{name}: {sequence:?}");
        let alone = ["interact", "old/prog", "new/prog", "--json", "--isolated"];
        let output = folder.parallax(&[&alone[..], &words].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["stats"]["errors"], 0, "{name}: {report:#}");
    }
}

#[test]
fn without_changes_there_is_nothing_to_search_for() {
    let folder = versions("figure5");
    let words = [
        "interact", "new/prog", "new/prog", "--runs", "50", "--", "3-",
    ];
    let (text, _) = folder.expect(0, &words);
    assert_contains(&text, &["nothing differs", "nothing that has code"]);
    let (_, error) = folder.expect(2, &["interact", "new/prog"]);
    assert_contains(
        &error,
        &[
            "new/prog is only one program",
            "name the old and the new program",
        ],
    );
}
