//! Long paths: what a query costs, what cores leave out, how close models stay, what paths learn from each other.

use parallax_expr::{Label, MemoryStore, Op, build};
use parallax_solver::{Answer, Config, Constraint, Layer, Limits, SmtProgram, Solver, Why};
use std::time::{Duration, Instant};

fn byte(store: &mut MemoryStore, offset: u64, value: u8) -> Label {
    build::input(store, 0, offset, value)
}

fn below(store: &mut MemoryStore, label: Label, limit: u128) -> Label {
    let width = u32::from(parallax_expr::Store::node(store, label).width);
    let limit = build::constant(store, width, limit);
    build::binary(store, Op::Ult, label, limit)
}

/// A path of `length` constraints over `length / 5` bytes, each byte apart from the others.
fn long_path(store: &mut MemoryStore, length: u64) -> Vec<Constraint> {
    (0..length)
        .map(|index| {
            let byte = byte(store, index / 5, 7);
            let condition = below(store, byte, u128::from(200 - index % 5));
            Constraint::is(condition, true)
        })
        .collect()
}

fn time_for_queries(length: u64) -> Duration {
    let mut store = MemoryStore::new();
    let constraints = long_path(&mut store, length);
    let solver = Solver::new(Config::default());
    let mut path = solver.path(&store, &[0]);
    for &constraint in &constraints {
        path.push(constraint);
    }
    assert_eq!(path.len() as u64, length);
    let start = Instant::now();
    for position in 0..2_000usize {
        let position = position * (length as usize / 2_000);
        let answer = path.solve(position, &[constraints[position].opposite()], None);
        let changed = answer.model().map(|model| model.bytes.len());
        // Only the first constraint on a byte can be turned: the others are weaker.
        match position % 5 {
            0 => assert_eq!(changed, Some(1), "at {position}: {answer:?}"),
            _ => assert!(
                changed == Some(1) || answer.is_unsat(),
                "at {position}: {answer:?}"
            ),
        }
    }
    start.elapsed()
}

#[test]
fn a_query_costs_what_its_slice_is_large_not_what_the_path_is_long() {
    let short = time_for_queries(4_000);
    let long = time_for_queries(100_000);
    assert!(
        long < short * 4 + Duration::from_millis(200),
        "{short:?} for a short path, {long:?} for a long one"
    );
}

