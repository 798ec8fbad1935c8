//! Free exploration of coreutils from nothing, as KLEE is measured: how much of the program's own source
//! file is covered within a time.

use crate::coreutils::Place;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

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
    seconds: f64,
    flips: (u64, u64),
    findings: Vec<String>,
}

/// Explores each program on one thread for so many seconds; a table.
pub fn run(place: &Place, programs: &[String], seconds: u64) -> Result<String> {
    let folder = place.folder("evaluate")?;
    let mut rows = Vec::new();
    for program in programs {
        eprintln!("exploring {program}");
        let output = folder.join(program);
        let _ = fs::remove_dir_all(&output);
        let time = seconds.to_string();
        let result = place
            .command(place.parallax())
            .arg("explore")
            .arg(place.program(program))
            .args(SHAPE)
            .args(["--json", "--jobs", "1", "--time", &time, "--output"])
            .arg(&output)
            .output()?;
        let code = result.status.code();
        ensure!(
            matches!(code, Some(0 | 1)),
            "{program}: exit code {code:?}\n{}",
            String::from_utf8_lossy(&result.stderr)
        );
        rows.push(row(program, &result.stdout).with_context(|| program.clone())?);
    }
    Ok(table(&rows))
}

fn row(program: &str, json: &[u8]) -> Result<Row> {
    let report: Value = serde_json::from_slice(json)?;
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
        "| program | lines of its source file | runs | paths | inputs that took their branch | seconds | errors |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let (taken, missed) = row.flips;
        let errors = if row.findings.is_empty() {
            "–".to_owned()
        } else {
            row.findings.join(", ")
        };
        let _ = writeln!(
            text,
            "| {} | {} of {} | {} | {} | {taken} of {} | {:.0} | {errors} |",
            row.program,
            row.covered,
            row.total,
            row.runs,
            row.paths,
            taken + missed,
            row.seconds,
        );
    }
    text
}
