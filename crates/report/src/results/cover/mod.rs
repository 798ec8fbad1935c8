//! What a search for lines came to.

pub mod project;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use parallax_exec::sites::SiteMap;
use parallax_search::core::guide::Target;
use parallax_search::cover::{Obstacle, Outcome, Step, Summary, Verdict};
use serde_json::{Value, json};

use super::document::{self, Document};
use super::finding;
use super::search::{LISTED, ranked};
use super::source::Places;
use crate::given::{command_line, inputs};
use crate::palette::Palette;
use crate::words::{counted, shorten};

/// Everything that is reported of a search in one program.
pub struct CoverReport<'a> {
    /// As the user named it.
    pub program: &'a Path,
    pub targets: &'a [Target],
    pub summary: &'a Summary,
    pub sites: &'a SiteMap,
    /// Where inputs are kept.
    pub directory: &'a Path,
    /// Columns of text.
    pub width: usize,
}

impl CoverReport<'_> {
    /// What became of each target.
    fn results(&self) -> impl ExactSizeIterator<Item = (&Target, &Outcome)> {
        self.targets.iter().zip(&self.summary.outcomes)
    }
}

fn status(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Suite(_) => "suite",
        Verdict::Covered { .. } => "covered",
        Verdict::Infeasible(_) => "infeasible",
        Verdict::Blocked(_) => "blocked",
        Verdict::Missed => "missed",
    }
}

/// Why a line was not reached; `None` if it was.
fn why(places: &mut Places<'_>, verdict: &Verdict) -> Option<String> {
    let mut at = |obstacle: &Obstacle| {
        let name = places.name(obstacle.site);
        match places.line(obstacle.site) {
            Some(line) => format!("{name} ({line})"),
            None => name,
        }
    };
    match verdict {
        Verdict::Suite(_) | Verdict::Covered { .. } => None,
        Verdict::Missed => Some("no way leads there from anything that ran".into()),
        Verdict::Blocked(None) => Some("not reached in the time given".into()),
        Verdict::Blocked(Some(obstacle)) | Verdict::Infeasible(Some(obstacle)) => {
            let place = at(obstacle);
            let distance = counted(obstacle.distance.into(), "branch/branches");
            let mut text =
                format!("the branch at {place} did not go the other way; from there {distance}");
            if obstacle.is_concrete {
                text.push_str("; it depends on no input byte in any run");
            }
            if obstacle.contradicts.is_some() {
                let prefixes = counted(obstacle.prefixes, "prefix/prefixes");
                let _ = write!(text, "; tried on {prefixes}");
            }
            if let Some(sites) = &obstacle.contradicts
                && !sites.is_empty()
            {
                let mut names: Vec<String> = sites.iter().map(|site| places.name(*site)).collect();
                names.dedup();
                let _ = write!(
                    text,
                    "; it contradicts what was decided at {}",
                    names.join(", ")
                );
            }
            Some(text)
        }
        Verdict::Infeasible(None) => Some("every way there contradicts what leads to it".into()),
    }
}

fn condition(places: &mut Places<'_>, step: &Step) -> Option<String> {
    let site = step.site?;
    let name = places.name(site);
    Some(match places.line(site) {
        Some(line) => format!("{name}: {line}"),
        None => name,
    })
}

