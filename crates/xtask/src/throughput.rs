//! How many scenarios a second are replayed on the plain build of a small program.
//!
//! Per core: by CPU time of everything that takes part (engine, sandbox, program), because on a busy machine the clock says
//! little. The clock's rate is shown beside it.

use crate::cpu;
use anyhow::{Result, ensure};
use parallax_exec::execute::Settings;
use parallax_exec::replay::{Build, Replayer, Subject};
use parallax_exec::run::End;
use parallax_scenario::Scenario;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

/// Replays `expr` again and again; a table.
pub fn table(expr: &Path, runs: u32) -> Result<String> {
    let mut text = "### Replay of scenarios (plain build, one worker)\n\n".to_owned();
    text.push_str("| scenario | CPU milliseconds each | scenarios/s/core | by the clock |\n");
    text.push_str("|---|---|---|---|\n");
    let arguments = ["12", "+", "30", "*", "2"];
    let bare = Scenario {
        argv: arguments.iter().map(|word| (*word).into()).collect(),
        ..Scenario::default()
    };
    let mut with_files = bare.clone();
    for number in 0..4 {
        let name = format!("directory/file{number}");
        with_files.files.insert(name.into(), "contents\n".into());
    }
    for (name, scenario) in [
        ("`expr 12 + 30 \\* 2`", &bare),
        ("the same with four files", &with_files),
    ] {
        let (cpu, wall) = measure(expr, scenario, runs)?;
        let _ = writeln!(
            text,
            "| {name} | {:.2} | {:.0} | {:.0} |",
            cpu * 1e3,
            1.0 / cpu,
            1.0 / wall
        );
    }
    Ok(text)
}

/// CPU and clock seconds of one run.
fn measure(program: &Path, scenario: &Scenario, runs: u32) -> Result<(f64, f64)> {
    let subject = Subject {
        label: "plain".into(),
        build: Build::Plain,
        program: program.to_owned(),
    };
    let (before, started) = (cpu::of_all(), Instant::now());
    let mut replayer = Replayer::new(subject, &Settings::default())?;
    for _ in 0..runs {
        let seen = replayer.run(scenario)?;
        ensure!(
            seen.end == End::Exit(0) && seen.ending.stdout.0 == b"72\n",
            "{}: {:?}",
            program.display(),
            seen.ending
        );
    }
    // The sandbox's time counts when it has ended.
    drop(replayer);
    let (cpu, wall) = (cpu::of_all() - before, started.elapsed().as_secs_f64());
    Ok((cpu / f64::from(runs), wall / f64::from(runs)))
}
