//! How fast exploration is: runs a second, questions a second and who answers them, and one generation of `cut`,
//! which other tools have been measured on.
//!
//! All in CPU time of all processes together, on one thread, so that seconds are those of one core. Exploration is
//! deterministic for a number of runs: what differs between two measurements is time alone.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parallax_solver::query::Query;
use parallax_solver::{Config, Solver, Statistics};
use parallax_torture::process::{self, End};
use serde_json::Value;

use super::{Bench, TIMEOUT};

/// Runs of `expr` that are timed, and those whose questions are logged.
const RUNS: &str = "2000";
const LOGGED_RUNS: &str = "500";
/// What every exploration here is given: no runs but traced ones.
const TRACED_ONLY: [&str; 5] = ["--jobs", "1", "--no-coverage", "--no-sanitizers", "--json"];
const FROM_NOTHING: [&str; 8] = ["--sym-args", "0", "3", "5", "--sym-args", "0", "2", "2"];
const CUT: [&str; 4] = ["--generations", "1", "--keep", "paths"];
const CUT_ARGUMENTS: [&str; 4] = ["--", "-c3-5,6-", "--output-d=:", "file"];
const CUT_FILE: &str = "first:line of text\nand:the second one\n";

impl Bench<'_> {
    pub(super) fn exploration(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Exploration (one thread, CPU time of all processes)\n\n");
        let folder = self.scratch.path().join("explore");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("file"), CUT_FILE)?;
        self.one_generation(&folder, text)?;
        self.executions(&folder, text)?;
        self.questions(&folder, text)
    }

    fn one_generation(&self, folder: &Path, text: &mut String) -> Result<()> {
        let mut best: Option<(Duration, Value)> = None;
        for _ in 0..self.repeat {
            let timed = self.explore(folder, "cut", &[&CUT[..], &CUT_ARGUMENTS].concat())?;
            if best.as_ref().is_none_or(|(least, _)| timed.0 < *least) {
                best = Some(timed);
            }
        }
        let (cpu, report) = best.context("nothing was measured")?;
        let _ = writeln!(
            text,
            "* `cut -c3-5,6- --output-d=: FILE` ({} bytes), one generation, arguments and file symbolic: {} inputs in \
             {:.3} s (KLEE 3.2 5.5 s for 73, SymCC 0.44–0.73 s for 41)",
            CUT_FILE.len(),
            report["stats"]["runs"],
            cpu.as_secs_f64(),
        );
        Ok(())
    }

    fn executions(&self, folder: &Path, text: &mut String) -> Result<()> {
        let options = [&["--runs", RUNS][..], &FROM_NOTHING].concat();
        let (cpu, report) = self.explore(folder, "expr", &options)?;
        let stats = &report["stats"];
        let executions = stats["executions"].as_f64().context("no executions")?;
        let flips = |what: &str| stats["flips"][what].as_u64().unwrap_or(0);
        let _ = writeln!(
            text,
            "* `expr` from nothing ({}), {executions} runs: {:.0} executions a second (aim 200), of which {:.0} % of \
             the time in the solver; {} of {} inputs took the branch that they were made for",
            FROM_NOTHING.join(" "),
            executions / cpu.as_secs_f64(),
            100.0 * stats["solver"]["seconds"].as_f64().unwrap_or(0.0) / cpu.as_secs_f64(),
            flips("taken"),
            flips("taken") + flips("missed"),
        );
        Ok(())
    }

    /// Asks the questions of two explorations again, outside of them.
    fn questions(&self, folder: &Path, text: &mut String) -> Result<()> {
        let log = folder.join("queries");
        let file = log.to_string_lossy().into_owned();
        let logged = ["--log-queries", &file];
        let expr = [&["--runs", LOGGED_RUNS][..], &logged, &FROM_NOTHING].concat();
        self.explore(folder, "expr", &expr)?;
        let cut = [&CUT[..], &logged, &CUT_ARGUMENTS].concat();
        self.explore(folder, "cut", &cut)?;
        let queries = Query::parse(&fs::read_to_string(&log)?).context("the log of questions")?;
        let _ = writeln!(
            text,
            "\nThe {} questions that {LOGGED_RUNS} runs of `expr` and one generation of `cut` ask, asked again:\n",
            queries.len()
        );
        text.push_str("| layers | questions a second (aim 3,000) | answered by |\n|---|---|---|\n");
        for (what, cache, cheap) in [
            ("all", true, true),
            ("without cache", false, true),
            ("SAT alone", false, false),
        ] {
            let config = Config {
                cache,
                cheap,
                ..Config::default()
            };
            let (time, statistics) = ask(&queries, config);
            let _ = writeln!(
                text,
                "| {what} | {:.0} | {} |",
                queries.len() as f64 / time.as_secs_f64().max(1e-9),
                shares(&statistics)
            );
        }
        Ok(())
    }

    /// Explores a program; CPU time, and what came out.
    fn explore(&self, folder: &Path, program: &str, options: &[&str]) -> Result<(Duration, Value)> {
        let mut command = Command::new(self.place.parallax());
        command
            .arg("explore")
            .arg(self.place.program(program))
            .arg("--fresh")
            .args(TRACED_ONLY)
            .arg("--output")
            .arg(tempfile::tempdir_in(folder)?.keep())
            .args(options)
            .current_dir(folder)
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            matches!(finished.end, End::Exit(0 | 1)),
            "parallax explore {program}: {:?} {}",
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        Ok((finished.cpu, serde_json::from_slice(&finished.stdout)?))
    }
}

/// Asks all questions, each about a path of its own.
fn ask(queries: &[Query], config: Config) -> (Duration, Statistics) {
    let solver = Solver::new(config);
    let start = processor_time();
    for query in queries {
        let mut path = solver.path(&query.store, &query.names);
        query.fill(&mut path);
        path.solve(query.path.len(), &query.goal, None);
    }
    (processor_time() - start, solver.statistics())
}

fn shares(statistics: &Statistics) -> String {
    let share = |count: u64| 100.0 * count as f64 / statistics.queries.max(1) as f64;
    let layers = statistics.layers.iter();
    let mut shares: Vec<String> = layers
        .map(|(layer, of)| format!("{} {:.1} %", layer.name(), share(of.answers())))
        .collect();
    if statistics.unknown > 0 {
        shares.push(format!("nobody {:.1} %", share(statistics.unknown)));
    }
    shares.join(", ")
}

/// Of this process, which does nothing else.
pub(super) fn processor_time() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills in a plain struct.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_counted_where_it_was_answered() {
        let text = include_str!("../../../solver/tests/queries/bytes.query");
        let queries = Query::parse(text).unwrap();
        let (_, statistics) = ask(&queries, Config::default());
        assert_eq!(statistics.queries, queries.len() as u64);
        let answered: u64 = statistics.layers.values().map(|of| of.answers()).sum();
        assert_eq!(answered + statistics.unknown, statistics.queries);
        assert!(
            shares(&statistics).contains("cheap"),
            "{}",
            shares(&statistics)
        );
    }
}
