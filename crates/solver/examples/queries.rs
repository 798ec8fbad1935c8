//! Replays a log of queries and prints queries per second and the share of each layer.
//!
//! ```text
//! cargo run --release -p parallax-solver --example queries -- LOG… [--repeat N] [--generate N]
//! ```
//!
//! Without a log, `--generate N` makes N queries like those of text tools: character classes, options, numbers in
//! decimal, keywords, table lookups, checksums.
#![allow(clippy::print_stdout, reason = "a program for the command line")]

use parallax_expr::{Label, Op, build};
use parallax_solver::query::{Expected, Query};
use parallax_solver::{Answer, Config, Constraint, Holds, Solver};
use std::time::Duration;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut queries: Vec<Query> = Vec::new();
    let mut repeat = 1;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().unwrap_or_default().parse::<usize>();
        match argument.as_str() {
            "--repeat" => repeat = number()?,
            "--generate" => queries.extend(generate(number()?)),
            file => queries.extend(Query::parse(&std::fs::read_to_string(file)?)?),
        }
    }
    println!("{} queries", queries.len());
    for (what, cache, cheap) in [
        ("all layers", true, true),
        ("without cache", false, true),
        ("bit-blasting only", false, false),
    ] {
        measure(what, &queries, repeat, cache, cheap);
    }
    Ok(())
}

fn measure(what: &str, queries: &[Query], repeat: usize, cache: bool, cheap: bool) {
    let mut time = Duration::ZERO;
    let mut last = None;
    for _ in 0..repeat {
        let solver = Solver::new(Config {
            cache,
            cheap,
            ..Config::default()
        });
        let mut changed = 0;
        let mut sat = 0u32;
        let mut contrary = 0u32;
        let start = processor_time();
        for query in queries {
            let mut path = solver.path(&query.store, &query.names);
            query.fill(&mut path);
            let answer = path.solve(query.path.len(), &query.goal, None);
            if let Answer::Sat(model) = &answer {
                changed += model.bytes.len();
                sat += 1;
            }
            contrary += u32::from(matches!(
                (&answer, &query.answer),
                (Answer::Sat(_), Some(Expected::Unsat(_)))
                    | (Answer::Unsat(_), Some(Expected::Sat(_)))
            ));
        }
        time += processor_time() - start;
        last = Some((solver.statistics(), changed, sat, contrary));
    }
    let Some((statistics, changed, sat, contrary)) = last else {
        return;
    };
    let count = (queries.len() * repeat) as f64;
    println!(
        "{what}: {:.0} queries per second of processor time; {:.2} bytes changed per model; {} undecided, {contrary} contrary to the log",
        count / time.as_secs_f64(),
        changed as f64 / f64::max(f64::from(sat), 1.0),
        statistics.unknown
    );
    for (layer, of) in &statistics.layers {
        println!(
            "  {:8} {:5.1} % of answers ({} sat, {} unsat), {:.3} s",
            layer.name(),
            100.0 * of.answers() as f64 / statistics.queries as f64,
            of.sat,
            of.unsat,
            of.time.as_secs_f64()
        );
    }
}

/// Processor time of this process: other load on the machine does not count, nor does a child's work.
fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure is valid for the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (self.0 >> 33) % limit
    }
}

fn generate(count: usize) -> Vec<Query> {
    let mut numbers = Numbers(7);
    (0..count).map(|index| one(&mut numbers, index)).collect()
}

/// The lower-case letters as C's table of character classes has them.
fn class_table() -> Vec<u8> {
    (0..=255u8)
        .map(|c| u8::from(c.is_ascii_lowercase()) * 2 + u8::from(c.is_ascii_digit()))
        .collect()
}

