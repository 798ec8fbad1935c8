//! Differences between versions as SARIF, at the hunks that they come from.

use parallax_search::diverge::clusters::Cluster;
use parallax_store::hash;
use serde_json::{Value, json};

use super::{DivergeReport, PlacesOfBoth, message};
use crate::given::command_line;
use crate::model::Class;
use crate::sarif::kind;
use crate::sarif::log::{Finding, Log, Rule, Spot};

pub fn render_sarif(report: &DivergeReport) -> String {
    let places = PlacesOfBoth::new(report.versions);
    let program = report.names.new.to_string_lossy();
    let findings = report.summary.clusters.iter().enumerate();
    let findings = findings.map(|(number, cluster)| {
        let spot = cluster.place.and_then(|place| places.spot(&place));
        let kept = report.kept.get(number);
        Finding {
            rule: rule(cluster),
            message: format!(
                "{}: {}",
                message(cluster),
                command_line(&program, &cluster.scenario)
            ),
            spots: spot
                .into_iter()
                .map(|(file, line)| at(file, line))
                .collect(),
            related: Vec::new(),
            flow: Vec::new(),
            accepted: None,
            fingerprint: fingerprint(&program, cluster),
            properties: json!({
                "program": program,
                "scenario": cluster.scenario,
                "input": kept.map(|path| path.display().to_string()),
            }),
        }
    });
    let log = Log {
        findings: findings.collect(),
        revision: None,
        properties: json!({"command": "diverge"}),
    };
    log.render()
}

/// One line.
pub(super) fn at(file: String, line: u32) -> Spot {
    Spot {
        file,
        first: line,
        last: line,
        message: None,
    }
}

/// The same for the same difference of a program, whatever input shows it.
pub(super) fn fingerprint(program: &str, cluster: &Cluster) -> String {
    hash(format!("{program}\n{}", cluster.key).as_bytes())
}

pub(super) fn rule(cluster: &Cluster) -> Rule {
    let (class, golden) = (Class::from(cluster.class()), cluster.shown.golden);
    Rule {
        command: "diverge",
        kind: kind(class, golden),
        level: class.level(golden),
    }
}

/// What is known of the input that shows a difference.
pub(super) fn properties(program: &str, cluster: &Cluster, replay: &str) -> Value {
    json!({
        "program": program,
        "scenario": cluster.scenario,
        "count": cluster.count,
        "golden": cluster.shown.golden.map(|golden| golden.name()),
        "replay": replay,
    })
}
