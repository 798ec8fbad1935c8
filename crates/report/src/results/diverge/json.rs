//! The comparison as the document that all commands print.

use parallax_search::diverge::Summary;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::{Place, Version};
use serde_json::{Value, json};

use super::{DivergeReport, PlacesOfBoth, message};
use crate::results::document::Document;
use crate::results::search::ranked;

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
        runs: summary.runs,
        paths: summary.paths,
        queries: summary.queries,
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
    let divergences = |name: &str| {
        let mut phases = summary.divergences.iter();
        let found = phases.find(|(phase, _)| phase.name() == name);
        found.map_or(0, |(_, count)| *count)
    };
    let yields = summary.yields.iter().map(|one| {
        json!({
            "source": one.name,
            "turns": one.turns,
            "cost": (one.cost * 1e3).round() / 1e3,
            "new": one.new,
            "found": one.found,
        })
    });
    let yields: Vec<Value> = yields.collect();
    json!({
            "scenarios": summary.scenarios,
            "inputs": summary.inputs,
            "executions": summary.executions,
            "yields": yields,
            "avoided": summary.avoided,
            "hanging_seconds": summary.hanging.as_secs_f64(),
            "divergences": {
                "given": divergences("given"),
                "concolic": divergences("concolic"),
                "bounded": divergences("bounded"),
                "common": divergences("common"),
                "numbers": divergences("numbers"),
            },
            "replayed": summary.replayed,
            "silent": summary.silent,
            "silent_places": silent,
            "together": summary.together,
            "undecided": summary.undecided,
            "proved_equal": summary.proved_equal,
            "left_out": summary.left_out,
            "cut": summary.cut,
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
