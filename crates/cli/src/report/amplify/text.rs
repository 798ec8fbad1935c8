//! The result of an amplification for people.

use std::fmt::Write as _;

use parallax_engine::explore::Ended;

use super::AmplifyReport;
use crate::console::{Palette, shorten, width};
use crate::report::finding::section;
use crate::report::scenario::command_line;
use crate::size::{counted, show_count};

/// Losses and undecided places that are listed.
const LISTED: usize = 6;

pub fn render(report: &AmplifyReport) -> String {
    let summary = report.summary;
    let mut text = String::new();
    let name = Palette.heading(&report.program.display().to_string());
    let verdict = match summary.findings.len() as u64 {
        0 => Palette.good("no errors found"),
        errors => Palette.bad(&format!("{} found", counted(errors, "error"))),
    };
    let _ = writeln!(text, "{name}: {verdict}");
    for (name, value) in rows(report) {
        let _ = writeln!(text, "  {} {value}", Palette.dim(&format!("{name:<9}")));
    }
    if !summary.findings.is_empty() {
        text.push('\n');
        text.push_str(&table(report));
    }
    for found in &summary.findings {
        text.push('\n');
        text.push_str(&section(report.program, report.kept, &found.finding));
    }
    text
}

fn rows(report: &AmplifyReport) -> Vec<(&'static str, String)> {
    let summary = report.summary;
    let ended = match summary.ended {
        Ended::Exhausted => "everything asked for was tried",
        Ended::Runs => "the runs asked for were made",
        Ended::Time => "the time is over",
        Ended::Stopped => "stopped",
    };
    let tests = summary.order.len() as u64;
    let mut rows = vec![(
        "amplified",
        format!(
            "{} up to distance {}: {} in {} of {:.1} s; {ended}",
            counted(tests, "test"),
            summary.progress.distance,
            counted(summary.progress.paths, "path"),
            counted(summary.progress.runs, "run"),
            summary.seconds,
        ),
    )];
    for (percent, risk) in report.risks() {
        let risk = format!(
            "a bug that {percent} % of the {} tests expose is missed with probability {risk:.3}",
            summary.given
        );
        rows.push(("", risk));
    }
    rows.push((
        "sensitive",
        format!(
            "{} on input, {} at addresses that were concrete",
            counted(summary.sites.len() as u64, "operation"),
            show_count(summary.concrete_sites),
        ),
    ));
    let checks = summary.checks;
    rows.push((
        "checks",
        format!(
            "{} on {}: {} safe, {} violated, {} not confirmed, {} undecided",
            show_count(checks.made),
            counted(report.checked_lines() as u64, "line"),
            show_count(checks.safe),
            show_count(checks.confirmed),
            show_count(checks.unconfirmed),
            show_count(checks.undecided),
        ),
    ));
    if checks.skipped > 0 {
        let skipped = counted(checks.skipped, "check");
        let note = format!("{skipped} left out: the same place too often, or no time");
        rows.push(("", Palette.warn(&note)));
    }
    for (at, count) in summary.undecided.iter().take(LISTED) {
        let place = report.place(at.site);
        let place = place.map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        let note = format!("undecided ×{count}: {} at {place}", at.failure.name());
        rows.push(("", note));
    }
    let solver = &summary.solver;
    rows.push((
        "solver",
        format!(
            "{} in {:.1} s",
            counted(solver.queries, "query/queries"),
            solver.time().as_secs_f64()
        ),
    ));
    if summary.flaky > 0 {
        let suspicions = counted(summary.flaky, "error");
        rows.push((
            "",
            format!("{suspicions} not seen every time: not reported"),
        ));
    }
    let losses = report.ranked_losses();
    if !losses.is_empty() {
        let mut list: Vec<String> = losses
            .iter()
            .take(LISTED)
            .map(|(name, count)| format!("{name} ({})", show_count(*count)))
            .collect();
        if losses.len() > LISTED {
            list.push(format!("{} more", losses.len() - LISTED));
        }
        rows.push(("lost", format!("track of the input in {}", list.join(", "))));
    }
    rows
}

/// The paper's table I: where, how near, how deep, and from which test.
fn table(report: &AmplifyReport) -> String {
    let rows: Vec<[String; 6]> = report
        .summary
        .findings
        .iter()
        .map(|found| {
            let location = match &found.finding.problem.location {
                Some(location) => {
                    let name = location.file.rsplit('/').next().unwrap_or(&location.file);
                    format!("{name}:{}", location.line)
                }
                None => "-".to_owned(),
            };
            [
                location,
                found.finding.problem.kind.name().to_owned(),
                found.distance.to_string(),
                found.finding.depth.to_string(),
                report.seeds[found.seed].name.clone(),
                command_line(&report.program.to_string_lossy(), &found.finding.scenario),
            ]
        })
        .collect();
    let head = ["location", "kind", "distance", "depth", "test", "input"].map(str::to_owned);
    let mut widths = [0; 6];
    for row in rows.iter().chain([&head]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    // The last two share what the others leave.
    let taken: usize = widths[..4].iter().sum::<usize>() + 2 * 6;
    let left = width().saturating_sub(taken).max(40) / 2;
    for width in &mut widths[4..] {
        *width = (*width).min(left);
    }
    let mut text = String::new();
    for (number, row) in [&head].into_iter().chain(&rows).enumerate() {
        let cells = row.iter().zip(widths).map(|(cell, width)| {
            let cell = shorten(cell, width);
            format!("{cell:<width$}")
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let line = line.trim_end();
        let line = if number == 0 {
            Palette.dim(line)
        } else {
            line.to_owned()
        };
        let _ = writeln!(text, "  {line}");
    }
    text
}
