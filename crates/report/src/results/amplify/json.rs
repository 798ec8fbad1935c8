//! The result of an amplification as JSON.

use parallax_search::amplify::{Checks, Place};
use serde_json::{Value, json};

use super::{AmplifyReport, Shown};
use crate::results::document::{self, Document};
use crate::results::search::limits;

pub fn render(report: &AmplifyReport) -> String {
    let each = || report.programs.iter();
    let undecided: Vec<Value> = each()
        .flat_map(|shown| {
            let places = shown.result.record.undecided.iter();
            places.map(|(at, number)| counted(shown, at, *number))
        })
        .collect();
    let divergences: Vec<Value> = each()
        .flat_map(|shown| {
            let points = shown.result.record.divergences.iter();
            points.map(|at| {
                json!({
                    "distance": at.distance,
                    "depth": at.depth,
                    "location": location(shown.place(at.site)),
                    "test": shown.target.seeds[at.seed].name,
                })
            })
        })
        .collect();
    let risks = report.risks().into_iter();
    let risks = risks.map(|(percent, risk)| json!({"percent": percent, "missed": risk}));
    let findings = report.findings().map(|(shown, found)| {
        let directory = shown.kept.get(&found.finding.id());
        let directory = directory.map(|path| path.to_string_lossy().into_owned());
        let distance = Some(found.distance);
        let mut value = document::finding(&found.finding, distance, directory.as_deref());
        value["program"] = json!(shown.target.name);
        value["test"] = json!(shown.test(found));
        value["tests"] = json!(found.tests);
        value["also"] = json!(found.also);
        value
    });
    let solver = report.solver();
    Document {
        command: "amplify",
        runs: report.sum(|result| result.runs),
        paths: report.sum(|result| result.paths),
        queries: report.sum(|result| result.queries),
        seconds: report.seconds(),
        losses: report.losses(),
        findings: findings.collect(),
        targets: Vec::new(),
        statistics: json!({
            "ended": format!("{:?}", report.ended).to_lowercase(),
            "distance": report.distance(),
            "tests": {"given": report.given(), "run": report.tests()},
            "risks": risks.collect::<Vec<_>>(),
            "sensitive_sites": report.sum(|result| result.record.sites.len() as u64),
            "concrete_sites": report.sum(|result| result.record.concrete_sites),
            "checks": checks(report.checks(), each().map(Shown::checked_lines).sum()),
            "undecided": undecided,
            "divergences": divergences,
            "programs": each().map(program).collect::<Vec<_>>(),
            "limits": limits(&report.limits()),
            "missed": report.sum(|result| result.missed),
            "executions": report.sum(|result| result.executions),
            "flaky": report.sum(|result| result.flaky),
            "solver": {"seconds": solver.time().as_secs_f64()},
        }),
    }
    .render()
}

fn location(place: Option<(String, u32)>) -> Value {
    json!(place.map(|(file, line)| json!({"file": file, "line": line})))
}

fn counted(shown: &Shown, at: &Place, count: u64) -> Value {
    json!({
        "location": location(shown.place(at.site)),
        "kind": at.failure.name(),
        "count": count,
    })
}

fn checks(checks: Checks, lines: usize) -> Value {
    json!({
        "made": checks.made,
        "lines": lines,
        "safe": checks.safe,
        "confirmed": checks.confirmed,
        "unconfirmed": checks.unconfirmed,
        "undecided": checks.undecided,
        "skipped": checks.skipped,
    })
}

/// What was done for one program.
fn program(shown: &Shown) -> Value {
    let result = shown.result;
    let unconfirmed = result.record.unconfirmed.iter();
    let unconfirmed = unconfirmed.map(|(at, number)| counted(shown, at, *number));
    let unusable = result.unusable.iter().map(|(seed, reason)| {
        let name = &shown.target.seeds[*seed].name;
        json!({"test": name, "reason": reason})
    });
    json!({
        "program": shown.target.name,
        "tests": {"given": result.given, "run": result.record.order.len()},
        "order": result.record.order,
        "runs": result.runs,
        "paths": result.paths,
        "executions": result.executions,
        "queries": result.queries,
        "solver_seconds": result.solver.time().as_secs_f64(),
        "sensitive_sites": result.record.sites.len(),
        "concrete_sites": result.record.concrete_sites,
        "checks": checks(result.record.checks, shown.checked_lines()),
        "unconfirmed": unconfirmed.collect::<Vec<_>>(),
        "unusable": unusable.collect::<Vec<_>>(),
        "hanging": result.record.hanging,
        "is_traced": result.ended.is_some(),
        "findings": result.record.findings.len(),
    })
}
