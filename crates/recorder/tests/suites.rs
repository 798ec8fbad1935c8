//! Programs are recorded however a test suite gets at them, and the test that made a run is known.

mod support;

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use parallax_recorder::{Progress, RecorderError, record};
use support::{CAT, Project, bytes};

fn with_cat() -> Project {
    let mut project = Project::new();
    project.program("src/cat", CAT);
    project.write("in", "x\n");
    project
}

/// Whether a tool is there; tests of what is not installed cannot be made.
fn is_installed(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

#[test]
fn by_path_by_full_name_by_link_and_as_a_copy() {
    let project = with_cat();
    for line in [
        "PATH=$PWD/src:$PATH; cat in",
        "$PWD/src/cat in",
        "ln -s src/cat linked; ./linked in",
        "ln src/cat hard; ./hard in",
        "mkdir -p copy; cp src/cat copy; copy/cat in",
        "exec src/cat in",
        "env src/cat in",
        "echo in | xargs src/cat",
    ] {
        let run = project.sh(line).only();
        assert_eq!(run.program, bytes("src/cat"), "{line}");
        assert_eq!(run.scenario.argv, [bytes("in")], "{line}");
        assert_eq!(run.result.stdout, bytes("x\n"), "{line}");
    }
}

#[test]
fn through_a_wrapper_script_as_libtool_makes_it() {
    let mut project = Project::new();
    project.program("src/.libs/cat", CAT);
    project.script(
        "src/cat",
        "#!/bin/sh\nexec \"$(dirname \"$0\")/.libs/cat\" ${1+\"$@\"}\n",
    );
    project.write("in", "x\n");
    project.script("t/a.sh", "#!/bin/sh\nsrc/cat in\n");
    let run = project.sh("t/a.sh").only();
    assert_eq!(run.program, bytes("src/.libs/cat"));
    assert_eq!(run.test.as_deref(), Some("t/a.sh"));
}

#[test]
fn under_make_in_parallel() {
    let project = with_cat();
    let mut makefile = String::from("check: 1 2 3 4 5 6 7 8\n");
    for number in 1..=8 {
        makefile += &format!("{number}:\n\t@for i in a b c; do echo {number}$$i | src/cat; done\n");
    }
    project.write("Makefile", makefile);
    let recording = project.record(&["make", "-j8", "check"]);
    let inputs: BTreeSet<_> = recording
        .runs
        .iter()
        .map(|run| (run.scenario.stdin.clone(), run.result.stdout.clone()))
        .collect();
    assert_eq!(inputs.len(), 24);
    assert!(inputs.iter().all(|(stdin, stdout)| stdin == stdout));
}

#[test]
fn tests_of_automake_are_named() {
    let project = with_cat();
    project.script(
        "test-driver",
        "#!/bin/sh\nwhile test $1 != --; do shift; done; shift\n\"$@\" > log 2>&1\n",
    );
    project.script("tests/one.sh", "#!/bin/sh\nsrc/cat in | grep x\n");
    let line =
        "/bin/sh ./test-driver --test-name tests/one.sh --log-file l -- /bin/sh ./tests/one.sh";
    assert_eq!(
        project.sh(line).only().test.as_deref(),
        Some("tests/one.sh")
    );
}

#[test]
fn under_ctest() {
    if !is_installed("ctest") {
        return;
    }
    let project = with_cat();
    let program = project.path("src/cat");
    let test = format!(
        "add_test(first \"{0}\" \"in\")\nadd_test(second \"{0}\" \"none\")\n",
        program.display()
    );
    project.write("CTestTestfile.cmake", test);
    let recording = project.record(&["ctest"]);
    assert_eq!(recording.runs.len(), 2);
    for run in &recording.runs {
        assert!(
            run.test
                .as_deref()
                .is_some_and(|test| test.contains("src/cat"))
        );
    }
}

#[test]
fn under_meson() {
    if !is_installed("meson") || !is_installed("ninja") {
        return;
    }
    let mut project = Project::new();
    project.write("cat.c", CAT);
    project.write("in", "x\n");
    project.write(
        "meson.build",
        "project('p', 'c')\ncat = executable('cat', 'cat.c')\n\
         test('one', cat, args: [files('in')])\ntest('two', cat, args: ['none'], should_fail: true)\n",
    );
    let set_up = Command::new("meson")
        .args(["setup", "b"])
        .current_dir(&project.root)
        .output();
    assert!(set_up.unwrap().status.success());
    project.sh("ninja -C b >/dev/null");
    project.add("b/cat");
    let recording = project.record(&["meson", "test", "-C", "b"]);
    let mut outputs: Vec<_> = recording
        .runs
        .iter()
        .map(|run| run.result.stdout.clone())
        .collect();
    outputs.sort();
    assert_eq!(outputs, ["", "x\n"].map(bytes));
    assert!(recording.runs.iter().all(|run| run.test.is_some()));
}

#[test]
fn programs_that_run_programs_are_recorded_both() {
    let mut project = with_cat();
    project.program(
        "run",
        "#include <unistd.h>\nint main(int n, char **v) { return execvp(v[1], v + 1); }",
    );
    let recording = project.sh("./run src/cat in");
    let mut runs: Vec<_> = recording
        .runs
        .iter()
        .map(|run| (run.program.clone(), run.result.stdout.clone()))
        .collect();
    runs.sort();
    assert_eq!(
        runs,
        [
            (bytes("run"), bytes("x\n")),
            (bytes("src/cat"), bytes("x\n"))
        ]
    );
    // Both are given the file.
    for run in &recording.runs {
        assert!(run.scenario.files.contains_key(&bytes("in")));
    }
}

#[test]
fn tests_whose_scenarios_cannot_be_kept_do_not_go_on() {
    const RUNS: usize = 1000;
    let project = with_cat();
    let script = format!("i=0; while [ $i -lt {RUNS} ]; do src/cat in >> out; i=$((i + 1)); done");
    let full = |_| Err(std::io::Error::from(std::io::ErrorKind::StorageFull));
    let plan = project.plan(&["sh", "-c", &script]);
    let stop = AtomicBool::new(false);
    let error = record(&plan, &Progress::default(), &stop, full).unwrap_err();
    assert!(matches!(error, RecorderError::Sink(_)), "{error}");
    let runs = std::fs::read_to_string(project.path("out")).unwrap();
    assert!(runs.lines().count() < RUNS);
}
