//! Findings about a patch as SARIF 2.1.0, at the lines that they come from.

pub mod log;

use serde_json::json;

use crate::given::ending;
use crate::headline;
use crate::model::{Class, Finding, Golden, PatchReport, Role, Step};
use crate::words::show_command;
use log::{Kind, Log, Rule, Spot};

/// Larger inputs are not in the file, which code hosts refuse if it is too large: they have a name in the store.
const MOST_BYTES: usize = 16 << 10;

pub fn render(report: &PatchReport) -> String {
    let findings = report.ranked().into_iter();
    let new = &report.patch.new;
    let log = Log {
        findings: findings.map(|found| one(report, found)).collect(),
        revision: new.is_commit.then(|| new.id.clone()),
        properties: json!({
            "command": "check",
            "verdict": report.verdict(),
            "old": report.patch.old.id,
            "new": new.id,
            "coverage": headline::coverage(report),
        }),
    };
    log.render()
}

fn one(report: &PatchReport, found: &Finding) -> log::Finding {
    let hunks = report.hunks(found);
    let mut spots: Vec<Spot> = hunks
        .iter()
        .map(|(hunk, role)| Spot {
            file: hunk.file.clone(),
            first: hunk.new.first,
            last: hunk.new.last(),
            message: Some(said_of(*role).to_owned()),
        })
        .collect();
    let parting = found.parting.as_ref();
    spots.extend(parting.map(|parting| at(&parting.file, parting.line, "the versions part here")));
    spots.extend(
        found
            .file
            .as_ref()
            .map(|file| at(file, found.line, &found.message)),
    );
    for problem in &found.problems {
        let place = problem.file.as_ref();
        spots.extend(place.map(|file| at(file, problem.line, &problem.kind)));
    }
    // Readers put what lies outside of the checkout nowhere.
    spots.retain(|spot| !spot.file.starts_with('/') && !spot.file.is_empty());
    spots.dedup_by(|one, other| (&one.file, one.first) == (&other.file, other.first));
    // Code hosts show the first only.
    let related = spots.split_off(1.min(spots.len()));
    log::Finding {
        rule: Rule {
            command: "parallax",
            kind: kind(found.class, found.golden),
            // A promise or an acceptance changes the level of a finding, and the rule stays the same.
            level: report.level(found),
        },
        message: message(found),
        spots,
        related,
        flow: flow(found),
        fingerprint: found.fingerprint.clone(),
        accepted: found
            .accepted
            .as_ref()
            .map(|accepted| accepted.because.clone()),
        properties: json!({
            "id": found.id,
            "program": found.program,
            "technique": found.technique,
            "command": show_command(&found.command),
            "scenario": (found.scenario.size() <= MOST_BYTES).then_some(&found.scenario),
            "count": found.count.max(1),
            "golden": found.golden,
            "replay": found.replay,
            "fails": found.fails(report.promise.is_some()),
        }),
    }
}

fn message(found: &Finding) -> String {
    let mut text = format!(
        "{}: {}\n{}",
        found.program,
        found.message,
        show_command(&found.command)
    );
    if let (Some(old), Some(new)) = (&found.old, &found.new) {
        text.push_str(&format!("\nold: {}; new: {}", ending(old), ending(new)));
    }
    if !found.replay.is_empty() {
        text.push_str(&format!("\n{}", found.replay));
    }
    text
}

pub(crate) fn said_of(role: Role) -> &'static str {
    match role {
        Role::Guilty => "without this hunk it does not happen",
        Role::Needed => "without this hunk the others do not build",
        Role::Open => "this hunk may be needed for it",
    }
}

fn at(file: &str, line: u32, message: &str) -> Spot {
    Spot {
        file: file.to_owned(),
        first: line,
        last: line,
        message: Some(message.to_owned()),
    }
}

/// The decisions that lead to the finding: how the input was made, else where the versions part and where that ends.
fn flow(found: &Finding) -> Vec<Spot> {
    if !found.steps.is_empty() {
        return found.steps.iter().filter_map(step).collect();
    }
    let Some(parting) = &found.parting else {
        return Vec::new();
    };
    let condition = match (&parting.old, &parting.new) {
        (Some(old), Some(new)) if old != new => format!("the versions part: {old} became {new}"),
        _ => "the versions part here".to_owned(),
    };
    let error = found.problems.iter().find_map(|problem| {
        let file = problem.file.as_deref()?;
        Some(at(file, problem.line, &problem.message))
    });
    let mut flow = vec![at(&parting.file, parting.line, &condition)];
    flow.extend(error);
    flow.retain(|spot| !spot.file.starts_with('/'));
    flow
}

fn step(step: &Step) -> Option<Spot> {
    let message = match step.text.is_empty() {
        true => step.what.clone(),
        false => format!("{}: {}", step.what, step.text),
    };
    let spot = at(step.file.as_deref()?, step.line, &message);
    (!spot.file.starts_with('/')).then_some(spot)
}

/// What kind of finding it is, and what that means.
pub fn kind(class: Class, golden: Option<Golden>) -> Kind {
    let (name, description) = match (class, golden) {
        (_, Some(Golden::Intended)) => (
            "intended",
            "The new version does something else, as a version that is known to be right does.",
        ),
        (Class::Regression, _) => (
            "regression",
            "The new version has an error that the old one has not.",
        ),
        (Class::Error, _) => ("error", "The new version has an error."),
        (_, Some(Golden::Regression)) => (
            "changed-back",
            "The new version does something else; a version that is known to be right does as the old one.",
        ),
        (Class::Difference, _) => (
            "difference",
            "The new version prints something else or ends otherwise.",
        ),
        (Class::Both, _) => ("both", "Both versions have the error."),
        (Class::Fixed, _) => (
            "fixed",
            "The old version has an error that the new one has not.",
        ),
    };
    Kind { name, description }
}
