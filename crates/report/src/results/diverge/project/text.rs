//! The comparison of a project's versions, for people.

use std::fmt::Write as _;

use crate::model::{Hunk, Role};
use parallax_search::diverge::clusters::Cluster;
use parallax_search::explore::Ended;

use super::{Finding, Program, ProjectReport, headline};
use crate::palette::Palette;
use crate::results::diverge::text::{rows, section, silent_places, verdict};
use crate::results::search::Sheet;
use crate::words::{counted, printable, shorten, show_time};

/// Lines of a hunk that are shown of each side.
const LINES: usize = 6;
/// Hunks that are shown of a difference.
const MOST_HUNKS: usize = 4;

pub fn render_text(report: &ProjectReport<'_>) -> String {
    let programs = &report.programs;
    let clusters = programs.iter().flat_map(|program| &program.findings);
    let clusters = clusters.map(|finding| finding.cluster);
    let patch = &report.patch;
    let what = format!("{} → {}", patch.old.label, patch.new.label);
    let is_stopped = |program: &Program<'_>| program.summary.ended == Ended::Stopped;
    let verdict = match programs.is_empty() {
        true => Palette.warn("nothing was compared"),
        false => verdict_so_far(clusters, programs.iter().any(is_stopped)),
    };
    let mut text = format!("{}: {verdict}\n", Palette.heading(&what));
    let _ = writeln!(text, "  {}", summary(report));
    if !report.unreached.is_empty() {
        let _ = writeln!(
            text,
            "  {} changed code of {} is run by no scenario, and no input was found that runs it",
            Palette.warn("not compared:"),
            report.unreached.join(", ")
        );
    }
    for program in programs {
        text.push('\n');
        of_program(&mut text, report, program);
    }
    text
}

/// How many of what; of a comparison that was stopped, nothing is no result.
fn verdict_so_far<'c>(clusters: impl Iterator<Item = &'c Cluster>, is_stopped: bool) -> String {
    let clusters: Vec<&Cluster> = clusters.collect();
    match clusters.is_empty() && is_stopped {
        true => Palette.warn("nothing found before it was stopped"),
        false => verdict(clusters),
    }
}

fn summary(report: &ProjectReport<'_>) -> String {
    let hunks = &report.patch.hunks;
    let files: std::collections::BTreeSet<&str> =
        hunks.iter().map(|hunk| hunk.file.as_str()).collect();
    let mut text = format!(
        "{} in {}",
        counted(hunks.len() as u64, "hunk"),
        counted(files.len() as u64, "file"),
    );
    match report.programs.len() + report.unreached.len() {
        0 => text.push_str(", none of them in code of a program"),
        count => {
            let programs = counted(count as u64, "program");
            let _ = write!(text, ", code of {programs}");
        }
    }
    if report.left_out > 0 {
        let scenarios = counted(report.left_out, "scenario");
        let _ = write!(text, "; {scenarios} could not be run");
    }
    let _ = write!(text, "; {}", show_time(report.time));
    text
}

fn of_program(text: &mut String, report: &ProjectReport<'_>, program: &Program<'_>) {
    let clusters = program.findings.iter().map(|finding| finding.cluster);
    let mut sheet = Sheet {
        text: format!(
            "{}: {}\n",
            Palette.heading(program.name),
            verdict_so_far(clusters, program.summary.ended == Ended::Stopped)
        ),
    };
    let touching = program.touching;
    let of = match touching.has_code {
        true => "run changed code",
        false => "are there; the changed lines have no code of their own",
    };
    sheet.row(
        "scenarios",
        &format!(
            "{} of {} {of}, {} of these in different ways",
            touching.touching,
            counted(touching.scenarios, "scenario"),
            touching.distinct,
        ),
    );
    rows(&mut sheet, program.summary);
    text.push_str(&sheet.text);
    let mut places = report.places(program);
    for finding in &program.findings {
        text.push('\n');
        let title = headline(report.tops, finding.cluster);
        section(
            text,
            program.name,
            &title,
            &mut places,
            finding.cluster,
            report.width,
        );
        guilty(text, report, finding);
        let _ = writeln!(
            text,
            "  {} {}",
            Palette.dim("again:"),
            report.replay(finding)
        );
    }
    silent_places(text, &mut places, program.summary);
}

/// The hunks that a difference comes from.
fn guilty(text: &mut String, report: &ProjectReport<'_>, finding: &Finding<'_>) {
    let Some(blame) = finding.blame else {
        return;
    };
    let hunks = report.hunks(finding);
    let all = report.patch.hunks.len();
    let open = match blame.is_minimal {
        true => "",
        false => " (there was no time to leave out more)",
    };
    if hunks.len() > MOST_HUNKS {
        let title = format!("comes from {} of {all} hunks{open}:", hunks.len());
        let _ = writeln!(text, "  {}", Palette.dim(&title));
    } else if !open.is_empty() {
        let _ = writeln!(text, "  {}", Palette.dim(open.trim()));
    }
    for (hunk, role) in hunks.iter().take(MOST_HUNKS) {
        let title = match role {
            Role::Guilty if all == 1 => "comes from the only hunk",
            role => role.in_words(),
        };
        let place = format!("{}:{}", hunk.file, hunk.new.first.max(1));
        let _ = writeln!(text, "  {} {}", Palette.dim(title), Palette.place(&place));
        excerpt(text, hunk, report.width);
    }
    if hunks.len() > MOST_HUNKS {
        let _ = writeln!(
            text,
            "  {}",
            Palette.dim(&format!("{} more", hunks.len() - MOST_HUNKS))
        );
    }
}

fn excerpt(text: &mut String, hunk: &Hunk, width: usize) {
    let room = width.saturating_sub(16);
    let mut side = |sign: &str, first: u32, lines: &[String]| {
        for (line, number) in lines.iter().take(LINES).zip(first..) {
            let line = shorten(&printable(line.replace('\t', "    ").as_bytes()), room);
            let _ = writeln!(
                text,
                "    {} {sign} {line}",
                Palette.dim(&format!("{number:>6}"))
            );
        }
        if lines.len() > LINES {
            let more = format!("… {} more", lines.len() - LINES);
            let _ = writeln!(text, "           {}", Palette.dim(&more));
        }
    };
    side(&Palette.bad("-"), hunk.old.first, &hunk.removed);
    side(&Palette.good("+"), hunk.new.first, &hunk.added);
}
