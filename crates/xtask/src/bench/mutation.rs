//! Executions per second of the `mutate` source, against AFL++ on the same programs.
//!
//! One run of each, in turns, on one core. Ours compares a program with itself and makes inputs by mutation alone; every input
//! is executed twice, on the covered build of either version. AFL++ has its fork server, the same seeds, no dictionary and
//! no cmplog; a shim of ours lets it change arguments as well.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use parallax_search::engine::Phase;
use parallax_torture::process::{self, End};
use serde_json::Value;

use super::afl::{self, Fuzzing};
use super::diverging::{self, Seed};
use super::{Bench, TIMEOUT, median};
use crate::coreutils::step;

const SHIM: &str = include_str!("../../data/afl_argv.c");
/// Turns of each.
const TURNS: usize = 3;
/// Seconds of one turn: ours, of which a fifth is kept for reporting, and AFL++'s.
const TIME: &str = "8s";
const AFL_SECONDS: u32 = 6;
/// Fewer executions say nothing.
const LEAST: f64 = 1000.0;

/// Executions per second.
#[derive(Clone, Copy)]
struct Rate {
    per_core: f64,
    by_the_clock: f64,
}

impl Bench<'_> {
    pub(super) fn mutation(&self, text: &mut String) -> Result<()> {
        let _ = writeln!(
            text,
            "\n### Mutation against AFL++ (executions per second, one job, medians of {TURNS})\n"
        );
        if !afl::is_installed() {
            let _ = writeln!(text, "* {}", afl::MISSING);
            return Ok(());
        }
        text.push_str("| program | `mutate`, per core | AFL++, per core | ratio (aim: 0.8) | `mutate`, by the clock | AFL++, by the clock |\n");
        text.push_str("|---|---|---|---|---|---|\n");
        let shim = self.shim()?;
        for (program, seeds) in [("cut", &diverging::CUT[..]), ("expr", &diverging::EXPR)] {
            let folder = self.scratch.path().join("mutation").join(program);
            diverging::write_seeds(&folder.join("seeds"), seeds)?;
            let fuzzing = Fuzzing {
                program: &self.afl_build(program)?,
                arguments: &[],
                preload: Some(&shim),
                seeds: seeds.iter().map(one_input).collect(),
                seconds: AFL_SECONDS,
            };
            // The first one derives the covered build.
            self.mutate(&folder, program, 0.0)?;
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            for _ in 0..TURNS {
                ours.push(self.mutate(&folder, program, LEAST)?);
                let fuzzed = afl::fuzz(&folder, &fuzzing)?;
                theirs.push(Rate {
                    per_core: fuzzed.executions / fuzzed.cpu.as_secs_f64().max(1e-6),
                    by_the_clock: fuzzed.per_second,
                });
            }
            let of = |list: &[Rate], what: fn(&Rate) -> f64| median(list.iter().map(what));
            let [own_core, afl_core] = [&ours, &theirs].map(|list| of(list, |rate| rate.per_core));
            let [own_clock, afl_clock] =
                [&ours, &theirs].map(|list| of(list, |rate| rate.by_the_clock));
            let _ = writeln!(
                text,
                "| `{program}` | {own_core:.0} | {afl_core:.0} | {:.2} | {own_clock:.0} | {afl_clock:.0} |",
                own_core / afl_core.max(1e-6),
            );
        }
        Ok(())
    }

    /// Compares a program with itself by mutation alone.
    fn mutate(&self, folder: &Path, program: &str, least: f64) -> Result<Rate> {
        let path = self.place.program(program);
        let output = tempfile::tempdir_in(folder)?;
        let others = Phase::ALL.iter().filter(|phase| **phase != Phase::Mutate);
        let others: Vec<&str> = others.map(|phase| phase.name()).collect();
        let mut command = Command::new(self.place.parallax());
        command
            .arg("diverge")
            .args([&path, &path])
            .args(["--json", "--no-sanitizers", "--jobs", "1"])
            .args(["--seeds", "seeds", "--time", TIME, "--without"])
            .arg(others.join(","))
            .arg("--output")
            .arg(output.path())
            .current_dir(folder)
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            matches!(finished.end, End::Exit(0 | 1)),
            "parallax diverge: {:?} {}",
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        let number = |name: &str| report["stats"][name].as_f64().context(name.to_owned());
        // Both versions run every input.
        let executions = 2.0 * number("inputs")?;
        ensure!(
            executions >= least,
            "mutation of {program} ended after {executions} executions"
        );
        Ok(Rate {
            per_core: executions / finished.cpu.as_secs_f64().max(1e-6),
            by_the_clock: executions / number("seconds")?.max(1e-6),
        })
    }

    /// Lets AFL++ change arguments.
    fn shim(&self) -> Result<PathBuf> {
        let source = self.scratch.path().join("afl_argv.c");
        let made = source.with_extension("so");
        fs::write(&source, SHIM)?;
        let mut command = Command::new("clang-19");
        command
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .args([&made, &source])
            .arg("-ldl");
        step(&mut command, "compile the shim for AFL++")?;
        Ok(made)
    }
}

/// As the shim reads it.
fn one_input((arguments, stdin): &Seed) -> Vec<u8> {
    let mut bytes = Vec::new();
    for argument in *arguments {
        bytes.extend_from_slice(argument.as_bytes());
        bytes.push(0);
    }
    bytes.push(0);
    bytes.extend_from_slice(stdin.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn the_shim_takes_arguments_from_the_input_and_leaves_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("s.c"), folder.path().join("s.so"));
        fs::write(&source, SHIM).unwrap();
        let compiled = Command::new("clang-19")
            .args([
                "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o",
            ])
            .args([&made, &source])
            .arg("-ldl")
            .status()
            .unwrap();
        assert!(compiled.success());
        for (seed, expected) in [
            ((&["-d:", "-f2"][..], "a:b\n:c\n"), "b\nc\n"),
            ((&["-c1"], ""), ""),
        ] {
            let input = folder.path().join("input");
            fs::write(&input, one_input(&seed)).unwrap();
            let output = Command::new("cut")
                .env("LD_PRELOAD", &made)
                .stdin(File::open(&input).unwrap())
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
            assert!(output.status.success(), "{output:?}");
        }
    }
}
