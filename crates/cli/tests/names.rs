//! Names of files that are made of input: exploration finds the files that there are, and an input that the
//! solver made does what it was made for, although the file system has its say.

mod support;

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use support::Folder;

fn build(folder: &Folder, name: &str) -> String {
    let path = format!("{}/tests/programs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    folder.build(name, &fs::read_to_string(path).unwrap())
}

fn explore(folder: &Folder, options: &[&str], exit: i32) -> Value {
    let all = [&["explore", "--json", "--no-sanitizers"][..], options].concat();
    serde_json::from_str(&folder.expect(exit, &all).0).unwrap()
}

/// Exit codes of all inputs that were kept, as the plain program gives them in a folder with the files.
fn exit_codes(folder: &Folder, program: &str) -> Vec<Option<i32>> {
    let mut codes = Vec::new();
    let tests = folder.path().join(".parallax/explore").join(program);
    for test in fs::read_dir(tests.join("tests")).unwrap() {
        let text = fs::read_to_string(test.unwrap().path()).unwrap();
        let scenario: Value = serde_json::from_str(&text).unwrap();
        let arguments = scenario["argv"].as_array().unwrap().iter();
        let words: Option<Vec<&str>> = arguments.map(Value::as_str).collect();
        let Some(words) = words else { continue };
        let room = tempfile::tempdir().unwrap();
        for (name, contents) in scenario["files"].as_object().unwrap() {
            fs::write(room.path().join(name), contents.as_str().unwrap_or("")).unwrap();
        }
        let status = Command::new(folder.path().join(program))
            .args(words)
            .current_dir(room.path())
            .status()
            .unwrap();
        codes.push(status.code());
    }
    codes.sort();
    codes.dedup();
    codes
}

#[test]
fn a_file_is_found_by_its_name_and_every_branch_behind_a_name_is_taken() {
    let folder = Folder::new();
    let program = build(&folder, "names");
    let shape = [
        "--sym-arg",
        "4",
        "--sym-file",
        "data",
        "2",
        "--keep",
        "paths",
    ];
    let options = [&[program.as_str(), "--runs", "400"][..], &shape].concat();
    let report = explore(&folder, &options, 1);
    let found = &report["findings"][0];
    assert_eq!(found["kind"], "abort", "{report:#}");
    assert_eq!(found["scenario"]["argv"][0], "data");
    let flips = &report["stats"]["flips"];
    assert_eq!(flips["missed"], 0, "{:#}", report["stats"]["misses"]);
    assert!(flips["taken"].as_u64().unwrap() >= 15, "{flips}");
    // Missing, missing with q, the file, `.` or `/`, `..`; the abort has no exit code. A file without contents may be among them.
    let expected = [None, Some(0), Some(1), Some(4), Some(5), Some(6)];
    let mut codes = exit_codes(&folder, "names");
    codes.retain(|code| *code != Some(3));
    assert_eq!(codes, expected);
}

#[test]
fn a_name_of_something_that_was_not_given_stays_and_is_counted() {
    let folder = Folder::new();
    let program = build(&folder, "names");
    assert!(
        fs::metadata(Path::new("/dev/null"))
            .unwrap()
            .file_type()
            .is_char_device()
    );
    let options = [&program, "--generations", "1", "--", "/dev/null"];
    let report = explore(&folder, &options, 0);
    let flips = &report["stats"]["flips"];
    assert_eq!(flips["missed"], 0, "{:#}", report["stats"]["misses"]);
    let losses = report["losses"].as_array().unwrap();
    assert!(
        losses.iter().any(|loss| loss["function"] == "stat"),
        "{losses:?}"
    );
}