#[test]
fn a_path_of_fifty_thousand_constraints_over_growing_sums_is_pushed_quickly() {
    let mut store = MemoryStore::new();
    let mut sum = build::constant(&mut store, 32, 0);
    let mut constraints = Vec::new();
    for offset in 0..500 {
        let byte = byte(&mut store, offset, 1);
        let wide = build::zext(&mut store, byte, 32);
        sum = build::add(&mut store, sum, wide);
        for limit in 0..100 {
            let condition = below(&mut store, sum, 200_000 + limit);
            constraints.push(Constraint::is(condition, true));
        }
    }
    let solver = Solver::new(Config::default());
    let mut path = solver.path(&store, &[0]);
    let start = Instant::now();
    for &constraint in &constraints {
        path.push(constraint);
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(path.len(), 50_000);
}

#[test]
fn one_byte_of_a_hundred_changes_when_one_is_enough() {
    for (cheap, cache) in [(true, true), (false, false)] {
        let mut store = MemoryStore::new();
        let mut path_constraints = Vec::new();
        let mut previous = byte(&mut store, 0, 50);
        for offset in 1..100 {
            // Neighbours are linked, so that all are in the slice.
            let next = byte(&mut store, offset, 50);
            let linked = build::binary(&mut store, Op::Ule, previous, next);
            path_constraints.push(Constraint::is(linked, true));
            previous = next;
        }
        let last = below(&mut store, previous, 100);
        let solver = Solver::new(Config {
            cheap,
            cache,
            smt: SmtProgram::Off,
            ..Config::default()
        });
        let mut path = solver.path(&store, &[0]);
        for constraint in path_constraints {
            path.push(constraint);
        }
        let answer = path.solve(99, &[Constraint::is(last, false)], None);
        let model = answer.model().expect("a model");
        let changed: Vec<u64> = model.bytes.keys().map(|(_, offset)| *offset).collect();
        assert_eq!(changed, [99], "cheap: {cheap}");
    }
}

#[test]
fn cores_name_what_contradicts_and_nothing_else() {
    let mut store = MemoryStore::new();
    let (x, y) = (byte(&mut store, 0, 1), byte(&mut store, 1, 1));
    let (wide_x, wide_y) = (
        build::zext(&mut store, x, 16),
        build::zext(&mut store, y, 16),
    );
    let sum = build::add(&mut store, wide_x, wide_y);
    let unrelated: Vec<Label> = (2..60)
        .map(|offset| {
            let z = byte(&mut store, offset, 1);
            let linked = build::binary(&mut store, Op::Xor, z, x);
            below(&mut store, linked, 250)
        })
        .collect();
    let small_x = below(&mut store, x, 10);
    let small_y = below(&mut store, y, 10);
    let small_sum = below(&mut store, sum, 25);
    let solver = Solver::new(Config::default());
    let mut path = solver.path(&store, &[0]);
    for &label in &unrelated[..30] {
        path.push(Constraint::is(label, true));
    }
    path.push(Constraint::is(small_x, true));
    for &label in &unrelated[30..] {
        path.push(Constraint::is(label, true));
    }
    path.push(Constraint::is(small_y, true));
    let answer = path.solve(path.len(), &[Constraint::is(small_sum, false)], None);
    let Answer::Unsat(core) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(core.constraints, [30, 59]);
    assert!(core.with_goal);
}

#[test]
fn a_prefix_ends_before_what_comes_later() {
    let mut store = MemoryStore::new();
    let x = byte(&mut store, 0, 1);
    let small = below(&mut store, x, 10);
    let solver = Solver::new(Config::default());
    let mut path = solver.path(&store, &[0]);
    path.push(Constraint::is(small, true));
    assert!(path.solve(0, &[Constraint::equals(x, 77)], None).is_sat());
    assert!(path.solve(1, &[Constraint::equals(x, 77)], None).is_unsat());
    path.push(Constraint::differs(x, 5));
    assert!(path.solve(1, &[Constraint::equals(x, 5)], None).is_sat());
    assert!(path.solve(2, &[Constraint::equals(x, 5)], None).is_unsat());
}

#[test]
fn goals_can_be_built_on_top_of_the_trace() {
    let mut store = MemoryStore::new();
    let x = byte(&mut store, 0, 100);
    let small = below(&mut store, x, 200);
    let solver = Solver::new(Config::default());
    let mut path = solver.path(&store, &[0]);
    path.push(Constraint::is(small, true));
    let goal = {
        let s = path.expressions();
        let wide = build::zext(s, x, 16);
        let hundred = build::constant(s, 16, 100);
        build::add(s, wide, hundred)
    };
    let answer = path.solve(
        1,
        &[Constraint {
            label: goal,
            holds: parallax_solver::Holds::Outside(0, 255),
        }],
        None,
    );
    let value = answer.model().expect("a model").bytes[&(0, 0)];
    assert!((156..200).contains(&value), "{value}");
    assert!(
        path.solve(1, &[Constraint::equals(goal, 300)], None)
            .is_unsat()
    );
}

#[test]
fn what_one_path_learned_serves_the_next() {
    let solver = Solver::new(Config {
        cheap: false,
        ..Config::default()
    });
    // The same source is number 1 in the first trace and number 0 in the second, whose seed differs, too.
    for (source, names, seed) in [(1, vec![4, 9], 1u8), (0, vec![9], 3)] {
        let mut store = MemoryStore::new();
        let x = build::input(&mut store, source, 5, seed);
        let y = build::input(&mut store, source, 6, seed);
        let sum = build::add(&mut store, x, y);
        let small_x = below(&mut store, x, 10);
        let small_y = below(&mut store, y, 10);
        let mut path = solver.path(&store, &names);
        path.push(Constraint::is(small_x, true));
        path.push(Constraint::is(small_y, true));
        let answer = path.solve(2, &[Constraint::equals(sum, 17)], None);
        let model = answer.model().expect("a model");
        assert!(model.bytes.keys().all(|(id, _)| *id == 9), "{model:?}");
        assert!(
            path.solve(2, &[Constraint::equals(sum, 19)], None)
                .is_unsat()
        );
        // More constraints than the known contradiction has.
        path.push(Constraint::differs(x, 77));
        path.push(Constraint::differs(sum, 0));
        let answer = path.solve(4, &[Constraint::equals(sum, 19)], None);
        assert_eq!(
            answer,
            Answer::Unsat(parallax_solver::Core {
                constraints: vec![0, 1],
                with_goal: true
            })
        );
    }
    let statistics = solver.statistics();
    let cache = statistics.layers[&Layer::Cache];
    assert_eq!((cache.sat, cache.unsat), (1, 3), "{statistics:?}");
}

#[test]
fn limits_are_answers() {
    let mut store = MemoryStore::new();
    let word = |store: &mut MemoryStore, from: u64| {
        (1..8).fold(build::input(store, 0, from, 3), |low, offset| {
            let high = build::input(store, 0, from + offset, 5);
            build::concat(store, high, low)
        })
    };
    let (x, y) = (word(&mut store, 0), word(&mut store, 8));
    let (x, y) = (
        build::zext(&mut store, x, 128),
        build::zext(&mut store, y, 128),
    );
    let product = build::binary(&mut store, Op::Mul, x, y);
    // The product of two primes of 60 bits.
    let hard = Constraint::equals(product, 1_152_921_504_606_846_883 * 576_460_752_303_423_433);
    let solver = Solver::new(Config {
        smt: SmtProgram::Off,
        ..Config::default()
    });
    let mut path = solver.path(&store, &[0]);
    let few = Limits {
        conflicts: 50,
        ..Limits::default()
    };
    assert_eq!(
        path.solve(0, &[hard], Some(few)),
        Answer::Unknown(Why::Limit)
    );
    let small = Limits {
        gates: 100,
        ..Limits::default()
    };
    let mut path = solver.path(&store, &[0]);
    assert_eq!(
        path.solve(0, &[hard], Some(small)),
        Answer::Unknown(Why::TooLarge)
    );
    // The same path goes on.
    assert!(path.solve(0, &[Constraint::equals(x, 77)], None).is_sat());
    let quick = Limits {
        time: Duration::from_millis(50),
        conflicts: u32::MAX >> 1,
        ..Limits::default()
    };
    let start = Instant::now();
    assert_eq!(
        path.solve(0, &[hard], Some(quick)),
        Answer::Unknown(Why::Limit)
    );
    assert!(
        start.elapsed() < Duration::from_secs(10),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(solver.statistics().limits, 3);
}

#[test]
fn sources_that_cannot_be_changed_stay_as_they_are() {
    for (cheap, smt) in [
        (true, SmtProgram::Off),
        (false, SmtProgram::Off),
        (false, SmtProgram::Find),
    ] {
        let mut store = MemoryStore::new();
        let fixed = build::input(&mut store, 0, 0, 40);
        let free = build::input(&mut store, 1, 0, 1);
        let sum = build::add(&mut store, fixed, free);
        let solver = Solver::new(Config {
            cheap,
            oracle: smt == SmtProgram::Find,
            smt,
            ..Config::default()
        });
        let names = [parallax_solver::FIRST_FIXED + 7, 3];
        let mut path = solver.path(&store, &names);
        let answer = path.solve(0, &[Constraint::equals(sum, 90)], None);
        let bytes = &answer.model().expect("a model").bytes;
        assert_eq!(bytes.iter().collect::<Vec<_>>(), [(&(3, 0), &50)]);
        assert!(
            path.solve(0, &[Constraint::equals(fixed, 41)], None)
                .is_unsat()
        );
        assert!(
            path.solve(0, &[Constraint::equals(fixed, 40)], None)
                .is_sat()
        );
    }
}
