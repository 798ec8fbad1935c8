//! A share of the differential test of models, and that it finds what it looks for.
//!
//! Needs the release binaries of `make build` (`PARALLAX` names another one).

mod support;

use parallax_torture::models::case::Case;
use parallax_torture::models::families::{self, Family};
use parallax_torture::models::run::{Failure, Plan, run};
use parallax_torture::rng::Rng;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::tool;

/// Cases of each family.
const SHARE: u64 = 300;

fn try_family(family: &Family, cases: u64) -> Result<(), Failure> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("models")
        .join(family.name);
    let plan = Plan {
        tool: &tool(),
        family,
        cases,
        seed: 7,
        folder: &folder,
    };
    run(&plan).map(|_| ())
}

#[test]
fn models_do_what_libc_does() {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(family) = families::ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(failure) = try_family(family, SHARE) {
                        let mut failures = failures.lock().expect("a family panicked");
                        failures.push(format!("{}: {failure}", family.name));
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("a family panicked");
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
}

/// A family with one check whose body is given; its case is one symbolic text.
fn broken(name: &'static str, source: &'static str) -> Failure {
    fn one_text(rng: &mut Rng) -> Case {
        Case::new("broken", rng).text("some text")
    }
    let family = Family {
        name,
        source,
        generate: one_text,
        known_losses: &[],
    };
    try_family(&family, 50).expect_err("the fault is found")
}

#[test]
fn a_model_that_computes_something_else_is_found() {
    let failure = broken(
        "differs",
        r#"#include "harness.h"
        static void check_broken(struct world *world) {
            char *text = take_text(world);
            size_t length = strlen(text) + (world->is_real && text[0] == 's');
            PUT(world, length);
        }
        FAMILY(CHECK(broken))"#,
    );
    assert!(failure.to_string().contains("differ"), "{failure}");
}

#[test]
fn memory_that_a_model_leaves_different_is_found() {
    let failure = broken(
        "memory",
        r#"#include "harness.h"
        static void check_broken(struct world *world) {
            char *text = take_text(world);
            if (world->is_real)
                text[3] = 'x';
        }
        FAMILY(CHECK(broken))"#,
    );
    assert!(failure.to_string().contains("differ"), "{failure}");
}

#[test]
fn a_function_without_model_is_found() {
    let failure = broken(
        "lost",
        r#"#include "harness.h"
        REAL(a64l)
        static void check_broken(struct world *world) {
            char *text = take_text(world);
            long number = CALL(world, a64l, (text));
            PUT(world, number);
        }
        FAMILY(CHECK(broken))"#,
    );
    assert!(failure.to_string().contains("lost: "), "{failure}");
    assert!(failure.to_string().contains("a64l"), "{failure}");
}

#[test]
fn memory_written_behind_the_labels_is_found() {
    let failure = broken(
        "stale",
        r#"#include "harness.h"
        static void check_broken(struct world *world) {
            char *text = take_text(world), byte = 'x';
            bare_copy(text + 2, &byte, 1);
        }
        FAMILY(CHECK(broken))"#,
    );
    let text = failure.to_string();
    assert!(
        text.contains("lost: ") || text.contains("mismatch"),
        "{text}"
    );
}

#[test]
fn a_model_without_expressions_is_found() {
    let failure = broken(
        "concrete",
        r#"#include "harness.h"
        static void check_broken(struct world *world) {
            take_text(world);
            int nothing = 0;
            PUT(world, nothing);
        }
        FAMILY(CHECK(broken))"#,
    );
    assert!(matches!(failure, Failure::Concrete(_)), "{failure}");
}

#[test]
fn a_symbolic_number_that_only_libc_can_write_is_noted() {
    let failure = broken(
        "floating",
        r#"#include "harness.h"
        REAL(sprintf)
        static void check_broken(struct world *world) {
            char *text = take_text(world), *to = take_room(world, 40);
            CALL(world, sprintf, (to, "%.3f", text[0] / 2.0));
        }
        FAMILY(CHECK(broken))"#,
    );
    assert!(failure.to_string().contains("lost: "), "{failure}");
    assert!(failure.to_string().contains("sprintf"), "{failure}");
}
