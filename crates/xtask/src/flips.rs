//! Of the inputs that a solver made for a branch, how many take it: one generation of exploration over
//! generated programs and over command lines of coreutils. Each that misses must be explained by a loss.

use crate::commands::{self, CommandFile, CommandLine};
use anyhow::{Context, Result, ensure};
use parallax_torture::flips::{self, Explored, Flips};
use parallax_torture::trial::{Run, Tool};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::process::Command;

/// At least this share must take their branch.
const ENOUGH: f64 = 99.5;

/// What to look at.
pub struct Plan<'a> {
    pub parallax: &'a Path,
    /// Folder with coreutils' programs.
    pub programs: &'a Path,
    /// How many programs of our generator.
    pub generated: u64,
    /// How many command lines.
    pub commands: usize,
    /// Only command lines that contain this text.
    pub only: &'a str,
}

/// Explores everything and prints what came out; true if it is good enough.
pub fn run(plan: &Plan) -> Result<bool> {
    let parallax = fs::canonicalize(plan.parallax)
        .with_context(|| format!("{}: build it with `make build`", plan.parallax.display()))?;
    let tool = Tool::new(parallax);
    let generated = generated(&tool, plan.generated)?;
    let (lines, programs) = coreutils(&tool, plan)?;
    println!("| | explorations | inputs made | took their branch | share | missed unexplained |");
    println!("|---|---|---|---|---|---|");
    let what = format!("{programs} programs of coreutils");
    let mut good = true;
    for (name, total) in [("generated programs", &generated), (&what, &lines)] {
        let Total { explored, flips } = total;
        println!(
            "| {name} | {explored} | {} | {} | {:.2} % | {} |",
            flips.made(),
            flips.taken,
            flips.share(),
            flips.unexplained
        );
        good &= flips.share() >= ENOUGH && flips.unexplained == 0;
    }
    Ok(good)
}

/// Sum over explorations.
#[derive(Default)]
struct Total {
    explored: usize,
    flips: Flips,
}

impl Total {
    fn add(&mut self, name: &str, explored: &Explored) {
        self.explored += 1;
        self.flips += explored.flips;
        let flips = explored.flips;
        println!("{:>6} of {:>6}  {name}", flips.taken, flips.made());
        for miss in &explored.misses {
            println!("        {miss}");
        }
    }
}

fn generated(tool: &Tool, count: u64) -> Result<Total> {
    let mut total = Total::default();
    for seed in 1..=count {
        let folder = tempfile::tempdir()?;
        let explored = flips::explore_generated(tool, seed, folder.path())
            .with_context(|| format!("generated program {seed}"))?;
        total.add(&format!("generated program {seed}"), &explored);
    }
    Ok(total)
}

/// The sum, and how many programs there were.
fn coreutils(tool: &Tool, plan: &Plan) -> Result<(Total, usize)> {
    let path = crate::root().join("tests/coreutils-commands.txt");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let mut file = commands::parse(&text)?;
    file.commands.retain(|line| line.text.contains(plan.only));
    let chosen = spread(&file.commands, plan.commands);
    let mut total = Total::default();
    for line in &chosen {
        let explored = explore(tool, plan.programs, &file, line);
        total.add(&line.text, &explored.with_context(|| line.text.clone())?);
    }
    let programs: BTreeSet<&str> = chosen.iter().map(|line| line.program.as_str()).collect();
    Ok((total, programs.len()))
}

/// So many command lines, of as many programs as possible: the first of each, then the second of each, and so on.
fn spread(lines: &[CommandLine], count: usize) -> Vec<&CommandLine> {
    let mut turns: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ranked: Vec<(usize, &CommandLine)> = lines
        .iter()
        .map(|line| {
            let turn = turns.entry(&line.program).or_default();
            *turn += 1;
            (*turn, line)
        })
        .collect();
    ranked.sort_by_key(|(turn, _)| *turn);
    ranked
        .into_iter()
        .take(count)
        .map(|(_, line)| line)
        .collect()
}

fn explore(
    tool: &Tool,
    programs: &Path,
    file: &CommandFile,
    line: &CommandLine,
) -> Result<Explored> {
    let folder = tempfile::tempdir()?;
    let room = folder.path().join("room");
    fs::create_dir(&room)?;
    for fixture in &file.fixtures {
        fs::write(room.join(&fixture.name), &fixture.contents)?;
    }
    let stdin = match &line.stdin {
        None => Vec::new(),
        Some(name) => fs::read(room.join(name))?,
    };
    fs::write(folder.path().join("stdin"), stdin)?;
    let program = programs.join(&line.program);
    ensure!(
        program.exists(),
        "coreutils has no program {}",
        line.program
    );
    let arguments = line.arguments.iter().cloned();
    let run = Run {
        arguments: arguments.map(OsString::from_vec).collect(),
        stdin: Vec::new(),
        file: Vec::new(),
    };
    let mut command = Command::new(&tool.parallax);
    command.current_dir(&room).env("LC_ALL", "C");
    Ok(flips::explore(
        &mut command,
        &program,
        &folder.path().join("stdin"),
        &run,
    )?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_its_turn_before_any_has_a_second() {
        let file = commands::parse("cut -c1\ncut -c2\ntr a b\ncut -c3\nseq 1\n").unwrap();
        let texts: Vec<&str> = spread(&file.commands, 4)
            .iter()
            .map(|line| line.text.as_str())
            .collect();
        assert_eq!(texts, ["cut -c1", "tr a b", "seq 1", "cut -c2"]);
    }
}
