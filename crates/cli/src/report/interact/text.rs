//! The search for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use parallax_analysis::sequence::Role;
use parallax_engine::interact::sequences::Row;
use parallax_engine::interact::{Finding, Kind, Summary};

use super::{InteractReport, headline};
use crate::console::{Palette, printable, shorten, width};
use crate::report::diverge::difference;
use crate::report::graph;
use crate::report::search::{Sheet, ended, ranked};
use crate::size::{counted, show_count};

/// Orders of changes that are listed.
const LISTED: usize = 12;
/// Changes of one order that are shown in the list.
const SHOWN: usize = 16;

pub fn render_text(report: &InteractReport) -> String {
    let summary = report.summary;
    let names = graph::names(report.comparison);
    let what = format!(
        "{} → {}",
        report.names.0.display(),
        report.names.1.display()
    );
    let mut sheet = Sheet {
        text: format!("{}: {}\n", Palette.heading(&what), verdict(summary)),
    };
    rows(&mut sheet, report);
    let mut text = sheet.text;
    if report.comparison.graph.nodes.is_empty() {
        return text;
    }
    let program = report.names.1.to_string_lossy();
    for finding in &summary.findings {
        text.push('\n');
        section(&mut text, report, &names, &program, finding);
    }
    orders(&mut text, report, &names);
    if !summary.findings.is_empty() {
        let _ = writeln!(text, "\ninputs are kept in {}", report.directory.display());
    }
    text
}

/// How many of what.
fn verdict(summary: &Summary) -> String {
    let findings = &summary.findings;
    let interacting = findings
        .iter()
        .filter(|finding| finding.is_interaction() && finding.kind.is_error())
        .count() as u64;
    let of = |kind: Kind| findings.iter().filter(|one| one.kind == kind).count() as u64;
    let mut parts = Vec::new();
    let kinds = [
        (Kind::Regression, "regression"),
        (Kind::IncompleteFix, "incomplete fix"),
    ];
    for (kind, name) in kinds {
        match of(kind) {
            0 => {}
            1 => parts.push(Palette.bad(&format!("1 {name}"))),
            count if name.ends_with('x') => parts.push(Palette.bad(&format!("{count} {name}es"))),
            count => parts.push(Palette.bad(&format!("{count} {name}s"))),
        }
    }
    if of(Kind::Difference) > 0 {
        parts.push(Palette.warn(&counted(of(Kind::Difference), "difference")));
    }
    if of(Kind::Progression) > 0 {
        parts.push(Palette.good(&counted(of(Kind::Progression), "progression")));
    }
    if parts.is_empty() {
        return Palette.good("nothing differs");
    }
    let mut line = parts.join(", ");
    if interacting > 0 {
        let _ = write!(
            line,
            "; {} only together with other changes",
            match interacting {
                1 => "1 shows".to_owned(),
                count => format!("{count} show"),
            }
        );
    }
    line
}

fn rows(sheet: &mut Sheet, report: &InteractReport) {
    let summary = report.summary;
    let graph = &report.comparison.graph;
    let changes = (0..graph.nodes.len()).filter(|node| graph.is_change(*node));
    let changes = changes.count() as u64;
    if changes == 0 {
        sheet.row("changed", "nothing that has code");
        return;
    }
    let interactions = graph.nodes.iter();
    let interactions = interactions.filter(|node| matches!(node.role, Role::Interaction(_)));
    sheet.row(
        "changed",
        &format!(
            "{}, which can affect each other in {} (parallax graph shows where)",
            counted(changes, "statement"),
            counted(interactions.count() as u64, "place"),
        ),
    );
    sheet.row(
        "searched",
        &format!(
            "{} in {:.1} s{}; {}",
            counted(summary.runs, "run"),
            summary.time.as_secs_f64(),
            match report.isolated {
                true => ", for each change by itself",
                false => "",
            },
            ended(summary.ended, "everything within reach was tried"),
        ),
    );
    sheet.row(
        "reached",
        &format!(
            "{} of {} changes, meeting places and outputs, and {} of {} steps between them",
            show_count(summary.nodes.0),
            show_count(summary.nodes.1),
            show_count(summary.edges.0),
            show_count(summary.edges.1),
        ),
    );
    sheet.row(
        "compared",
        &format!(
            "{} that executed changes, in {}; the versions differ on {}, {} shown",
            counted(summary.tests, "input"),
            match summary.rows.len() as u64 {
                1 => "1 order".to_owned(),
                count => format!("{} different orders", show_count(count)),
            },
            show_count(summary.differences),
            match summary.errors {
                0 => "no error is".to_owned(),
                1 => "1 error is".to_owned(),
                count => format!("errors are on {} of them", show_count(count)),
            },
        ),
    );
    if summary.cut > 0 {
        let note = format!(
            "{} went on for longer than its changes could be followed",
            counted(summary.cut, "run")
        );
        sheet.row("cut", &note);
    }
    if summary.flaky > 0 {
        let note = format!(
            "{} seen, but not every time: not reported",
            counted(summary.flaky, "difference")
        );
        sheet.row("flaky", &note);
    }
    sheet.losses(&ranked(&summary.losses));
}

