//! Wrong use is answered with what is wrong and what to do.

mod common;
use common::{Project, text};
use parallax_capture::{DeriveError, ReadError, Variant, read_program};
use std::path::Path;

const GOOD: &str = "int main(void) { return 0; }\n";

#[test]
fn a_program_that_was_not_captured_is_told_how_to_be() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("clang-19 a.c -o prog");
    let error = read_program(&project.path("prog")).unwrap_err();
    assert!(matches!(error, ReadError::NotCaptured { .. }));
    assert!(error.advice().contains("CC=parallax-cc"), "{error}");
}

#[test]
fn captured_objects_linked_by_another_compiler_are_recognised() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("parallax-cc -c a.c; clang-19 a.o -o prog");
    let error = read_program(&project.path("prog")).unwrap_err();
    assert!(matches!(error, ReadError::NotLinked { .. }), "{error}");
}

#[test]
fn what_is_no_program_is_named_for_what_it_is() {
    let project = Project::new(&[
        ("a.c", GOOD),
        ("script", "#!/bin/sh\nexit 0\n"),
        ("empty", ""),
    ]);
    project.build("parallax-cc -c a.c; ar rcs a.a a.o");
    let error = |name: &str| read_program(&project.path(name)).unwrap_err();
    assert!(matches!(error("script"), ReadError::Script { .. }));
    assert!(matches!(error("a.c"), ReadError::NotElf { .. }));
    assert!(matches!(error("empty"), ReadError::NotElf { .. }));
    assert!(matches!(error("a.a"), ReadError::NotElf { .. }));
    assert!(matches!(error("a.o"), ReadError::NotLinkedYet { .. }));
    assert!(matches!(error("missing"), ReadError::Io { .. }));
    assert!(matches!(error("bin"), ReadError::Io { .. }));
}

#[test]
fn a_damaged_record_is_noticed() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("parallax-cc a.c -o prog");
    let mut bytes = std::fs::read(project.path("prog")).unwrap();
    let at = bytes
        .windows(6)
        .rposition(|window| window == b"plxrec")
        .unwrap();
    bytes[at..at + 6].copy_from_slice(b"broken");
    std::fs::write(project.path("prog"), bytes).unwrap();
    let error = read_program(&project.path("prog")).unwrap_err();
    assert!(matches!(error, ReadError::Damaged { .. }), "{error}");
}

#[test]
fn a_missing_compiler_is_named_with_the_way_to_get_it() {
    let project = Project::new(&[("a.c", GOOD)]);
    let output = project.shell("PATH=$PWD/bin parallax-cc -c a.c");
    assert!(!output.status.success());
    let message = text(&output.stderr);
    assert!(message.contains("apt-get install clang-19"), "{message}");

    let output = project.shell("PARALLAX_CLANG=/nonexistent/clang parallax-cc -c a.c");
    assert!(!output.status.success());
    assert!(
        text(&output.stderr).contains("PARALLAX_CLANG"),
        "{}",
        text(&output.stderr)
    );
}

#[test]
fn a_compiler_can_be_chosen() {
    let project = Project::new(&[
        ("a.c", GOOD),
        (
            "b.cc",
            "#include <string>\nint main() { return std::string().size(); }\n",
        ),
    ]);
    project.build("PARALLAX_CLANG=$(command -v clang-19) parallax-cc a.c -o prog");
    project.build("PARALLAX_CLANG=clang-19 parallax-c++ b.cc -o prog2");
    assert_eq!(project.sources("prog2"), ["b.cc"]);
}

#[test]
fn a_cache_that_cannot_be_written_is_an_error_that_names_it() {
    let project = Project::new(&[("a.c", GOOD), ("cache", "a file")]);
    project.build("parallax-cc a.c -o prog");
    let error = project.try_derive("prog", Variant::Traced).unwrap_err();
    assert!(matches!(error, DeriveError::Io { .. }), "{error}");
    assert!(error.to_string().contains("cache"), "{error}");
}

#[test]
fn a_program_without_captured_modules_has_no_variants() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("clang-19 -c a.c; parallax-cc a.o -o prog");
    let error = project.try_derive("prog", Variant::Traced).unwrap_err();
    assert!(matches!(error, DeriveError::NoModules { .. }), "{error}");
}

#[test]
fn a_module_that_the_compiler_refuses_is_named_with_the_reason() {
    let project = Project::new(&[("a.c", GOOD)]);
    project.build("parallax-cc a.c -o prog");
    let mut program = project.read("prog");
    program.modules[0].bitcode.truncate(100);
    let options = parallax_capture::Options {
        cache_dir: project.path("cache"),
        jobs: 1,
        progress: &|_progress| {},
    };
    let error = parallax_capture::derive(&program, Variant::Traced, &options).unwrap_err();
    assert!(matches!(error, DeriveError::Compile { .. }), "{error}");
    assert!(error.to_string().contains("a.c"), "{error}");
    let leftovers = walk(&project.path("cache"));
    assert!(leftovers.is_empty(), "{leftovers:?}");
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}
