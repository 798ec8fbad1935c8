//! What the comparison of a project's versions came to, over all programs.

mod text;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::model::{Hunk, Parting, Patch, Revision, Role};
use parallax_search::diverge::Versions;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::{Both, Place, Version};
use parallax_search::engine::Summary;
use serde_json::{Value, json};

use super::sarif::{at, fingerprint, properties, rule};
use super::{PlacesOfBoth, headline_with, json as document, message_with};
use crate::given::command_line;
use crate::results::document::Document;
use crate::results::search::ranked;
use crate::sarif::log::{self as sarif, Log, Spot};
use crate::sarif::said_of;
pub use text::render_text;

/// Everything that is reported.
pub struct ProjectReport<'a> {
    pub patch: &'a Patch,
    /// Where the source of each version is.
    pub tops: Both<&'a Path>,
    /// A version that is known to be right.
    pub golden: Option<&'a Revision>,
    pub programs: Vec<Program<'a>>,
    /// Programs with changed code that nothing was found to run.
    pub unreached: &'a [String],
    /// Scenarios that could not be run.
    pub left_out: u64,
    pub time: Duration,
    /// Columns of text.
    pub width: usize,
}

/// Hunks that a difference comes from, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blame {
    pub hunks: Vec<(usize, Role)>,
    /// Whether it is known that none of them could be left out.
    pub is_minimal: bool,
}

/// How many scenarios of a program run changed code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Touching {
    /// Scenarios of the program.
    pub scenarios: u64,
    /// Those that run changed code.
    pub touching: u64,
    /// Of these, those that run something else than others.
    pub distinct: usize,
    /// Whether changed lines have code at all: an initialiser has none.
    pub has_code: bool,
}

/// One program.
pub struct Program<'a> {
    pub name: &'a str,
    pub versions: Versions<'a>,
    pub summary: &'a Summary,
    pub touching: Touching,
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
        PlacesOfBoth::below(program.versions, self.tops)
    }

    /// What shows the difference again.
    fn replay(&self, finding: &Finding<'_>) -> String {
        let id = &finding.scenario[..SHOWN_ID.min(finding.scenario.len())];
        format!(
            "parallax replay {id} --on both --range {}",
            self.patch.range
        )
    }

    /// The hunks of a difference, the guilty ones first.
    fn hunks<'f>(&'f self, finding: &'f Finding<'_>) -> Vec<(&'f Hunk, Role)> {
        let parts = finding.blame.iter().flat_map(|blame| &blame.hunks);
        let hunks = &self.patch.hunks;
        let mut list: Vec<_> = parts
            .filter_map(|(number, role)| Some((hunks.get(*number)?, *role)))
            .collect();
        list.sort_by_key(|(_, role)| *role == Role::Needed);
        list
    }
}

/// The name of a file of either version, relative to the top of its source.
pub fn short(tops: Both<&Path>, file: &str) -> String {
    let mut inside = [tops.new, tops.old]
        .into_iter()
        .filter_map(|top| Path::new(file).strip_prefix(top).ok());
    let name = inside.next().unwrap_or(Path::new(file));
    name.display().to_string()
}

/// What differs, in words.
pub fn message(tops: Both<&Path>, cluster: &Cluster) -> String {
    message_with(cluster, &|file| short(tops, file))
}

/// What differs, in one line.
pub fn headline(tops: Both<&Path>, cluster: &Cluster) -> String {
    headline_with(cluster, &message(tops, cluster))
}

/// Where two versions of a program part, with the line in each version that has it.
pub fn parting(tops: Both<&Path>, versions: Versions<'_>, place: &Place) -> Option<Parting> {
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
            value["message"] = json!(message(report.tops, finding.cluster));
            if let Some(file) = value["location"]["file"].as_str() {
                value["location"]["file"] = json!(short(report.tops, file));
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
    let revision = |one: &Revision| json!({"label": one.label, "id": one.id});
    let patch = report.patch;
    Document {
        command: "diverge",
        runs: total(|summary| summary.progress.runs),
        paths: total(|summary| summary.pairs),
        queries: total(|summary| summary.solver.queries),
        seconds: report.time.as_secs_f64(),
        losses: ranked(&losses),
        findings,
        targets: Vec::new(),
        statistics: json!({
            "old": revision(&patch.old),
            "new": revision(&patch.new),
            "golden": report.golden.map(revision),
            "hunks": patch.hunks.len(),
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
    let patch = report.patch;
    let log = Log {
        findings,
        revision: Some(patch.new.id.clone()),
        properties: json!({
            "command": "diverge",
            "old": patch.old.id,
            "new": patch.new.id,
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
    let spot = |(hunk, role): &(&Hunk, Role)| Spot {
        file: hunk.file.clone(),
        first: hunk.new.first,
        last: hunk.new.first + hunk.new.count.saturating_sub(1),
        message: Some(said_of(*role).to_owned()),
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
            ..at(short(report.tops, &place.file), place.line)
        }));
    }
    related.retain(|spot| !spot.file.starts_with('/'));
    let replay = report.replay(finding);
    sarif::Finding {
        rule: rule(cluster),
        message: format!(
            "{}: {}\n{replay}",
            message(report.tops, cluster),
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
