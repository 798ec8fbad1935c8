//! The result of an exploration for people.

use std::fmt::Write as _;

use parallax_engine::coverage::Share;
use parallax_engine::explore::{Ended, Limit};

use super::ExploreReport;
use crate::console::Palette;
use crate::report::finding::section;
use crate::size::{counted, show_count};

/// Losses that are listed.
const LOSSES: usize = 6;

pub fn render(report: &ExploreReport) -> String {
    let summary = report.summary;
    let mut text = String::new();
    let name = Palette.heading(&report.program.display().to_string());
    let verdict = match summary.findings.len() as u64 {
        0 => Palette.good("no errors found"),
        errors => Palette.bad(&format!("{} found", counted(errors, "error"))),
    };
    let ended = match summary.ended {
        Ended::Exhausted => "everything within reach was tried",
        Ended::Runs => "the runs asked for were made",
        Ended::Time => "the time is over",
        Ended::Stopped => "stopped",
    };
    let _ = writeln!(text, "{name}: {verdict}");
    let rate = summary.progress.runs as f64 / summary.seconds.max(0.001);
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {} {value}", Palette.dim(&format!("{name:<9}")));
    };
    row(
        "explored",
        format!(
            "{} in {} of {:.1} s ({rate:.0}/s); {ended}",
            counted(summary.progress.paths, "path"),
            counted(summary.progress.runs, "run"),
            summary.seconds,
        ),
    );
    let totals = summary.coverage.totals();
    let covered = match totals.blocks.total {
        0 => "not measured".to_owned(),
        _ => format!(
            "blocks {}, branch sides {}, lines {}",
            share(totals.blocks),
            share(totals.branch_sides),
            share(totals.lines)
        ),
    };
    row("covered", covered);
    let solver = &summary.solver;
    let of_time = 100.0 * solver.time().as_secs_f64() / summary.seconds.max(0.001);
    let flips = summary.flips;
    row(
        "solver",
        format!(
            "{} in {:.1} s ({of_time:.0} % of the time); {} impossible, {} undecided",
            counted(solver.queries, "query/queries"),
            solver.time().as_secs_f64(),
            show_count(flips.infeasible),
            show_count(flips.undecided),
        ),
    );
    for (reason, count) in &solver.failures {
        let failures = counted(*count, "failure");
        row(
            "",
            Palette.warn(&format!("{failures} of the SMT program: {reason}")),
        );
    }
    if let Some(why) = &solver.switched_off {
        row("", Palette.warn(&format!("switched off: {why}")));
    }
    let made = flips.taken + flips.missed;
    if made > 0 {
        let percent = 100.0 * flips.taken as f64 / made as f64;
        row(
            "",
            format!(
                "{percent:.1} % of {} took the branch they were made for",
                counted(made, "input")
            ),
        );
    }
    if summary.unconfirmed > 0 {
        row(
            "",
            format!(
                "{} not seen again natively: not reported",
                counted(summary.unconfirmed, "suspicion")
            ),
        );
    }
    if summary.flaky > 0 {
        row(
            "",
            format!(
                "{} seen, but not every time: not reported",
                counted(summary.flaky, "flaky error")
            ),
        );
    }
    for (end, count) in &summary.limited {
        let runs = counted(*count, "run");
        let how = match end {
            Limit::Memory => "used more memory than --memory allows",
            Limit::Processes => "started too many processes",
        };
        row("stopped", format!("{runs} that {how}: no error is claimed"));
    }
    row(
        "kept",
        format!(
            "{} in {}",
            counted(summary.tests, "input"),
            report.directory.display()
        ),
    );
    if !summary.losses.is_empty() {
        row("lost", losses(report));
    }
    for finding in &summary.findings {
        text.push('\n');
        text.push_str(&section(report.program, report.kept, finding));
    }
    text
}

fn share(share: Share) -> String {
    format!(
        "{} of {}",
        show_count(share.covered),
        show_count(share.total)
    )
}

/// Where the connection to the input got lost, most often first.
fn losses(report: &ExploreReport) -> String {
    let losses = report.ranked_losses();
    let shown = losses.iter().take(LOSSES);
    let mut list: Vec<String> = shown
        .map(|(name, count)| format!("{name} ({})", show_count(*count)))
        .collect();
    if losses.len() > LOSSES {
        list.push(format!("{} more", losses.len() - LOSSES));
    }
    format!("track of the input in {}", list.join(", "))
}
