//! GitLab's code quality report: findings in the diff of a merge request.
//!
//! The part of Code Climate's form that GitLab reads: description, check name, fingerprint, severity, path and line.

use serde_json::{Value, json};

use crate::headline;
use crate::model::{Finding, Level, PatchReport};
use crate::words::show_command;

pub fn render(report: &PatchReport) -> String {
    let ranked = report.ranked().into_iter();
    let list: Vec<Value> = ranked.map(|found| one(report, found)).collect();
    format!("{:#}\n", Value::Array(list))
}

fn one(report: &PatchReport, found: &Finding) -> Value {
    let severity = match report.level(found) {
        Level::Error => "critical",
        Level::Warning => "major",
        Level::Note => "info",
    };
    let (file, line) = headline::spot(report, found);
    json!({
        "description": format!("{}: {} ({})", found.program, headline::title(found), show_command(&found.command)),
        "check_name": format!("parallax/{}", found.class.name()),
        "fingerprint": found.fingerprint,
        "severity": severity,
        "location": {"path": file, "lines": {"begin": line}},
    })
}
