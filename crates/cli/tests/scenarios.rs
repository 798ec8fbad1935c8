//! `parallax scenarios` and `parallax scenario`: adding, importing, exporting, listing.

mod support;

use std::fs::{self, File};
use std::process::Command;

use serde_json::Value;
use support::{Folder, assert_contains};

/// Prints a file or its input, and ends with the number of arguments.
const SHOW: &str = r#"
#include <stdio.h>
int main(int argc, char **argv) {
    FILE *in = stdin;
    for (int i = 1; i < argc; i++)
        if (argv[i][0] != '-')
            in = fopen(argv[i], "r");
    if (!in)
        return 99;
    for (int c; (c = getc(in)) != EOF;)
        putchar(c);
    return argc - 1;
}
"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("show.c", SHOW);
    let status = Command::new("cc")
        .args(["-o", "show", "show.c"])
        .current_dir(folder.path())
        .status();
    assert!(status.unwrap().success());
    folder
}

fn scenarios(folder: &Folder, options: &[&str]) -> Vec<Value> {
    let mut all = vec!["scenarios", "--json"];
    all.extend(options);
    let (text, _) = folder.expect(0, &all);
    let document: Value = serde_json::from_str(&text).unwrap();
    document["scenarios"].as_array().unwrap().clone()
}

#[test]
fn an_added_scenario_has_its_input_and_its_result() {
    let folder = folder();
    folder.file("data", "from the file\n");
    let input = folder.file("in", "from standard input\n");
    let mut command = folder.command(&["scenario", "add", "--", "./show", "-x"]);
    command.stdin(File::open(input).unwrap());
    support::expect(0, command);
    folder.expect(
        0,
        &["scenario", "add", "--test", "t", "--", "./show", "data"],
    );
    let list = scenarios(&folder, &[]);
    assert_eq!(list.len(), 2);
    assert_eq!(list[0]["program"], "show");
    assert_eq!(list[0]["scenario"]["stdin"], "from standard input\n");
    assert_eq!(list[0]["result"]["stdout"], "from standard input\n");
    assert_eq!(list[0]["result"]["exit"], 1);
    assert_eq!(list[1]["scenario"]["files"]["data"], "from the file\n");
    assert_eq!(list[1]["test"], "t");
    assert_eq!(scenarios(&folder, &["--test", "t"]).len(), 1);
    assert_eq!(scenarios(&folder, &["--program", "other"]).len(), 0);
}

#[test]
fn the_same_scenario_is_added_once() {
    let folder = folder();
    let add = ["scenario", "add", "--", "./show", "-a"];
    assert_contains(&folder.expect(0, &add).0, &["added", "exit code 1"]);
    assert_contains(&folder.expect(0, &add).0, &["known already"]);
    let (table, _) = folder.expect(0, &["scenarios"]);
    assert_contains(&table, &["show -a", "1 scenario", "added"]);
}

