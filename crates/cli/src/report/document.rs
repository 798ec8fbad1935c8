//! The JSON document that all commands print.
//!
//! One object, schema 1; fields are only ever added within a schema. `parallax schema` prints its JSON Schema.

use parallax_engine::finding::Finding;
use serde_json::{Value, json};

use super::SCHEMA;

/// The JSON Schema of the document.
pub const JSON_SCHEMA: &str = include_str!("../../schema/report.json");

/// What every document has.
pub struct Document<'a> {
    pub command: &'a str,
    pub runs: u64,
    pub paths: u64,
    pub queries: u64,
    pub seconds: f64,
    /// Function and count.
    pub losses: Vec<(String, u64)>,
    pub findings: Vec<Value>,
    pub targets: Vec<Value>,
    /// Further statistics of the command.
    pub statistics: Value,
}

impl Document<'_> {
    pub fn render(self) -> String {
        let mut stats = json!({
            "runs": self.runs,
            "paths": self.paths,
            "queries": self.queries,
            "seconds": (self.seconds * 1000.0).round() / 1000.0,
        });
        if let (Some(stats), Value::Object(more)) = (stats.as_object_mut(), self.statistics) {
            stats.extend(more);
        }
        let loss = |(function, count): (String, u64)| json!({"function": function, "count": count});
        let document = json!({
            "schema": SCHEMA,
            "command": self.command,
            "stats": stats,
            "losses": self.losses.into_iter().map(loss).collect::<Vec<_>>(),
            "findings": self.findings,
            "targets": self.targets,
        });
        format!("{document}\n")
    }
}

/// A finding about one version. The distance is known of what was looked for near a test.
pub fn finding(finding: &Finding, distance: Option<usize>, directory: Option<&str>) -> Value {
    json!({
        "id": finding.id(),
        "kind": finding.problem.kind,
        "message": finding.problem.message,
        "location": finding.problem.location,
        "scenario": finding.scenario,
        "distance": distance,
        "depth": finding.depth,
        "old": null,
        "new": finding.ending,
        "directory": directory,
    })
}
