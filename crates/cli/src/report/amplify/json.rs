//! The result of an amplification as JSON.

use serde_json::{Value, json};

use super::AmplifyReport;
use crate::report::document::{self, Document};

pub fn render(report: &AmplifyReport) -> String {
    let summary = report.summary;
    let checks = summary.checks;
    let undecided = summary.undecided.iter().map(|(at, count)| {
        let place = report.place(at.site);
        json!({
            "location": place.map(|(file, line)| json!({"file": file, "line": line})),
            "kind": at.failure.name(),
            "count": count,
        })
    });
    let divergences = summary.divergences.iter().map(|at| {
        let place = report.place(at.site);
        json!({
            "distance": at.distance,
            "depth": at.depth,
            "location": place.map(|(file, line)| json!({"file": file, "line": line})),
            "test": report.seeds[at.seed].name,
        })
    });
    let risks = report.risks().into_iter();
    let risks = risks.map(|(percent, risk)| json!({"percent": percent, "missed": risk}));
    let findings = summary.findings.iter().map(|found| {
        let directory = report.kept.get(&found.finding.id());
        let directory = directory.map(|path| path.to_string_lossy().into_owned());
        let distance = Some(found.distance);
        let mut value = document::finding(&found.finding, distance, directory.as_deref());
        value["test"] = json!(report.seeds[found.seed].name);
        value
    });
    let findings: Vec<Value> = findings.collect();
    Document {
        command: "amplify",
        runs: summary.progress.runs,
        paths: summary.progress.paths,
        queries: summary.solver.queries,
        seconds: summary.seconds,
        losses: report.ranked_losses(),
        findings,
        targets: Vec::new(),
        statistics: json!({
            "ended": format!("{:?}", summary.ended).to_lowercase(),
            "distance": summary.progress.distance,
            "tests": {"given": summary.given, "run": summary.order.len()},
            "risks": risks.collect::<Vec<_>>(),
            "sensitive_sites": summary.sites.len(),
            "concrete_sites": summary.concrete_sites,
            "checks": {
                "made": checks.made,
                "lines": report.checked_lines(),
                "safe": checks.safe,
                "confirmed": checks.confirmed,
                "unconfirmed": checks.unconfirmed,
                "undecided": checks.undecided,
                "skipped": checks.skipped,
            },
            "undecided": undecided.collect::<Vec<_>>(),
            "divergences": divergences.collect::<Vec<_>>(),
            "missed": summary.missed,
            "executions": summary.executions,
            "flaky": summary.flaky,
            "solver": {"seconds": summary.solver.time().as_secs_f64()},
        }),
    }
    .render()
}
