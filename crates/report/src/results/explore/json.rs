//! The result of an exploration as JSON.

use parallax_abi::SiteId;
use parallax_exec::coverage::FileCoverage;
use parallax_exec::sites::SiteMap;
use parallax_search::explore::Moment;
use serde_json::{Value, json};

use super::ExploreReport;
use crate::results::document::{self, Document};
use crate::results::search::{limits, yields};

/// How much of a file was covered, which lines were not, and when the last new one was.
fn file(file: &FileCoverage, latest: Option<&Moment>) -> Value {
    let share = file.line_share();
    let missed = file.lines.iter().filter(|(_, count)| **count == 0);
    json!({
        "file": file.name,
        "lines": {"covered": share.covered, "total": share.total},
        "missed": missed.map(|(line, _)| *line).collect::<Vec<_>>(),
        "latest": latest.map(|moment| json!({"runs": moment.runs, "seconds": moment.time.as_secs_f64()})),
    })
}

fn place(sites: &SiteMap, site: Option<SiteId>) -> Value {
    match site.and_then(|site| sites.get(site)) {
        Some(view) => json!(format!("{}:{}", view.file, view.line)),
        None => Value::Null,
    }
}

pub fn render(report: &ExploreReport) -> String {
    let summary = &report.summary.search;
    let totals = summary.coverage.totals();
    let share = |covered: u64, total: u64| json!({"covered": covered, "total": total});
    let layers: serde_json::Map<String, Value> = summary
        .solver
        .layers
        .iter()
        .map(|(layer, statistics)| {
            let entry = json!({
                "sat": statistics.sat,
                "unsat": statistics.unsat,
                "seconds": statistics.time.as_secs_f64(),
            });
            (layer.name().to_owned(), entry)
        })
        .collect();
    let flips = summary.flips;
    let files = summary.coverage.files().iter();
    let files: Vec<Value> = files
        .map(|covered| file(covered, report.summary.latest.get(&covered.name)))
        .collect();
    Document {
        command: "explore",
        runs: summary.progress.runs,
        paths: summary.progress.paths,
        queries: summary.progress.queries,
        seconds: summary.time.as_secs_f64(),
        losses: report.ranked_losses(),
        findings: summary
            .findings
            .iter()
            .map(|finding| {
                let directory = report.kept.get(&finding.id());
                let directory = directory.map(|path| path.to_string_lossy().into_owned());
                document::finding(finding, None, directory.as_deref())
            })
            .collect(),
        targets: Vec::new(),
        statistics: json!({
            "ended": format!("{:?}", summary.ended).to_lowercase(),
            "executions": summary.executions,
            "tests": summary.tests,
            "unconfirmed": summary.unconfirmed,
            "flaky": summary.flaky,
            "limited": summary.limited.iter()
                .map(|(limit, count)| (limit.name().to_owned(), (*count).into()))
                .collect::<serde_json::Map<String, Value>>(),
            "open": summary.progress.open,
            "inputs": summary.progress.inputs,
            "yields": yields(&summary.yields),
            "limits": limits(&summary.limits),
            "blocks": share(totals.blocks.covered, totals.blocks.total),
            "branch_sides": share(totals.branch_sides.covered, totals.branch_sides.total),
            "lines": share(totals.lines.covered, totals.lines.total),
            "files": files,
            "flips": {
                "taken": flips.taken,
                "missed": flips.missed,
                "unexplained": flips.unexplained,
                "infeasible": flips.infeasible,
                "undecided": flips.undecided,
                "rejected": flips.rejected,
            },
            "misses": summary.misses.iter().map(|miss| {
                json!({
                    "wanted": place(report.sites, Some(miss.wanted)),
                    "left_at": place(report.sites, miss.left_at),
                    "from": miss.from,
                    "scenario": miss.scenario,
                    "losses": miss.losses,
                })
            }).collect::<Vec<_>>(),
            "solver": {
                "seconds": summary.solver.time().as_secs_f64(),
                "layers": layers,
                "failures": summary.solver.failures,
                "switched_off": summary.solver.switched_off,
            },
        }),
    }
    .render()
}
