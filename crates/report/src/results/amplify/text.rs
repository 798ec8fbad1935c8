//! The result of an amplification for people.

use super::{AmplifyReport, Shown, table};
use crate::given::command_line;
use crate::palette::Palette;
use crate::results::finding::section;
use crate::results::search::{Sheet, ended};
use crate::words::{counted, show_count};

/// Places that are listed.
const LISTED: usize = 6;

pub fn render(report: &AmplifyReport) -> String {
    let what = match report.programs.as_slice() {
        [one] => one.path.display().to_string(),
        several => counted(several.len() as u64, "program"),
    };
    let mut sheet = Sheet::new(&what, report.findings().count());
    describe(report, &mut sheet);
    if report.programs.len() > 1 {
        sheet.text.push('\n');
        sheet.text.push_str(&programs(report));
    }
    if report.findings().next().is_some() {
        sheet.text.push('\n');
        sheet.text.push_str(&findings(report));
    }
    for (shown, found) in report.findings() {
        sheet.text.push('\n');
        let section = section(shown.path, shown.kept, &found.finding);
        sheet.text.push_str(&section);
        if !found.also.is_empty() {
            let kinds: Vec<&str> = found.also.iter().map(|kind| kind.name()).collect();
            let also = format!("  {} {}\n", Palette.dim("also seen as:"), kinds.join(", "));
            sheet.text.push_str(&also);
        }
    }
    sheet.text
}

fn describe(report: &AmplifyReport, sheet: &mut Sheet) {
    let amplified = format!(
        "{} up to distance {}: {} in {} of {:.1} s; {}",
        counted(report.tests(), "test"),
        report.distance(),
        counted(report.sum(|result| result.paths), "path"),
        counted(report.sum(|result| result.runs), "run"),
        report.seconds(),
        ended(report.ended, "everything asked for was tried"),
    );
    sheet.row("amplified", &amplified);
    for (percent, risk) in report.risks() {
        let given = report.given();
        let risk = format!(
            "a bug that {percent} % of the {given} tests expose is missed with probability {risk:.3}"
        );
        sheet.row("", &risk);
    }
    let unusable = report.sum(|result| result.unusable.len() as u64);
    if unusable > 0 {
        let mut first = report
            .programs
            .iter()
            .flat_map(|shown| &shown.result.unusable);
        let reason = first.next().map_or("", |(_, reason)| reason);
        let note = format!("{} could not be run: {reason}", counted(unusable, "test"));
        sheet.row("", &Palette.warn(&note));
    }
    let hanging = report.sum(|result| result.record.hanging);
    if hanging > 0 {
        let tests = counted(hanging, "test");
        let note = format!(
            "{tests} did not end within the time of a run: errors of their own were not looked for"
        );
        sheet.row("", &Palette.warn(&note));
    }
    for shown in &report.programs {
        if shown.result.ended.is_none() {
            let note = format!("{} left no trace", shown.path.display());
            sheet.row("", &Palette.warn(&note));
        }
    }
    let sensitive = format!(
        "{} on input, {} at addresses that were concrete",
        counted(
            report.sum(|result| result.record.sites.len() as u64),
            "operation"
        ),
        show_count(report.sum(|result| result.record.concrete_sites)),
    );
    sheet.row("sensitive", &sensitive);
    let checks = report.checks();
    let lines: usize = report.programs.iter().map(Shown::checked_lines).sum();
    let made = format!(
        "{} on {}: {} safe, {} violated, {} not confirmed, {} undecided",
        show_count(checks.made),
        counted(lines as u64, "line"),
        show_count(checks.safe),
        show_count(checks.confirmed),
        show_count(checks.unconfirmed),
        show_count(checks.undecided),
    );
    sheet.row("checks", &made);
    if checks.skipped > 0 {
        let skipped = counted(checks.skipped, "check");
        let note = format!("{skipped} left out: the failure is known, or no time");
        sheet.row("", &Palette.warn(&note));
    }
    for note in undecided(report) {
        sheet.row("", &note);
    }
    let solver = report.solver();
    let queries = counted(report.sum(|result| result.queries), "query/queries");
    let solved = format!("{queries} in {:.1} s", solver.time().as_secs_f64());
    sheet.row("solver", &solved);
    let flaky = report.sum(|result| result.flaky);
    if flaky > 0 {
        let suspicions = counted(flaky, "error");
        sheet.row(
            "",
            &format!("{suspicions} not seen every time: not reported"),
        );
    }
    sheet.losses(&report.losses());
    sheet.limits(&report.limits());
}

/// The places at which most checks were not decided.
fn undecided(report: &AmplifyReport) -> Vec<String> {
    let each = report.programs.iter();
    let mut places: Vec<_> = each
        .flat_map(|shown| {
            shown
                .result
                .record
                .undecided
                .iter()
                .map(move |at| (shown, at))
        })
        .collect();
    places.sort_by_key(|(_, (_, count))| std::cmp::Reverse(**count));
    let shown = places.iter().take(LISTED).map(|(shown, (at, count))| {
        let place = shown.place(at.site);
        let place = place.map_or_else(String::new, |(file, line)| format!("{file}:{line}"));
        format!("undecided ×{count}: {} at {place}", at.failure.name())
    });
    let mut notes: Vec<String> = shown.collect();
    if places.len() > LISTED {
        notes.push(format!("and {} more places", places.len() - LISTED));
    }
    notes
}

/// What was done for each program.
fn programs(report: &AmplifyReport) -> String {
    let rows = report.programs.iter().map(|shown| {
        let result = shown.result;
        let checks = result.record.checks;
        let mut row = vec![shown.target.name.clone()];
        let numbers = [
            result.record.order.len() as u64,
            result.record.sites.len() as u64,
            checks.made,
            shown.checked_lines() as u64,
            checks.safe,
            checks.confirmed,
            checks.unconfirmed,
            checks.undecided,
            result.record.findings.len() as u64,
        ];
        row.extend(numbers.map(show_count));
        row
    });
    let heading = [
        "program",
        "tests",
        "sensitive",
        "checks",
        "lines",
        "safe",
        "violated",
        "unconfirmed",
        "undecided",
        "errors",
    ];
    table::render(&heading, &rows.collect::<Vec<_>>(), 0, report.width)
}

/// The paper's table I: where, how near, how deep, and from which test.
fn findings(report: &AmplifyReport) -> String {
    let rows = report.findings().map(|(shown, found)| {
        let location = match &found.finding.problem.location {
            Some(location) => {
                let name = location.file.rsplit('/').next().unwrap_or(&location.file);
                format!("{name}:{}", location.line)
            }
            None => "-".to_owned(),
        };
        vec![
            location,
            found.finding.problem.kind.name().to_owned(),
            found.distance.to_string(),
            found.finding.depth.to_string(),
            shown.test(found).to_owned(),
            command_line(&shown.path.to_string_lossy(), &found.finding.scenario),
        ]
    });
    let heading = ["location", "kind", "distance", "depth", "test", "input"];
    table::render(&heading, &rows.collect::<Vec<_>>(), 2, report.width)
}
