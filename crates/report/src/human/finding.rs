//! One finding on a terminal: what happens, on which input, what each version does, where it comes from, and what to do next.

use std::fmt::Write as _;

use parallax_scenario::Ending;

use super::origin::{self, Shown};
use super::{Options, fold};
use crate::beside::{self, Row};
use crate::given::{ending, inputs};
use crate::headline;
use crate::model::{Class, Difference, Finding, Group, PatchReport};
use crate::palette::Palette;
use crate::paste;
use crate::words::{counted, printable, shorten, show_command};

/// Lines of an output that are shown unless all are asked for.
const MOST_LINES: usize = 8;
/// Findings that are one thing with the one that is shown.
const MOST_ALIKE: usize = 5;
/// Below this many columns, old and new are shown one after the other.
const NARROW: usize = 72;
const INDENT: usize = 3;

/// Findings that are one thing: the first of them whole, the others a line each unless all is asked for.
pub fn group<'r>(
    text: &mut String,
    report: &'r PatchReport,
    options: Options,
    group: &Group<'r>,
    shown: &mut Shown<'r>,
) {
    shown.number += 1;
    let number = format!("#{} ", shown.number);
    text.push('\n');
    whole(text, report, options, group, &number, shown);
    if options.verbose {
        for found in &group.alike {
            text.push('\n');
            whole(text, report, options, &Group::of(found), "   ", shown);
        }
    }
}

/// The first finding of a group, after `mark`.
pub fn whole<'r>(
    text: &mut String,
    report: &'r PatchReport,
    options: Options,
    group: &Group<'r>,
    mark: &str,
    shown: &mut Shown<'r>,
) {
    let found = group.first;
    title(text, found, mark);
    for problem in &found.problems {
        let message = printable(problem.message.as_bytes());
        if !found.message.contains(&message) {
            let at = problem.file.as_ref();
            let at = at.map_or(String::new(), |file| format!(" at {file}:{}", problem.line));
            let said = format!("built with the compiler's checks it says: {message}{at}");
            indented(text, options, &said);
        }
        if options.verbose && !problem.functions.is_empty() {
            let stack = format!("in {}", problem.functions.join(", called by "));
            indented(text, options, &stack);
        }
    }
    if let Some(golden) = found.golden {
        indented(text, options, golden.in_words());
    }
    if found.count > 1 {
        let more = format!(
            "{} that Parallax tried show it; the shortest:",
            counted(found.count, "input")
        );
        indented(text, options, &more);
    }
    text.push('\n');
    command(text, options, found);
    text.push('\n');
    behaviour(text, options, found);
    let has_origin = !found.hunks.is_empty() || found.needs_several();
    if has_origin || !found.replay.is_empty() {
        text.push('\n');
    }
    origin::hunks(text, report, options, found, shown);
    origin::parting(text, options, found);
    if options.verbose || found.needs_several() {
        origin::interaction(text, found);
    }
    if options.verbose {
        origin::steps(text, options, found);
    }
    row(text, "run it again:", &found.replay);
    if !options.verbose {
        alike(text, options, group);
    }
    if !matches!(found.class, Class::Difference | Class::Regression) || found.id.is_empty() {
        return;
    }
    let name = "to pass over it in later checks:";
    row(text, name, &headline::accept(found, ""));
    if !group.alike.is_empty() {
        row(
            text,
            "over all of them:",
            &headline::accept(found, " --alike"),
        );
    }
}

/// Other inputs that show it, a line each: names are of about one length, so these come first.
fn alike(text: &mut String, options: Options, group: &Group<'_>) {
    if group.alike.is_empty() {
        return;
    }
    let many = counted(group.alike.len() as u64, "other finding");
    let all = format!("{many} of this kind from the same change:");
    let _ = writeln!(text, "   {}", Palette.dim(&all));
    for found in group.alike.iter().take(MOST_ALIKE) {
        let room = options.width.saturating_sub(INDENT + 4 + found.id.len());
        let command = shorten(&paste::line(&found.command, &found.scenario), room);
        let _ = writeln!(text, "     {}  {command}", Palette.dim(&found.id));
    }
    if group.alike.len() > MOST_ALIKE {
        let more = format!("… {} more: -v shows all", group.alike.len() - MOST_ALIKE);
        let _ = writeln!(text, "     {}", Palette.dim(&more));
    }
}

fn title(text: &mut String, found: &Finding, mark: &str) {
    let title = headline::title(found);
    let message = match found.class {
        Class::Regression | Class::Error => Palette.bad(&title),
        Class::Difference | Class::Both => Palette.warn(&title),
        Class::Fixed => Palette.good(&title),
    };
    let program = Palette.heading(&found.program);
    let _ = writeln!(text, "{mark}{program}: {message}");
}

pub fn indented(text: &mut String, options: Options, line: &str) {
    for line in fold(line, options.width.saturating_sub(INDENT)) {
        let _ = writeln!(text, "   {}", Palette.dim(&line));
    }
}

fn row(text: &mut String, name: &str, value: &str) {
    if !value.is_empty() {
        let _ = writeln!(text, "   {} {value}", Palette.dim(name));
    }
}

/// To be pasted: not shortened, unless nobody would paste it.
fn command(text: &mut String, options: Options, found: &Finding) {
    if let Some(lines) = paste::commands(&found.command, &found.scenario) {
        for line in lines {
            let _ = writeln!(text, "     {line}");
        }
        return;
    }
    let _ = writeln!(text, "     {}", show_command(&found.command));
    let room = options.width.saturating_sub(5);
    for (name, bytes) in inputs(&found.scenario) {
        let line = shorten(&format!("{name}: {bytes}"), room);
        let _ = writeln!(text, "     {}", Palette.dim(&line));
    }
}