pub fn render_json(report: &CoverReport) -> String {
    let mut places = Places::new(report.sites);
    let mut targets: Vec<Value> = Vec::new();
    for (target, outcome) in report.results() {
        let mut steps: Vec<Value> = Vec::new();
        let scenario = match &outcome.verdict {
            Verdict::Covered {
                scenario,
                steps: made,
            } => {
                for step in made {
                    steps.push(json!({
                        "kind": step.means.name(),
                        "condition": condition(&mut places, step),
                        "scenario": step.scenario,
                        "distance": step.distance,
                    }));
                }
                Some(scenario)
            }
            Verdict::Suite(scenario) => Some(scenario),
            Verdict::Infeasible(Some(obstacle)) | Verdict::Blocked(Some(obstacle)) => {
                Some(&obstacle.scenario)
            }
            Verdict::Infeasible(None) | Verdict::Blocked(None) | Verdict::Missed => None,
        };
        targets.push(json!({
            "file": target.file,
            "line": target.line,
            "function": target.function,
            "status": status(&outcome.verdict),
            "scenario": scenario,
            "steps": steps,
            "why": why(&mut places, &outcome.verdict),
            "runs": outcome.runs,
            "seconds": outcome.time.as_secs_f64(),
        }));
    }
    let search = &report.summary.search;
    let findings = search.findings.iter();
    Document {
        command: "cover",
        runs: search.progress.runs,
        paths: search.progress.paths,
        queries: search.progress.queries,
        seconds: search.time.as_secs_f64(),
        losses: ranked(&search.losses),
        findings: findings
            .map(|finding| document::finding(finding, None, None))
            .collect(),
        targets,
        statistics: json!({"executions": search.executions}),
    }
    .render()
}

pub fn render_text(report: &CoverReport) -> String {
    let mut places = Places::new(report.sites);
    let mut text = String::new();
    let program = report.program.display().to_string();
    let reached = report.results();
    let reached = reached.filter(|(_, outcome)| outcome.verdict.is_reached());
    let (reached, all) = (reached.count(), report.targets.len());
    let verdict = format!("{reached} of {} reached", counted(all as u64, "line"));
    let verdict = match reached == all {
        true => Palette.good(&verdict),
        false => Palette.warn(&verdict),
    };
    let _ = writeln!(text, "{}: {verdict}", Palette.heading(&program));
    for (target, outcome) in report.results() {
        let place = Palette.place(&format!("{}:{}", target.file, target.line));
        let effort = Palette.dim(&format!(
            "{} in {:.1} s",
            counted(outcome.runs, "run"),
            outcome.time.as_secs_f64()
        ));
        let state = match status(&outcome.verdict) {
            "suite" => Palette.good("reached by what was given"),
            "covered" => Palette.good("reached"),
            other => Palette.warn(other),
        };
        let _ = writeln!(text, "\n{place}  {state}  {effort}");
        if let Verdict::Covered { scenario, steps } = &outcome.verdict {
            let _ = writeln!(text, "  {}", command_line(&program, scenario));
            for (name, bytes) in inputs(scenario) {
                let _ = writeln!(
                    text,
                    "  {}",
                    shorten(&format!("{name}: {bytes}"), report.width - 2)
                );
            }
            for (number, step) in (1..).zip(steps) {
                let what = condition(&mut places, step).unwrap_or_default();
                let line = format!("{number}. {:<10} {what}", step.means.name());
                let _ = writeln!(text, "  {}", Palette.dim(&shorten(&line, report.width - 2)));
                let input = command_line(&program, &step.scenario);
                let _ = writeln!(
                    text,
                    "  {}",
                    Palette.dim(&shorten(&format!("   {input}"), report.width - 2))
                );
            }
        }
        if let Some(why) = why(&mut places, &outcome.verdict) {
            let _ = writeln!(text, "  {why}");
        }
    }
    let search = &report.summary.search;
    for finding in &search.findings {
        let found = finding::section(report.program, &BTreeMap::new(), finding);
        let mark = Palette.warn("error on the way:");
        let _ = writeln!(text, "\n{mark} {}", found.trim_end());
    }
    let losses = ranked(&search.losses);
    if reached < all && !losses.is_empty() {
        let shown = losses.iter().take(LISTED);
        let names: Vec<&str> = shown.map(|(name, _)| name.as_str()).collect();
        let names = names.join(", ");
        let _ = writeln!(text, "\ntrack of the input was lost in {names}");
    }
    let mut outcomes = report.summary.outcomes.iter();
    if outcomes.any(|one| matches!(one.verdict, Verdict::Covered { .. })) {
        let _ = writeln!(text, "\ninputs are kept in {}", report.directory.display());
    }
    text
}
