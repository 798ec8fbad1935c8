//! What amplification at distance 0 costs: recorded tests of coreutils, each against one run of the plain program.
//!
//! Compared are all CPU time that is spent on a test (the thread that does the work, solver included, and all runs that it makes: at
//! least a traced, a checked and a plain one) and the CPU time of the plain program's process alone, from `fork` in the
//! sandbox to its end. Reading the programs' tables and setting up sandboxes happens once for all tests and is no part of
//! it; it is in the total.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End};
use serde_json::Value;

use super::Bench;

/// Tests that give programs many small inputs.
const TESTS: [&str; 6] = [
    "tests/misc/cut.pl",
    "tests/misc/expr.pl",
    "tests/misc/seq.pl",
    "tests/misc/join.pl",
    "tests/misc/uniq.pl",
    "tests/misc/tac.pl",
];
const PROGRAMS: [&str; 6] = ["cut", "expr", "seq", "join", "uniq", "tac"];
const TIMEOUT: Duration = Duration::from_secs(1200);

impl Bench<'_> {
    pub(super) fn amplification(&self, text: &mut String) -> Result<()> {
        text.push_str(
            "\n### Amplification at distance 0 (CPU time, one thread, multiples of the test's plain run)\n\n",
        );
        let folder = self.place.folder("amplify")?;
        let _ = fs::remove_dir_all(folder.join(".parallax"));
        let tree = self.place.build_tree();
        let log = File::create(self.scratch.path().join("record.log"))?;
        let recorded = self
            .place
            .command(self.place.parallax())
            .args(["record", "-C"])
            .arg(&tree)
            .args(["--", "make", "check-TESTS", "VERBOSE=no"])
            .arg(format!("TESTS={}", TESTS.join(" ")))
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .status()?;
        ensure!(recorded.success(), "the tests cannot be recorded");
        let mut command = self.place.command(self.place.parallax());
        command
            .args([
                "amplify",
                "--json",
                "--jobs",
                "1",
                "--max-distance",
                "0",
                "-C",
            ])
            .arg(&tree)
            .args(PROGRAMS.map(|name| format!("--program={name}")))
            .current_dir(&folder)
            .stdin(Stdio::null());
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            matches!(finished.end, End::Exit(0 | 1)),
            "parallax amplify: {:?} {}",
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        let stats = &report["stats"];
        let overhead = stats["overhead"].as_f64().context("no overhead")?;
        let _ = writeln!(
            text,
            "* {} recorded tests of {}: median {overhead:.1} (aim: at most 100); {} checks, all in all {:.1} s",
            stats["tests"]["run"],
            PROGRAMS.join(", "),
            stats["checks"]["made"],
            finished.cpu.as_secs_f64(),
        );
        text.push_str(
            "\n| program | tests | checks | median | of 90 % at most |\n|---|---|---|---|---|\n",
        );
        for program in stats["programs"].as_array().into_iter().flatten() {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {:.1} | {:.1} |",
                program["program"].as_str().unwrap_or_default(),
                program["tests"]["run"],
                program["checks"]["made"],
                program["overhead"]["median"].as_f64().unwrap_or(0.0),
                program["overhead"]["most"].as_f64().unwrap_or(0.0),
            );
        }
        Ok(())
    }
}
