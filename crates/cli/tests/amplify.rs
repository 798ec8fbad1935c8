//! `parallax amplify` on the programs of the paper's figures and bug patterns, written anew.

mod support;

use std::fs;

use serde_json::Value;
use support::Folder;

/// Builds one of the programs beside this file.
fn build(folder: &Folder, name: &str) -> String {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/amplify");
    folder.build(
        name,
        &fs::read_to_string(format!("{directory}/{name}.c")).unwrap(),
    )
}

/// Amplifies and gives the JSON document. More `options` come before the program's arguments.
fn amplify(folder: &Folder, program: &str, options: &[&str], exit: i32) -> Value {
    let mut all = vec!["amplify", program, "--json"];
    all.extend(options);
    let (text, _) = folder.expect(exit, &all);
    serde_json::from_str(&text).unwrap()
}

/// Amplifies a program that reads numbers from standard input.
fn amplify_numbers(
    folder: &Folder,
    program: &str,
    numbers: &[i32],
    options: &[&str],
    exit: i32,
) -> Value {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    fs::write(folder.path().join("in"), bytes).unwrap();
    amplify(
        folder,
        program,
        &[&["--stdin", "in"], options].concat(),
        exit,
    )
}

/// The finding of a kind.
#[track_caller]
fn finding<'a>(report: &'a Value, kind: &str) -> &'a Value {
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {report:#}"))
}

/// Distance, depth and line.
fn measures(finding: &Value) -> (u64, u64, u64) {
    let number = |value: &Value| value.as_u64().unwrap();
    (
        number(&finding["distance"]),
        number(&finding["depth"]),
        number(&finding["location"]["line"]),
    )
}

fn arguments(finding: &Value) -> Vec<&str> {
    let argv = finding["scenario"]["argv"].as_array().unwrap();
    argv.iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn a_negative_index_is_found_on_the_path_of_a_small_one() {
    let folder = Folder::new();
    let program = build(&folder, "clamp");
    let report = amplify_numbers(&folder, &program, &[50], &["--max-distance", "0"], 1);
    assert_eq!(measures(finding(&report, "out-of-bounds")), (0, 1, 10));
}

#[test]
fn a_negative_index_is_found_beside_the_path_of_a_large_one() {
    let folder = Folder::new();
    let program = build(&folder, "clamp");
    let on_path = amplify_numbers(&folder, &program, &[100], &["--max-distance", "0"], 0);
    assert_eq!(on_path["findings"].as_array().unwrap().len(), 0);
    let beside = amplify_numbers(&folder, &program, &[100], &["--max-distance", "1"], 1);
    assert_eq!(measures(finding(&beside, "out-of-bounds")), (1, 1, 10));
    let divergences = beside["stats"]["divergences"].as_array().unwrap();
    assert_eq!(divergences.len(), 1);
    assert_eq!(
        (&divergences[0]["depth"], &divergences[0]["distance"]),
        (&0.into(), &1.into())
    );
}

#[test]
fn the_nearer_point_is_left_first_and_the_farther_one_leads_to_the_error() {
    let folder = Folder::new();
    let program = build(&folder, "nested");
    let near = amplify_numbers(&folder, &program, &[150], &["--max-distance", "1"], 0);
    assert_eq!(near["findings"].as_array().unwrap().len(), 0);
    let report = amplify_numbers(&folder, &program, &[150], &["--max-distance", "2"], 1);
    let points: Vec<[u64; 3]> = report["stats"]["divergences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| {
            [
                &point["location"]["line"],
                &point["depth"],
                &point["distance"],
            ]
            .map(|number| number.as_u64().unwrap())
        })
        .collect();
    // Line, depth, distance: D2 before D1.
    assert_eq!(points, [[9, 1, 1], [8, 0, 2]]);
    assert_eq!(measures(finding(&report, "out-of-bounds")), (2, 1, 13));
}

#[test]
fn a_range_that_outgrows_a_bit_vector_is_found_on_the_path() {
    let folder = Folder::new();
    let program = build(&folder, "ranges");
    folder.file("text", "abcdefghijkl\n");
    let options = ["--max-distance", "0", "--", "-c3-5,6-", "text"];
    let report = amplify(&folder, &program, &options, 1);
    let found = finding(&report, "out-of-bounds");
    assert_eq!(found["distance"], 0);
    let words = arguments(found);
    // Only where the open range starts has changed.
    assert!(
        words[0].starts_with("-c3-5,") && words[0].ends_with('-'),
        "{words:?}"
    );
    assert_eq!(words[0].len(), "-c3-5,6-".len());
    assert!(report["stats"]["checks"]["made"].as_u64().unwrap() > 0);
}