/// One finding: what, on which input, what each version does, and which changes led there.
fn section(
    text: &mut String,
    report: &InteractReport,
    names: &[String],
    program: &str,
    finding: &Finding,
) {
    let (scenario, shown) = (&finding.scenario, &finding.shown);
    difference(
        text,
        program,
        &headline(finding),
        finding.count,
        scenario,
        shown,
    );
    let order = order(names, &finding.sequence, usize::MAX);
    let _ = writeln!(text, "  {} {order}", Palette.dim("changes executed:"));
    let changes: BTreeSet<usize> = finding.sequence.iter().copied().collect();
    let places = changes
        .iter()
        .map(|node| graph::place(report.comparison, *node));
    let places: Vec<String> = places.collect();
    let width = places.iter().map(String::len).max().unwrap_or(0);
    let room = crate::console::width().saturating_sub(width + 14);
    for (node, place) in changes.iter().zip(&places) {
        let code = printable(report.comparison.place(*node).text.as_bytes());
        let padded = format!("{place:width$}");
        let _ = writeln!(
            text,
            "    {:4} {}  {}",
            names[*node],
            Palette.place(&padded),
            shorten(&code, room)
        );
    }
    let critical = &finding.critical;
    let together = order_of(names, &critical.sequence);
    let note = match (critical.is_critical, critical.skipping) {
        (true, count) => {
            let error = match finding.kind.is_error() {
                true => Palette.bad("change interaction error"),
                false => Palette.warn("the changes interact"),
            };
            format!(
                "{error}: none of the {} that skip one of {together} shows it",
                counted(count, "input"),
            )
        }
        (false, _) if changes.len() < 2 => {
            Palette.dim("not an interaction: one change is enough to show it")
        }
        (false, 0) => Palette.dim(&format!(
            "whether the changes interact is not known: no input was seen that skips one of {together}",
        )),
        (false, count) => Palette.dim(&format!(
            "not an interaction: {} of the {} that skip one of {together} show it, too",
            show_count(critical.despite),
            counted(count, "input"),
        )),
    };
    let _ = writeln!(text, "  {note}");
}

/// The different changes of an order, in order of first execution.
fn order_of(names: &[String], sequence: &[usize]) -> String {
    let mut seen = BTreeSet::new();
    let different = sequence.iter().filter(|node| seen.insert(**node));
    let words: Vec<&str> = different.map(|node| names[*node].as_str()).collect();
    words.join(", ")
}

/// An order of changes as people read it.
fn order(names: &[String], sequence: &[usize], most: usize) -> String {
    let shown = sequence.iter().take(most);
    let words: Vec<&str> = shown.map(|node| names[*node].as_str()).collect();
    match sequence.len() > most {
        true => format!("{} …", words.join(" → ")),
        false => words.join(" → "),
    }
}

/// Which orders were executed, and what they showed.
fn orders(text: &mut String, report: &InteractReport, names: &[String]) {
    let rows = &report.summary.rows;
    if rows.is_empty() {
        return;
    }
    let shown: Vec<(&Row, String)> = rows
        .iter()
        .take(LISTED)
        .map(|row| {
            let room = width().saturating_sub(40);
            (row, shorten(&order(names, &row.sequence, SHOWN), room))
        })
        .collect();
    let column = shown.iter().map(|(_, order)| order.chars().count()).max();
    let column = column.unwrap_or(0).max("orders of changes".len());
    let _ = writeln!(
        text,
        "\n{} {}",
        Palette.heading(&format!("{:column$}", "orders of changes")),
        Palette.dim("  inputs  differ  errors"),
    );
    for (row, order) in &shown {
        let padding = " ".repeat(column - order.chars().count());
        let critical = match row.is_critical {
            true => format!("  {}", Palette.bad("critical")),
            false => String::new(),
        };
        let _ = writeln!(
            text,
            "{order}{padding}   {:>6}  {:>6}  {:>6}{critical}",
            row.tests, row.differences, row.errors
        );
    }
    if rows.len() > LISTED {
        let more = format!("{} more", show_count((rows.len() - LISTED) as u64));
        let _ = writeln!(text, "{}", Palette.dim(&more));
    }
    let note = "a change that is executed over and over is there twice";
    let _ = writeln!(text, "{}", Palette.dim(note));
}
