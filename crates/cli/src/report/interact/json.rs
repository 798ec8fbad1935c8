//! The search as the document that all commands print.

use parallax_engine::interact::Finding;
use serde_json::{Value, json};

use super::{InteractReport, message};
use crate::report::document::Document;
use crate::report::graph;
use crate::report::search::ranked;

pub fn render_json(report: &InteractReport) -> String {
    let summary = report.summary;
    let names = graph::names(report.comparison);
    let findings = summary.findings.iter().enumerate();
    let findings = findings.map(|(number, one)| finding(report, &names, number, one));
    let order = |sequence: &[usize]| -> Vec<&str> {
        sequence.iter().map(|node| names[*node].as_str()).collect()
    };
    let sequences = summary.rows.iter().map(|row| {
        json!({
            "sequence": order(&row.sequence),
            "tests": row.tests,
            "differences": row.differences,
            "errors": row.errors,
            "critical": row.is_critical,
        })
    });
    let changes = report.comparison.graph.nodes.iter().enumerate();
    let changes = changes.filter(|(node, _)| report.comparison.graph.is_change(*node));
    let interactions = report.comparison.graph.nodes.iter();
    let interactions = interactions
        .filter(|node| matches!(node.role, parallax_analysis::sequence::Role::Interaction(_)));
    Document {
        command: "interact",
        runs: summary.runs,
        paths: summary.paths,
        queries: summary.queries,
        seconds: summary.time.as_secs_f64(),
        losses: ranked(&summary.losses),
        targets: Vec::new(),
        statistics: json!({
            "scenarios": summary.scenarios,
            "executions": summary.executions,
            "isolated": report.isolated,
            "changes": changes.count(),
            "interactions": interactions.count(),
            "nodes_reached": summary.nodes.0,
            "nodes": summary.nodes.1,
            "edges_reached": summary.edges.0,
            "edges": summary.edges.1,
            "tests": summary.tests,
            "differences": summary.differences,
            "errors": summary.errors,
            "sequences": sequences.collect::<Vec<Value>>(),
            "flaky": summary.flaky,
            "cut": summary.cut,
        }),
        findings: findings.collect(),
    }
    .render()
}

fn finding(report: &InteractReport, names: &[String], number: usize, finding: &Finding) -> Value {
    let shown = &finding.shown;
    let problem = shown.problems.first();
    let kept = report.kept.get(number);
    json!({
        "id": format!("{}-{}", finding.kind.name(), number + 1),
        "kind": finding.kind.name(),
        "message": message(finding),
        "location": problem.and_then(|problem| problem.location.as_ref()),
        "scenario": finding.scenario,
        "distance": null,
        "depth": null,
        "old": shown.endings.old,
        "new": shown.endings.new,
        "directory": null,
        "golden": shown.golden.map(|golden| golden.name()),
        "count": finding.count,
        "seconds": finding.seconds,
        "problems": shown.problems,
        "differences": shown.differences,
        "sequence": sequence(report, names, &finding.sequence),
        "critical": finding.is_interaction(),
        "critical_sequence": sequence(report, names, &finding.critical.sequence),
        "rests_on": finding.critical.skipping,
        "shown_despite": finding.critical.despite,
        "input": kept.map(|path| path.display().to_string()),
    })
}

/// Changes in the order in which they were executed, with their places.
fn sequence(report: &InteractReport, names: &[String], sequence: &[usize]) -> Vec<Value> {
    let change = |node: &usize| {
        let place = report.comparison.place(*node);
        json!({
            "change": names[*node],
            "file": place.file,
            "line": place.line,
            "text": place.text,
        })
    };
    sequence.iter().map(change).collect()
}
