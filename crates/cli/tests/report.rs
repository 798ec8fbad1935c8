//! `parallax report`: what the last check came to, in every form.

#[path = "../../report/tests/sample/mod.rs"]
mod sample;
mod support;

use std::fs;

use parallax_report::kept;
use support::Folder;
use support::schema::Schema;

/// A folder in which a patch was checked.
fn checked(report: &parallax_report::PatchReport) -> Folder {
    let folder = Folder::new();
    folder.file("parallax.toml", "");
    kept::save(&folder.path().join(".parallax"), report).unwrap();
    folder
}

#[test]
fn the_document_is_as_the_schema_describes() {
    let failing = checked(&sample::report());
    let schema = Schema::of_the_tool(&failing);
    let (text, _) = failing.expect(1, &["report", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    schema.assert_valid(&document);
    assert_eq!(document["command"], "check");
    assert_eq!(document["verdict"], "broken");
    assert_eq!(document["findings"][0]["kind"], "regression");
    assert_eq!(document["coverage"]["after"], 80.0);
    let passing = checked(&sample::clean());
    let (text, _) = passing.expect(0, &["report", "--format", "json"]);
    schema.assert_valid(&serde_json::from_str(&text).unwrap());
}

#[test]
fn every_form_has_its_file() {
    let folder = checked(&sample::report());
    let all = "human,json,sarif,junit,markdown,html,lcov,cobertura,gitlab,github";
    let (text, said) = folder.expect(1, &["report", "--format", all, "-o", "out"]);
    assert!(text.starts_with("HEAD~1..HEAD: 1 error"), "{text}");
    assert!(text.contains("::error file=src/field.c,line=24"), "{text}");
    assert!(said.contains("written: out/parallax.html"), "{said}");
    let mut names: Vec<String> = fs::read_dir(folder.path().join("out"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "cobertura.xml",
        "gl-code-quality-report.json",
        "parallax.html",
        "parallax.info",
        "parallax.json",
        "parallax.md",
        "parallax.sarif",
        "parallax.txt",
        "parallax.xml",
    ];
    assert_eq!(names, expected);
    let text = fs::read_to_string(folder.path().join("out/parallax.txt")).unwrap();
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn without_a_check_there_is_no_report() {
    let folder = Folder::new();
    let (_, said) = folder.expect(2, &["report"]);
    assert!(said.contains("no patch has been checked here"), "{said}");
    assert!(said.contains("parallax check"), "{said}");
    fs::create_dir(folder.path().join(".parallax")).unwrap();
    folder.file(".parallax/check.json", "{}");
    let (_, said) = folder.expect(2, &["report"]);
    assert!(said.contains("no report of this version"), "{said}");
}

#[test]
fn forms_that_have_no_place_are_refused_before_anything_is_done() {
    let folder = Folder::new();
    let (_, said) = folder.expect(2, &["report", "--format", "json,sarif"]);
    assert!(said.contains("-o DIR"), "{said}");
    let (_, said) = folder.expect(2, &["report", "-o", "report"]);
    assert!(said.contains("--format"), "{said}");
}
