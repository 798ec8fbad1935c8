//! The comparison for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use parallax_exec::compare::{Difference, Line, end_in_words};
use parallax_scenario::{Bytes, Golden, Scenario};
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::triage::{Class, Shown};
use parallax_search::diverge::walk::{Place, Version};
use parallax_search::engine::Summary;

use super::{DivergeReport, PlacesOfBoth, headline};
use crate::given::{command_line, inputs};
use crate::palette::Palette;
use crate::results::search::{Sheet, ended, ranked};
use crate::words::{counted, printable, shorten, show_count};

/// Lines of an output that are shown of each difference.
const LINES: usize = 8;
/// What the first line says of a cluster, the gravest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    Regression,
    Difference,
    Intended,
    Fixed,
    Both,
}

impl Said {
    fn of(cluster: &Cluster) -> Said {
        match (cluster.class(), cluster.shown.golden) {
            (Class::Both, _) => Said::Both,
            (Class::Fixed, _) => Said::Fixed,
            (_, Some(Golden::Intended)) => Said::Intended,
            (Class::Regression, _) | (_, Some(Golden::Regression)) => Said::Regression,
            _ => Said::Difference,
        }
    }

    fn with(self, count: u64) -> String {
        let shown = show_count(count);
        match self {
            Said::Regression => Palette.bad(&counted(count, "regression")),
            Said::Difference => Palette.warn(&counted(count, "difference")),
            Said::Intended => Palette.good(&format!("{shown} intended")),
            Said::Fixed => Palette.good(&format!("{shown} fixed")),
            Said::Both => format!("{} that both versions have", counted(count, "error")),
        }
    }
}

/// Functions, and places that showed nothing, that are listed.
const LISTED: usize = 8;

pub fn render_text(report: &DivergeReport) -> String {
    let summary = report.summary;
    let (old, new) = (report.names.old.display(), report.names.new.display());
    let what = match report.is_annotated {
        true => format!("{old}, as annotated"),
        false => format!("{old} → {new}"),
    };
    let mut sheet = Sheet {
        text: format!(
            "{}: {}\n",
            Palette.heading(&what),
            verdict(&summary.clusters)
        ),
    };
    rows(&mut sheet, summary);
    let mut places = PlacesOfBoth::new(report.versions);
    let mut text = sheet.text;
    let program = report.names.new.to_string_lossy();
    for cluster in &summary.clusters {
        text.push('\n');
        section(
            &mut text,
            &program,
            &headline(cluster),
            &mut places,
            cluster,
            report.width,
        );
    }
    silent_places(&mut text, &mut places, summary);
    if !summary.clusters.is_empty() {
        let _ = writeln!(text, "\ninputs are kept in {}", report.directory.display());
    }
    text
}

/// What was done, in rows.
pub(super) fn rows(sheet: &mut Sheet, summary: &Summary) {
    sheet.row("changed", &changed(&summary.changed));
    sheet.row(
        "compared",
        &format!(
            "{} and {} in {} of {:.1} s; {}",
            counted(summary.scenarios, "scenario"),
            counted(summary.pairs, "path"),
            counted(summary.progress.runs, "run"),
            summary.time.as_secs_f64(),
            ended(summary.ended, "everything within reach was tried"),
        ),
    );
    let total: u64 = summary.divergences.values().sum();
    let phases = summary.divergences.iter();
    let phases = phases.map(|(phase, count)| format!("{} {}", show_count(*count), phase.name()));
    let phases: Vec<String> = phases.collect();
    let detail = match phases.is_empty() {
        true => String::new(),
        false => format!(" ({})", phases.join(", ")),
    };
    sheet.row(
        "parted",
        &format!(
            "{}{detail}, {} of them without any difference that can be seen; all were run on both versions",
            counted(total, "input"),
            show_count(summary.silent),
        ),
    );
    let mut asked = counted(summary.solver.queries, "question");
    if summary.proved_equal > 0 {
        let _ = write!(
            asked,
            ", {} proved the same in both",
            counted(summary.proved_equal, "condition")
        );
    }
    if summary.undecided > 0 {
        let _ = write!(asked, ", {} undecided", show_count(summary.undecided));
    }
    if summary.left_out > 0 {
        let _ = write!(
            asked,
            ", {} left out because the condition had been asked about often enough",
            show_count(summary.left_out)
        );
    }
    sheet.row("asked", &asked);
    sheet.limits(&summary.limits);
    if summary.flaky > 0 {
        sheet.row(
            "flaky",
            &format!(
                "{} seen, but not every time: not reported",
                counted(summary.flaky, "difference")
            ),
        );
    }
    sheet.losses(&ranked(&summary.losses));
}

/// Where versions part without anything to be seen, if that is all that there is.
pub(super) fn silent_places(text: &mut String, places: &mut PlacesOfBoth<'_>, summary: &Summary) {
    if !summary.silent_places.is_empty() && summary.clusters.is_empty() {
        text.push_str("\nparted without a difference that can be seen:\n");
        for (place, count) in summary.silent_places.iter().take(LISTED) {
            let place = whereabouts(places, place);
            let _ = writeln!(
                text,
                "  {place}  {}",
                Palette.dim(&counted(*count, "input"))
            );
        }
    }
}

