//! The report of `parallax replay` for people.

use std::fmt::Write as _;

use parallax_exec::compare::{Difference, Line, end_in_words};
use parallax_scenario::shell_word;
use parallax_scenario::{Bytes, Ending};

use super::{AllReport, Missed, ReplayReport, Shown, What, Why};
use crate::given;
use crate::palette::Palette;
use crate::words::{counted, printable, shorten, show_bytes};

/// Lines of a difference that are shown.
const LINES: usize = 40;
const CONTEXT: usize = 2;

pub fn text(report: &ReplayReport<'_>, width: usize) -> String {
    let mut text = format!("{}  {}\n", Palette.heading("replay"), report.what.title);
    let command = command_line(report.what);
    let _ = writeln!(text, "  {}\n", shorten(&command, width.saturating_sub(2)));
    text.push_str(&table(report, width));
    for (shown, differences) in report.shown.iter().zip(&report.differences) {
        for problem in &shown.seen.problems {
            let kind = Palette.bad(problem.kind.name());
            let place = problem.location.as_ref();
            let place = place.map(|place| format!("{}:{}", place.file, place.line));
            let place = Palette.place(&place.unwrap_or_default());
            let _ = writeln!(
                text,
                "\n{}: {kind} {place} {}",
                shown.label, problem.message
            );
            if problem.functions.len() > 1 {
                let _ = writeln!(text, "  in {}", problem.functions.join(" ← "));
            }
        }
        for difference in differences {
            text.push_str(&change(difference, &base(report), &shown.label, width));
        }
    }
    text.push('\n');
    text.push_str(&verdict(report));
    text
}

/// What the others are compared with.
fn base(report: &ReplayReport<'_>) -> String {
    match report.reference {
        Some(_) => "recorded".to_owned(),
        None => report
            .shown
            .first()
            .map_or_else(String::new, |shown| shown.label.clone()),
    }
}

fn verdict(report: &ReplayReport<'_>) -> String {
    let flaky = report.shown.iter().filter(|shown| shown.is_flaky);
    let flaky: Vec<&str> = flaky.map(|shown| shown.label.as_str()).collect();
    if !flaky.is_empty() {
        let flaky = flaky.join(", ");
        let word = Palette.warn("flaky");
        return format!("{word}: not the same each time on {flaky}\n");
    }
    let base = base(report);
    match report.is_same() {
        true if report.shown.len() == 1 && report.reference.is_none() => {
            "nothing to compare with: no result was recorded\n".to_owned()
        }
        true => format!("{} as {base}\n", Palette.good("the same")),
        false => format!("{} from {base}\n", Palette.bad("different")),
    }
}

/// Ends and sizes of output, side by side.
fn table(report: &ReplayReport<'_>, width: usize) -> String {
    let mut columns: Vec<(String, &Ending)> = Vec::new();
    if let Some(reference) = report.reference {
        columns.push(("recorded".to_owned(), reference.ending));
    }
    let shown = report.shown.iter();
    columns.extend(shown.map(|shown: &Shown| (shown.label.clone(), &shown.seen.ending)));
    let room = (width.saturating_sub(10) / columns.len().max(1)).clamp(12, 30);
    let mut text = String::new();
    let mut row = |name: &str, cell: &dyn Fn(&(String, &Ending)) -> String| {
        let cells = columns.iter().map(cell);
        let cells = cells.map(|cell| format!("{:room$}", shorten(&cell, room - 2)));
        let cells: String = cells.collect();
        let _ = writeln!(text, "  {name:8}{}", cells.trim_end());
    };
    row("", &|(label, _)| label.clone());
    row("end", &|(_, ending)| end_in_words(ending));
    row("stdout", &|(_, ending)| size(&ending.stdout));
    row("stderr", &|(_, ending)| size(&ending.stderr));
    let answers = columns.iter().map(|(_, ending)| ending.answers.len());
    for index in 0..answers.max().unwrap_or(0) {
        row(&format!("answer {}", index + 1), &|(_, ending)| {
            ending.answers.get(index).map_or_else(String::new, size)
        });
    }
    text
}

fn size(bytes: &Bytes) -> String {
    match bytes.is_empty() {
        true => "-".to_owned(),
        false => show_bytes(bytes.len() as u64),
    }
}

