//! The report for people: totals, a line for each file, and what was never entered.

use std::fmt::Write as _;

use parallax_exec::coverage::{FileCoverage, Share};

use super::{CoverageReport, reason};
use crate::palette::Palette;
use crate::results::Ended;
use crate::results::outcome;
use crate::results::source::Base;
use crate::words::{counted, printable, shorten, show_count};

/// How much to show.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Everything.
    pub all: bool,
    pub width: usize,
}

impl Detail {
    fn most(&self, usual: usize) -> usize {
        if self.all { usize::MAX } else { usual }
    }
}

/// The whole report.
pub fn render(report: &CoverageReport, detail: &Detail) -> String {
    let ended = Ended {
        program: report.program,
        outcome: report.outcome,
        timeout: report.timeout,
        memory: report.memory,
    };
    let mut text = ended.to_string();
    let width = (!detail.all).then_some(detail.width);
    let streams = [
        ("stdout", &report.outcome.stdout),
        ("stderr", &report.outcome.stderr),
    ];
    for (name, captured) in streams {
        text.push_str(&outcome::output(name, captured, detail.most(10), width));
    }
    let base = Base::of(report.coverage.files().iter().map(|file| &*file.name));
    write_totals(&mut text, report);
    write_files(&mut text, report, detail, &base);
    write_never_entered(&mut text, report, detail, &base);
    write_uncounted(&mut text, report, &base);
    if let Some(base) = base.elsewhere() {
        let _ = writeln!(text, "\nsource paths are relative to {}", base.display());
    }
    text
}

fn write_totals(text: &mut String, report: &CoverageReport) {
    let totals = report.coverage.totals();
    let _ = writeln!(text, "\n{}", Palette.heading("Totals"));
    for (name, share) in [
        ("lines", totals.lines),
        ("branch sides", totals.branch_sides),
        ("blocks", totals.blocks),
        ("functions", totals.functions),
    ] {
        let (covered, total) = (show_count(share.covered), show_count(share.total));
        let percent = percent(share);
        let _ = writeln!(text, "  {name:<12}  {percent}  {covered} of {total}");
    }
}

fn write_files(text: &mut String, report: &CoverageReport, detail: &Detail, base: &Base) {
    let files = report.coverage.files();
    if files.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", Palette.heading("Files"));
    let most = detail.most(40);
    let room = detail.width.saturating_sub(46).max(20);
    let names: Vec<String> = files
        .iter()
        .take(most)
        .map(|file| shorten(&printable(base.relative(&file.name).as_bytes()), room))
        .collect();
    let width = names.iter().map(|name| name.chars().count()).max();
    let width = width.unwrap_or(0);
    for (file, name) in files.iter().zip(names) {
        write_file(text, file, &name, width);
    }
    write_more(text, files.len().saturating_sub(most), "file");
}

fn write_file(text: &mut String, file: &FileCoverage, name: &str, width: usize) {
    let lines = file.line_share();
    let name = Palette.place(&format!("{name:<width$}"));
    let (bar, percent) = (bar(lines), percent(lines));
    let covered = show_count(lines.covered);
    let total = counted(lines.total, "line");
    let _ = writeln!(text, "  {name}  {bar} {percent}  {covered} of {total}");
}

fn write_never_entered(text: &mut String, report: &CoverageReport, detail: &Detail, base: &Base) {
    let never: Vec<_> = report.coverage.never_entered().collect();
    if never.is_empty() {
        return;
    }
    let count = Palette.dim(&show_count(never.len() as u64));
    let _ = writeln!(text, "\n{} {count}", Palette.heading("Never entered"));
    let most = detail.most(20);
    for (file, function) in never.iter().take(most) {
        let mut place = printable(base.relative(&file.name).as_bytes());
        if function.line != 0 {
            let _ = write!(place, ":{}", function.line);
        }
        let name = printable(function.name.as_bytes());
        let _ = writeln!(text, "  {name}  {}", Palette.place(&place));
    }
    write_more(text, never.len().saturating_sub(most), "function");
}

fn write_more(text: &mut String, count: usize, noun: &str) {
    if count > 0 {
        let more = format!("  … {} more, --all", counted(count as u64, noun));
        let _ = writeln!(text, "{}", Palette.dim(&more));
    }
}

/// Never shortened: what is missing here is missing in everything above.
fn write_uncounted(text: &mut String, report: &CoverageReport, base: &Base) {
    for module in report.coverage.uncounted() {
        let file = printable(base.relative(&module.file).as_bytes());
        let why = reason(module);
        let _ = writeln!(
            text,
            "\n{} {file} was not counted and is left out: {why}",
            Palette.warn("note:")
        );
    }
}

/// Right-aligned; nothing to cover is said as such. Rounded down: 100 % means all.
fn percent(share: Share) -> String {
    match share.percent() {
        Some(percent) => format!("{:>3} %", percent.floor()),
        None => "  – %".to_owned(),
    }
}

fn bar(share: Share) -> String {
    const CELLS: usize = 20;
    let percent = share.percent().unwrap_or(0.0);
    let full = (percent / 100.0 * CELLS as f64) as usize;
    // Something is not nothing.
    let full = full.max(usize::from(share.covered > 0));
    let empty = Palette.dim(&"·".repeat(CELLS - full));
    format!("{}{empty}", Palette.good(&"█".repeat(full)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn only_everything_is_a_hundred_percent_and_only_nothing_has_no_bar() {
        let share = |covered, total| Share { covered, total };
        assert_eq!(percent(share(999, 1000)), " 99 %");
        assert_eq!(percent(share(1000, 1000)), "100 %");
        assert_eq!(percent(share(0, 0)), "  – %");
        assert_eq!(stripped(&bar(share(0, 9))), "·".repeat(20));
        assert_eq!(
            stripped(&bar(share(1, 1000))),
            format!("█{}", "·".repeat(19))
        );
        assert_eq!(stripped(&bar(share(5, 5))), "█".repeat(20));
    }

    #[test]
    fn a_file_is_one_line() {
        let mut text = String::new();
        write_file(
            &mut text,
            &crate::results::coverage::sample::file(),
            "a.c",
            5,
        );
        let expected = format!("  a.c    ██████{}  33 %  1 of 3 lines\n", "·".repeat(14));
        assert_eq!(stripped(&text), expected);
    }
}