/// How many of what.
pub(super) fn verdict<'c>(clusters: impl IntoIterator<Item = &'c Cluster>) -> String {
    let clusters: Vec<&Cluster> = clusters.into_iter().collect();
    if clusters.is_empty() {
        return Palette.good("nothing differs");
    }
    let mut counts: BTreeMap<Said, u64> = BTreeMap::new();
    for cluster in clusters {
        *counts.entry(Said::of(cluster)).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .into_iter()
        .map(|(said, count)| said.with(count))
        .collect();
    parts.join(", ")
}

fn changed(names: &[String]) -> String {
    if names.is_empty() {
        return "no function has other code".to_owned();
    }
    let mut shown: Vec<String> = names.iter().take(LISTED).cloned().collect();
    if names.len() > LISTED {
        shown.push(format!("{} more", names.len() - LISTED));
    }
    shown.join(", ")
}

/// One cluster: what, on which input, what each version does, and where they part.
pub(super) fn section(
    text: &mut String,
    program: &str,
    headline: &str,
    places: &mut PlacesOfBoth<'_>,
    cluster: &Cluster,
    width: usize,
) {
    difference(
        text,
        program,
        headline,
        cluster.count,
        &cluster.scenario,
        &cluster.shown,
        width,
    );
    if let Some(place) = &cluster.place {
        let place = whereabouts(places, place);
        let _ = writeln!(text, "  {} {place}", Palette.dim("parted at"));
    }
}

/// What several inputs show: one of them, and what each version does with it.
pub(in crate::results) fn difference(
    text: &mut String,
    program: &str,
    headline: &str,
    count: u64,
    scenario: &Scenario,
    shown: &Shown,
    width: usize,
) {
    let more = match count {
        0 | 1 => String::new(),
        count => Palette.dim(&format!("  ({} show it)", counted(count, "input"))),
    };
    let _ = writeln!(text, "{headline}{more}");
    let room = width.saturating_sub(4);
    let _ = writeln!(text, "  {}", command_line(program, scenario));
    for (name, bytes) in inputs(scenario) {
        let _ = writeln!(
            text,
            "  {} {}",
            Palette.dim(&format!("{name}:")),
            shorten(&bytes, room)
        );
    }
    let mut said = BTreeSet::new();
    for problem in &shown.problems {
        let message = printable(problem.message.as_bytes());
        if said.insert(&problem.message) {
            let _ = writeln!(text, "  {}", shorten(&message, room));
        }
    }
    for difference in &shown.differences {
        match difference {
            Difference::End { one, other } => {
                let _ = writeln!(text, "  {} {one}", Palette.bad("- end:"));
                let _ = writeln!(text, "  {} {other}", Palette.good("+ end:"));
            }
            other => {
                let lines = other.diff().map(|diff| diff.around(0)).unwrap_or_default();
                let _ = writeln!(text, "  {}", Palette.dim(&format!("{}:", other.part())));
                for line in lines.iter().flatten().take(LINES) {
                    let _ = writeln!(text, "    {}", diff_line(line, room));
                }
                if lines.iter().flatten().count() > LINES {
                    let _ = writeln!(text, "    {}", Palette.dim("…"));
                }
            }
        }
    }
    if shown.differences.is_empty() {
        let end = end_in_words(&shown.endings.new);
        let _ = writeln!(text, "  {} {end}", Palette.dim("both plain programs:"));
    }
    match shown.golden {
        Some(Golden::Intended) => {
            let _ = writeln!(
                text,
                "  {}",
                Palette.dim("the golden version does as the new one")
            );
        }
        Some(Golden::Regression) => {
            let _ = writeln!(
                text,
                "  {}",
                Palette.dim("the golden version does as the old one")
            );
        }
        Some(Golden::Unclear) => {
            let _ = writeln!(
                text,
                "  {}",
                Palette.dim("the golden version does something else than both")
            );
        }
        None => {}
    }
}

/// The place in both versions, with the condition where it was changed.
fn whereabouts(places: &mut PlacesOfBoth<'_>, place: &Place) -> String {
    let old = places.of(place, Version::Old);
    let new = places.of(place, Version::New);
    let short = |line: Option<String>| {
        line.map_or(String::new(), |line| format!("  {}", shorten(&line, 60)))
    };
    match (old, new) {
        (Some((_, before)), Some((name, after))) if before == after => {
            format!("{}{}", Palette.place(&name), short(after))
        }
        (Some((_, before)), Some((name, after))) => format!(
            "{}{} {}",
            Palette.place(&name),
            short(after),
            Palette.dim(&format!("(before:{})", short(before)))
        ),
        (None, Some((name, line))) => {
            format!(
                "{}{} {}",
                Palette.place(&name),
                short(line),
                Palette.dim("(added)")
            )
        }
        (Some((name, line)), None) => {
            format!(
                "{}{} {}",
                Palette.place(&name),
                short(line),
                Palette.dim("(removed)")
            )
        }
        (None, None) => String::new(),
    }
}

fn diff_line(line: &Line, room: usize) -> String {
    let shown = |bytes: &Bytes| {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        shorten(&printable(line), room)
    };
    match line {
        Line::Same(bytes) => format!("  {}", shown(bytes)),
        Line::One(bytes) => format!("{} {}", Palette.bad("-"), shown(bytes)),
        Line::Other(bytes) => format!("{} {}", Palette.good("+"), shown(bytes)),
    }
}