fn change(difference: &Difference, from: &str, to: &str, width: usize) -> String {
    let mut text = format!(
        "\n{} of {to}, against {from}\n",
        Palette.heading(&difference.part())
    );
    match difference {
        Difference::End { one, other } => {
            let _ = writeln!(text, "  {} {one}", Palette.bad("-"));
            let _ = writeln!(text, "  {} {other}", Palette.good("+"));
        }
        Difference::Stdout(diff) | Difference::Stderr(diff) | Difference::Answer { diff, .. } => {
            let lines = diff.around(CONTEXT);
            for line in lines.iter().take(LINES) {
                let _ = writeln!(text, "  {}", diff_line(*line, width.saturating_sub(4)));
            }
            if lines.len() > LINES {
                let rest = counted((lines.len() - LINES) as u64, "line");
                let _ = writeln!(text, "  {}", Palette.dim(&format!("… {rest} more")));
            }
        }
    }
    text
}

fn diff_line(line: Option<&Line>, width: usize) -> String {
    let shown = |bytes: &Bytes| {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        shorten(&printable(line), width)
    };
    match line {
        None => Palette.dim("…"),
        Some(Line::Same(bytes)) => format!("  {}", shown(bytes)),
        Some(Line::One(bytes)) => format!("{} {}", Palette.bad("-"), shown(bytes)),
        Some(Line::Other(bytes)) => format!("{} {}", Palette.good("+"), shown(bytes)),
    }
}

/// The command line, as a shell would take it.
pub fn command_line(what: &What) -> String {
    let name = match what.program.is_empty() {
        true => "?".to_owned(),
        false => shell_word(&what.program),
    };
    let mut line = given::command_line(&name, &what.scenario);
    let stdin = &what.scenario.stdin;
    let size = show_bytes(stdin.len() as u64);
    match what.scenario.piped_stdin {
        true => format!("{size} | {line}"),
        false if stdin.is_empty() => line,
        false => {
            let _ = write!(line, " < {size}");
            line
        }
    }
}

pub fn all_text(report: &AllReport, width: usize) -> String {
    let mut text = String::new();
    for missed in &report.missed {
        text.push_str(&missed_text(missed, width));
    }
    let total = counted(report.total as u64, "scenario");
    let rate = format!(
        "{:.0}/s with {}",
        report.rate(),
        counted(report.jobs as u64, "worker")
    );
    let _ = match report.is_checked {
        true => {
            let (same, percent) = (report.same(), report.percent());
            let unsteady = match report.unsteady() {
                0 => String::new(),
                count => {
                    let counting = report.total - count;
                    format!(", {count} unsteady and not counted: {same} of {counting}")
                }
            };
            writeln!(
                text,
                "{same} of {total} the same{unsteady} ({percent:.1} %), {rate}"
            )
        }
        false => writeln!(text, "{total} run, {rate}"),
    };
    text
}

fn missed_text(missed: &Missed, width: usize) -> String {
    let (why, differences): (String, &[Difference]) = match &missed.why {
        Why::Differs(differences) if !missed.unsteady.is_empty() => {
            (Palette.dim("unsteady"), differences)
        }
        Why::Differs(differences) => (Palette.bad("different"), differences),
        Why::Flaky(differences) => (Palette.warn("flaky"), differences),
        Why::Failed(error) => (format!("{}: {error}", Palette.bad("not run")), &[]),
    };
    let id = missed.id.get(..12).unwrap_or(&missed.id);
    let command = shorten(&missed.command, width.saturating_sub(30));
    let mut text = format!("{id} {why}  {command}\n");
    for difference in differences {
        let part = difference.part();
        let detail = match difference {
            Difference::End { one, other } => format!("{one} → {other}"),
            Difference::Stdout(diff)
            | Difference::Stderr(diff)
            | Difference::Answer { diff, .. } => {
                let changed = diff
                    .lines
                    .iter()
                    .filter(|line| !matches!(line, Line::Same(_)));
                let shown = changed.take(2);
                let shown: Vec<String> =
                    shown.map(|line| diff_line(Some(line), width / 2)).collect();
                shown.join("  ")
            }
        };
        let _ = writeln!(text, "    {part}: {detail}");
    }
    for reason in &missed.unsteady {
        let _ = writeln!(text, "    {} {reason}", Palette.dim("the program"));
    }
    for note in &missed.notes {
        let _ = writeln!(text, "    {} {note}", Palette.dim("recorded with:"));
    }
    text
}
