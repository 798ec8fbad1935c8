//! What each part of `parallax cover` is good for, as in KATCH's Table 2: how many lines of our test programs each
//! combination reaches; and what the static analyses cost.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use parallax_torture::process::{self, End};
use parallax_torture::targets::{self, Case};
use serde_json::Value;

use super::{Bench, TIMEOUT};

/// Combinations of parts, by what is left out. Pointers and preconditions are always there.
const COMBINATIONS: [(&str, &[&str]); 6] = [
    ("greedy", &["regenerate", "switch", "structure", "splice"]),
    ("+ regenerate", &["switch", "structure", "splice"]),
    ("+ switch", &["regenerate", "structure", "splice"]),
    ("+ structure", &["regenerate", "switch", "splice"]),
    ("+ splice", &["regenerate", "switch", "structure"]),
    ("all", &[]),
];

/// A large program for the cost of the analyses: captured by whoever runs this, and named by this variable.
const LARGE: &str = "PARALLAX_BENCH_OBJDUMP";

impl Bench<'_> {
    pub(super) fn covering(&self, text: &mut String) -> Result<()> {
        text.push_str(
            "\n### Lines reached by the parts of `cover` (x; runs of each search are limited)\n\n",
        );
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let cases = targets::all(&checkout)?;
        let names = COMBINATIONS.map(|(name, _)| name).join(" | ");
        let _ = writeln!(text, "| program | {names} |");
        let _ = writeln!(text, "|---{}|", "|---".repeat(COMBINATIONS.len()));
        let mut sums = [0u32; COMBINATIONS.len()];
        for case in &cases {
            let folder = self.scratch.path().join("cover").join(&case.name);
            fs::create_dir_all(&folder)?;
            self.build_case(&folder, case)?;
            let mut cells = Vec::new();
            for ((_, without), sum) in COMBINATIONS.iter().zip(&mut sums) {
                let is_reached = self.reaches(&folder, case, without)?;
                *sum += u32::from(is_reached);
                cells.push(if is_reached { "x" } else { "" });
            }
            let _ = writeln!(text, "| {} | {} |", case.name, cells.join(" | "));
        }
        let sums = sums.map(|sum| sum.to_string()).join(" | ");
        let _ = writeln!(text, "| of {} | {sums} |", cases.len());
        self.analyses(text)
    }

    fn build_case(&self, folder: &Path, case: &Case) -> Result<()> {
        fs::write(folder.join("prog.c"), &case.source)?;
        let mut command = Command::new(self.place.parallax());
        command
            .args(["cc", "--", "-g", "-o", "prog", "prog.c"])
            .current_dir(folder);
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            finished.end == End::Exit(0),
            "{} does not compile",
            case.name
        );
        Ok(())
    }

    fn reaches(&self, folder: &Path, case: &Case, without: &[&str]) -> Result<bool> {
        let mut command = Command::new(self.place.parallax());
        command
            .args(case.prepare(folder, without)?)
            .current_dir(folder);
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            finished.end == End::Exit(0),
            "parallax cover: {:?} {}",
            finished.end,
            String::from_utf8_lossy(&finished.stderr)
        );
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        Ok(report["targets"][0]["status"] == "covered")
    }

    /// Graph, points-to, distances and preconditions for one target.
    fn analyses(&self, text: &mut String) -> Result<()> {
        text.push_str("\n### Static analyses for one target\n\n");
        let ls = self.place.program("ls");
        let seconds = self.analysis(&ls, "ls.c:1500")?;
        let _ = writeln!(text, "* `ls`: {seconds} (aim: under 1 s)");
        let _ = match std::env::var_os(LARGE).map(PathBuf::from) {
            Some(objdump) => {
                let seconds = self.analysis(&objdump, "objdump.c:2000")?;
                writeln!(text, "* `objdump`: {seconds} (aim: under 30 s)")
            }
            None => writeln!(
                text,
                "* `objdump`: skipped; {LARGE} can name one that was built with parallax-cc (aim: under 30 s)"
            ),
        };
        Ok(())
    }

    fn analysis(&self, program: &Path, place: &str) -> Result<String> {
        let mut command = self.place.command(self.place.parallax());
        command.arg("analyse").arg(program).args(["--at", place]);
        let finished = process::run(&mut command, TIMEOUT)?;
        ensure!(
            finished.end == End::Exit(0),
            "parallax analyse: {:?}",
            finished.end
        );
        let report = String::from_utf8_lossy(&finished.stdout);
        let mut lines = report.lines().map(str::trim_start);
        let total = lines.find_map(|line| line.strip_prefix("total"));
        Ok(total.context("analyse prints no total")?.trim().to_owned())
    }
}
