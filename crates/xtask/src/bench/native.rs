//! Native runs per second: every build, in fresh processes and from a run server, with AFL++'s fork server beside them.
//!
//! Per core, by CPU time of everything that takes part (engine, sandbox, program), because on a busy machine the clock says little;
//! AFL++ tells its rate by the clock, so ours by the clock is there as well. Inputs differ from run to run.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use parallax_exec::coverage::CoverageRegion;
use parallax_exec::execute::{Executor, RunOptions, Settings};
use parallax_exec::run::End;
use parallax_exec::sanitizer;
use parallax_scenario::Scenario;

use super::Bench;
use super::afl::{self, Fuzzing};
use crate::cpu;

/// Runs of each kind.
const RUNS: u32 = 3000;
/// Seconds that AFL++ gets.
const AFL_SECONDS: u32 = 10;
const CUT: &[&str] = &["-c3-5,6-", "file"];

/// How a program was built, and how it is told apart from others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Build {
    Plain,
    Sanitizer,
    Covered,
}

/// Runs a second.
#[derive(Clone, Copy)]
struct Rate {
    per_core: f64,
    by_the_clock: f64,
}

impl Bench<'_> {
    pub(super) fn native(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Native runs per second (one executor)\n\n");
        text.push_str("| program | build | fresh, per core | served, per core | ratio | served, by the clock | AFL++, by the clock | ratio |\n");
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        for program in ["expr", "cut"] {
            let afl = self.afl(program)?;
            let builds = [
                ("plain", Build::Plain, self.place.program(program)),
                (
                    "sanitizer",
                    Build::Sanitizer,
                    self.variant(program, "checked")?,
                ),
                ("covered", Build::Covered, self.variant(program, "covered")?),
            ];
            for (name, build, path) in builds {
                let fresh = rate(program, build, &path, true)?;
                let served = rate(program, build, &path, false)?;
                let beside = match afl {
                    Some(afl) => format!("{afl:.0} | {:.2}", served.by_the_clock / afl),
                    None => " | ".to_owned(),
                };
                let _ = writeln!(
                    text,
                    "| `{program}` | {name} | {:.0} | {:.0} | {:.1} | {:.0} | {beside} |",
                    fresh.per_core,
                    served.per_core,
                    served.per_core / fresh.per_core,
                    served.by_the_clock,
                );
            }
        }
        Ok(())
    }

    /// Runs a second of AFL++ on a program that it has instrumented; nothing if it is not installed.
    fn afl(&self, program: &str) -> Result<Option<f64>> {
        if !afl::is_installed() {
            return Ok(None);
        }
        let fuzzing = Fuzzing {
            program: &self.afl_build(program)?,
            arguments: match program {
                "cut" => &[CUT[0], "@@"],
                _ => &["12", "+", "30"],
            },
            preload: None,
            seeds: vec![b"1 some text in a line\nanother\n".to_vec()],
            seconds: AFL_SECONDS,
        };
        let fuzzed = afl::fuzz(&self.scratch.path().join("afl"), &fuzzing)?;
        Ok(Some(fuzzed.per_second))
    }
}

/// How many runs a second there are.
fn rate(program: &str, build: Build, path: &Path, fresh: bool) -> Result<Rate> {
    let environment = match build {
        Build::Sanitizer => sanitizer::quick_environment(),
        Build::Plain | Build::Covered => Vec::new(),
    };
    let environment = environment.into_iter();
    let settings = Settings {
        environment: environment.map(|(a, b)| (a.into(), b.into())).collect(),
        ..Settings::default()
    };
    let counters = match build {
        Build::Covered => Some(CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY)?),
        Build::Plain | Build::Sanitizer => None,
    };
    let shared: Vec<_> = counters.iter().map(CoverageRegion::shared).collect();
    let options = RunOptions {
        fresh,
        ..RunOptions::default()
    };
    let (before, started) = (cpu::of_all(), Instant::now());
    let mut executor = Executor::new(path, settings)?;
    for number in 0..RUNS {
        let outcome = executor.run_with(&scenario(program, number), &shared, options)?;
        ensure!(
            outcome.end == End::Exit(0),
            "{}: {outcome:?}",
            path.display()
        );
    }
    ensure!(fresh || executor.is_serving(), "{program} is not served");
    // The sandbox's time counts when it has ended.
    drop(executor);
    let (cpu, clock) = (cpu::of_all() - before, started.elapsed().as_secs_f64());
    Ok(Rate {
        per_core: f64::from(RUNS) / cpu,
        by_the_clock: f64::from(RUNS) / clock,
    })
}

fn scenario(program: &str, number: u32) -> Scenario {
    if program == "cut" {
        let text = format!("{number} some text in a line\nanother\n");
        return Scenario {
            argv: CUT.iter().map(|word| (*word).into()).collect(),
            files: [("file".into(), text.into_bytes().into())].into(),
            ..Scenario::default()
        };
    }
    let first = number + 1;
    Scenario {
        argv: vec![first.to_string().into(), "+".into(), "30".into()],
        ..Scenario::default()
    }
}
