//! What a second job is worth: runs per second of explore, diverge and cover with `--jobs 2` against `--jobs 1`.
//!
//! The two settings take turns and the median of each counts, so that a machine that becomes slower meanwhile slows both. Other
//! processes take more from two jobs than from one: what was measured beside too much of that is measured again, and a ratio for which
//! there was no quiet time is marked. On a busy machine, `nice -n -20` (as root) gets nearer to what an idle one would say.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End};
use serde_json::Value;

use super::{Bench, TIMEOUT, diverging, load, median};
use crate::cpu::{Machine, Used};

/// A command and the program that it works on.
struct Case {
    command: &'static str,
    program: &'static str,
    options: &'static [&'static str],
    /// What inputs begin with.
    start: &'static [&'static str],
}

const CUT: [&str; 6] = ["--sym-args", "0", "3", "5", "--sym-stdin", "8"];
const EXPR: [&str; 8] = ["--sym-args", "0", "3", "5", "--sym-args", "0", "2", "2"];

/// Long enough that starting up does not count, and short enough that all of it takes minutes. The lines that `cover` looks for
/// cannot be reached (a standard input that cannot be closed, a third type of a value), so all runs are made.
const CASES: [Case; 6] = [
    Case {
        command: "explore",
        program: "cut",
        options: &["--fresh", "--runs", "1500"],
        start: &CUT,
    },
    Case {
        command: "explore",
        program: "expr",
        options: &["--fresh", "--runs", "1500"],
        start: &EXPR,
    },
    Case {
        command: "diverge",
        program: "cut",
        options: &["--runs", "200"],
        start: &["--seeds", "cut"],
    },
    Case {
        command: "diverge",
        program: "expr",
        options: &["--runs", "200"],
        start: &["--seeds", "expr"],
    },
    Case {
        command: "cover",
        program: "cut",
        options: &["--at", "cut.c:574", "--runs", "200"],
        start: &CUT,
    },
    Case {
        command: "cover",
        program: "expr",
        options: &["--at", "expr.c:444", "--runs", "100"],
        start: &EXPR,
    },
];

/// Turns of each setting that count, and those that are taken at most if others disturb them.
const TURNS: usize = 3;
const MOST_TURNS: usize = 6;
/// Cores that others may use before a ratio says nothing.
const OTHERS: f64 = 0.1;

/// One measurement.
struct Sample {
    /// Executions per second, by the clock.
    rate: f64,
    /// Cores that it and others used.
    used: Used,
}

impl Bench<'_> {
    pub(super) fn parallel(&self, text: &mut String) -> Result<()> {
        let _ = writeln!(
            text,
            "\n### `--jobs 2` against `--jobs 1` (executions per second, medians of {TURNS}, load {})\n",
            load()
        );
        text.push_str("| command | program | 1 job | 2 jobs | ratio (aim: 1.8) | cores used, 1 job | 2 jobs | by others |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        let folder = self.scratch.path().join("parallel");
        diverging::write_seeds(&folder.join("cut"), &diverging::CUT)?;
        diverging::write_seeds(&folder.join("expr"), &diverging::EXPR)?;
        for case in &CASES {
            // Variants are derived by whoever needs them first.
            self.sample(&folder, case, "2")?;
            let mut pairs = Vec::new();
            let is_quiet = |pair: &[Sample; 2]| pair.iter().all(|one| one.used.others <= OTHERS);
            while pairs.len() < MOST_TURNS
                && pairs.iter().filter(|pair| is_quiet(pair)).count() < TURNS
            {
                pairs.push([
                    self.sample(&folder, case, "1")?,
                    self.sample(&folder, case, "2")?,
                ]);
            }
            let is_meaningful = pairs.iter().filter(|pair| is_quiet(pair)).count() >= TURNS;
            if is_meaningful {
                pairs.retain(is_quiet);
            }
            let of = |jobs: usize, what: fn(&Sample) -> f64| {
                median(pairs.iter().map(|pair| what(&pair[jobs])))
            };
            let [one, two] = [0, 1].map(|jobs| of(jobs, |sample| sample.rate));
            let [own_one, own_two] = [0, 1].map(|jobs| of(jobs, |sample| sample.used.own));
            let others = pairs.iter().flatten().map(|sample| sample.used.others);
            let others = others.fold(0.0, f64::max);
            let mark = match is_meaningful {
                true => "",
                false => " (says nothing: others used the cores)",
            };
            let _ = writeln!(
                text,
                "| {} | `{}` | {one:.0} | {two:.0} | {:.2}{mark} | {own_one:.2} | {own_two:.2} | {others:.2} |",
                case.command,
                case.program,
                two / one.max(1e-6),
            );
        }
        let _ = writeln!(
            text,
            "\nOthers: the most in any measurement that counts; pairs beside which they used more than {OTHERS} of a core are \
             taken again, {MOST_TURNS} pairs at most."
        );
        Ok(())
    }

    fn sample(&self, folder: &Path, case: &Case, jobs: &str) -> Result<Sample> {
        let program = self.place.program(case.program);
        let output = tempfile::tempdir_in(folder)?;
        let mut command = Command::new(self.place.parallax());
        command.arg(case.command).arg(&program);
        if case.command == "diverge" {
            command.arg(&program);
        }
        command
            .args(["--json", "--no-sanitizers", "--jobs", jobs, "--output"])
            .arg(output.path())
            .args(case.options)
            .args(case.start)
            .current_dir(folder)
            .stdin(Stdio::null());
        let machine = Machine::now()?;
        let finished = process::run(&mut command, TIMEOUT)?;
        let used = machine.used_since(finished.cpu)?;
        ensure!(
            matches!(finished.end, End::Exit(0 | 1)),
            "parallax {}: {:?} {}",
            case.command,
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        let number = |name: &str| report["stats"][name].as_f64().context(name.to_owned());
        Ok(Sample {
            rate: number("executions")? / number("seconds")?.max(1e-6),
            used,
        })
    }
}
