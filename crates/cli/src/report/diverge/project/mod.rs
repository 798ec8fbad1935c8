//! What the comparison of a project's versions came to, over all programs.

mod text;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use parallax_project::Hunk;
use parallax_report::model::{Parting, Role};
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::{Both, Place, Version};
use parallax_search::diverge::{Summary, Versions};
use serde_json::{Value, json};

use super::sarif::{at, fingerprint, properties, rule};
use super::{PlacesOfBoth, headline_with, json as document, message_with};
use crate::commands::diverge::Blame;
use crate::commands::versions::{Pair, Touching};
use crate::report::document::Document;
use crate::report::sarif::{self, Log, Spot};
use crate::report::scenario::command_line;
use crate::report::search::ranked;
pub use text::render_text;

/// Everything that is reported.
pub struct ProjectReport<'a> {
    pub pair: &'a Pair,
    pub programs: Vec<Program<'a>>,
    /// Programs with changed code that nothing was found to run.
    pub unreached: &'a [String],
    /// Scenarios that could not be run.
    pub left_out: u64,
    pub time: Duration,
}

/// One program.
pub struct Program<'a> {
    pub name: &'a str,
    pub versions: Versions<'a>,
    pub summary: &'a Summary,
    pub touching: &'a Touching,
    pub findings: Vec<Finding<'a>>,
}

/// A difference.
pub struct Finding<'a> {
    pub id: String,
    /// Name of the input in the store.
    pub scenario: String,
    pub cluster: &'a Cluster,
    pub blame: Option<&'a Blame>,
}

/// Names of scenarios are shown so long, as in `parallax scenarios`.
const SHOWN_ID: usize = 8;

impl<'a> ProjectReport<'a> {
    fn places(&self, program: &Program<'a>) -> PlacesOfBoth<'a> {
        let builds = &self.pair.builds;
        let tops = Both {
            old: builds.old.source.as_path(),
            new: builds.new.source.as_path(),
        };
        PlacesOfBoth::below(program.versions, tops)
    }

    /// What shows the difference again.
    fn replay(&self, finding: &Finding<'_>) -> String {
        let id = &finding.scenario[..SHOWN_ID.min(finding.scenario.len())];
        format!(
            "parallax replay {id} --on both --range {}",
            self.pair.range()
        )
    }

    /// The hunks of a difference, the guilty ones first.
    fn hunks<'f>(&'f self, finding: &'f Finding<'_>) -> Vec<(&'f Hunk, Role)> {
        let parts = finding.blame.iter().flat_map(|blame| &blame.hunks);
        let hunks = &self.pair.patch.hunks;
        let mut list: Vec<_> = parts
            .filter_map(|(number, role)| Some((hunks.get(*number)?, *role)))
            .collect();
        list.sort_by_key(|(_, role)| *role == Role::Needed);
        list
    }
}

/// The name of a file of either version, relative to the top of its source.
pub fn short(pair: &Pair, file: &str) -> String {
    let builds = [&pair.builds.new, &pair.builds.old];
    let mut inside = builds
        .into_iter()
        .filter_map(|build| Path::new(file).strip_prefix(&build.source).ok());
    let name = inside.next().unwrap_or(Path::new(file));
    name.display().to_string()
}

/// What differs, in words.
pub fn message(pair: &Pair, cluster: &Cluster) -> String {
    message_with(cluster, &|file| short(pair, file))
}

/// What differs, in one line.
pub fn headline(pair: &Pair, cluster: &Cluster) -> String {
    headline_with(cluster, &message(pair, cluster))
}

/// Where two versions of a program part, with the line in each version that has it.
pub fn parting(pair: &Pair, versions: Versions<'_>, place: &Place) -> Option<Parting> {
    let tops = Both {
        old: pair.builds.old.source.as_path(),
        new: pair.builds.new.source.as_path(),
    };
    let mut places = PlacesOfBoth::below(versions, tops);
    let (file, line) = places.spot(place)?;
    let mut text = |version| places.of(place, version).and_then(|(_, line)| line);
    Some(Parting {
        file,
        line,
        old: text(Version::Old),
        new: text(Version::New),
    })
}