#[test]
fn one_scenario_is_shown_whole_by_the_beginning_of_its_name() {
    let folder = folder();
    folder.file("data", "line\n");
    folder.expect(0, &["scenario", "add", "--", "./show", "data"]);
    let id = scenarios(&folder, &[])[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let (text, _) = folder.expect(0, &["scenarios", &id[..8]]);
    assert_contains(
        &text,
        &[&id, "file data: line\\n", "stdout: line\\n", "exit code 1"],
    );
    let (_, errors) = folder.expect(2, &["scenarios", "ffffffffffff"]);
    assert_contains(&errors, &["no scenario", "hint"]);
}

#[test]
fn a_corpus_of_afl_comes_in_and_goes_out_again() {
    let folder = folder();
    let queue = folder.path().join("out/default/queue");
    fs::create_dir_all(queue.join(".state")).unwrap();
    fs::write(queue.join("id:000000,orig:a"), "first").unwrap();
    fs::write(queue.join("id:000001,src:0"), "second").unwrap();
    fs::write(queue.join(".state/x"), "not an input").unwrap();
    let import = ["scenario", "import", "--from", "afl", "out/default"];
    let (text, _) = folder.expect(0, &[&import[..], &["--", "./show", "-d", "@@"]].concat());
    assert_contains(&text, &["2 scenarios imported"]);
    let list = scenarios(&folder, &[]);
    assert_eq!(list[0]["scenario"]["argv"][1], "input");
    assert_eq!(list[0]["scenario"]["files"]["input"], "first");
    assert_eq!(list[0]["result"]["stdout"], "first");
    assert_eq!(list[0]["origin"], "imported");
    folder.expect(0, &["scenario", "export", "--to", "afl", "corpus"]);
    let written = folder.path().join("corpus/show-000");
    assert_eq!(
        fs::read_to_string(written.join("command")).unwrap(),
        "show -d @@\n"
    );
    let mut inputs: Vec<String> = fs::read_dir(written.join("queue"))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    inputs.sort();
    assert_eq!(inputs, ["first", "second"]);
}

#[test]
fn a_corpus_can_be_standard_input_or_an_argument() {
    let folder = folder();
    fs::create_dir(folder.path().join("corpus")).unwrap();
    folder.file("corpus/da39a3", "-word");
    let import = |role: &str, command: &[&str]| {
        let mut all = vec!["scenario", "import", "--from", "libfuzzer", "--as", role];
        all.extend(["corpus", "--"]);
        all.extend(command);
        folder.expect(0, &all);
    };
    import("stdin", &["./show"]);
    import("argument", &["./show", "-a@@"]);
    let list = scenarios(&folder, &[]);
    assert_eq!(list[0]["scenario"]["stdin"], "-word");
    assert_eq!(list[1]["scenario"]["argv"][0], "-a-word");
    let refused = [
        "scenario", "import", "--from", "afl", "--as", "argument", "corpus", "--", "./show",
    ];
    assert_contains(&folder.expect(2, &refused).1, &["no @@"]);
}

#[test]
fn test_cases_of_klee_come_back_as_they_went_out() {
    let folder = folder();
    folder.file("A", "contents");
    folder.expect(0, &["scenario", "add", "--", "./show", "A", "-v"]);
    folder.expect(0, &["scenario", "export", "--to", "ktest", "out"]);
    let before = scenarios(&folder, &[]);
    fs::remove_dir_all(folder.path().join(".parallax")).unwrap();
    folder.expect(
        0,
        &[
            "scenario", "import", "--from", "ktest", "out", "--", "./show",
        ],
    );
    let after = scenarios(&folder, &[]);
    assert_eq!(before[0]["scenario"], after[0]["scenario"]);
    assert_eq!(before[0]["result"], after[0]["result"]);
    assert_eq!(before[0]["id"], after[0]["id"]);
}

#[test]
fn a_damaged_store_is_said_and_set_aside() {
    let folder = folder();
    folder.expect(0, &["scenario", "add", "--", "./show"]);
    let database = folder.path().join(".parallax/store.sqlite");
    fs::write(&database, "this is no database, and never was one").unwrap();
    let (_, errors) = folder.expect(70, &["scenarios"]);
    assert_contains(
        &errors,
        &["store.sqlite is damaged", "parallax clean --store"],
    );
    let (text, _) = folder.expect(0, &["clean", "--store"]);
    assert_contains(&text, &["nothing was removed"]);
    let (text, _) = folder.expect(0, &["clean", "--store", "--yes"]);
    assert_contains(&text, &["moved to .parallax/store-set-aside-"]);
    folder.expect(0, &["scenario", "add", "--", "./show"]);
    assert_eq!(scenarios(&folder, &[]).len(), 1);
}

#[test]
fn coverage_is_measured_when_asked_for_and_kept() {
    let folder = Folder::new();
    folder.build("show", SHOW);
    folder.file("data", "some text\n");
    folder.expect(0, &["scenario", "add", "--", "./show", "no-such-file"]);
    folder.expect(0, &["scenario", "add", "--", "./show", "data"]);
    assert_eq!(scenarios(&folder, &[])[0]["blocks"], Value::Null);
    let measured = scenarios(&folder, &["--coverage"]);
    let blocks = |index: usize| measured[index]["blocks"].as_u64().unwrap();
    assert!(0 < blocks(0) && blocks(0) < blocks(1), "{measured:#?}");
    // What is known needs no program any more.
    fs::remove_file(folder.path().join("show")).unwrap();
    assert_eq!(scenarios(&folder, &[]), measured);
}

#[test]
fn without_a_store_there_are_no_scenarios() {
    let folder = Folder::new();
    assert_eq!(scenarios(&folder, &[]).len(), 0);
    assert!(!folder.path().join(".parallax").exists());
}
