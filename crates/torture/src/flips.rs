//! Whether inputs take the branch that they were made for: one generation of `parallax explore` on a
//! program, and what it says about the inputs that missed.

use crate::compile::Flavour;
use crate::generator;
use crate::process::{self, End};
use crate::trial::{Failure, Place, Run, Tool, Trial};
use serde::Deserialize;
use std::fmt;
use std::ops::AddAssign;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Includes compiles; on a busy machine they take minutes.
const TIMEOUT: Duration = Duration::from_secs(900);
/// Traced runs of one exploration at most, and seconds: programs that compute with floating point ask the
/// solver what takes it long.
const RUNS: &str = "1000";
const SECONDS: &str = "30";

/// What became of the inputs that a solver made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Flips {
    pub taken: u64,
    pub missed: u64,
    /// Missed without a loss that could explain it.
    pub unexplained: u64,
}

impl Flips {
    pub fn made(self) -> u64 {
        self.taken + self.missed
    }

    /// Percentage that took their branch.
    pub fn share(self) -> f64 {
        match self.made() {
            0 => 100.0,
            made => 100.0 * self.taken as f64 / made as f64,
        }
    }
}

impl AddAssign for Flips {
    fn add_assign(&mut self, other: Flips) {
        self.taken += other.taken;
        self.missed += other.missed;
        self.unexplained += other.unexplained;
    }
}

/// An input that did not take its branch.
#[derive(Clone, Debug, Deserialize)]
pub struct Missed {
    wanted: Option<String>,
    left_at: Option<String>,
    #[serde(default)]
    losses: Vec<String>,
}

impl fmt::Display for Missed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = |place: &Option<String>| place.clone().unwrap_or_else(|| "?".to_owned());
        let why = match self.losses.as_slice() {
            [] => "unexplained".to_owned(),
            losses => format!("lost in {}", losses.join(", ")),
        };
        let (wanted, left_at) = (place(&self.wanted), place(&self.left_at));
        write!(formatter, "{wanted} missed, left at {left_at}: {why}")
    }
}

/// One exploration.
#[derive(Clone, Debug)]
pub struct Explored {
    pub flips: Flips,
    /// The first few.
    pub misses: Vec<Missed>,
}

#[derive(Deserialize)]
struct Document {
    stats: Stats,
}

#[derive(Deserialize)]
struct Stats {
    flips: Flips,
    misses: Vec<Missed>,
}

/// Explores one generation. The command has been told where to run; it gets program, options and
/// the program's arguments here.
pub fn explore(
    command: &mut Command,
    program: &Path,
    stdin: &Path,
    run: &Run,
) -> Result<Explored, Failure> {
    command
        .args(["explore", "--json", "--generations", "1", "--runs", RUNS])
        .args(["--time", SECONDS])
        .args(["--no-sanitizers", "--no-coverage", "--jobs", "1"])
        .arg("--stdin")
        .arg(stdin)
        .arg(program)
        .arg("--")
        .args(&run.arguments)
        .stdin(std::process::Stdio::null());
    let finished = process::run(command, TIMEOUT)?;
    if !matches!(finished.end, End::Exit(0 | 1)) {
        return Err(Failure::Trace {
            run: 0,
            end: finished.end,
            stderr: String::from_utf8_lossy(&finished.stderr).into_owned(),
        });
    }
    let document: Document = serde_json::from_slice(&finished.stdout)
        .map_err(|source| Failure::Report { run: 0, source })?;
    Ok(Explored {
        flips: document.stats.flips,
        misses: document.stats.misses,
    })
}

/// Explores the program that the generator makes of a seed, from the first of its inputs.
pub fn explore_generated(tool: &Tool, seed: u64, directory: &Path) -> Result<Explored, Failure> {
    let program = generator::generate(seed);
    let flavour = Flavour { flags: vec!["-O1"] };
    let trial = Trial {
        tool,
        directory,
        flavour: &flavour,
    };
    trial.compile(&program.source)?;
    let run = Run::of(&program.inputs[0]);
    let place = Place::prepare(directory, 0, &run)?;
    let mut command = Command::new(&tool.parallax);
    command.current_dir(place.folder());
    explore(&mut command, &trial.program(), place.stdin(), &run)
}
