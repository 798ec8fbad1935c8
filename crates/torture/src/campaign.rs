//! Many trials, side by side, with one summary.

use crate::compile::Flavour;
use crate::csmith;
use crate::generator;
use crate::rng::Rng;
use crate::trial::{Failure, Run, Seen, Tool, Trial};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where programs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Our own generator.
    Own,
    Csmith,
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub tool: Tool,
    pub origin: Origin,
    /// Programs have the seeds `seed`, `seed + 1`, ...
    pub seed: u64,
    pub count: u64,
    pub jobs: usize,
    /// Failed programs end up here, one folder each.
    pub keep: PathBuf,
}

/// A failed program.
#[derive(Debug)]
pub struct Failed {
    pub seed: u64,
    pub folder: PathBuf,
    pub failure: Failure,
}

/// What came out.
#[derive(Debug, Default)]
pub struct Summary {
    pub passed: u64,
    /// Seeds without a program: csmith gave none of interest within its time.
    pub skipped: u64,
    pub failed: Vec<Failed>,
    pub seen: Seen,
}

/// One finished trial, for whoever shows progress.
pub enum Progress<'a> {
    Passed,
    Skipped,
    Failed(&'a Failed),
}

/// Runs the plan; `observe` is told of each trial as it ends.
pub fn run(plan: &Plan, observe: &(dyn Fn(Progress) + Sync)) -> io::Result<Summary> {
    let next = AtomicU64::new(0);
    let summary = Mutex::new(Summary::default());
    let scratch = tempfile::tempdir()?;
    std::thread::scope(|scope| {
        for _ in 0..plan.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= plan.count {
                        return;
                    }
                    one(plan, plan.seed + index, scratch.path(), &summary, observe);
                }
            });
        }
    });
    let mut summary = summary.into_inner().expect("a trial panicked");
    summary.failed.sort_by_key(|failed| failed.seed);
    Ok(summary)
}

fn one(
    plan: &Plan,
    seed: u64,
    scratch: &Path,
    summary: &Mutex<Summary>,
    observe: &(dyn Fn(Progress) + Sync),
) {
    let folder = scratch.join(format!("{seed}"));
    let result = fs::create_dir_all(&folder)
        .map_err(Failure::from)
        .and_then(|()| one_program(plan, seed, &folder));
    let mut summary = summary.lock().expect("a trial panicked");
    match result {
        Ok(Some(seen)) => {
            summary.passed += 1;
            summary.seen.branches += seen.branches;
            summary.seen.nodes += seen.nodes;
            summary.seen.losses += seen.losses;
            observe(Progress::Passed);
        }
        Ok(None) => {
            summary.skipped += 1;
            observe(Progress::Skipped);
        }
        Err(failure) => {
            let kept = keep(&folder, &plan.keep, plan.origin, seed);
            let failed = Failed {
                seed,
                folder: kept.unwrap_or_else(|_| folder.clone()),
                failure,
            };
            observe(Progress::Failed(&failed));
            summary.failed.push(failed);
        }
    }
    drop(summary);
    // What failed was copied; the rest would fill the disk in a long campaign.
    let _ = fs::remove_dir_all(&folder);
}

fn one_program(plan: &Plan, seed: u64, folder: &Path) -> Result<Option<Seen>, Failure> {
    // Not the generator's stream: a change in the one shall not move the other.
    let flavour = Flavour::draw(&mut Rng::new(seed ^ 0x7061_7261));
    let trial = Trial {
        tool: &plan.tool,
        directory: folder,
        flavour: &flavour,
    };
    match plan.origin {
        Origin::Own => {
            let program = generator::generate(seed);
            let runs: Vec<Run> = program.inputs.iter().map(Run::of).collect();
            trial.compile(&program.source)?;
            match trial.run(&runs) {
                Ok(seen) => Ok(Some(seen)),
                Err(failure) => trial.check_definedness(&runs).and(Err(failure)),
            }
        }
        Origin::Csmith => {
            if !csmith::find(seed, &trial)? {
                return Ok(None);
            }
            let run = Run {
                arguments: ["1", csmith::KEY].map(OsString::from).to_vec(),
                stdin: Vec::new(),
                file: Vec::new(),
            };
            match trial.run(std::slice::from_ref(&run)) {
                Err(_) if !trial.is_the_same_unoptimised(&run)? => Ok(None),
                result => result.map(Some),
            }
        }
    }
}

/// Copies a failed trial's folder to where it stays.
fn keep(folder: &Path, keep: &Path, origin: Origin, seed: u64) -> io::Result<PathBuf> {
    let name = match origin {
        Origin::Own => format!("own-{seed}"),
        Origin::Csmith => format!("csmith-{seed}"),
    };
    let to = keep.join(name);
    let _ = fs::remove_dir_all(&to);
    copy_tree(folder, &to)?;
    Ok(to)
}

fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
