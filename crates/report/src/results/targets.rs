//! What `parallax targets` found: lines to be covered, and lines that cannot be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::SCHEMA;
use crate::model::Skipped;
use crate::palette::Palette;
use crate::words::{counted, spans};

/// What was asked about.
pub struct Found {
    /// In the order of files and lines.
    pub targets: Vec<Target>,
    pub skipped: Vec<Skipped>,
    /// How many scenarios say what is covered.
    pub scenarios: u64,
}

/// Lines that run together.
pub struct Target {
    pub file: String,
    /// Ascending.
    pub lines: Vec<u32>,
    pub function: String,
    /// Names of the programs that have the code.
    pub programs: Vec<String>,
    /// Site ids of the blocks.
    pub blocks: BTreeSet<u64>,
    /// Whether a recorded scenario runs them.
    pub is_covered: bool,
}

/// For people; all of it if asked for.
pub fn text(found: &Found, all: bool) -> String {
    let mut text = String::new();
    for target in &found.targets {
        if target.is_covered && !all {
            continue;
        }
        let state = match target.is_covered {
            true => Palette.good("covered"),
            false => Palette.warn("missed "),
        };
        let place = format!("{}:{}", target.file, spans(&target.lines));
        let _ = writeln!(
            text,
            "{state}  {}  {}  {}",
            Palette.place(&place),
            target.function,
            Palette.dim(&target.programs.join(" "))
        );
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for skipped in &found.skipped {
        *reasons.entry(&skipped.why).or_default() += 1;
        if all {
            let place = format!("{}:{}", skipped.file, skipped.line);
            let why = Palette.dim(&skipped.why);
            let _ = writeln!(text, "no code  {}  {why}", Palette.place(&place));
        }
    }
    if found.targets.is_empty() {
        let why = match found.skipped.is_empty() {
            true => "no line of a source file is meant",
            false => "none of the lines has code in these programs",
        };
        let _ = writeln!(text, "there is nothing to cover: {why}");
    }
    let covered = found.targets.iter().filter(|one| one.is_covered).count();
    let _ = writeln!(
        text,
        "{}: {covered} covered by {}, {} missed",
        counted(found.targets.len() as u64, "target"),
        counted(found.scenarios, "scenario"),
        found.targets.len() - covered
    );
    if !found.skipped.is_empty() {
        let reasons: Vec<String> = reasons
            .iter()
            .map(|(why, count)| format!("{count} {why}"))
            .collect();
        let lines = counted(found.skipped.len() as u64, "line");
        let _ = writeln!(text, "{lines} without code: {}", reasons.join(", "));
    }
    text
}

/// For programs.
pub fn json(found: &Found, command: &str, time: Duration) -> String {
    let targets: Vec<Value> = found
        .targets
        .iter()
        .map(|target| {
            json!({
                "file": target.file,
                "line": target.lines.first(),
                "lines": target.lines,
                "function": target.function,
                "status": if target.is_covered { "suite" } else { "missed" },
                "scenario": null,
                "steps": [],
                "why": null,
                "programs": target.programs,
                "blocks": target.blocks.iter().map(|site| format!("{site:016x}")).collect::<Vec<_>>(),
            })
        })
        .collect();
    let skipped: Vec<Value> = found
        .skipped
        .iter()
        .map(|line| json!({"file": line.file, "line": line.line, "why": line.why}))
        .collect();
    let document = json!({
        "schema": SCHEMA,
        "command": command,
        "stats": {"runs": 0, "paths": 0, "queries": 0, "seconds": time.as_secs_f64()},
        "losses": [],
        "findings": [],
        "targets": targets,
        "skipped": skipped,
    });
    format!("{document}\n")
}
