//! What `parallax targets` found: lines to be covered, and lines that cannot be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

pub use parallax_report::words::spans;
use serde_json::{Value, json};

use super::SCHEMA;
use crate::commands::patch::Found;
use crate::console::Palette;
use crate::size::counted;

/// For people; all of it if asked for.
pub fn text(found: &Found, all: bool) -> String {
    let mut text = String::new();
    for target in &found.targets {
        if target.covered_by.is_some() && !all {
            continue;
        }
        let state = match target.covered_by.is_some() {
            true => Palette.good("covered"),
            false => Palette.warn("missed "),
        };
        let place = format!("{}:{}", target.file, spans(&target.lines));
        let _ = writeln!(
            text,
            "{state}  {}  {}  {}",
            Palette.place(&place),
            target.function,
            Palette.dim(&target.programs(&found.subjects).join(" "))
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
    let covered = found.covered();
    let _ = writeln!(
        text,
        "{}: {covered} covered by {}, {} missed",
        counted(found.targets.len() as u64, "target"),
        counted(found.scenarios as u64, "scenario"),
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
                "status": if target.covered_by.is_some() { "suite" } else { "missed" },
                "scenario": null,
                "steps": [],
                "why": null,
                "programs": target.programs(&found.subjects),
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
