//! SMT-LIB programs that misbehave: the query has no answer, the reason is known, and the next one is asked anew.

use parallax_expr::sexpr::{Construction, parse};
use parallax_expr::{Label, MemoryStore};
use parallax_solver::{Answer, Config, Constraint, Limits, SmtProgram, Solver, Statistics, Why};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Needs floating point on four bytes: nothing but the program can decide it.
const QUERY: &str = "(flt 0x3f800000:32 (fadd (concat (input 0 3) (concat (input 0 2) (concat (input 0 1) \
     (input 0 0)))) (concat (input 0 7) (concat (input 0 6) (concat (input 0 5) (input 0 4))))))";

fn program(directory: &Path, script: &str) -> PathBuf {
    let path = directory.join("z3");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("an executable script");
    path
}

fn config(program: &Path) -> Config {
    Config {
        smt: SmtProgram::Command(vec![program.to_string_lossy().into_owned()]),
        cheap: false,
        limits: Limits {
            time: Duration::from_millis(100),
            ..Limits::default()
        },
        ..Config::default()
    }
}

fn query(store: &mut MemoryStore) -> Label {
    parse(store, QUERY, Construction::Verbatim).expect("a query")
}

/// Asks `times` times; gives the last answer.
fn ask(script: &str, times: usize) -> (Answer, Statistics) {
    let directory = tempfile::tempdir().expect("a directory");
    let program = program(directory.path(), script);
    let solver = Solver::new(config(&program));
    let mut store = MemoryStore::new();
    let label = query(&mut store);
    let mut path = solver.path(&store, &[0]);
    let start = Instant::now();
    let mut answer = None;
    for _ in 0..times {
        answer = Some(path.solve(0, &[Constraint::is(label, true)], None));
    }
    assert!(start.elapsed() < Duration::from_secs(20), "nothing hangs");
    (answer.expect("an answer"), solver.statistics())
}

fn failure(answer: &Answer) -> &str {
    match answer {
        Answer::Unknown(Why::BackEnd(how)) => how,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_that_hangs_is_ended() {
    let (answer, statistics) = ask("sleep 1000", 1);
    assert_eq!(failure(&answer), "no answer in time");
    assert_eq!(statistics.failures["no answer in time"], 1);
    assert_eq!(statistics.switched_off, None);
}

#[test]
fn a_program_that_reads_nothing_does_not_block_a_long_script() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = program(directory.path(), "sleep 1000");
    let solver = Solver::new(config(&program));
    let mut store = MemoryStore::new();
    let label = query(&mut store);
    let mut goal = vec![Constraint::is(label, true)];
    for value in 0..5_000u32 {
        // Far more text than a pipe holds.
        let text = format!(
            "(flt (fmul (concat (input 0 3) (concat (input 0 2) (concat (input 0 1) (input 0 0)))) {value}:32) 1:32)"
        );
        let label = parse(&mut store, &text, Construction::Verbatim).expect("a query");
        goal.push(Constraint::is(label, false));
    }
    let mut path = solver.path(&store, &[0]);
    let answer = path.solve(0, &goal, None);
    assert_eq!(failure(&answer), "no answer in time");
}

#[test]
fn a_program_that_dies_is_started_again() {
    let (answer, statistics) = ask("read line; kill -9 $$", 2);
    assert!(failure(&answer).contains("signal: 9"), "{answer:?}");
    assert_eq!(statistics.failures["ended"], 2);
}

#[test]
fn a_program_that_ends_at_once_is_started_again() {
    let (answer, statistics) = ask("exit 3", 2);
    assert!(failure(&answer).contains("exit status: 3"), "{answer:?}");
    assert_eq!(statistics.failures["ended"], 2);
}

#[test]
fn garbage_is_no_answer() {
    let (answer, statistics) = ask(
        "while read line; do echo '?!%'; echo parallax-end-of-answer; done",
        1,
    );
    assert!(failure(&answer).starts_with("not understood"), "{answer:?}");
    assert_eq!(statistics.failures["not understood"], 1);
}

#[test]
fn endless_garbage_is_no_answer() {
    let (answer, _) = ask(
        "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
        1,
    );
    let how = failure(&answer);
    assert!(
        how == "said too much" || how == "no answer in time",
        "{how}"
    );
}

#[test]
fn bytes_that_are_no_text_are_no_answer() {
    let (answer, _) = ask(
        "printf '\\377\\376\\000\\n'; while read line; do echo parallax-end-of-answer; done",
        1,
    );
    assert!(failure(&answer).starts_with("not understood"), "{answer:?}");
}

/// A model is printed by a program that knows no more than the names it is asked for.
const LIAR: &str = r#"
while read -r line; do
    case "$line" in
        *check-sat*) echo sat ;;
        *get-value*)
            names=${line#*((}
            echo "((in_0_0 #x00) (in_0_1 #x00) (in_0_2 #x00) (in_0_3 #x00) (in_0_4 #x00) (in_0_5 #x00) (in_0_6 #x00) (in_0_7 #x00))" ;;
        *parallax-end*) echo parallax-end-of-answer ;;
    esac
