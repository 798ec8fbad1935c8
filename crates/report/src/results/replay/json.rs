//! The report of `parallax replay` as JSON.

use serde_json::{Value, json};

use super::{AllReport, Missed, ReplayReport, Shown, Why};
use crate::results::SCHEMA;

pub fn json(report: &ReplayReport<'_>) -> String {
    let run = |(shown, differences): (&Shown, &Vec<_>)| {
        let problem = |problem: &parallax_exec::finding::Problem| {
            json!({
                "kind": problem.kind,
                "message": problem.message,
                "location": problem.location,
                "functions": problem.functions,
            })
        };
        json!({
            "on": shown.label,
            "build": shown.build.name(),
            "program": shown.seen.names.program,
            "result": shown.seen.ending,
            "problems": shown.seen.problems.iter().map(problem).collect::<Vec<_>>(),
            "flaky": shown.is_flaky,
            "seconds": shown.seen.duration.as_secs_f64(),
            "covered": shown.seen.covered,
            "differences": differences,
        })
    };
    let runs = report.shown.iter().zip(&report.differences).map(run);
    let times = report.shown.iter().map(|shown| shown.seen.duration);
    let seconds = times.sum::<std::time::Duration>().as_secs_f64();
    let document = json!({
        "schema": SCHEMA,
        "command": "replay",
        "stats": stats(report.shown.len(), seconds),
        "losses": [],
        "findings": [],
        "targets": [],
        "id": report.what.title,
        "program": report.what.program,
        "scenario": report.what.scenario,
        "recorded": report.reference.map(|reference| reference.ending),
        "replayed": runs.collect::<Vec<Value>>(),
        "same": report.is_same(),
    });
    format!("{document}\n")
}

/// What every document has.
fn stats(runs: usize, seconds: f64) -> Value {
    json!({"runs": runs, "paths": 0, "queries": 0, "seconds": seconds})
}

pub fn all_json(report: &AllReport) -> String {
    let missed = |missed: &Missed| {
        let (why, differences, error) = match &missed.why {
            Why::Differs(differences) => ("differs", Some(differences), None),
            Why::Flaky(differences) => ("flaky", Some(differences), None),
            Why::Failed(error) => ("failed", None, Some(error)),
        };
        json!({
            "id": missed.id,
            "command": missed.command,
            "why": why,
            "differences": differences,
            "error": error,
            "notes": missed.notes,
            "unsteady": missed.unsteady,
        })
    };
    let document = json!({
        "schema": SCHEMA,
        "command": "replay",
        "stats": stats(report.total, report.seconds),
        "losses": [],
        "findings": [],
        "targets": [],
        "same": report.same(),
        "unsteady": report.unsteady(),
        "missed": report.missed.iter().map(missed).collect::<Vec<Value>>(),
    });
    format!("{document}\n")
}
