//! What `parallax targets` found: lines to be covered, and lines that cannot be.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::SCHEMA;
use crate::console::Palette;
use crate::size::counted;

/// Lines that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub file: String,
    /// Ascending.
    pub lines: Vec<u32>,
    pub function: String,
    /// Programs that have the code.
    pub programs: Vec<String>,
    /// Site ids of the blocks.
    pub blocks: Vec<u64>,
    /// Some scenario runs it.
    pub covered: bool,
}

/// A line without code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub file: String,
    pub line: u32,
    pub why: String,
}

/// The whole result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub targets: Vec<Target>,
    pub skipped: Vec<Skipped>,
    /// How many scenarios say what is covered.
    pub scenarios: usize,
}

/// For people; all of it if asked for.
pub fn text(found: &Targets, all: bool) -> String {
    let mut text = String::new();
    for target in &found.targets {
        if target.covered && !all {
            continue;
        }
        let state = match target.covered {
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
    let covered = found.targets.iter().filter(|target| target.covered).count();
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

/// `3-5,9`.
fn spans(lines: &[u32]) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => spans.push((*line, *line)),
        }
    }
    let shown = spans.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(",")
}

/// For programs.
pub fn json(found: &Targets, time: Duration) -> String {
    let targets: Vec<Value> = found
        .targets
        .iter()
        .map(|target| {
            json!({
                "file": target.file,
                "line": target.lines.first(),
                "lines": target.lines,
                "function": target.function,
                "status": if target.covered { "suite" } else { "missed" },
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
        "command": "targets",
        "stats": {"runs": 0, "paths": 0, "queries": 0, "seconds": time.as_secs_f64()},
        "losses": [],
        "findings": [],
        "targets": targets,
        "skipped": skipped,
    });
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    fn neighbouring_lines_are_one_span() {
        assert_eq!(spans(&[3, 4, 5, 9, 11, 12]), "3-5,9,11-12");
        assert_eq!(spans(&[]), "");
    }
}
