//! What a comparison of two programs starts from: scenarios in files, or a command line.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use parallax_campaign::{Failure, Start};
use parallax_scenario::Scenario;
use parallax_search::explore::{Bounds, Shape};

use super::seed::{self, StartArguments};
use crate::commands::replay::what;
use crate::exit::Exit;

/// Where to start.
#[derive(Debug, clap::Args)]
pub struct SeededArguments {
    #[command(flatten)]
    start: StartArguments,

    /// Start from these scenarios instead of a command line: files of JSON, or directories of them (may be repeated)
    #[arg(
        long,
        value_name = "PATH",
        conflicts_with_all = ["arguments", "stdin", "file", "env", "sym_stdin", "sym_file"]
    )]
    seeds: Vec<PathBuf>,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

impl SeededArguments {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty() && self.seeds.is_empty() && self.start.is_empty()
    }

    /// Reads what was named.
    pub fn read(&self) -> Result<Start, Failure> {
        if !self.seeds.is_empty() {
            let seeds = read_all(&self.seeds)?;
            let names = seeds.iter().flat_map(|seed| seed.env.keys());
            let names: BTreeSet<Vec<u8>> = names.map(|name| name.0.clone()).collect();
            return Ok(Start {
                shape: Shape::Bounded(Bounds::around(&seeds)),
                environment: names.into_iter().collect(),
                seeds,
                notes: Vec::new(),
            });
        }
        seed::shape(&self.start, &self.arguments)
    }
}

/// The scenarios of files and of directories of files, in the order of their names.
fn read_all(paths: &[PathBuf]) -> Result<Vec<Scenario>, Failure> {
    let mut scenarios = Vec::new();
    for path in paths {
        let files = match path.is_dir() {
            true => json_below(path)?,
            false => vec![path.clone()],
        };
        for file in files {
            scenarios.push(what::find(file.as_os_str())?.scenario);
        }
    }
    match scenarios.is_empty() {
        true => {
            let names: Vec<String> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            let message = format!("no scenario is in {}", names.join(", "));
            Err(Failure::new(Exit::Usage, message)
                .hint("scenarios are files that end in .json; parallax schema describes them"))
        }
        false => Ok(scenarios),
    }
}

/// The files of a directory that could hold a scenario.
fn json_below(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let is_json = |path: &PathBuf| path.extension() == Some(OsStr::new("json")) && path.is_file();
    let entries = fs::read_dir(directory).map_err(Failure::cannot("read", directory))?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = paths.filter(is_json).collect();
    files.sort();
    Ok(files)
}
