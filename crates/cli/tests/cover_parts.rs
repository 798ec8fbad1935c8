//! Each part of `parallax cover` is good for something: a line that is reached with it and not without it.

mod support;

use std::path::Path;

use parallax_torture::targets::{self, Case};
use serde_json::Value;
use support::Folder;

/// Kinds of steps in which the target was reached; `None` if it was not.
fn reached(folder: &Folder, case: &Case, without: &[&str]) -> Option<Vec<String>> {
    let words = case.prepare(folder.path(), without).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (text, _) = folder.expect(0, &words);
    let report: Value = serde_json::from_str(&text).unwrap();
    let target = &report["targets"][0];
    let steps = target["steps"].as_array().unwrap().iter();
    let kinds = steps.map(|step| step["kind"].as_str().unwrap().to_owned());
    (target["status"] == "covered").then(|| kinds.collect())
}

#[test]
fn every_target_is_reached_with_the_part_that_it_needs_and_not_without_it() {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let cases = targets::all(&checkout).unwrap();
    assert!(cases.len() >= 12, "{} programs", cases.len());
    let mut wrong = Vec::new();
    for case in &cases {
        let folder = Folder::new();
        folder.build("prog", &case.source);
        let Case { name, needs, .. } = case;
        let Some(kinds) = reached(&folder, case, &[]) else {
            wrong.push(format!("{name}: not reached"));
            continue;
        };
        let Some(needs) = needs else { continue };
        if let Some(kinds) = reached(&folder, case, &[needs]) {
            wrong.push(format!("{name}: reached without {needs}, by {kinds:?}"));
        }
        // Pointers are no step by themselves.
        if needs != "pointers" && !kinds.contains(needs) {
            wrong.push(format!(
                "{name}: reached without a step by {needs}: {kinds:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