pub fn render_json(report: &ProjectReport<'_>) -> String {
    let mut findings = Vec::new();
    let mut programs = Vec::new();
    let mut losses: BTreeMap<String, u64> = BTreeMap::new();
    for program in &report.programs {
        let mut places = report.places(program);
        for (number, finding) in program.findings.iter().enumerate() {
            let mut value = document::finding(&mut places, number, finding.cluster, None);
            value["id"] = json!(finding.id);
            value["message"] = json!(message(report.pair, finding.cluster));
            if let Some(file) = value["location"]["file"].as_str() {
                value["location"]["file"] = json!(short(report.pair, file));
            }
            value["program"] = json!(program.name);
            value["scenario_id"] = json!(finding.scenario);
            value["replay"] = json!(report.replay(finding));
            value["hunks"] = hunks(report, finding);
            value["hunks_minimal"] = json!(finding.blame.map(|blame| blame.is_minimal));
            findings.push(value);
        }
        let mut value = document::statistics(program.summary, &mut places);
        value["program"] = json!(program.name);
        value["touching"] = json!(program.touching.touching);
        value["recorded"] = json!(program.touching.scenarios);
        programs.push(value);
        for (name, count) in &program.summary.losses {
            *losses.entry(name.clone()).or_default() += count;
        }
    }
    let total = |of: fn(&Summary) -> u64| {
        let summaries = report.programs.iter().map(|program| program.summary);
        summaries.map(of).sum()
    };
    let revision = |build: &parallax_project::Build| json!({"label": build.revision.label, "id": build.revision.id});
    let pair = report.pair;
    Document {
        command: "diverge",
        runs: total(|summary| summary.runs),
        paths: total(|summary| summary.paths),
        queries: total(|summary| summary.queries),
        seconds: report.time.as_secs_f64(),
        losses: ranked(&losses),
        findings,
        targets: Vec::new(),
        statistics: json!({
            "old": revision(&pair.builds.old),
            "new": revision(&pair.builds.new),
            "golden": pair.golden.as_ref().map(revision),
            "hunks": pair.patch.hunks.len(),
            "scenarios": total(|summary| summary.scenarios),
            "silent": total(|summary| summary.silent),
            "left_out_scenarios": report.left_out,
            "unreached": report.unreached,
            "programs": programs,
        }),
    }
    .render()
}

fn hunks(report: &ProjectReport<'_>, finding: &Finding<'_>) -> Value {
    if finding.blame.is_none() {
        return Value::Null;
    }
    let list = report.hunks(finding).into_iter().map(|(hunk, role)| {
        json!({
            "file": hunk.file,
            "role": role.name(),
            "old": {"line": hunk.old.first, "count": hunk.old.count, "lines": hunk.removed},
            "new": {"line": hunk.new.first, "count": hunk.new.count, "lines": hunk.added},
        })
    });
    Value::Array(list.collect())
}

pub fn render_sarif(report: &ProjectReport<'_>) -> String {
    let mut findings = Vec::new();
    for program in &report.programs {
        let places = report.places(program);
        for finding in &program.findings {
            findings.push(sarif_of(report, program, &places, finding));
        }
    }
    let pair = report.pair;
    let log = Log {
        findings,
        revision: Some(pair.builds.new.revision.id.clone()),
        properties: json!({
            "command": "diverge",
            "old": pair.builds.old.revision.id,
            "new": pair.builds.new.revision.id,
        }),
    };
    log.render()
}

fn sarif_of(
    report: &ProjectReport<'_>,
    program: &Program<'_>,
    places: &PlacesOfBoth<'_>,
    finding: &Finding<'_>,
) -> sarif::Finding {
    let cluster = finding.cluster;
    let hunks = report.hunks(finding);
    let spot = |(hunk, role): &(&Hunk, Role)| {
        let message = match role {
            Role::Guilty => "without this hunk there is no difference",
            Role::Needed => "without this hunk the others do not build",
            Role::Open => "this hunk may be needed for the difference",
        };
        Spot {
            file: hunk.file.clone(),
            first: hunk.new.first,
            last: hunk.new.first + hunk.new.count.saturating_sub(1),
            message: Some(message.to_owned()),
        }
    };
    let parted = cluster.place.and_then(|place| places.spot(&place));
    let parted = parted.map(|(file, line)| Spot {
        message: Some("the versions part here".to_owned()),
        ..at(file, line)
    });
    // Code hosts show the first only.
    let mut spots: Vec<Spot> = hunks.iter().take(1).map(spot).collect();
    let mut related: Vec<Spot> = hunks.iter().skip(1).map(spot).collect();
    if spots.is_empty() {
        spots.extend(parted);
    } else {
        related.extend(parted);
    }
    for problem in &cluster.shown.problems {
        related.extend(problem.location.as_ref().map(|place| Spot {
            message: Some(problem.kind.name().to_owned()),
            ..at(short(report.pair, &place.file), place.line)
        }));
    }
    related.retain(|spot| !spot.file.starts_with('/'));
    let replay = report.replay(finding);
    sarif::Finding {
        rule: rule(cluster),
        message: format!(
            "{}: {}\n{replay}",
            message(report.pair, cluster),
            command_line(program.name, &cluster.scenario)
        ),
        spots,
        related,
        flow: Vec::new(),
        accepted: None,
        fingerprint: fingerprint(program.name, cluster),
        properties: properties(program.name, cluster, &replay),
    }
}
