//! The search for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use parallax_analysis::sequence::Role;
use parallax_search::goals::orders::{Finding, Kind, Summary};

use super::changes::Changes;
use super::{InteractReport, Program, headline};
use crate::palette::Palette;
use crate::results::diverge::difference;
use crate::results::search::{Sheet, ended, ranked};
use crate::words::{counted, show_count};

pub fn render_text(report: &InteractReport) -> String {
    let mut text = String::new();
    for program in report.programs {
        if !text.is_empty() {
            text.push('\n');
        }
        let verdict = verdict(program.summary);
        let mut sheet = Sheet {
            text: format!("{}: {verdict}\n", Palette.heading(&program.title)),
        };
        rows(&mut sheet, report.isolated, program);
        text.push_str(&sheet.text);
        if program.graph.graph.nodes.is_empty() {
            continue;
        }
        let mut changes = Changes::new(&program.graph, report.is_verbose, report.width);
        for finding in &program.summary.findings {
            text.push('\n');
            section(&mut text, program, &mut changes, finding);
        }
        changes.orders(&mut text, &program.summary.rows);
    }
    for name in report.unreached {
        let _ = writeln!(
            text,
            "{}: no scenario runs changed code (parallax cover finds inputs that do)",
            Palette.heading(name)
        );
    }
    let mut programs = report.programs.iter();
    if programs.any(|program| !program.summary.findings.is_empty()) {
        let _ = writeln!(text, "\n{}", report.kept);
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
    let errors = of(Kind::Regression) + of(Kind::IncompleteFix);
    let interacting = match (interacting, errors) {
        (0, _) => "",
        (1, 1) => ", a change interaction error",
        (some, all) if some == all => ", all change interaction errors",
        (1, _) => ", 1 of them a change interaction error",
        (some, _) => &format!(", {some} of them change interaction errors"),
    };
    // Errors come first.
    let at = usize::from(of(Kind::Regression) > 0) + usize::from(of(Kind::IncompleteFix) > 0);
    if at > 0 {
        parts[at - 1].push_str(interacting);
    }
    parts.join(", ")
}

fn rows(sheet: &mut Sheet, isolated: bool, program: &Program) {
    let summary = program.summary;
    let graph = &program.graph.graph;
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
            "{}; {} on more than one of them (parallax graph shows all)",
            counted(changes, "statement"),
            match interactions.count() as u64 {
                0 => "no other depends".to_owned(),
                1 => "1 other depends".to_owned(),
                count => format!("{} others depend", show_count(count)),
            },
        ),
    );
    let everything = match summary.search.limits.is_empty() {
        true => "everything within reach was tried",
        false => "everything within the limits was tried",
    };
    sheet.row(
        "searched",
        &format!(
            "{} in {:.1} s{}; {}",
            counted(summary.search.progress.runs, "run"),
            summary.search.time.as_secs_f64(),
            match isolated {
                true => ", for each change by itself",
                false => "",
            },
            ended(summary.search.ended, everything),
        ),
    );
    sheet.row(
        "reached",
        &format!(
            "{} of {} statements (changed, dependent or output), {} of {} steps between them",
            show_count(summary.nodes.0),
            show_count(summary.nodes.1),
            show_count(summary.edges.0),
            show_count(summary.edges.1),
        ),
    );
    sheet.row(
        "compared",
        &format!(
            "{} that executed changes, in {}; the versions differ on {}, {}",
            counted(summary.tests, "input"),
            match summary.rows.len() as u64 {
                1 => "1 order".to_owned(),
                count => format!("{} different orders", show_count(count)),
            },
            show_count(summary.differences),
            match summary.errors {
                0 => "none shows an error".to_owned(),
                1 => "1 shows an error".to_owned(),
                count => format!("{} show an error", show_count(count)),
            },
        ),
    );
    if summary.search.flaky > 0 {
        let note = format!(
            "{} seen, but not every time: not reported",
            counted(summary.search.flaky, "difference")
        );
        sheet.row("flaky", &note);
    }
    sheet.limits(&summary.search.limits);
    sheet.losses(&ranked(&summary.search.losses));
}

/// One finding: what, on which input, what each version does, and which changes led there.
fn section(text: &mut String, program: &Program, changes: &mut Changes, finding: &Finding) {
    let (scenario, shown) = (&finding.scenario, &finding.shown);
    difference(
        text,
        &program.name,
        &headline(shown),
        finding.count,
        scenario,
        shown,
        changes.width,
    );
    let order = changes.order(&finding.sequence);
    let _ = writeln!(text, "  {} {order}", Palette.dim("changes executed:"));
    changes.list(text, &finding.sequence);
    let critical = &finding.critical;
    let together = changes.each(&critical.sequence);
    let different: BTreeSet<&usize> = finding.sequence.iter().collect();
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
        (false, _) if different.len() < 2 => {
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