fn one(numbers: &mut Numbers, index: usize) -> Query {
    let mut query = Query {
        name: index.to_string(),
        names: vec![0, 1],
        ..Query::default()
    };
    let text = b"-d: 12,34-57 --output-delimiter=x\nname:value\n";
    let bytes: Vec<Label> = (0..text.len())
        .map(|at| build::input(&mut query.store, (at > 20).into(), at as u64, text[at]))
        .collect();
    let s = &mut query.store;
    let at = numbers.below(text.len() as u64 - 8) as usize;
    let (constant, is) = (build::constant, Constraint::is);
    match numbers.below(6) {
        // A character compared with several others.
        0 => {
            for other in b":,-=" {
                let other = constant(s, 8, u128::from(*other));
                let same = build::eq(s, bytes[at], other);
                query.path.push(is(
                    same,
                    text[at] == parallax_expr::value(&parallax_expr::Store::node(s, other)) as u8,
                ));
            }
            let wanted = constant(s, 8, u128::from(b'a' + numbers.below(26) as u8));
            let goal = build::eq(s, bytes[at], wanted);
            query.goal.push(is(goal, true));
        }
        // A number in decimal, compared with a limit.
        1 => {
            let mut sum = constant(s, 64, 0);
            for &byte in &bytes[4..7] {
                query.path.push(Constraint {
                    label: byte,
                    holds: Holds::Within(0x30, 0x39),
                });
                let ten = constant(s, 64, 10);
                let zero = constant(s, 64, 0x30);
                let product = build::binary(s, Op::Mul, sum, ten);
                let digit = build::zext(s, byte, 64);
                let digit = build::sub(s, digit, zero);
                sum = build::add(s, product, digit);
            }
            query
                .goal
                .push(Constraint::equals(sum, u128::from(numbers.below(1200))));
        }
        // A keyword.
        2 => {
            let length = 2 + numbers.below(5) as usize;
            let mut goal = constant(s, 1, 1);
            for offset in 0..length {
                let letter = constant(s, 8, u128::from(b'a' + numbers.below(26) as u8));
                let same = build::eq(s, bytes[at + offset], letter);
                goal = build::and(s, goal, same);
            }
            query.goal.push(is(goal, true));
        }
        // A character class from a table.
        3 => {
            let table = s.add_table(0x4000, &class_table(), None);
            let base = constant(s, 64, 0x4000);
            for offset in 0..3 {
                let index = build::zext(s, bytes[at + offset], 64);
                let address = build::add(s, index, base);
                let class = class_table()[usize::from(text[at + offset])];
                let read = build::table(s, address, table, 8, u128::from(class));
                let one = constant(s, 8, 1 + u128::from(offset == 2));
                let digit = build::and(s, read, one);
                let known = Constraint::equals(
                    digit,
                    parallax_expr::value(&parallax_expr::Store::node(s, digit)),
                );
                match offset {
                    2 => query.goal.push(known.opposite()),
                    _ => query.path.push(known),
                }
            }
        }
        // Lengths: a 16-bit field compared with a sum.
        4 => {
            let field = build::concat(s, bytes[at], bytes[at + 1]);
            let length = build::zext(s, field, 32);
            let extra = build::zext(s, bytes[at + 2], 32);
            let sum = build::add(s, length, extra);
            let limit = constant(s, 32, u128::from(numbers.below(70_000)));
            let fits = build::binary(s, Op::Ult, sum, limit);
            let value = parallax_expr::value(&parallax_expr::Store::node(s, fits));
            let nonzero = build::constant(s, 8, 0);
            let ended = build::eq(s, bytes[at + 2], nonzero);
            query.path.push(is(ended, false));
            query.goal.push(Constraint::differs(fits, value));
        }
        // A small checksum over bytes that are fixed but for two.
        _ => {
            let mut sum = constant(s, 8, 0x5a);
            for offset in 0..6 {
                let three = constant(s, 8, 3);
                let turned = build::binary(s, Op::Mul, sum, three);
                sum = build::binary(s, Op::Xor, turned, bytes[at + offset]);
                if offset < 4 {
                    query.path.push(Constraint::equals(
                        bytes[at + offset],
                        u128::from(text[at + offset]),
                    ));
                }
            }
            query
                .goal
                .push(Constraint::equals(sum, u128::from(numbers.below(256))));
        }
    }
    query
}
