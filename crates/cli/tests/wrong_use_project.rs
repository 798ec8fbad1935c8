//! Errors of the steps that a newcomer takes (set-up, build, record, range, accept): what happened, why, and what to do.

mod support;

use std::fs;

use support::{Folder, assert_contains};

const PROGRAM: &str = "int main(void) { return 0; }\n";
const MAKEFILE: &str = "CC = gcc\nprog: prog.c\n\t$(CC) -g -o prog prog.c\ncheck: prog\n\t./prog\n";

/// A project of one commit.
fn project(makefile: &str) -> Folder {
    Folder::project(makefile, PROGRAM)
}

/// Every message says what is wrong and what to do.
#[track_caller]
fn refuses(folder: &Folder, exit: i32, words: &[&str], parts: &[&str]) -> String {
    let (_, error) = folder.expect(exit, words);
    assert_contains(&error, &["error:", "hint:"]);
    assert_contains(&error, parts);
    error
}

#[test]
fn set_up_tells_what_it_looked_for_and_where_to_begin() {
    let folder = Folder::new();
    let looked = [
        "no build system",
        "Makefile",
        "meson.build",
        "parallax init",
    ];
    refuses(&folder, 2, &["init"], &looked);
    for command in ["check", "tests", "build", "record", "cover", "diverge"] {
        refuses(&folder, 2, &[command], &["parallax.toml", "parallax init"]);
    }
    let accept = ["accept", "x", "--because", "y"];
    refuses(&folder, 2, &accept, &["parallax.toml", "parallax init"]);
    folder.file("Makefile", MAKEFILE);
    let (said, _) = folder.expect(0, &["init"]);
    assert_contains(&said, &["wrote", "next: parallax check"]);
    refuses(
        &folder,
        2,
        &["init"],
        &["is there already", "--force", "--print"],
    );
}

#[test]
fn a_build_that_goes_wrong_is_shown_with_its_command_and_its_log() {
    let failing = MAKEFILE.replace("-g -o", "-g -nosuchoption -o");
    let folder = project(&failing);
    let shown = ["$ make", "nosuchoption", "the whole output is in", "logs"];
    refuses(&folder, 3, &["build"], &shown);
    // A build that does not use the compiler that it is given.
    let ignoring = MAKEFILE.replace("$(CC)", "gcc");
    let folder = project(&ignoring);
    refuses(&folder, 3, &["build"], &["$CC", "parallax.toml", "CC=$CC"]);
    // Names of programs that the build does not make.
    let folder = project(MAKEFILE);
    let wanted = ["build", "--set", "programs=[\"other\"]"];
    refuses(
        &folder,
        2,
        &wanted,
        &["`programs` in parallax.toml", "captured"],
    );
}

#[test]
fn recording_without_tests_says_how_to_name_them() {
    let folder = project(MAKEFILE);
    let no_tests = ["record", "--set", "test.command="];
    refuses(
        &folder,
        2,
        &no_tests,
        &["no test command", "test.command", "--"],
    );
    let no_program = ["record", "--program", "other"];
    refuses(
        &folder,
        2,
        &no_program,
        &["no such program", "parallax build"],
    );
    let missing = ["record", "--", "./no-such-script"];
    refuses(&folder, 3, &missing, &["no-such-script", "--"]);
    // To check works without: it says that it starts from nothing, and finds what there is to find.
    folder.file("prog.c", "int main(void) { return 1; }\n");
    let words = ["check", "--set", "test.command=", "--budget", "1s"];
    let (_, said) = folder.expect(1, &words);
    assert_contains(
        &said,
        &["no test command", "start from nothing", "parallax.toml"],
    );
}

#[test]
fn ranges_that_mean_nothing_are_named() {
    let folder = project(MAKEFILE);
    for command in ["check", "tests", "diverge", "cover", "targets"] {
        let unknown = [command, "v9..HEAD"];
        refuses(
            &folder,
            2,
            &unknown,
            &["no revision \"v9\"", "HEAD~1..HEAD"],
        );
        let malformed = [command, "a..b..c"];
        refuses(&folder, 2, &malformed, &["\"a..b..c\"", "OLD..NEW"]);
    }
    refuses(&folder, 2, &["check", "HEAD..HEAD"], &["are the same"]);
    refuses(
        &folder,
        2,
        &["check", "HEAD"],
        &["two revisions", "HEAD~1..HEAD"],
    );
    refuses(&folder, 2, &["check"], &["no commit before this one"]);
}

#[test]
fn what_is_accepted_must_exist_and_have_a_reason() {
    let folder = project(MAKEFILE);
    let unknown = ["accept", "difference-1", "--because", "so"];
    refuses(
        &folder,
        2,
        &unknown,
        &["no finding \"difference-1\"", "parallax check"],
    );
    let empty = ["accept", "difference-1", "--because", " "];
    refuses(&folder, 2, &empty, &["the reason is empty"]);
    let (_, error) = folder.expect(2, &["accept", "difference-1"]);
    assert_contains(&error, &["--because"]);
    let path = folder.path().join("parallax-accepted.toml");
    fs::write(&path, "[[accepted]]\nfinding = 3\n").unwrap();
    let shown = ["parallax-accepted.toml", "finding = 3", "[[accepted]]"];
    refuses(&folder, 2, &["accept", "--list"], &shown);
    refuses(&folder, 2, &["check"], &shown);
}

#[test]
fn options_of_check_are_explained() {
    let folder = project(MAKEFILE);
    let (_, error) = folder.expect(2, &["check", "--budget", "soon"]);
    assert_contains(&error, &["soon", "--budget"]);
    let several = ["check", "--format", "json,sarif"];
    refuses(&folder, 2, &several, &["standard output", "-o DIR"]);
    let template = [
        "tests",
        "--set",
        "test.template=\"none.sh\"",
        "HEAD~0..HEAD",
    ];
    let (_, error) = folder.expect(2, &template);
    assert_contains(&error, &["error:"]);
    let (help, _) = folder.expect(0, &["check", "--help"]);
    assert_contains(
        &help,
        &["--budget", "Exit code:", "125", "130", "git bisect run"],
    );
}
