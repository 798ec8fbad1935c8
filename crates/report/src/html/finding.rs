//! One finding as a card that can be folded.

use std::fmt::Write as _;

use parallax_scenario::Ending;

use super::escape::{block, code, escaped};
use crate::beside::{self, Row};
use crate::given::{ending, inputs};
use crate::headline;
use crate::model::{Class, Finding, Group, Hunk, Level, PatchReport, Role, Step};
use crate::paste;
use crate::words::{counted, shorten, show_command, show_seconds};

/// Rows of an output, and columns of an input, that are shown.
const MOST_ROWS: usize = 400;
const MOST_COLUMNS: usize = 2000;
/// Columns of an input that is the name of a card.
const MOST_NAME: usize = 100;

/// Findings that are one thing: the first with what it is called, the others folded, with their inputs.
pub fn cards(page: &mut String, report: &PatchReport, group: &Group<'_>) {
    let found = group.first;
    let name = format!(
        "<b>{}</b>: {}",
        escaped(&found.program),
        escaped(&headline::title_and_place(report, found))
    );
    let is_open = found.fails(report.promise.is_some());
    card(page, report, found, &name, is_open, !group.alike.is_empty());
    for found in &group.alike {
        let line = shorten(&paste::line(&found.command, &found.scenario), MOST_NAME);
        let name = format!("likewise: {}", code(&line));
        card(page, report, found, &name, false, false);
    }
}

