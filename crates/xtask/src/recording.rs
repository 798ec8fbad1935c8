//! What recording coreutils' test suite costs: the same tests plain and under `parallax record`.
//!
//! In portions, plain and recorded in turn, so that whatever else the machine does falls on both. Time by the clock is what a
//! user waits for; CPU time is everything that took part, the recorder included.

use crate::coreutils::{Place, processors};
use crate::cpu;
use crate::suite;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Tests that are run at a time.
const PORTION: usize = 50;

/// What some runs took, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    clock: f64,
    cpu: f64,
}

impl Taken {
    fn add(&mut self, other: Taken) {
        self.clock += other.clock;
        self.cpu += other.cpu;
    }
}

/// Every so many of the tests, plain and recorded; a table.
pub fn table(place: &Place, every: usize) -> Result<String> {
    ensure!(every > 0, "every 0th test is none");
    let tests: Vec<String> = suite::all_tests(place)?
        .into_iter()
        .step_by(every)
        .collect();
    let store = place.folder("recording")?.join(".parallax");
    if store.exists() {
        fs::remove_dir_all(&store)?;
    }
    let (mut plain, mut recorded) = (Taken::default(), Taken::default());
    let mut different = BTreeSet::new();
    for portion in tests.chunks(PORTION) {
        let (taken, without) = run(place, portion, false)?;
        plain.add(taken);
        let (taken, with) = run(place, portion, true)?;
        recorded.add(taken);
        different.extend(without.symmetric_difference(&with).cloned());
    }
    let mut text = format!(
        "### Recording coreutils' tests ({} of them, -j{})\n\n",
        tests.len(),
        processors()
    );
    text.push_str("| | plain | recorded | ratio |\n|---|---|---|---|\n");
    for (name, plain, recorded) in [
        ("seconds by the clock", plain.clock, recorded.clock),
        ("CPU seconds", plain.cpu, recorded.cpu),
    ] {
        let ratio = recorded / plain;
        let _ = writeln!(text, "| {name} | {plain:.1} | {recorded:.1} | {ratio:.2} |");
    }
    let _ = writeln!(text, "\n{}", scenarios(place)?);
    for line in different {
        let _ = writeln!(text, "\nonly once: {line}");
    }
    Ok(text)
}

/// Runs some tests; how long it took, and the lines that tell their results.
fn run(place: &Place, tests: &[String], is_recorded: bool) -> Result<(Taken, BTreeSet<String>)> {
    let log = place.folder("recording")?.join("make.log");
    let output = fs::File::create(&log)?;
    let mut make = vec![
        "make".to_owned(),
        "-k".to_owned(),
        format!("-j{}", processors()),
        "check-TESTS".to_owned(),
        "VERBOSE=no".to_owned(),
    ];
    make.push(format!("TESTS={}", tests.join(" ")));
    let mut command = match is_recorded {
        true => {
            let mut command = place.command(place.parallax());
            command
                .args(["record", "--show-output", "-C"])
                .arg(place.build_tree())
                .arg("--")
                .args(&make)
                .current_dir(place.folder("recording")?);
            command
        }
        false => {
            let mut command = place.command(&make[0]);
            command.args(&make[1..]).current_dir(place.build_tree());
            command
        }
    };
    let (started, before) = (Instant::now(), cpu::of_children());
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .status()
        .context("running coreutils' tests")?;
    let taken = Taken {
        clock: started.elapsed().as_secs_f64(),
        cpu: cpu::of_children() - before,
    };
    let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let is_result = |line: &&str| {
        let kinds = [
            "PASS: ", "FAIL: ", "SKIP: ", "XFAIL: ", "XPASS: ", "ERROR: ",
        ];
        kinds.iter().any(|kind| line.starts_with(kind))
    };
    Ok((
        taken,
        text.lines().filter(is_result).map(str::to_owned).collect(),
    ))
}

/// What the store says it has.
fn scenarios(place: &Place) -> Result<String> {
    let mut command: Command = place.command(place.parallax());
    let output = command
        .arg("scenarios")
        .current_dir(place.folder("recording")?)
        .output()?;
    ensure!(output.status.success(), "parallax scenarios failed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().last().unwrap_or_default().to_owned())
}
