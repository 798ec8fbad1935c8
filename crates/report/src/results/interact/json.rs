//! The search as the document that all commands print.

use std::collections::BTreeMap;

use parallax_analysis::sequence::Role;
use parallax_search::goals::orders::{Finding, Summary};
use serde_json::{Value, json};

use super::{InteractReport, Program, message};
use crate::results::document::Document;
use crate::results::graph;
use crate::results::search::{limits, ranked, yields};

pub fn render_json(report: &InteractReport) -> String {
    let programs = report.programs;
    let sum = |of: fn(&Summary) -> u64| programs.iter().map(|one| of(one.summary)).sum::<u64>();
    let seconds = programs
        .iter()
        .map(|one| one.summary.search.time.as_secs_f64());
    let mut losses: BTreeMap<String, u64> = BTreeMap::new();
    for (name, count) in programs.iter().flat_map(|one| &one.summary.search.losses) {
        *losses.entry(name.clone()).or_default() += count;
    }
    Document {
        command: "interact",
        runs: sum(|one| one.search.progress.runs),
        paths: sum(|one| one.search.progress.paths),
        queries: sum(|one| one.search.progress.queries),
        seconds: seconds.sum(),
        losses: ranked(&losses),
        targets: Vec::new(),
        statistics: json!({
            "isolated": report.isolated,
            "tests": sum(|one| one.tests),
            "differences": sum(|one| one.differences),
            "errors": sum(|one| one.errors),
            "executions": sum(|one| one.search.executions),
            "programs": programs.iter().map(statistics).collect::<Vec<Value>>(),
            "unreached": report.unreached,
        }),
        findings: programs.iter().flat_map(findings).collect(),
    }
    .render()
}

/// What was done with one program.
fn statistics(program: &Program) -> Value {
    let (summary, graph) = (program.summary, &program.graph.graph);
    let names = graph::names(&program.graph);
    let rows = summary.rows.iter().map(|row| {
        let order = row.sequence.iter().map(|node| names[*node].as_str());
        json!({
            "sequence": order.collect::<Vec<&str>>(),
            "tests": row.tests,
            "differences": row.differences,
            "errors": row.errors,
            "critical": row.is_critical,
        })
    });
    let count = |wanted: fn(&Role) -> bool| {
        let nodes = graph.nodes.iter();
        nodes.filter(|node| wanted(&node.role)).count()
    };
    json!({
        "program": program.name,
        "scenarios": summary.search.scenarios,
        "changes": count(|role| matches!(role, Role::Change(_))),
        "interactions": count(|role| matches!(role, Role::Interaction(_))),
        "nodes_reached": summary.nodes.0,
        "nodes": summary.nodes.1,
        "edges_reached": summary.edges.0,
        "edges": summary.edges.1,
        "tests": summary.tests,
        "differences": summary.differences,
        "errors": summary.errors,
        "sequences": rows.collect::<Vec<Value>>(),
        "inputs": summary.search.progress.inputs,
        "flaky": summary.search.flaky,
        "yields": yields(&summary.search.yields),
        "limits": limits(&summary.search.limits),
        "seconds": summary.search.time.as_secs_f64(),
    })
}

fn findings<'a>(program: &'a Program<'a>) -> impl Iterator<Item = Value> + 'a {
    let names = graph::names(&program.graph);
    let findings = program.summary.findings.iter().enumerate();
    findings.map(move |(number, one)| finding(program, &names, number, one))
}

fn finding(program: &Program, names: &[String], number: usize, finding: &Finding) -> Value {
    let shown = &finding.shown;
    let problem = shown.problems.first();
    json!({
        "id": format!("{}-{}", finding.kind.name(), number + 1),
        "kind": finding.kind.name(),
        "program": program.name,
        "message": message(shown),
        "location": problem.and_then(|problem| problem.location.as_ref()),
        "scenario": *finding.scenario,
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
        "sequence": sequence(program, names, &finding.sequence),
        "critical": finding.is_interaction(),
        "critical_sequence": sequence(program, names, &finding.critical.sequence),
        "rests_on": finding.critical.skipping,
        "shown_despite": finding.critical.despite,
        "input": program.kept.get(number),
    })
}

/// Changes in the order in which they were executed, with their places.
fn sequence(program: &Program, names: &[String], sequence: &[usize]) -> Vec<Value> {
    let change = |node: &usize| {
        let place = &program.graph.places[*node];
        json!({
            "change": names[*node],
            "file": place.file,
            "line": place.line,
            "text": place.text,
        })
    };
    sequence.iter().map(change).collect()
}
