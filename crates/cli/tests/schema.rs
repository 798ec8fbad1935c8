//! What commands print with `--json` is what `parallax schema` says.

mod support;

use serde_json::{Value, json};
use support::Folder;
use support::schema::Schema;

/// Fails for some inputs, loses track of others, and prints bytes that are no text.
const PROGRAM: &str = r#"
#include <stdlib.h>
#include <stdio.h>
#include <arpa/inet.h>
int main(int argc, char **argv) {
    struct in_addr address;
    putchar(0xff);
    if (argc > 1 && argv[1][0] == 'x')
        abort();
    return argc > 1 ? inet_aton(argv[1], &address) : 0;
}
"#;

fn document(folder: &Folder, exit: i32, arguments: &[&str]) -> Value {
    let (text, _) = folder.expect(exit, arguments);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn every_command_prints_a_document_that_the_schema_describes() {
    let folder = Folder::new();
    let schema = Schema::of_the_tool(&folder);
    let program = folder.build("prog", PROGRAM);
    for argument in ["a", "x"] {
        for command in ["trace", "coverage"] {
            let report = document(&folder, 0, &[command, &program, "--json", "--", argument]);
            schema.assert_valid(&report);
            assert_eq!(report["command"], command);
            assert_eq!(report["stats"]["runs"], 1);
            assert_eq!(report["findings"], json!([]));
            assert_eq!(report["targets"], json!([]));
        }
    }
    let options = ["explore", &program, "--json", "--runs", "30", "--", "a"];
    let report = document(&folder, 1, &options);
    schema.assert_valid(&report);
    assert_eq!(report["findings"][0]["kind"], "abort");
    assert!(
        !report["losses"].as_array().unwrap().is_empty(),
        "{report:#}"
    );
}

#[test]
fn documents_about_scenarios_are_as_the_schema_describes() {
    let folder = Folder::new();
    let schema = Schema::of_the_tool(&folder);
    folder.build("prog", PROGRAM);
    folder.file("test.sh", "./prog 1 >/dev/full; ./prog 2 2>&-; ./prog 3\n");
    let record = ["record", "-C", ".", "--json", "--", "sh", "test.sh"];
    let recorded = document(&folder, 0, &record);
    schema.assert_valid(&recorded);
    assert_eq!(recorded["scenarios"], 3);
    let listed = document(&folder, 0, &["scenarios", "--json"]);
    schema.assert_valid(&listed);
    let first = &listed["scenarios"][0];
    assert_eq!(first["scenario"]["stdout"], "full", "{first:#}");
    assert_eq!(listed["scenarios"][1]["scenario"]["stderr"], "closed");
    let id = first["id"].as_str().unwrap();
    let replayed = document(&folder, 0, &["replay", "--json", id]);
    schema.assert_valid(&replayed);
    assert_eq!(replayed["program"], "prog");
    let all = document(&folder, 0, &["replay", "--json", "--all", "--check"]);
    schema.assert_valid(&all);
    assert_eq!((&all["same"], &all["unsteady"]), (&json!(3), &json!(0)));
}

#[test]
fn documents_that_lack_something_or_have_it_wrong_are_told() {
    let folder = Folder::new();
    let schema = Schema::of_the_tool(&folder);
    let good = json!({
        "schema": 1, "command": "explore", "losses": [], "findings": [], "targets": [],
        "stats": {"runs": 1, "paths": 1, "queries": 0, "seconds": 0.5},
    });
    schema.assert_valid(&good);
    let with = |path: &str, value: Value| {
        let mut document = good.clone();
        match document.pointer_mut(path) {
            Some(place) => *place = value,
            None => document[&path[1..]] = value,
        }
        schema.faults(&document)
    };
    assert_eq!(with("/schema", json!(2)), ["/schema: 2 is not 1"]);
    assert_eq!(
        with("/stats/runs", json!(-1)),
        ["/stats/runs: -1 is less than 0"]
    );
    assert_eq!(
        with("/stats/paths", json!("1")),
        ["/stats/paths: \"1\" is no \"integer\""]
    );
    assert_eq!(
        with("/losses", json!([{"function": "f"}])),
        ["/losses/0: \"count\" is missing"]
    );
    assert!(!with("/findings", json!([{}])).is_empty());
    let result =
        json!({"exit": null, "signal": "SIGABRT", "stdout": "", "stderr": "", "sanitizer": null});
    assert_eq!(
        with("/result", result),
        ["/result/signal: \"SIGABRT\" is no [\"integer\",\"null\"]"]
    );
    let bytes = json!({"base64": "AA==", "more": 1});
    let result =
        json!({"exit": 0, "signal": null, "stdout": bytes, "stderr": "", "sanitizer": null});
    assert_eq!(with("/result", result).len(), 1);
}
