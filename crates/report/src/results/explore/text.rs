//! The result of an exploration for people.

use parallax_exec::coverage::Share;
use parallax_search::engine::Excess;

use super::ExploreReport;
use crate::palette::Palette;
use crate::results::finding::section;
use crate::results::search::{Sheet, ended};
use crate::words::{counted, show_count};

pub fn render(report: &ExploreReport) -> String {
    let summary = &report.summary.search;
    let seconds = summary.time.as_secs_f64();
    let program = report.program.display().to_string();
    let mut sheet = Sheet::new(&program, summary.findings.len());
    let ended = ended(summary.ended, "everything within reach was tried");
    let rate = summary.progress.runs as f64 / seconds.max(0.001);
    let mut row = |name: &str, value: String| sheet.row(name, &value);
    row(
        "explored",
        format!(
            "{} in {} of {:.1} s ({rate:.0}/s); {ended}",
            counted(summary.progress.paths, "path"),
            counted(summary.progress.runs, "run"),
            seconds,
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
    let of_time = 100.0 * solver.time().as_secs_f64() / seconds.max(0.001);
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
            Excess::Memory => "used more memory than --memory allows",
            Excess::Processes => "started too many processes",
            Excess::Output => "wrote too much",
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
    sheet.limits(&summary.limits);
    sheet.losses(&report.ranked_losses());
    for finding in &summary.findings {
        sheet.text.push('\n');
        let section = section(report.program, report.kept, finding);
        sheet.text.push_str(&section);
    }
    sheet.text
}

fn share(share: Share) -> String {
    format!(
        "{} of {}",
        show_count(share.covered),
        show_count(share.total)
    )
}