fn card(
    page: &mut String,
    report: &PatchReport,
    found: &Finding,
    title: &str,
    is_open: bool,
    has_alike: bool,
) {
    let level = match report.level(found) {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let open = match is_open {
        true => " open",
        false => "",
    };
    let name = match &found.accepted {
        Some(_) => "accepted",
        None => found.class.name(),
    };
    let _ = writeln!(
        page,
        "<details class=\"card\" data-class=\"{}\" id=\"{}\"{open}><summary><span class=\"badge {level}\">{name}</span>\
         {title}</summary>\n<div class=\"body\">\n<p>{}</p>",
        found.class.name(),
        escaped(&found.id),
        found.class.explained(),
    );
    remarks(page, found);
    input(page, found);
    behaviour(page, found);
    for (hunk, role) in report.hunks(found) {
        hunk_of(page, hunk, role);
    }
    if !found.hunks.is_empty() && !found.hunks_minimal {
        page.push_str(
            "<p class=\"dim\">There was no time to find out whether fewer hunks would do.</p>\n",
        );
    }
    parting(page, found);
    interaction(page, found);
    if !found.steps.is_empty() {
        page.push_str("<h3>How this input was made from a test</h3>\n");
        chain(page, &found.steps);
    }
    next(page, found, has_alike);
    page.push_str("</div></details>\n");
}

fn remarks(page: &mut String, found: &Finding) {
    if let Some(accepted) = &found.accepted {
        let _ = writeln!(page, "<p>Accepted: {}</p>", escaped(&accepted.because));
    }
    for problem in &found.problems {
        let _ = write!(page, "<p>{}", code(&problem.message));
        if let Some(file) = &problem.file {
            let _ = write!(page, " at {}", code(&format!("{file}:{}", problem.line)));
        }
        if !problem.functions.is_empty() {
            let stack = problem.functions.join(", called by ");
            let _ = write!(page, " <span class=\"dim\">in {}</span>", escaped(&stack));
        }
        page.push_str("</p>\n");
    }
    if let Some(golden) = found.golden {
        let _ = writeln!(page, "<p class=\"dim\">{}.</p>", golden.in_words());
    }
}

fn input(page: &mut String, found: &Finding) {
    page.push_str("<h3>Input</h3>\n");
    if let Some(lines) = paste::commands(&found.command, &found.scenario) {
        let _ = writeln!(page, "{}", block(&lines));
        return;
    }
    let _ = writeln!(page, "{}", block(&[show_command(&found.command)]));
    let given = inputs(&found.scenario).into_iter();
    let given: Vec<String> = given
        .map(|(name, bytes)| shorten(&format!("{name}: {bytes}"), MOST_COLUMNS))
        .collect();
    if !given.is_empty() {
        let _ = writeln!(page, "{}", block(&given));
    }
}

/// What each version did, beside each other.
fn behaviour(page: &mut String, found: &Finding) {
    if found.old.is_none() && found.new.is_none() {
        return;
    }
    page.push_str(
        "<h3>What happens</h3>\n<div class=\"card\"><table class=\"beside mono\"><tr><th>old version</th><th>new version</th></tr>\n",
    );
    let end = |side: &Option<Ending>| side.as_ref().map(ending);
    let (old, new) = (end(&found.old), end(&found.new));
    let row = match (old, new) {
        (Some(old), Some(new)) if old == new => Row::Same(old),
        (old, new) => {
            let side = |side: Option<String>| Some(side.unwrap_or("not run".to_owned()));
            Row::Differs(side(old), side(new))
        }
    };
    show(page, &[row]);
    for difference in found.differences.iter().filter(|one| one.part != "end") {
        title(page, &difference.part);
        show(page, &beside::rows(&difference.lines));
    }
    for (part, of) in PARTS {
        let differs = found.differences.iter().any(|one| one.part == part);
        if !differs {
            same(
                page,
                part,
                found.old.as_ref().map(of),
                found.new.as_ref().map(of),
            );
        }
    }
    page.push_str("</table></div>\n");
    sanitizer(page, found);
}

type Part = (&'static str, fn(&Ending) -> &[u8]);
const PARTS: [Part; 2] = [
    ("stdout", |ending| &ending.stdout),
    ("stderr", |ending| &ending.stderr),
];

/// A part that counts as the same in both versions, though addresses and the like may differ.
fn same(page: &mut String, part: &str, old: Option<&[u8]>, new: Option<&[u8]>) {
    let lines = |output: Option<&[u8]>| beside::lines(output.unwrap_or_default(), MOST_ROWS).0;
    let (old, new) = (lines(old), lines(new));
    if old.is_empty() && new.is_empty() {
        return;
    }
    title(page, &format!("{part}, the same"));
    let rows: Vec<Row> = (0..old.len().max(new.len()))
        .map(|at| match (old.get(at), new.get(at)) {
            (Some(old), Some(new)) if old == new => Row::Same(old.clone()),
            (old, new) => Row::Differs(old.cloned(), new.cloned()),
        })
        .collect();
    show_as(page, &rows, ["", ""]);
}

fn title(page: &mut String, part: &str) {
    let _ = writeln!(
        page,
        "<tr><td colspan=\"2\" class=\"dim\">{}</td></tr>",
        escaped(part)
    );
}

fn show(page: &mut String, rows: &[Row]) {
    show_as(page, rows, ["old", "new"]);
}

fn show_as(page: &mut String, rows: &[Row], [left, right]: [&str; 2]) {
    for row in rows.iter().take(MOST_ROWS) {
        let _ = match row {
            Row::Same(line) => {
                let line = escaped(line);
                writeln!(page, "<tr><td>{line}</td><td>{line}</td></tr>")
            }
            Row::Differs(old, new) => {
                let cell = |side: &Option<String>, class: &str| match side {
                    Some(line) => format!("<td class=\"{class}\">{}</td>", escaped(line)),
                    None => "<td></td>".to_owned(),
                };
                writeln!(page, "<tr>{}{}</tr>", cell(old, left), cell(new, right))
            }
            Row::Gap => writeln!(
                page,
                "<tr><td class=\"dim\">…</td><td class=\"dim\">…</td></tr>"
            ),
        };
    }
    if rows.len() > MOST_ROWS {
        let more = counted((rows.len() - MOST_ROWS) as u64, "more line");
        title(page, &format!("… {more}"));
    }
}

/// What the checked builds said.
fn sanitizer(page: &mut String, found: &Finding) {
    for (name, side) in [("old", &found.old), ("new", &found.new)] {
        let said = side.as_ref().and_then(|ending| ending.sanitizer.as_ref());
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            let lines: Vec<String> = said.lines().map(str::to_owned).collect();
            let _ = writeln!(
                page,
                "<p class=\"dim\">With checks of memory and arithmetic, the {name} version says:</p>{}",
                block(&lines)
            );
        }
    }
}

fn hunk_of(page: &mut String, hunk: &Hunk, role: Role) {
    let what = match role {
        Role::Guilty => "Comes from",
        Role::Open => "May come from",
        Role::Needed => "That needs",
    };
    let place = format!("{}:{}", hunk.file, hunk.new.first.max(1));
    let _ = writeln!(
        page,
        "<h3>{what} {}</h3>\n<div class=\"card scroll\"><table class=\"diff hunk mono\">",
        code(&place)
    );
    let sides = [
        ("removed", hunk.old.first, &hunk.removed),
        ("added", hunk.new.first, &hunk.added),
    ];
    for (class, first, lines) in sides {
        for (line, number) in lines.iter().zip(first..) {
            let _ = writeln!(
                page,
                "<tr class=\"{class}\"><td class=\"number\">{number}</td><td class=\"code\">{}</td></tr>",
                escaped(line)
            );
        }
    }
    page.push_str("</table></div>\n");
}

fn parting(page: &mut String, found: &Finding) {
    let Some(parting) = &found.parting else {
        return;
    };
    let place = format!("{}:{}", parting.file, parting.line);
    let _ = write!(
        page,
        "<p class=\"dim\">The versions part at {}",
        code(&place)
    );
    match (&parting.old, &parting.new) {
        (Some(old), Some(new)) if old != new => {
            let _ = write!(page, ": {} became {}", code(old), code(new));
        }
        (_, Some(line)) | (Some(line), None) => {
            let _ = write!(page, ": {}", code(line));
        }
        (None, None) => {}
    }
    page.push_str(".</p>\n");
}

fn interaction(page: &mut String, found: &Finding) {
    let Some(interaction) = &found.interaction else {
        return;
    };
    let what = match found.needs_several() {
        true => "Needs all of these changes, in this order",
        false => "Ran these changes, in this order",
    };
    let _ = writeln!(page, "<h3>{what}</h3>\n<ol class=\"chain\">");
    for (file, line, text) in &interaction.sequence {
        let place = code(&format!("{file}:{line}"));
        let _ = writeln!(
            page,
            "<li>{place} <span class=\"mono\">{}</span></li>",
            escaped(text)
        );
    }
    page.push_str("</ol>\n");
    if let Some(judgement) = &interaction.judgement {
        let _ = writeln!(page, "<p>This is a case of {}.</p>", escaped(judgement));
    }
    if found.needs_several() {
        let _ = writeln!(
            page,
            "<p class=\"dim\">None of {} that leave one of them out shows it.</p>",
            counted(interaction.inputs, "input")
        );
    }
}

/// Step by step.
pub fn chain(page: &mut String, steps: &[Step]) {
    page.push_str("<ol class=\"chain\">\n");
    for step in steps {
        let _ = write!(page, "<li>{}", escaped(&step.what));
        if let Some(file) = &step.file {
            let place = code(&format!("{file}:{}", step.line));
            let _ = write!(
                page,
                " at {place} <span class=\"mono\">{}</span>",
                escaped(&step.text)
            );
        }
        if let Some(command) = &step.command {
            let _ = write!(
                page,
                "<br><span class=\"dim mono\">{}</span>",
                escaped(command)
            );
        }
        page.push_str("</li>\n");
    }
    page.push_str("</ol>\n");
}

/// What to do about it.
fn next(page: &mut String, found: &Finding, has_alike: bool) {
    let mut lines = Vec::new();
    if !found.replay.is_empty() {
        lines.push(found.replay.clone());
    }
    let may_be_intended = matches!(found.class, Class::Difference | Class::Regression);
    if may_be_intended && found.accepted.is_none() && !found.id.is_empty() {
        lines.push(headline::accept(found, ""));
        if has_alike {
            let all = headline::accept(found, " --alike");
            lines.push(format!("{all}  # with all that are likewise"));
        }
    }
    if !lines.is_empty() {
        let _ = writeln!(
            page,
            "<h3>See it again; accept it if it is intended</h3>\n{}",
            block(&lines)
        );
    }
    if found.seconds > 0.0 {
        let _ = writeln!(
            page,
            "<p class=\"dim small\">Found after {}; {} it.</p>",
            show_seconds(found.seconds),
            match found.count {
                0 | 1 => "one input shows".to_owned(),
                count => format!("{} show", counted(count, "input")),
            }
        );
    }
}
