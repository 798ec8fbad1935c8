//! Runs a family's cases through its traced program.

use super::case::{Case, Encoded};
use super::families::{Family, HARNESS};
use super::verdict::{Batch, Fault};
use crate::compile::{Flavour, compile};
use crate::process::{self, End};
use crate::report::Report;
use crate::rng::Rng;
use crate::trial::Tool;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Cases of one run. A trace holds that many easily.
const BATCH: u64 = 1000;
/// Cases of a check after which something of it must have been symbolic.
const ENOUGH: u64 = 30;
const TIMEOUT: Duration = Duration::from_secs(300);

/// Which cases to run.
pub struct Plan<'a> {
    pub tool: &'a Tool,
    pub family: &'a Family,
    pub cases: u64,
    pub seed: u64,
    /// Scratch folder of the family; keeps the inputs of what failed.
    pub folder: &'a Path,
}

/// What a family's cases showed, per check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The function leaves nothing symbolic and decides nothing.
    pub only_clears: bool,
    pub cases: u64,
    /// Cases that left something symbolic behind.
    pub labelled: u64,
    /// Branches inside the model that depended on the case.
    pub branches: u64,
}

/// Why a family failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("cannot run the family")]
    Io(#[from] std::io::Error),
    #[error("parallax-cc does not compile the family:\n{0}")]
    Compile(String),
    #[error("`parallax trace` failed on {}: {end:?}\n{stderr}", folder.display())]
    Trace {
        folder: PathBuf,
        end: End,
        stderr: String,
    },
    #[error("`parallax trace --json` is not understood")]
    Report(#[from] serde_json::Error),
    #[error("{fault}\n  repeat: cd {} && sh repeat.sh", folder.display())]
    Batch { folder: PathBuf, fault: Fault },
    #[error("{0} was never called")]
    Untried(String),
    #[error("{0} never made anything of its input: no branch, no symbolic result")]
    Concrete(String),
}

/// Runs all cases of a plan and says what was seen of each check.
pub fn run(plan: &Plan<'_>) -> Result<BTreeMap<String, Tally>, Failure> {
    fs::create_dir_all(plan.folder)?;
    let source = plan.folder.join(format!("{}.c", plan.family.name));
    let program = plan.folder.join(plan.family.name);
    fs::write(plan.folder.join("harness.h"), HARNESS)?;
    fs::write(&source, plan.family.source)?;
    let flavour = Flavour {
        flags: vec!["-O1", "-fno-builtin"],
    };
    let compiled = compile(&plan.tool.compiler, &flavour, &source, &program)?;
    if !compiled.success() {
        let stderr = String::from_utf8_lossy(&compiled.stderr).into_owned();
        return Err(Failure::Compile(stderr));
    }
    let mut rng = Rng::new(plan.seed);
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    let mut left = plan.cases;
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        let cases: Vec<Case> = (0..count)
            .map(|_| (plan.family.generate)(&mut rng))
            .collect();
        for (check, tally) in run_batch(plan, &program, &cases)? {
            let sum = tallies.entry(check).or_default();
            sum.only_clears = tally.only_clears;
            sum.cases += tally.cases;
            sum.labelled += tally.labelled;
            sum.branches += tally.branches;
        }
    }
    for (check, tally) in &tallies {
        if tally.cases == 0 {
            return Err(Failure::Untried(check.clone()));
        }
        let is_concrete = tally.labelled + tally.branches == 0 && !tally.only_clears;
        if is_concrete && tally.cases >= ENOUGH {
            return Err(Failure::Concrete(check.clone()));
        }
    }
    Ok(tallies)
}

fn run_batch(
    plan: &Plan<'_>,
    program: &Path,
    cases: &[Case],
) -> Result<BTreeMap<String, Tally>, Failure> {
    let mut encoded = Encoded::default();
    for case in cases {
        encoded.push(case);
    }
    let folder = plan.folder;
    fs::write(folder.join("frames"), &encoded.frames)?;
    fs::write(folder.join("input"), &encoded.input)?;
    let name = plan.family.name;
    fs::write(
        folder.join("repeat.sh"),
        format!("parallax trace --self-check --symbolic stdin --stdin input ./{name} -- frames\n"),
    )?;
    let mut command = Command::new(&plan.tool.parallax);
    command
        .args([
            "trace",
            "--self-check",
            "--json",
            "--all",
            "--timeout",
            "240",
        ])
        .args(["--symbolic", "stdin", "--stdin", "input"])
        .arg(program)
        .args(["--", "frames"])
        .current_dir(folder)
        .stdin(Stdio::null());
    let finished = process::run(&mut command, TIMEOUT)?;
    fs::write(folder.join("report.json"), &finished.stdout)?;
    // 1 means findings: mismatches, which the report lists.
    if !matches!(finished.end, End::Exit(0 | 1)) {
        return Err(Failure::Trace {
            folder: folder.to_owned(),
            end: finished.end,
            stderr: String::from_utf8_lossy(&finished.stderr).into_owned(),
        });
    }
    let report = Report::parse(&finished.stdout)?;
    let batch = Batch::of(&report).and_then(|batch| {
        batch.require_no_loss(&report, plan.family.known_losses)?;
        Ok(batch)
    });
    match batch {
        Ok(batch) => Ok(batch.tallies),
        Err(fault) => Err(Failure::Batch {
            folder: folder.to_owned(),
            fault,
        }),
    }
}
