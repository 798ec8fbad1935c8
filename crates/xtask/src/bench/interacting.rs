//! What the change sequence graph is good for, as in the paper's Table 3: with it, and with changes taken one by one.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail, ensure};
use parallax_torture::process::{self, End};
use serde_json::Value;

use super::{Bench, TIMEOUT};

/// Programs in `tests/interact`, each with what it is started with; `stdin` names a file of these bytes.
const CASES: [(&str, &str, &[&str]); 6] = [
    ("figure3", "", &["--", "-o", "1-2", "3-"]),
    ("figure5", "", &["--", "3"]),
    ("columns", "", &["--", "w9"]),
    ("session", "", &["--", "open,"]),
    ("editor", "aiaip\n", &["--stdin", "stdin"]),
    ("pool", "d1b2a3s4", &["--stdin", "stdin"]),
];
/// Traced runs of each search, the same for both: seconds would depend on the machine.
const RUNS: &str = "1500";
/// What the graph has no part in.
const SOURCES: &str = "words,world,data,numbers,splice,mutate";
/// Chance decides now and then, so some of its seeds.
const SEEDS: [&str; 3] = ["0", "1", "2"];

/// What a search came to.
struct Came {
    tests: u64,
    differences: u64,
    errors: u64,
    /// Seconds until the error was seen.
    seconds: Option<f64>,
    is_interaction: bool,
}

impl Bench<'_> {
    pub(super) fn interacting(&self, text: &mut String) -> Result<()> {
        let _ = writeln!(
            text,
            "\n### Errors of interacting changes, with the graph and with changes in isolation ({RUNS} runs each, {} seeds)\n",
            SEEDS.len()
        );
        text.push_str("| program | CIE | tests | differ | error | found | after | tests | differ | error | found | after |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
        for (name, stdin, words) in CASES {
            let folder = self.scratch.path().join("interact").join(name);
            self.build_versions(&folder, name)?;
            fs::write(folder.join("stdin"), stdin)?;
            let mut cells = Vec::new();
            let mut is_interaction = false;
            for isolated in [false, true] {
                let mut all = Vec::new();
                for seed in SEEDS {
                    all.push(self.search(&folder, seed, isolated, words)?);
                }
                is_interaction |= all.iter().any(|came| came.is_interaction);
                cells.push(row(&all));
            }
            let mark = if is_interaction { "x" } else { "" };
            let _ = writeln!(text, "| {name} | {mark} | {} |", cells.join(" | "));
        }
        text.push_str("\nFirst with the graph, then in isolation: inputs that executed changes and were run on both versions, those that differ, those that show an error (averages); searches that found it, and the runs' seconds until then (average).\n");
        Ok(())
    }

    fn build_versions(&self, folder: &Path, name: &str) -> Result<()> {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interact");
        for version in ["old", "new"] {
            let place = folder.join(version);
            fs::create_dir_all(&place)?;
            fs::copy(
                sources.join(name).join(format!("{version}.c")),
                place.join("prog.c"),
            )?;
            let mut command = Command::new(self.place.parallax());
            command
                .args(["cc", "--", "-g", "-o", "prog", "prog.c"])
                .current_dir(&place);
            let finished = process::run(&mut command, TIMEOUT)?;
            ensure!(finished.end == End::Exit(0), "{name} does not compile");
        }
        Ok(())
    }

    fn search(&self, folder: &Path, seed: &str, isolated: bool, words: &[&str]) -> Result<Came> {
        let mut command = Command::new(self.place.parallax());
        command
            .args(["interact", "old/prog", "new/prog", "--json"])
            .args(["--runs", RUNS, "--seed", seed, "--without", SOURCES])
            .args(isolated.then_some("--isolated"))
            .args(words)
            .current_dir(folder);
        let finished = process::run(&mut command, TIMEOUT)?;
        if !matches!(finished.end, End::Exit(0 | 1)) {
            let message = String::from_utf8_lossy(&finished.stderr);
            bail!("parallax interact: {:?} {message}", finished.end);
        }
        let report: Value = serde_json::from_slice(&finished.stdout)?;
        let count = |name: &str| report["stats"][name].as_u64().unwrap_or(0);
        let findings = report["findings"].as_array().into_iter().flatten();
        let mut errors = findings.filter(|finding| finding["kind"] == "regression");
        let error = errors.next();
        Ok(Came {
            tests: count("tests"),
            differences: count("differences"),
            errors: count("errors"),
            seconds: error.and_then(|error| error["seconds"].as_f64()),
            is_interaction: error.is_some_and(|error| error["critical"] == true),
        })
    }
}

/// Averages over all seeds.
fn row(all: &[Came]) -> String {
    let average = |of: fn(&Came) -> u64| all.iter().map(of).sum::<u64>() / all.len().max(1) as u64;
    let found: Vec<f64> = all.iter().filter_map(|came| came.seconds).collect();
    let after = match found.is_empty() {
        true => String::new(),
        false => format!("{:.1} s", found.iter().sum::<f64>() / found.len() as f64),
    };
    format!(
        "{} | {} | {} | {} of {} | {after}",
        average(|came| came.tests),
        average(|came| came.differences),
        average(|came| came.errors),
        found.len(),
        all.len(),
    )
}
