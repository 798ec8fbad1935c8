//! The document that all commands print with `--json`, for a patch.
//!
//! Schema 1, as `parallax schema` describes it: findings and targets have the fields that they have in every command, and what
//! only a patch has comes beside them.

use serde_json::{Value, json};

use crate::model::{Class, FileCoverage, Finding, PatchReport, Target};

/// Of the document; raised when a field changes its meaning.
pub const SCHEMA: u32 = 1;

pub fn render(report: &PatchReport) -> String {
    let stats = &report.stats;
    let tally = report.tally();
    let document = json!({
        "schema": SCHEMA,
        "command": "check",
        "stats": {
            "runs": stats.runs,
            "paths": stats.paths,
            "queries": stats.queries,
            "seconds": rounded(stats.seconds),
            "searched": rounded(stats.searched),
            "budget": stats.budget.map(rounded),
        },
        "losses": report.losses,
        "findings": report.ranked().into_iter().map(|found| finding(report, found)).collect::<Vec<_>>(),
        "targets": report.targets.iter().map(target).collect::<Vec<_>>(),
        "verdict": report.verdict(),
        "counts": report.count(),
        "version": report.version,
        "range": report.patch.range,
        "old": report.patch.old,
        "new": report.patch.new,
        "programs": report.programs,
        "phases": report.phases,
        "coverage": {
            "lines": tally.lines,
            "suite": tally.suite,
            "new": tally.new,
            "before": tally.before(),
            "after": tally.after(),
            "files": report.coverage().iter().map(file).collect::<Vec<_>>(),
        },
        "skipped": report.skipped,
        "timeline": report.timeline,
        "promise": report.promise,
        "stale": report.stale,
        "notes": report.notes,
        "interrupted": report.is_interrupted,
    });
    format!("{document:#}\n")
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 1000.0).round() / 1000.0
}

fn finding(report: &PatchReport, found: &Finding) -> Value {
    // What a finding of other commands calls its kind.
    let kind = match (found.class, &found.kind) {
        (Class::Error, Some(kind)) => kind.as_str(),
        (Class::Error, None) => "crash",
        (class, _) => class.name(),
    };
    let location = found.file.as_ref();
    let location = location.map(|file| json!({"file": file, "line": found.line}));
    let hunks = report.hunks(found).into_iter().map(|(hunk, role)| {
        json!({
            "file": hunk.file,
            "role": role.name(),
            "old": {"line": hunk.old.first, "count": hunk.old.count, "lines": hunk.removed},
            "new": {"line": hunk.new.first, "count": hunk.new.count, "lines": hunk.added},
        })
    });
    json!({
        "id": found.id,
        "kind": kind,
        "message": found.message,
        "location": location,
        "scenario": found.scenario,
        "distance": null,
        "depth": null,
        "old": found.old,
        "new": found.new,
        "directory": null,
        "fingerprint": found.fingerprint,
        "level": report.level(found),
        "fails": found.fails(report.promise.is_some()),
        "error": found.kind,
        "program": found.program,
        "technique": found.technique,
        "command": found.command,
        "scenario_id": found.scenario_id,
        "replay": found.replay,
        "changed": found.differences,
        "problems": found.problems,
        "hunks": hunks.collect::<Vec<_>>(),
        "hunks_minimal": found.hunks_minimal,
        "parting": found.parting,
        "steps": found.steps,
        "golden": found.golden,
        "interaction": found.interaction,
        "count": found.count.max(1),
        "seconds": rounded(found.seconds),
        "accepted": found.accepted.as_ref().map(|accepted| &accepted.because),
    })
}

fn target(target: &Target) -> Value {
    json!({
        "file": target.file,
        "line": target.lines.first().copied().unwrap_or(1).max(1),
        "lines": target.lines,
        "function": target.function,
        "status": target.state,
        "scenario": target.scenario,
        "steps": [],
        "why": target.why,
        "programs": target.programs,
        "hits": target.hits,
        "command": target.command,
        "id": target.scenario_id,
        "derivation": target.steps,
        "test": target.test,
        "notes": target.notes,
        "seconds": rounded(target.seconds),
    })
}

fn file(file: &FileCoverage) -> Value {
    let tally = file.tally();
    json!({
        "file": file.file,
        "lines": tally.lines,
        "suite": tally.suite,
        "new": tally.new,
        "before": tally.before(),
        "after": tally.after(),
    })
}