#[test]
fn a_lone_quote_is_found_next_to_the_path() {
    let folder = Folder::new();
    let program = build(&folder, "quotes");
    let options = ["--max-distance", "1", "--", "%d", "x"];
    let report = amplify(&folder, &program, &options, 1);
    let found = finding(&report, "out-of-bounds");
    assert!(found["distance"].as_u64().unwrap() <= 1);
    let words = arguments(found);
    assert!(words[1] == "'" || words[1] == "\"", "{words:?}");
}

#[test]
fn an_entry_size_of_zero_takes_one_changed_byte() {
    let folder = Folder::new();
    let program = build(&folder, "entries");
    let seed = "T\u{2}\u{40}\0\u{4}\0\0\0";
    folder.file("table", seed);
    let options = ["--max-distance", "0", "--", "table"];
    let report = amplify(&folder, &program, &options, 1);
    let found = finding(&report, "division-by-zero");
    assert_eq!(
        (&found["distance"], &found["location"]["line"]),
        (&0.into(), &16.into())
    );
    let contents = found["scenario"]["files"]["table"].as_str().unwrap();
    let changed = contents.bytes().zip(seed.bytes()).filter(|(a, b)| a != b);
    assert_eq!(changed.collect::<Vec<_>>(), [(0, 4)]);
}

#[test]
fn a_trusted_length_is_found_near_the_path() {
    let folder = Folder::new();
    let program = build(&folder, "records");
    folder.file("record", "\u{7}abcdefghijklmnopqrst");
    let options = ["--stdin", "record", "--max-distance", "1"];
    let report = amplify(&folder, &program, &options, 1);
    let found = finding(&report, "out-of-bounds");
    assert_eq!(
        (&found["distance"], &found["location"]["line"]),
        (&1.into(), &14.into())
    );
}

/// Amplifies `kinds` at distance 0 from an input on which nothing fails.
fn kind(folder: &Folder, program: &str, which: char, a: i32, b: i32, exit: i32) -> Value {
    let mut bytes = vec![which as u8];
    bytes.extend([a.to_le_bytes(), b.to_le_bytes()].concat());
    fs::write(folder.path().join("in"), bytes).unwrap();
    let options = ["--stdin", "in", "--max-distance", "0"];
    amplify(folder, program, &options, exit)
}

#[test]
fn every_kind_of_sensitive_operation_is_checked_on_the_path() {
    let folder = Folder::new();
    let program = build(&folder, "kinds");
    let cases = [
        ('l', 3, 1, "out-of-bounds"),
        ('s', 3, 1, "out-of-bounds"),
        ('/', 7, 3, "division-by-zero"),
        ('+', 1, 2, "overflow"),
        ('<', 1, 2, "shift"),
        ('m', 8, 0, "out-of-bounds"),
        ('a', 6, 0, "out-of-bounds"),
        ('w', 4, 0, "out-of-bounds"),
        ('r', 4, 0, "out-of-bounds"),
        ('!', 1, 0, "assertion"),
        ('x', 1, 0, "abort"),
    ];
    for (which, a, b, expected) in cases {
        let report = kind(&folder, &program, which, a, b, 1);
        assert_eq!(finding(&report, expected)["distance"], 0, "{which}");
    }
    // How a format with a conversion that nobody meant fails is a matter of what lies in registers.
    let text = i32::from_le_bytes(*b"abcd");
    let report = kind(&folder, &program, '%', text, text, 1);
    assert_eq!(report["stats"]["checks"]["confirmed"], 1, "{report:#}");
}

#[test]
fn the_same_runs_give_the_same_result_on_any_number_of_threads() {
    let folder = Folder::new();
    let program = build(&folder, "quotes");
    let result = |jobs: &str| {
        let options = ["--fresh", "--runs", "60", "--jobs", jobs, "--", "%c", "x"];
        let (text, _) = folder.expect(
            1,
            &[&["amplify", program.as_str(), "--json"], &options[..]].concat(),
        );
        let mut report: Value = serde_json::from_str(&text).unwrap();
        for time in ["seconds", "solver"] {
            report["stats"][time] = Value::Null;
        }
        report["stats"]["programs"][0]["solver_seconds"] = Value::Null;
        report
    };
    assert_eq!(result("1"), result("2"));
}

#[test]
fn findings_are_a_table_for_people() {
    let folder = Folder::new();
    let program = build(&folder, "clamp");
    fs::write(folder.path().join("in"), 50i32.to_le_bytes()).unwrap();
    let arguments = ["amplify", &program, "--stdin", "in", "--max-distance", "0"];
    let (text, _) = folder.expect(1, &arguments);
    support::assert_contains(
        &text,
        &[
            "1 error found",
            "location",
            "distance",
            "clamp.c:10",
            "out-of-bounds",
            "checks",
        ],
    );
}