done"#;

#[test]
fn a_model_that_does_not_hold_is_thrown_away() {
    let (answer, statistics) = ask(LIAR, 1);
    assert_eq!(answer, Answer::Unknown(Why::WrongModel));
    assert_eq!(statistics.wrong_models, 1);
}

#[test]
fn a_program_that_eats_memory_meets_its_limit() {
    let directory = tempfile::tempdir().expect("a directory");
    let program = program(
        directory.path(),
        "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done",
    );
    let solver = Solver::new(Config {
        smt_memory: 256 << 20,
        limits: Limits {
            time: Duration::from_secs(20),
            ..Limits::default()
        },
        ..config(&program)
    });
    let mut store = MemoryStore::new();
    let label = query(&mut store);
    let mut path = solver.path(&store, &[0]);
    let answer = path.solve(0, &[Constraint::is(label, true)], None);
    assert!(failure(&answer).starts_with("ended"), "{answer:?}");
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let directory = tempfile::tempdir().expect("a directory");
    let solver = Solver::new(config(&directory.path().join("nothing")));
    let mut store = MemoryStore::new();
    let label = query(&mut store);
    let mut path = solver.path(&store, &[0]);
    let answer = path.solve(0, &[Constraint::is(label, true)], None);
    let how = failure(&answer);
    assert!(
        how.contains("cannot start") && how.contains("nothing"),
        "{how}"
    );
}

#[test]
fn a_program_that_keeps_failing_is_switched_off() {
    let (answer, statistics) = ask("exit 3", 7);
    assert_eq!(answer, Answer::Unknown(Why::Unsupported));
    assert_eq!(statistics.failures["ended"], 5);
    let note = statistics.switched_off.expect("a note");
    assert!(note.contains("5 failures in a row"), "{note}");
    assert_eq!(statistics.unknown, 7);
}

#[test]
fn failures_that_are_not_in_a_row_do_not_switch_off() {
    let directory = tempfile::tempdir().expect("a directory");
    let flag = directory.path().join("flag");
    // Fails every other time that it is started.
    let script = format!(
        "if [ -e {flag} ]; then rm {flag}; exit 1; fi; touch {flag}; \
         while read -r line; do case \"$line\" in *check-sat*) echo unsat;; *parallax-end*) echo parallax-end-of-answer; done=1;; esac; \
         if [ \"$done\" = 1 ]; then read -r line; exit 0; fi; done",
        flag = flag.display()
    );
    let program = program(directory.path(), &script);
    let solver = Solver::new(Config {
        cache: false,
        ..config(&program)
    });
    let mut store = MemoryStore::new();
    let label = query(&mut store);
    let mut path = solver.path(&store, &[0]);
    let answers: Vec<bool> = (0..16)
        .map(|_| {
            path.solve(0, &[Constraint::is(label, true)], None)
                .is_unsat()
        })
        .collect();
    let statistics = solver.statistics();
    assert_eq!(statistics.switched_off, None);
    assert!(
        answers.iter().filter(|unsat| **unsat).count() >= 4,
        "{answers:?}"
    );
    assert!(answers.iter().any(|unsat| !unsat), "{answers:?}");
}
