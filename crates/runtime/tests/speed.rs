//! The commonest calls stay cheap. The bounds are far above what an idle machine
//! needs (see the program's output), because tests share theirs.

mod support;

use parallax_abi::trace::{ENVIRONMENT, PRIVATE};
use std::process::Command;
use support::{program, run};

#[test]
fn common_calls_cost_nanoseconds() {
    let mut command = Command::new(program("speed", "", &[]));
    command.env(ENVIRONMENT, PRIVATE);
    let input: Vec<u8> = (0..4096u32).map(|n| (n * 31 % 255) as u8 + 1).collect();
    let output = run(command, &input);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let time_of = |name: &str| -> f64 {
        let line = text
            .lines()
            .find(|line| line.starts_with(name))
            .expect(name);
        let number = line[name.len()..]
            .split_whitespace()
            .next()
            .expect("a number");
        number.parse().expect("a number")
    };
    for (name, bound) in [
        ("load, one node", 60.0),
        ("load, concrete", 100.0),
        ("store", 100.0),
        ("binary, same again", 300.0),
        ("branch", 1000.0),
    ] {
        assert!(time_of(name) < bound, "{text}");
    }
}
