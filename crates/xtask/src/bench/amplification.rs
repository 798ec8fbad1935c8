//! What amplification at distance 0 costs: recorded tests of coreutils.
//!
//! All CPU time counts: the solver, all runs of all builds, reading the programs' tables and setting up sandboxes.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Result, ensure};
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
        text.push_str("\n### Amplification at distance 0 (CPU time, one thread)\n\n");
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
        let tests = stats["tests"]["run"].as_u64().unwrap_or(0).max(1);
        let seconds = finished.cpu.as_secs_f64();
        let _ = writeln!(
            text,
            "* {tests} recorded tests of {}: {:.0} ms each, {} checks, all in all {seconds:.1} s",
            PROGRAMS.join(", "),
            seconds * 1e3 / tests as f64,
            stats["checks"]["made"],
        );
        text.push_str("\n| program | tests | runs of all builds | checks |\n|---|---|---|---|\n");
        for program in stats["programs"].as_array().into_iter().flatten() {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                program["program"].as_str().unwrap_or_default(),
                program["tests"]["run"],
                program["executions"],
                program["checks"]["made"],
            );
        }
        Ok(())
    }
}
