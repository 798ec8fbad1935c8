//! Where a finding comes from, on a terminal: hunks, the place where versions part, changes that meet, and how the input was made.

use std::fmt::Write as _;

use super::Options;
use super::finding::indented;
use crate::model::{Class, Finding, Hunk, PatchReport, Role};
use crate::palette::Palette;
use crate::words::{counted, printable, shorten};

/// Hunks of a finding, and lines of one side of a hunk, that are shown unless all are asked for.
const MOST_HUNKS: usize = 3;
const MOST_LINES: usize = 8;

/// What the report has said so far.
#[derive(Debug, Default)]
pub struct Shown<'r> {
    /// Different things, each of which has a number.
    pub number: usize,
    /// Hunks, with the number of the thing that they were shown for.
    hunks: Vec<(&'r Hunk, usize)>,
}

/// Where it comes from. The text of a hunk is shown once.
pub fn hunks<'r>(
    text: &mut String,
    report: &'r PatchReport,
    options: Options,
    found: &'r Finding,
    shown: &mut Shown<'r>,
) {
    let all = report.hunks(found);
    let most = match options.verbose {
        true => all.len(),
        false => MOST_HUNKS,
    };
    for (hunk, role) in all.iter().take(most) {
        let what = match role {
            Role::Guilty if report.patch.hunks.len() == 1 => "comes from the only change, at",
            role => role.in_words(),
        };
        let place = format!("{}:{}", hunk.file, hunk.new.first.max(1));
        let (what, place) = (Palette.dim(what), Palette.place(&place));
        let _ = write!(text, "   {what} {place}");
        let known = shown.hunks.iter().find(|(known, _)| known == hunk);
        match known {
            Some((_, number)) => {
                let above = Palette.dim(&format!("(see #{number})"));
                let _ = writeln!(text, " {above}");
            }
            None => {
                text.push('\n');
                excerpt(text, options, hunk, found);
                shown.hunks.push((hunk, shown.number));
            }
        }
    }
    if all.len() > most {
        let more = format!("and {}", counted((all.len() - most) as u64, "more change"));
        let _ = writeln!(text, "   {}", Palette.dim(&more));
    }
    if !all.is_empty() && !found.hunks_minimal {
        indented(
            text,
            options,
            "there was no time to find out whether fewer of these changes would do",
        );
    }
}

fn excerpt(text: &mut String, options: Options, hunk: &Hunk, found: &Finding) {
    let room = options.width.saturating_sub(14);
    let most = match options.verbose {
        true => usize::MAX,
        false => MOST_LINES,
    };
    let is_error = matches!(found.class, Class::Regression | Class::Error)
        && found.file.as_ref() == Some(&hunk.file);
    let mut side = |sign: &str, first: u32, lines: &[String]| {
        let blank = lines.iter().rev();
        let blank = blank.take_while(|line| line.trim().is_empty()).count();
        let lines = &lines[..lines.len() - blank];
        for (line, number) in lines.iter().take(most).zip(first..) {
            let is_here = sign == "+" && is_error && number == found.line;
            let line = shorten(&printable(line.as_bytes()), room);
            let here = match is_here {
                true => Palette.bad("  <-- here"),
                false => String::new(),
            };
            let sign = match sign {
                "-" => Palette.bad(sign),
                _ => Palette.good(sign),
            };
            let number = Palette.dim(&format!("{number:>6}"));
            let _ = writeln!(text, "    {number} {sign} {line}{here}");
        }
        if lines.len() > most {
            let more = format!("… {}", counted((lines.len() - most) as u64, "more line"));
            let _ = writeln!(text, "           {}", Palette.dim(&more));
        }
    };
    side("-", hunk.old.first, &hunk.removed);
    side("+", hunk.new.first, &hunk.added);
}

/// Where the versions part, if the hunks do not say it already.
pub fn parting(text: &mut String, options: Options, found: &Finding) {
    let Some(parting) = &found.parting else {
        return;
    };
    if !found.hunks.is_empty() && !options.verbose {
        return;
    }
    let place = Palette.place(&format!("{}:{}", parting.file, parting.line));
    let _ = writeln!(text, "   {} {place}", Palette.dim("the versions part at"));
    let room = options.width.saturating_sub(9);
    let sides = [
        (Palette.bad("-"), &parting.old),
        (Palette.good("+"), &parting.new),
    ];
    if parting.old == parting.new {
        let line = parting.new.as_deref().unwrap_or_default();
        let _ = writeln!(
            text,
            "       {}",
            shorten(&printable(line.as_bytes()), room)
        );
        return;
    }
    for (sign, line) in sides {
        if let Some(line) = line {
            let line = shorten(&printable(line.as_bytes()), room);
            let _ = writeln!(text, "     {sign} {line}");
        }
    }
}

pub fn interaction(text: &mut String, found: &Finding) {
    let Some(interaction) = &found.interaction else {
        return;
    };
    let what = match found.needs_several() {
        true => "needs all of these changes, in this order:",
        false => "ran these changes, in this order:",
    };
    let _ = writeln!(text, "   {}", Palette.dim(what));
    for (file, line, source) in &interaction.sequence {
        let place = Palette.place(&format!("{file}:{line}"));
        let _ = writeln!(text, "     {place}  {}", printable(source.as_bytes()));
    }
    if let Some(judgement) = &interaction.judgement {
        let _ = writeln!(text, "   {} {judgement}", Palette.dim("this is a case of"));
    }
    if found.needs_several() {
        let rests = format!(
            "none of {} that leave one of them out shows it",
            counted(interaction.inputs, "input")
        );
        let _ = writeln!(text, "   {}", Palette.dim(&rests));
    }
}

/// How the input was made.
pub fn steps(text: &mut String, options: Options, found: &Finding) {
    if !found.steps.is_empty() {
        let _ = writeln!(
            text,
            "   {}",
            Palette.dim("how this input was made from a test")
        );
    }
    let room = options.width.saturating_sub(8);
    for (number, step) in (1..).zip(&found.steps) {
        let mut line = step.what.clone();
        if let Some(file) = &step.file {
            let _ = write!(line, " at {file}:{}  {}", step.line, step.text);
        }
        let line = shorten(&printable(line.as_bytes()), room);
        let _ = writeln!(text, "   {number:>3}. {line}");
    }
}
