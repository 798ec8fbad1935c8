//! Every error that set-up, build, record and patch can end in: how it reads, and which test provokes it.
//!
//! A variant that is not in the table does not compile, and a test that is named and does not exist fails. How all of them
//! read is in one snapshot, so that whoever changes a message sees it among the others.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use parallax_bundle::BundleError;
use parallax_capture::{DeriveError, ReadError, ToolError};
use parallax_project::accepted::AcceptedError;
use parallax_project::build::FailedStep;
use parallax_project::config::{ConfigError, Place};
use parallax_project::detect::DetectError;
use parallax_project::{BuildError, ProjectError, RevisionError};
use parallax_recorder::RecorderError;
use parallax_report::kept::KeptError;
use parallax_report::palette::Palette;
use parallax_store::StoreError;

use super::Failure;
use crate::testfile::TemplateError;
use crate::variants::{derive_failure, read_failure};

/// Where an error is seen.
enum Seen {
    /// In this test, by its file below `crates` and its name.
    In(&'static str, &'static str),
    /// Nowhere but here: why it cannot be provoked from outside.
    OnlyHere(&'static str),
}
use Seen::{In, OnlyHere};

const STEPS: &str = "cli/tests/wrong_use_steps.rs";
const PLACES: &str = "cli/tests/wrong_use_places.rs";
const PROJECT: &str = "cli/tests/wrong_use_project.rs";
const PROGRAM: &str = "cli/tests/wrong_use.rs";
const LIBRARIES: &str = "cli/tests/libraries.rs";
const MACHINE: &str = "cli/tests/wrong_use_machine.rs";

/// A variant of an error.
struct Row {
    name: &'static str,
    failure: Failure,
    seen: Seen,
}

/// Adds all variants of an error: pattern, sample, where it is seen. One that is left out does not compile.
macro_rules! add {
    ($rows:ident, $error:ty, $failure:expr; $($variant:pat = $sample:expr, $seen:expr;)+) => {
        let _ = |error: &$error| match error { $($variant => (),)+ };
        let failure: fn($error) -> Failure = $failure;
        $({
            let sample: $error = $sample;
            assert!(matches!(&sample, $variant));
            let name = stringify!($variant);
            $rows.push(Row { name, failure: failure(sample), seen: $seen });
        })+
    };
}

fn refused() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn line() -> Place {
    Place::File {
        path: "/p/parallax.toml".into(),
        line: 2,
        text: "command = 3".to_owned(),
    }
}

fn of_project(rows: &mut Vec<Row>) {
    add!(rows, ConfigError, Failure::from;
        ConfigError::Read { .. } = ConfigError::Read { path: "/p/parallax.toml".into(), error: refused() },
            In(STEPS, "set_up");
        ConfigError::Syntax { .. } = ConfigError::Syntax { place: line(), message: "expected `]`".into() },
            In(STEPS, "settings");
        ConfigError::Unknown { meant: Some(_), .. } = ConfigError::Unknown {
            place: Place::Flag("build.jbos=2".into()),
            name: "build.jbos".into(),
            meant: Some("build.jobs".into()),
        }, In(STEPS, "settings");
        ConfigError::Unknown { meant: None, .. } = ConfigError::Unknown {
            place: line(),
            name: "weather".into(),
            meant: None,
        }, In(STEPS, "settings");
        ConfigError::Type { .. } = ConfigError::Type {
            place: line(),
            name: "test.command".into(),
            wanted: "a text",
            found: "3".into(),
        }, In(STEPS, "settings");
        ConfigError::Value { .. } = ConfigError::Value {
            place: Place::Variable("PARALLAX_LIMITS_TIMEOUT".into()),
            name: "limits.timeout".into(),
            message: "\"soon\" is no time".into(),
        }, In(STEPS, "settings");
    );
    add!(rows, ProjectError, Failure::from;
        ProjectError::NotFound(_) = ProjectError::NotFound("/p".into()),
            In(PROJECT, "set_up_tells_what_it_looked_for_and_where_to_begin");
        ProjectError::Config(_) = ConfigError::Syntax { place: line(), message: "expected `]`".into() }.into(),
            In(STEPS, "settings");
        ProjectError::Io { .. } = ProjectError::Io { path: "/p/.parallax".into(), error: refused() },
            In(PLACES, "places_that_cannot_be_written");
    );
    add!(rows, DetectError, Failure::from;
        DetectError::Nothing(_) = DetectError::Nothing("/p".into()),
            In(PROJECT, "set_up_tells_what_it_looked_for_and_where_to_begin");
        DetectError::Missing { .. } = DetectError::Missing { root: "/p".into(), wanted: &["meson.build"] },
            In(STEPS, "set_up");
        DetectError::Revision(_) = RevisionError::Git {
            command: "ls-files".into(),
            message: "fatal: index file corrupt".into(),
        }.into(), OnlyHere("git has to fail the second time that it is asked for the files");
    );
    add!(rows, AcceptedError, Failure::from;
        AcceptedError::Io { .. } = AcceptedError::Io { path: "/p/parallax-accepted.toml".into(), error: refused() },
            In(PLACES, "files_and_folders_in_each_others_place");
        AcceptedError::Form { .. } = AcceptedError::Form {
            path: "/p/parallax-accepted.toml".into(),
            message: "unknown field".into(),
        }, In(PROJECT, "what_is_accepted_must_exist_and_have_a_reason");
    );
}

fn of_revisions_and_builds(rows: &mut Vec<Row>) {
    add!(rows, RevisionError, Failure::from;
        RevisionError::Unknown(_) = RevisionError::Unknown("v9".into()), In(STEPS, "patch");
        RevisionError::Form(_) = RevisionError::Form("a..b..c".into()), In(STEPS, "patch");
        RevisionError::NoRepository { complaint: Some(_), .. } = RevisionError::NoRepository {
            root: "/p".into(),
            complaint: Some("git is not installed, or not on PATH".into()),
        }, In(MACHINE, "without_git_that_is_what_is_said");
        RevisionError::NoRepository { complaint: None, .. } = RevisionError::NoRepository {
            root: "/p".into(),
            complaint: None,
        }, In(PLACES, "a_repository_that_git_cannot_read_is_told_apart_from_none");
        RevisionError::NoCommit { .. } = RevisionError::NoCommit { root: "/p".into() },
            In(PLACES, "a_repository_that_git_cannot_read_is_told_apart_from_none");
        RevisionError::NoBase { .. } = RevisionError::NoBase { old: "main".into(), new: "other".into() },
            In(STEPS, "patch");
        RevisionError::NothingBefore = RevisionError::NothingBefore,
            In(PROJECT, "ranges_that_mean_nothing_are_named");
        RevisionError::Git { .. } = RevisionError::Git {
            command: "worktree add".into(),
            message: "fatal: unable to read tree".into(),
        }, In(PLACES, "a_repository_that_git_cannot_read_is_told_apart_from_none");
        RevisionError::Io { .. } = RevisionError::Io { path: "/p/.parallax".into(), error: refused() },
            In(PLACES, "places_that_cannot_be_written");
        RevisionError::Project(_) = Box::new(ProjectError::Io { path: "/p/.parallax".into(), error: refused() }).into(),
            In(PLACES, "places_that_cannot_be_written");
    );
    add!(rows, BuildError, Failure::from;
        BuildError::Step(_) = BuildError::Step(Box::new(FailedStep {
            revision: "HEAD".into(),
            step: "build",
            command: "make".into(),
            status: ExitStatus::from_raw(0x200),
            errors: vec!["a.c:1:2: error: expected".into()],
            last_lines: vec!["make: *** [Makefile:3: a.o] Error 1".into()],
            log: "/p/.parallax/builds/1/logs/build.log".into(),
        })), In(STEPS, "build");
        BuildError::NoTree { .. } = BuildError::NoTree { revision: "HEAD".into(), tree: "/p/out".into() },
            In(STEPS, "build");
        BuildError::NothingCaptured { .. } = BuildError::NothingCaptured {
            revision: "HEAD".into(),
            tree: "/p".into(),
            said: Vec::new(),
            log: "/p/.parallax/builds/1/logs/build.log".into(),
        }, In(PROJECT, "a_build_that_goes_wrong_is_shown_with_its_command_and_its_log");
        BuildError::OnlyLibraries { .. } = BuildError::OnlyLibraries {
            revision: "HEAD".into(),
            tree: "/p".into(),
            libraries: vec!["libx.a".into()],
        }, In(LIBRARIES, "a_build_of_static_libraries_only_says_that_a_program_is_needed");
        BuildError::Stopped { .. } = BuildError::Stopped { revision: "HEAD".into() },
            In(MACHINE, "a_build_that_is_interrupted_says_how_to_go_on");
        BuildError::Shell { .. } = BuildError::Shell {
            command: "make".into(),
            error: io::ErrorKind::NotFound.into(),
        }, In(MACHINE, "without_a_shell_nothing_is_built_and_that_is_said");
        BuildError::Revision(_) = RevisionError::Git {
            command: "worktree add".into(),
            message: "fatal: unable to read tree".into(),
        }.into(), In(PLACES, "a_repository_that_git_cannot_read_is_told_apart_from_none");
        BuildError::Project(_) = Box::new(ProjectError::Io { path: "/p/.parallax".into(), error: refused() }).into(),
            OnlyHere("the folder has to go between asking for a revision and building it");
        BuildError::Io { .. } = BuildError::Io { path: "/p/.parallax/builds".into(), error: refused() },
            In(PLACES, "files_and_folders_in_each_others_place");
    );
}

fn of_recording_and_store(rows: &mut Vec<Row>) {
    let store = || "/p/.parallax/store.sqlite".into();
    add!(rows, RecorderError, Failure::from;
        RecorderError::Start { .. } = RecorderError::Start {
            command: "./tests".into(),
            error: io::ErrorKind::NotFound.into(),
        }, In(STEPS, "record");
        RecorderError::Trace(_) = RecorderError::Trace(io::Error::from_raw_os_error(libc::EPERM)),
            In(MACHINE, "recording_where_tracing_is_forbidden_says_how_to_allow_it");
        RecorderError::Wait(_) = RecorderError::Wait(io::Error::from_raw_os_error(libc::ECHILD)),
            OnlyHere("the kernel has to lose a child that nobody else can wait for");
        RecorderError::Sink(_) = RecorderError::Sink(Box::new(StoreError::Full {
            path: store(),
            source: io::ErrorKind::StorageFull.into(),
        })), In(MACHINE, "a_full_disk_is_said_by_every_step");
    );
    add!(rows, StoreError, Failure::from;
        StoreError::Damaged { .. } = StoreError::Damaged { path: store(), detail: "file is not a database".into() },
            In(STEPS, "record");
        StoreError::Newer { .. } = StoreError::Newer { path: store(), version: 99, known: 5 },
            In(MACHINE, "a_store_of_a_later_version_is_left_alone");
        StoreError::Full { .. } = StoreError::Full {
            path: store(),
            source: io::ErrorKind::StorageFull.into(),
        }, In(MACHINE, "a_full_disk_is_said_by_every_step");
        StoreError::Io { .. } = StoreError::Io { path: "/p/.parallax/locks".into(), source: refused() },
            In(PLACES, "files_and_folders_in_each_others_place");
        StoreError::Busy { .. } = StoreError::Busy { path: store() },
            OnlyHere("another process has to hold the database for a minute");
        StoreError::NoScenario(_) = StoreError::NoScenario("1a2b".into()), In(STEPS, "record");
        StoreError::Ambiguous { .. } = StoreError::Ambiguous { id: "1".into(), count: 2 }, In(STEPS, "record");
        StoreError::Database(_) = rusqlite::Error::InvalidQuery.into(),
            OnlyHere("the database has to refuse what the store asks, which is a defect");
    );
    add!(rows, KeptError, Failure::from;
        KeptError::File { .. } = KeptError::File { path: "/p/.parallax/check.json".into(), source: refused() },
            In(PLACES, "files_and_folders_in_each_others_place");
        KeptError::Form { .. } = KeptError::Form {
            path: "/p/.parallax/check.json".into(),
            source: no_number(),
        }, In(STEPS, "patch");
    );
    add!(rows, TemplateError, Failure::from;
        TemplateError::Read { .. } = TemplateError::Read { path: "/p/none.sh".into(), source: refused() },
            In(STEPS, "patch");
        TemplateError::Unknown { .. } = TemplateError::Unknown {
            path: "/p/strange.sh".into(),
            line: 1,
            mark: "weather".into(),
        }, In(STEPS, "patch");
        TemplateError::Empty(_) = TemplateError::Empty("/p/empty.sh".into()), In(STEPS, "patch");
    );
}

fn no_number() -> serde_json::Error {
    serde_json::from_str::<u8>("x").unwrap_err()
}

fn of_programs(rows: &mut Vec<Row>) {
    let program = || "/p/prog".into();
    add!(rows, ReadError, |error| read_failure(Path::new("./prog"), &error);
        ReadError::Io { .. } = ReadError::Io { path: program(), error: io::Error::other("not a regular file") },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::Script { .. } = ReadError::Script { path: program() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::LibtoolWrapper { .. } = ReadError::LibtoolWrapper { path: program(), wanted: "/p/.libs/prog".into() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::NotElf { .. } = ReadError::NotElf { path: program() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::NotCaptured { .. } = ReadError::NotCaptured { path: program() },
            In(PROGRAM, "a_program_not_built_with_the_wrapper_is_told_how");
        ReadError::NotLinked { .. } = ReadError::NotLinked { path: program() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::NotLinkedYet { .. } = ReadError::NotLinkedYet { path: program() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
        ReadError::Damaged { .. } = ReadError::Damaged { path: program(), error: no_number().into() },
            In(PROGRAM, "what_is_no_program_is_named_for_what_it_is");
    );
    add!(rows, DeriveError, |error| derive_failure(&error);
        DeriveError::Tool(_) = ToolError::BadOverride { path: "/no/clang".into(), variable: "PARALLAX_CLANG" }.into(),
            In(PROGRAM, "a_missing_compiler_is_named_with_the_package_that_has_it");
        DeriveError::Bundle(_) = BundleError::NoPlace { attempts: vec![("/h/.cache/parallax".into(), refused())] }.into(),
            In(MACHINE, "without_a_place_for_its_own_files_that_is_what_is_said");
        DeriveError::Library(_) = ReadError::NotLinked { path: "/p/libx.so".into() }.into(),
            In(PROGRAM, "what_a_variant_is_made_of_must_be_there_and_whole");
        DeriveError::NoModules { .. } = DeriveError::NoModules { path: program() },
            In(PROGRAM, "what_a_variant_is_made_of_must_be_there_and_whole");
        DeriveError::Compile { .. } = DeriveError::Compile {
            source_file: "prog.c".into(),
            variant: "traced",
            message: "fatal error: error in backend".into(),
        }, In(PROGRAM, "a_damaged_plug_in_is_replaced_or_named_and_comes_back_after_cleaning");
        DeriveError::Link { .. } = DeriveError::Link {
            path: program(),
            variant: "traced",
            message: "ld: undefined reference to `f'".into(),
        }, In(PROGRAM, "what_a_variant_is_made_of_must_be_there_and_whole");
        DeriveError::MissingInput { .. } = DeriveError::MissingInput { path: "/p/other.o".into() },
            In(PROGRAM, "what_a_variant_is_made_of_must_be_there_and_whole");
        DeriveError::Io { .. } = DeriveError::Io { path: "/h/.cache/parallax".into(), error: refused() },
            In(PROGRAM, "a_cache_that_cannot_be_written_is_named_with_the_way_out");
    );
    add!(rows, ToolError, |error| derive_failure(&error.into());
        ToolError::Missing { .. } = ToolError::Missing {
            name: "clang-19".into(),
            package: "clang-19",
            variable: "PARALLAX_CLANG",
        }, In(PROGRAM, "a_missing_compiler_is_named_with_the_package_that_has_it");
        ToolError::BadOverride { .. } = ToolError::BadOverride { path: "/no/clang".into(), variable: "PARALLAX_CLANG" },
            In(PROGRAM, "a_missing_compiler_is_named_with_the_package_that_has_it");
    );
    add!(rows, BundleError, |error| derive_failure(&error.into());
        BundleError::NoPlace { .. } = BundleError::NoPlace { attempts: vec![("/h/.cache/parallax".into(), refused())] },
            In(MACHINE, "without_a_place_for_its_own_files_that_is_what_is_said");
    );
}

fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    of_project(&mut rows);
    of_revisions_and_builds(&mut rows);
    of_recording_and_store(&mut rows);
    of_programs(&mut rows);
    rows
}

#[test]
fn every_error_reads_as_it_should() {
    let mut text = String::new();
    for Row { name, failure, .. } in all() {
        let shown = failure.render(&Palette);
        let shown = anstream::adapter::strip_str(&shown);
        text += &format!("{name} → {}\n{shown}\n", failure.exit as u8);
    }
    insta::assert_snapshot!(text);
}

#[test]
fn every_error_is_provoked_by_a_test_or_says_why_not() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for Row { name, seen, .. } in all() {
        match seen {
            In(file, test) => {
                let text = fs::read_to_string(crates.join(file)).unwrap();
                let is_there = text.contains(&format!("#[test]\nfn {test}("));
                assert!(is_there, "{name}: {file} has no test {test}");
            }
            OnlyHere(why) => assert!(!why.is_empty(), "{name}"),
        }
    }
}
