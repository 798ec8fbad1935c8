//! Explorations that are killed, that meet a full disk or each other, and that are asked for twice.

mod support;

use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use parallax_store::Store;
use serde_json::Value;
use support::{Folder, PARALLAX, assert_contains, in_own_namespace, text_of};

/// How often explorations are killed; `make torture` asks for more.
fn kills() -> u64 {
    let asked = std::env::var("PARALLAX_KILLS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(8)
}

/// Without sanitizers, whose runs would be most of the time that this takes.
const OPTIONS: [&str; 8] = [
    "--json",
    "--no-sanitizers",
    "--sym-arg",
    "2",
    "--sym-stdin",
    "3",
    "--runs",
    "400",
];

/// Two errors in what the argument leads to, one in what is read.
const PROGRAM: &str = r#"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static int weigh(const char *text) {
    int sum = 0;
    for (int i = 0; text[i]; i++)
        sum = sum * 7 + (text[i] == 'a' ? 1 : text[i] == 'b' ? 2 : text[i] == 'c' ? 5 : 0);
    return sum;
}
int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    int weight = weigh(argv[1]);
    if (weight == 19)
        abort();
    assert(argv[1][0] != 'x' || argv[1][1] < '5');
    char line[4] = "";
    if (!fgets(line, sizeof line, stdin))
        return 3;
    if (line[0] == 'd' && line[1] > '7')
        return 100 / (line[2] == '!' ? 0 : 1);
    return weight > 20 ? 1 : 0;
}
"#;

fn built() -> Folder {
    let folder = Folder::new();
    folder.build("prog", PROGRAM);
    folder
}

fn explore(folder: &Folder) -> Command {
    folder.command(&[&["explore", "./prog"], &OPTIONS[..]].concat())
}

fn finish(mut command: Command) -> (Value, String) {
    let output = command.output().unwrap();
    let (text, errors) = (text_of(&output.stdout), text_of(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{text}\n{errors}");
    (comparable(&text), errors)
}

/// What must be the same each time: everything but how long it took, and what learning solvers needed.
fn comparable(text: &str) -> Value {
    let mut report: Value = serde_json::from_str(text).unwrap();
    for time in ["seconds", "solver", "executions"] {
        report["stats"][time] = Value::Null;
    }
    // Folders have names of their own, and new lines come at any time.
    for file in report["stats"]["files"].as_array_mut().unwrap() {
        file["file"] = Value::Null;
        file["latest"]["seconds"] = Value::Null;
    }
    report
}

#[test]
fn an_exploration_that_is_killed_again_and_again_comes_to_the_same_end() {
    let begun = Instant::now();
    let (expected, _) = finish(explore(&built()));
    let whole = begun.elapsed().as_millis() as u64;
    let findings = expected["findings"].as_array().unwrap();
    assert!(findings.len() >= 2, "{expected:#}");
    let folder = built();
    // Any numbers will do that are spread over the time that it takes.
    let mut number = 88_172_645_463_325_252u64;
    for _ in 0..kills() {
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        let mut command = explore(&folder);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.unwrap();
        sleep(Duration::from_millis(number % whole.max(1)));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::open(&folder.path().join(".parallax")).unwrap();
        store.verify().unwrap();
    }
    let (report, _) = finish(explore(&folder));
    assert_eq!(report, expected);
}

#[test]
fn what_was_explored_is_said_again_without_exploring() {
    let folder = built();
    let (first, _) = finish(explore(&folder));
    let results = folder.path().join(".parallax/explore/prog");
    let count = |part: &str| fs::read_dir(results.join(part)).unwrap().count();
    let before = (count("tests"), count("findings"));
    fs::remove_dir_all(&results).unwrap();
    let (second, errors) = finish(explore(&folder));
    assert_eq!(first, second);
    assert_contains(&errors, &["done before", "--fresh"]);
    assert_eq!((count("tests"), count("findings")), before);
    let mut fresh = explore(&folder);
    fresh.arg("--fresh");
    let (third, errors) = finish(fresh);
    assert_eq!(first, third);
    assert!(!errors.contains("done before"), "{errors}");
}

#[test]
fn more_runs_go_on_where_fewer_ended() {
    let folder = built();
    let with_runs = |folder: &Folder, runs: &str| {
        let mut options = OPTIONS;
        options[7] = runs;
        folder.command(&[&["explore", "./prog"], &options[..]].concat())
    };
    with_runs(&folder, "300").output().unwrap();
    let (report, errors) = finish(with_runs(&folder, "400"));
    assert_contains(&errors, &["goes on with what was known"]);
    assert_eq!(report, finish(explore(&built())).0);
}

#[test]
fn two_that_explore_the_same_do_it_once() {
    let folder = built();
    let spawn = || {
        let mut command = explore(&folder);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let outputs = [spawn(), spawn()].map(|child| child.wait_with_output().unwrap());
    let errors = outputs.each_ref().map(|output| text_of(&output.stderr));
    let waited = errors.iter().filter(|text| text.contains("waiting for"));
    assert_eq!(waited.count(), 1, "{errors:?}");
    let reports = outputs.map(|output| comparable(&text_of(&output.stdout)));
    assert_eq!(reports[0], reports[1]);
}

#[test]
fn others_use_the_store_meanwhile() {
    let folder = built();
    let mut command = explore(&folder);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let store = folder.path().join(".parallax/store.sqlite");
    while !store.exists() {
        sleep(Duration::from_millis(10));
    }
    for argument in ["1", "2", "3"] {
        folder.expect(0, &["scenario", "add", "--", "./prog", argument]);
    }
    let (list, _) = folder.expect(0, &["scenarios", "--json"]);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list["scenarios"].as_array().unwrap().len(), 3);
    if child.try_wait().unwrap().is_none() {
        let (_, errors) = folder.expect(2, &["clean", "--store", "--yes"]);
        assert_contains(&errors, &["in use by", "explore"]);
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_damaged_journal_costs_only_what_it_said() {
    let folder = built();
    let (expected, _) = finish(explore(&folder));
    let mut damaged = 0;
    for directory in fs::read_dir(folder.path().join(".parallax/blobs")).unwrap() {
        for blob in fs::read_dir(directory.unwrap().path()).unwrap() {
            fs::write(blob.unwrap().path(), "damaged").unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 0);
    let mut options = OPTIONS;
    options[7] = "450";
    let (report, _) = finish(folder.command(&[&["explore", "./prog"], &options[..]].concat()));
    assert_eq!(report["findings"], expected["findings"]);
}

#[test]
fn a_full_disk_is_said_and_loses_nothing() {
    let folder = built();
    let (expected, _) = finish(explore(&folder));
    fs::remove_dir_all(folder.path().join(".parallax")).unwrap();
    fs::create_dir(folder.path().join(".parallax")).unwrap();
    let options = OPTIONS.join(" ");
    let script = format!(
        "mount -t tmpfs -o size=200k none .parallax || exit 77
         {PARALLAX} explore ./prog {options} > first; echo $? > code
         mount -o remount,size=100m .parallax || exit 78
         {PARALLAX} explore ./prog {options} > second"
    );
    let Some((code, text)) = in_own_namespace(folder.path(), &script) else {
        return;
    };
    let first = fs::read_to_string(folder.path().join("code")).unwrap();
    assert_eq!((first.trim(), code), ("70", 1), "{text}");
    assert_contains(&text, &["error:", "hint:"]);
    let second = fs::read_to_string(folder.path().join("second")).unwrap();
    assert_eq!(comparable(&second), expected);
}
