//! Free exploration of coreutils from nothing, as KLEE is measured: how much of the program's own source
//! file is covered within a time.
//!
//! What came out for each program is kept beside the build: an evaluation that was interrupted goes on where it
//! was, as long as tool and time are the same.

use crate::coreutils::Place;
use crate::cpu;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Programs of coreutils that read text and options.
pub const PROGRAMS: [&str; 10] = [
    "cut", "expr", "seq", "printf", "tr", "paste", "od", "fold", "join", "uniq",
];

/// The shape of input that KLEE's own experiments use.
const SHAPE: [&str; 13] = [
    "--sym-args",
    "0",
    "1",
    "10",
    "--sym-args",
    "0",
    "2",
    "2",
    "--sym-file",
    "A",
    "8",
    "--sym-stdin",
    "8",
];

/// What one exploration came to.
struct Row {
    program: String,
    runs: u64,
    paths: u64,
    covered: u64,
    total: u64,
    missed: Vec<u64>,
    /// Seconds and traced runs after which the last new line came.
    latest: (f64, u64),
    seconds: f64,
    cpu: f64,
    flips: (u64, u64),
    findings: Vec<String>,
}

/// What is kept of one exploration.
#[derive(Serialize, Deserialize)]
struct Kept {
    tool: String,
    time: u64,
    cpu: f64,
    report: Value,
}

/// Explores each program on one thread for so many seconds; a table.
pub fn run(place: &Place, programs: &[String], seconds: u64) -> Result<String> {
    let folder = place.folder("evaluate")?;
    let mut rows = Vec::new();
    for program in programs {
        let file = folder.join(format!("{program}.json"));
        let known = fs::read(&file).ok();
        let known = known.and_then(|bytes| serde_json::from_slice::<Kept>(&bytes).ok());
        let known = known.filter(|kept| kept.tool == place.tool_key() && kept.time == seconds);
        let kept = match known {
            Some(kept) => kept,
            None => {
                let kept = explore(place, program, &folder.join(program), seconds)?;
                fs::write(&file, serde_json::to_vec(&kept)?)?;
                kept
            }
        };
        rows.push(row(program, &kept).with_context(|| program.clone())?);
    }
    Ok(table(&rows))
}

fn explore(place: &Place, program: &str, output: &Path, seconds: u64) -> Result<Kept> {
    eprintln!("exploring {program}");
    let _ = fs::remove_dir_all(output);
    // What was not finished is remembered below the current directory.
    let folder = output.parent().context("no folder")?;
    let before = cpu::of_children();
    let result = place
        .command(place.parallax())
        .arg("explore")
        .arg(place.program(program))
        .args(SHAPE)
        .args(["--json", "--fresh", "--jobs", "1"])
        .args(["--time", &seconds.to_string()])
        .arg("--output")
        .arg(output)
        .current_dir(folder)
        .output()?;
    let code = result.status.code();
    ensure!(
        matches!(code, Some(0 | 1)),
        "{program}: exit code {code:?}\n{}",
        String::from_utf8_lossy(&result.stderr)
    );
    Ok(Kept {
        tool: place.tool_key().to_owned(),
        time: seconds,
        cpu: cpu::of_children() - before,
        report: serde_json::from_slice(&result.stdout)?,
    })
}

fn row(program: &str, kept: &Kept) -> Result<Row> {
    let report = &kept.report;
    let stats = &report["stats"];
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let files = stats["files"].as_array().context("no files")?;
    let own = format!("src/{program}.c");
    let file = files
        .iter()
        .find(|file| {
            file["file"]
                .as_str()
                .is_some_and(|name| name.ends_with(&own))
        })
        .with_context(|| format!("{own} is not among the files"))?;
    let findings = report["findings"].as_array().context("no findings")?;
    let id = |finding: &Value| finding["id"].as_str().unwrap_or_default().to_owned();
    Ok(Row {
        program: program.to_owned(),
        runs: number(&stats["runs"]),
        paths: number(&stats["paths"]),
        covered: number(&file["lines"]["covered"]),
        total: number(&file["lines"]["total"]),
        missed: file["missed"]
            .as_array()
            .map(|lines| lines.iter().map(number).collect())
            .unwrap_or_default(),
        latest: (
            file["latest"]["seconds"].as_f64().unwrap_or(0.0),
            number(&file["latest"]["runs"]),
        ),
        cpu: kept.cpu,
        seconds: stats["seconds"].as_f64().unwrap_or(0.0),
        flips: (
            number(&stats["flips"]["taken"]),
            number(&stats["flips"]["missed"]),
        ),
        findings: findings.iter().map(id).collect(),
    })
}

fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| program | lines of its source file | last new one after | runs | paths | inputs that took their branch \
         | seconds (CPU) | errors |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (taken, missed) = row.flips;
        let errors = if row.findings.is_empty() {
            "–".to_owned()
        } else {
            row.findings.join(", ")
        };
        let (seconds, runs) = row.latest;
        let _ = writeln!(
            text,
            "| {} | {} of {} | {seconds:.0} s, {runs} runs | {} | {} | {taken} of {} | {:.0} ({:.0}) | {errors} |",
            row.program,
            row.covered,
            row.total,
            row.runs,
            row.paths,
            taken + missed,
            row.seconds,
            row.cpu,
        );
    }
    text.push_str("\nLines that nothing covered:\n\n");
    for row in rows {
        let _ = writeln!(text, "- {}: {}", row.program, ranges(&row.missed));
    }
    text
}

/// Numbers in rising order, neighbours joined.
fn ranges(numbers: &[u64]) -> String {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => spans.push((*number, *number)),
        }
    }
    let span = |(first, last): &(u64, u64)| match first == last {
        true => first.to_string(),
        false => format!("{first}–{last}"),
    };
    spans.iter().map(span).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_lines_are_joined() {
        assert_eq!(ranges(&[3, 5, 6, 7, 9, 10]), "3, 5–7, 9–10");
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn a_row_is_about_the_programs_own_file() {
        let report = serde_json::json!({
            "stats": {
                "runs": 7, "paths": 5, "seconds": 1.5,
                "flips": {"taken": 4, "missed": 1},
                "files": [
                    {"file": "lib/cut.c", "lines": {"covered": 1, "total": 1}, "missed": []},
                    {"file": "src/cut.c", "lines": {"covered": 2, "total": 4}, "missed": [8, 9],
                     "latest": {"runs": 6, "seconds": 1.0}},
                ],
            },
            "findings": [],
        });
        let kept = Kept {
            tool: String::new(),
            time: 2,
            cpu: 1.25,
            report,
        };
        let row = row("cut", &kept).unwrap();
        assert_eq!((row.covered, row.total, row.missed), (2, 4, vec![8, 9]));
        assert_eq!(row.latest, (1.0, 6));
    }
}
