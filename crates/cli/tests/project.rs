//! `init` and `build` as users see them: what they print, write and end with.

mod support;

use std::fs;

use serde_json::Value;
use support::{Folder, assert_contains, git};

/// A project with a plain makefile.
fn project() -> Folder {
    let folder = Folder::new();
    folder.file(
        "Makefile",
        "CC = gcc\nprog: prog.c\n\t$(CC) -o prog prog.c\ncheck: prog\n\t./prog\n",
    );
    let program = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv(\"GREETING\") ? \"hi\" : \"one\"); }\n";
    folder.file("prog.c", program);
    folder
}

#[test]
fn init_and_build_make_a_captured_program_of_a_plain_makefile() {
    let folder = project();
    let (said, _) = folder.expect(0, &["init"]);
    assert_contains(
        &said,
        &["plain make", "-k check", "GREETING", "wrote parallax.toml"],
    );
    let (said, _) = folder.expect(0, &["build"]);
    assert_contains(&said, &["source as it is", "built in", "1 program", "prog"]);
    let (said, _) = folder.expect(0, &["build", "--json"]);
    let document: Value = serde_json::from_str(&said).unwrap();
    let build = &document["builds"][0];
    assert_eq!(build["cached"], true);
    assert_eq!(build["programs"][0]["name"], "prog");
    let program = build["programs"][0]["path"].as_str().unwrap();
    let (said, _) = folder.expect(0, &["doctor", program]);
    assert_contains(&said, &["1 module"]);
    assert!(
        !folder.path().join("prog").exists(),
        "the user's tree stays as it was"
    );
}

#[test]
fn init_does_not_overwrite_unless_told_to() {
    let folder = project();
    folder.file("parallax.toml", "programs = [\"mine\"]\n");
    let (_, said) = folder.expect(2, &["init"]);
    assert_contains(&said, &["is there already", "--force"]);
    let (printed, _) = folder.expect(0, &["init", "--print"]);
    assert_contains(&printed, &["[build]", "# programs = []"]);
    let text = || fs::read_to_string(folder.path().join("parallax.toml")).unwrap();
    assert_eq!(text(), "programs = [\"mine\"]\n");
    folder.expect(0, &["init", "--force"]);
    assert_eq!(text(), printed);
}

#[test]
fn a_revision_that_does_not_build_ends_with_3_and_says_which_step_and_why() {
    let folder = project();
    folder.expect(0, &["init"]);
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "-A"]);
    git(folder.path(), &["commit", "-q", "-m", "good"]);
    folder.file(
        "prog.c",
        "int main(void) { return nothing_of_that_name; }\n",
    );
    git(folder.path(), &["commit", "-q", "-a", "-m", "broken"]);
    let (said, complaint) = folder.expect(3, &["build", "HEAD~1..HEAD"]);
    assert_contains(&said, &["HEAD~1", "built in"]);
    assert_contains(
        &complaint,
        &[
            "building HEAD failed",
            "step build",
            "nothing_of_that_name",
            "logs/build.log",
        ],
    );
}

#[test]
fn mistakes_in_the_configuration_are_shown_with_their_line() {
    let folder = project();
    folder.file("parallax.toml", "[build]\nconfigur = \"x\"\n");
    let (_, said) = folder.expect(2, &["build"]);
    assert_contains(
        &said,
        &[
            "parallax.toml:2",
            "build.configur",
            "│ configur = \"x\"",
            "did you mean build.configure?",
        ],
    );
    let (_, said) = folder.expect(2, &["build", "--set", "build.jobs=many"]);
    assert_contains(&said, &["parallax.toml:2"]);
    folder.file("parallax.toml", "");
    let (_, said) = folder.expect(2, &["build", "--set", "build.jobs=many"]);
    assert_contains(&said, &["build.jobs must be a whole number"]);
    let (_, said) = folder.expect(2, &["build", "HEAD~1..HEAD"]);
    assert_contains(&said, &["not in a git repository"]);
}

#[test]
fn without_a_configuration_build_sends_to_init() {
    let folder = Folder::new();
    let (_, said) = folder.expect(2, &["build"]);
    assert_contains(&said, &["no parallax.toml", "parallax init"]);
    let (_, said) = folder.expect(2, &["init"]);
    assert_contains(&said, &["no build system"]);
}

#[test]
fn the_schema_of_the_configuration_is_json() {
    let (said, _) = Folder::new().expect(0, &["schema", "--config"]);
    let schema: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(schema["properties"]["build"]["additionalProperties"], false);
}
