//! The JSON document that all commands print.
//!
//! One object, schema 1; fields are only ever added within a schema. `parallax schema` prints its JSON Schema.

use parallax_exec::finding::Finding;
use parallax_exec::run::Outcome;
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
        extend(&mut stats, self.statistics);
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

/// The document of a command that ran the program once and searched for nothing: to the fields that the command has
/// comes what every document has.
pub fn of_one_run(command: &str, outcome: &Outcome, mut fields: Value) -> String {
    let mut stats = json!({
        "runs": 1,
        "paths": 1,
        "queries": 0,
        "seconds": outcome.duration.as_secs_f64(),
    });
    extend(&mut stats, fields["stats"].take());
    let losses = match fields["losses"].take() {
        Value::Null => json!([]),
        losses => losses,
    };
    let mut document = json!({ "schema": SCHEMA, "command": command });
    extend(&mut document, fields);
    document["losses"] = losses;
    document["findings"] = json!([]);
    document["targets"] = json!([]);
    document["stats"] = stats;
    format!("{document}\n")
}

/// Adds the fields of an object to another one.
fn extend(object: &mut Value, more: Value) {
    if let (Value::Object(object), Value::Object(more)) = (object, more) {
        object.extend(more);
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
