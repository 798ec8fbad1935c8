//! The comparison as the document that all commands print.

use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::{Place, Version};
use parallax_search::engine::{Phase, Summary};
use serde_json::{Value, json};

use super::{DivergeReport, PlacesOfBoth, message};
use crate::results::document::Document;
use crate::results::search::{limits, ranked, yields};

pub fn render_json(report: &DivergeReport) -> String {
    let summary = report.summary;
    let mut places = PlacesOfBoth::new(report.versions);
    let mut findings: Vec<Value> = Vec::new();
    for (number, cluster) in summary.clusters.iter().enumerate() {
        let kept = report
            .kept
            .get(number)
            .map(|path| path.display().to_string());
        findings.push(finding(&mut places, number, cluster, kept));
    }
    Document {
        command: "diverge",
        runs: summary.progress.runs,
        paths: summary.pairs,
        queries: summary.solver.queries,
        seconds: summary.time.as_secs_f64(),
        losses: ranked(&summary.losses),
        findings,
        targets: Vec::new(),
        statistics: statistics(summary, &mut places),
    }
    .render()
}

/// What was done.
pub(super) fn statistics(summary: &Summary, places: &mut PlacesOfBoth<'_>) -> Value {
    let silent = summary.silent_places.iter().map(|(place, count)| {
        let mut value = divergence(places, place);
        value["count"] = json!(count);
        value
    });
    let silent: Vec<Value> = silent.collect();
    let divergences = Phase::ALL.into_iter().map(|phase| {
        let count = summary.divergences.get(&phase).copied().unwrap_or(0);
        (phase.name().to_owned(), count.into())
    });
    let divergences: serde_json::Map<String, Value> = divergences.collect();
    json!({
            "scenarios": summary.scenarios,
            "inputs": summary.progress.inputs,
            "executions": summary.executions,
            "yields": yields(&summary.yields),
            "avoided": summary.avoided,
            "hanging_seconds": summary.hanging.as_secs_f64(),
            "divergences": divergences,
            "replayed": summary.replayed,
            "silent": summary.silent,
            "silent_places": silent,
            "together": summary.together,
            "undecided": summary.undecided,
            "proved_equal": summary.proved_equal,
            "left_out": summary.left_out,
            "limits": limits(&summary.limits),
            "flaky": summary.flaky,
            "tracing_one_seconds": summary.cost.one.as_secs_f64(),
            "comparing_seconds": summary.cost.both.as_secs_f64(),
            "changed_functions": summary.changed,
    })
}

pub(super) fn finding(
    places: &mut PlacesOfBoth<'_>,
    number: usize,
    cluster: &Cluster,
    kept: Option<String>,
) -> Value {
    let shown = &cluster.shown;
    let problem = shown.problems.first();
    json!({
        "id": format!("{}-{}", shown.class.name(), number + 1),
        "kind": shown.class.name(),
        "message": message(cluster),
        "location": problem.and_then(|problem| problem.location.as_ref()),
        "scenario": cluster.scenario,
        "distance": cluster.distance,
        "depth": null,
        "old": shown.endings.old,
        "new": shown.endings.new,
        "directory": null,
        "golden": shown.golden.map(|golden| golden.name()),
        "count": cluster.count,
        "phase": cluster.phase.name(),
        "seconds": cluster.seconds,
        "problems": shown.problems,
        "differences": shown.differences,
        "divergence": cluster.place.map(|place| divergence(places, &place)),
        "input": kept,
    })
}

/// Where versions part: place and line in each version that has it.
fn divergence(places: &mut PlacesOfBoth<'_>, place: &Place) -> Value {
    let mut of = |version: Version| {
        let (name, line) = places.of(place, version)?;
        Some(json!({"place": name, "text": line}))
    };
    json!({"old": of(Version::Old), "new": of(Version::New)})
}
