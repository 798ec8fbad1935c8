//! How long it takes to build expressions. Run in release mode:
//! `cargo test --release -p parallax-expr --test throughput -- --ignored --nocapture`.

use parallax_expr::{Label, MemoryStore, Op, build};
use std::hint::black_box;
use std::io::Write;

/// Nanoseconds that this thread has spent on a processor: other work on the machine does not count.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux's accounting");
    text.split(' ')
        .next()
        .and_then(|field| field.parse().ok())
        .expect("a number")
}

fn measure(name: &str, operations: u32, run: impl FnOnce()) -> f64 {
    let start = processor_time();
    run();
    let each = (processor_time() - start) / f64::from(operations);
    writeln!(std::io::stdout(), "{name}: {each:.1} ns per operation").expect("standard output");
    each
}

#[test]
#[ignore = "a measurement"]
fn building_takes_tens_of_nanoseconds() {
    const COUNT: u32 = 1_000_000;
    let mut store = MemoryStore::new();
    let inputs: Vec<Label> = (0..64)
        .map(|i| build::input(&mut store, 0, i, i as u8))
        .collect();
    let words: Vec<Label> = inputs
        .iter()
        .map(|&i| build::zext(&mut store, i, 32))
        .collect();
    let operators = [Op::Add, Op::Xor, Op::Mul, Op::Sub, Op::And, Op::Ult];
    let fresh = measure("new nodes", COUNT, || {
        let mut last = words[0];
        for index in 0..COUNT {
            let op = operators[index as usize % 5];
            last = build::binary(&mut store, op, last, words[index as usize % 61]);
        }
        black_box(last);
    });
    let repeated = measure("nodes that exist", COUNT, || {
        for index in 0..COUNT as usize {
            let op = operators[index % 6];
            black_box(build::binary(
                &mut store,
                op,
                words[index % 13],
                words[index % 11],
            ));
        }
    });
    let compared = measure(
        "byte compared with a constant (three operations)",
        COUNT,
        || {
            for index in 0..COUNT as usize {
                let wide = build::zext(&mut store, inputs[index % 64], 32);
                let letter = build::constant(&mut store, 32, (index % 128) as u128);
                black_box(build::binary(&mut store, Op::Eq, wide, letter));
            }
        },
    );
    let assembled = measure(
        "four bytes put together (eleven operations)",
        COUNT / 10,
        || {
            for index in 0..COUNT as usize / 10 {
                let mut sum = words[index % 60];
                for place in 1..4 {
                    let amount = build::constant(&mut store, 32, 8 * place as u128);
                    let shifted =
                        build::binary(&mut store, Op::Shl, words[index % 60 + place], amount);
                    sum = build::binary(&mut store, Op::Or, sum, shifted);
                }
                black_box(sum);
            }
        },
    );
    // Generous: a shared machine must not fail the build.
    assert!(fresh < 600.0 && repeated < 600.0 && compared < 1800.0 && assembled < 6000.0);
}