/// What both versions do.
fn behaviour(text: &mut String, options: Options, found: &Finding) {
    match (&found.old, &found.new) {
        (Some(old), Some(new)) if !found.differences.is_empty() => {
            two(text, options, found, old, new);
        }
        (Some(_), Some(new)) => {
            let mut name = "both versions: ".to_owned();
            if matches!(found.class, Class::Regression | Class::Fixed) {
                name = "without checks of memory both versions: ".to_owned();
            }
            one(text, options, &name, new);
        }
        (Some(old), None) => one(text, options, "old version: ", old),
        (None, Some(new)) => one(text, options, "new version: ", new),
        (None, None) => {}
    }
}

fn one(text: &mut String, options: Options, name: &str, end: &Ending) {
    let _ = writeln!(text, "   {}{}", Palette.dim(name), ending(end));
    for (name, output) in [("stdout", &end.stdout), ("stderr", &end.stderr)] {
        output_of(text, options, name, output);
    }
}

fn output_of(text: &mut String, options: Options, name: &str, output: &[u8]) {
    if output.is_empty() {
        return;
    }
    let _ = writeln!(text, "     {}", Palette.dim(&format!("{name}:")));
    let most = if options.verbose { 200 } else { 3 };
    let (lines, left) = beside::lines(output, most);
    let room = options.width.saturating_sub(7);
    for line in lines {
        let _ = writeln!(text, "     │ {}", shorten(&line, room));
    }
    if left > 0 {
        let more = format!("│ … {}", counted(left as u64, "more line"));
        let _ = writeln!(text, "     {}", Palette.dim(&more));
    }
}

fn two(text: &mut String, options: Options, found: &Finding, old: &Ending, new: &Ending) {
    let (old_end, new_end) = (ending(old), ending(new));
    if !found.problems.is_empty() {
        indented(text, options, "without these checks:");
    }
    let is_narrow = options.width < NARROW;
    let column = options.width.saturating_sub(INDENT + 5) / 2;
    if !is_narrow {
        let names = [
            format!("{:<column$}", "old version"),
            "new version".to_owned(),
        ];
        let [left, right] = names.map(|name| Palette.dim(&name));
        let _ = writeln!(text, "   {left}     {right}");
    }
    let rows = [Row::Differs(Some(old_end), Some(new_end))];
    show(text, options, "", &rows, column, is_narrow);
    for difference in found.differences.iter().filter(|one| one.part != "end") {
        let rows = beside::rows(&difference.lines);
        show(text, options, &difference.part, &rows, column, is_narrow);
    }
    let differs = |part: &str| {
        found
            .differences
            .iter()
            .any(|one: &Difference| one.part == part)
    };
    for (part, output) in [("stdout", &new.stdout), ("stderr", &new.stderr)] {
        if !differs(part) && !output.is_empty() {
            let same = format!("{part}: the same");
            let _ = writeln!(text, "   {}", Palette.dim(&same));
        }
    }
}

fn show(
    text: &mut String,
    options: Options,
    part: &str,
    rows: &[Row],
    column: usize,
    is_narrow: bool,
) {
    if !part.is_empty() {
        let _ = writeln!(text, "   {}", Palette.dim(&format!("{part}:")));
    }
    let most = match options.verbose {
        true => rows.len(),
        false => MOST_LINES,
    };
    for row in rows.iter().take(most) {
        match row {
            Row::Gap => {
                let _ = writeln!(text, "   {}", Palette.dim("…"));
            }
            _ if is_narrow => stacked(text, options, row),
            Row::Same(line) => {
                let line = shorten(line, column);
                let left = format!("{line:<column$}");
                let _ = writeln!(text, "   {}", Palette.dim(&format!("{left}     {line}")));
            }
            Row::Differs(old, new) => beside_each_other(text, old, new, column),
        }
    }
    if rows.len() > most {
        let more = format!("… {}", counted((rows.len() - most) as u64, "more line"));
        let _ = writeln!(text, "   {}", Palette.dim(&more));
    }
}

fn beside_each_other(text: &mut String, old: &Option<String>, new: &Option<String>, column: usize) {
    let cell = |side: &Option<String>| side.as_ref().map(|line| shorten(line, column));
    let (left, right) = (cell(old), cell(new));
    // As `diff -y` has it.
    let mark = match (old, new) {
        (Some(_), None) => "<",
        (None, Some(_)) => ">",
        (old, new) if old == new => " ",
        _ => "|",
    };
    let padded = format!("{:<column$}", left.unwrap_or_default());
    let (padded, right) = match mark {
        " " => (padded, right.unwrap_or_default()),
        _ => (
            Palette.bad(&padded),
            right.map_or(String::new(), |line| Palette.good(&line)),
        ),
    };
    let line = format!("   {padded}  {}  {right}", Palette.dim(mark));
    let _ = writeln!(text, "{}", line.trim_end());
}

/// One under the other.
fn stacked(text: &mut String, options: Options, row: &Row) {
    let room = options.width.saturating_sub(INDENT + 2);
    let mut line = |sign: &str, line: &str| {
        let _ = writeln!(text, "   {sign} {}", shorten(line, room));
    };
    match row {
        Row::Same(same) => line(" ", same),
        Row::Differs(old, new) if old == new => line(" ", old.as_deref().unwrap_or("")),
        Row::Differs(old, new) => {
            if let Some(old) = old {
                line(&Palette.bad("-"), old);
            }
            if let Some(new) = new {
                line(&Palette.good("+"), new);
            }
        }
        Row::Gap => {}
    }
}
