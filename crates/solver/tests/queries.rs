//! The corpus of queries in text form, through several configurations.

use parallax_expr::{Evaluator, Store};
use parallax_solver::query::{Expected, Query};
use parallax_solver::{Answer, Config, SmtProgram, Solver, Variable};
use std::collections::BTreeMap;
use std::path::Path;

fn corpus() -> Vec<(String, Query)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/queries");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the corpus is there")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("text");
        let name = file.file_stem().expect("a name").to_string_lossy();
        let queries = Query::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        for query in queries {
            all.push((format!("{name}: {}", query.name), query));
        }
    }
    assert!(all.len() >= 40, "the corpus is complete");
    all
}

fn solve(solver: &Solver, query: &Query) -> Answer {
    let mut path = solver.path(&query.store, &query.names);
    query.fill(&mut path);
    path.solve(query.path.len(), &query.goal, None)
}

/// Evaluates the model independently of the solver.
fn check_model(name: &str, query: &Query, bytes: &BTreeMap<Variable, u8>) {
    let mut evaluator = Evaluator::new(&query.store, |source: u32, offset| {
        let id = query.names[source as usize];
        bytes.get(&(id, offset)).copied()
    });
    for constraint in query.path.iter().chain(&query.goal) {
        let value = evaluator.value(constraint.label);
        assert!(
            value.is_some_and(|value| constraint.holds.of(value)),
            "{name}: the model gives {value:?} where {constraint:?} is asked"
        );
    }
    for node in (1..=query.store.len() as u32).map(|label| query.store.node(label)) {
        if node.op == parallax_expr::Op::Input as u8 {
            let variable = (query.names[node.a as usize], u64::from(node.b));
            let changed = bytes.get(&variable);
            assert_ne!(changed, Some(&(node.lo as u8)), "{name}: no change");
        }
    }
}

/// What must be as the corpus has it, besides satisfiability.
#[derive(PartialEq)]
enum Exact {
    ModelsAndCores,
    Cores,
    Nothing,
}

fn check(config: Config, skip: impl Fn(&str) -> bool, exact: Exact) {
    let mut wrong = Vec::new();
    for (name, query) in corpus() {
        if skip(&name) {
            continue;
        }
        let solver = Solver::new(config.clone());
        let answer = solve(&solver, &query);
        let expected = query.answer.as_ref().expect("an expected answer");
        match (&answer, expected) {
            (Answer::Sat(model), Expected::Sat(golden)) => {
                check_model(&name, &query, &model.bytes);
                if exact == Exact::ModelsAndCores && !golden.bytes.is_empty() && model != golden {
                    wrong.push(format!("{name}: {answer:?}"));
                }
            }
            (Answer::Unsat(core), Expected::Unsat(golden)) => {
                if exact != Exact::Nothing && core != golden {
                    wrong.push(format!("{name}: {answer:?}"));
                }
            }
            (other, _) => wrong.push(format!("{name}: {other:?}")),
        }
        let statistics = solver.statistics();
        assert!(
            statistics.disagreements.is_empty(),
            "{name}: {:?}",
            statistics.disagreements
        );
        assert_eq!(statistics.wrong_models, 0, "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn all_layers_together_give_the_golden_answers() {
    check(Config::default(), |_| false, Exact::ModelsAndCores);
}

#[test]
fn bit_blasting_alone_gives_the_golden_answers_to_everything_integer() {
    let config = Config {
        cache: false,
        cheap: false,
        smt: SmtProgram::Off,
        ..Config::default()
    };
    check(config, |name| name.starts_with("floats"), Exact::Cores);
}

#[test]
fn floating_point_over_a_few_digits_needs_no_smt_program() {
    let config = Config {
        smt: SmtProgram::Off,
        ..Config::default()
    };
    let of_digits = ["floats: a decimal of two digits", "floats: two steps down"];
    let skip = |name: &str| !of_digits.iter().any(|start| name.starts_with(start));
    check(config, skip, Exact::Nothing);
}

#[test]
fn no_layer_contradicts_those_below() {
    let config = Config {
        oracle: true,
        ..Config::default()
    };
    check(config, |_| false, Exact::Nothing);
}

#[test]
fn queries_are_printed_as_they_are_read() {
    for (name, query) in corpus() {
        let text = query.print();
        let again = Query::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert_eq!(again.len(), 1, "{name}");
        assert_eq!(again[0].print(), text, "{name}");
    }
}

#[test]
fn texts_that_are_no_queries_are_refused_with_the_line() {
    for (text, line) in [
        ("goal = 1 (eq (input 0 0) 1:9)", 1),
        ("\nassert ? 3 1:8", 2),
        ("table 1 0x10 00", 1),
        ("cell 0 0 (input 0 0)", 1),
        ("table 0 0x10 0g", 1),
        ("answer perhaps", 1),
        ("source 0", 1),
        ("nonsense", 1),
    ] {
        let error = Query::parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn a_log_can_be_replayed() {
    let directory = tempfile::tempdir().expect("a directory");
    let log = directory.path().join("log");
    let solver = Solver::new(Config {
        log: Some(log.clone()),
        ..Config::default()
    });
    let answers: Vec<Answer> = corpus()
        .iter()
        .map(|(_, query)| solve(&solver, query))
        .collect();
    let text = std::fs::read_to_string(&log).expect("a log");
    let queries = Query::parse(&text).expect("a readable log");
    assert_eq!(queries.len(), answers.len());
    let again = Solver::new(Config::default());
    for (query, before) in queries.iter().zip(&answers) {
        let answer = solve(&again, query);
        assert_eq!(answer.is_sat(), before.is_sat(), "{}", query.print());
        assert!(query.layer.is_some());
    }
    assert_eq!(solver.statistics().log_error, None);
}
