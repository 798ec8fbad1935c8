//! The report on a terminal: the verdict first, then what it rests on.
//!
//! For people who know git and C, and nothing of how inputs are found: what has a name here is explained where it appears.
//! Short unless asked for more ([`Options::verbose`]).

mod finding;
mod lines;
mod origin;

use std::fmt::Write as _;

use crate::headline;
use crate::model::{Class, Finding, Group, PatchReport, State, Verdict};
use crate::palette::Palette;
use crate::words::{counted, show_count, show_loss, show_seconds};

/// How it is shown.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Columns.
    pub width: usize,
    pub verbose: bool,
}

/// Different things of each class that are shown unless all are asked for.
const MOST_FINDINGS: usize = 8;
/// Functions that lost track of the input that are named.
const MOST_LOSSES: usize = 6;

/// All of it, with styles.
pub fn render(report: &PatchReport, options: Options) -> String {
    let mut text = String::new();
    top(&mut text, report);
    let groups = report.groups();
    let mut shown = origin::Shown::default();
    for class in Class::ALL {
        let is_shown =
            |group: &&Group<'_>| group.first.class == class && group.first.accepted.is_none();
        let list: Vec<&Group<'_>> = groups.iter().filter(is_shown).collect();
        section(&mut text, report, options, class, &list, &mut shown);
    }
    accepted(&mut text, report);
    lines::coverage(&mut text, report, options);
    foot(&mut text, report, options);
    text
}

/// One finding, as it is among others.
pub fn one(report: &PatchReport, options: Options, found: &Finding) -> String {
    let mut text = String::new();
    let shown = &mut origin::Shown::default();
    finding::whole(&mut text, report, options, &Group::of(found), "", shown);
    text
}

/// Without styles.
pub fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}

fn top(text: &mut String, report: &PatchReport) {
    let sentence = headline::sentence(report);
    let verdict = match report.verdict() {
        Verdict::Broken => Palette.bad(&sentence),
        Verdict::Differs | Verdict::Interrupted | Verdict::Untested => Palette.warn(&sentence),
        Verdict::Passed | Verdict::Nothing => Palette.good(&sentence),
    };
    let range = Palette.heading(&report.patch.range);
    let _ = writeln!(text, "{range}: {verdict}");
    for remark in headline::remarks(report).iter().chain(&report.notes) {
        let _ = writeln!(text, "  {}", Palette.dim(remark));
    }
}

/// All findings of a class.
fn section<'r>(
    text: &mut String,
    report: &'r PatchReport,
    options: Options,
    class: Class,
    list: &[&Group<'r>],
    shown: &mut origin::Shown<'r>,
) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{}", Palette.heading(class.heading()));
    let most = match options.verbose {
        true => list.len(),
        // What the patch did not bring is not what the reader came for.
        false if matches!(class, Class::Both | Class::Fixed) => 2,
        false => MOST_FINDINGS,
    };
    for group in list.iter().take(most) {
        finding::group(text, report, options, group, shown);
    }
    if list.len() > most {
        let more = (list.len() - most) as u64;
        let more = format!("{} more: -v shows all", show_count(more));
        let _ = writeln!(text, "\n   {}", Palette.dim(&more));
    }
}

fn accepted(text: &mut String, report: &PatchReport) {
    let list = report.ranked().into_iter().filter_map(|found| {
        let accepted = found.accepted.as_ref()?;
        Some((found, accepted))
    });
    let list: Vec<_> = list.collect();
    if !list.is_empty() {
        let _ = writeln!(text, "\n{}", Palette.heading("Accepted before"));
    }
    for (found, accepted) in list {
        let _ = writeln!(
            text,
            "   {}  {}: {}",
            Palette.dim(&found.id),
            found.message,
            accepted.because
        );
    }
    if !report.stale.is_empty() {
        let count = report.stale.len() as u64;
        let was = if count == 1 { "was" } else { "were" };
        let _ = writeln!(
            text,
            "\n{} {was} not seen this time: {}",
            counted(count, "accepted finding"),
            report.stale.join(", ")
        );
    }
}

/// What was done, and what could not be.
fn foot(text: &mut String, report: &PatchReport, options: Options) {
    text.push('\n');
    let stats = &report.stats;
    let mut effort = format!("searched for {}", show_seconds(stats.searched));
    if let Some(budget) = stats.budget {
        let _ = write!(
            effort,
            " of the {} that --budget allows",
            show_seconds(budget)
        );
    }
    if stats.runs > 0 {
        let _ = write!(effort, ", with {}", counted(stats.runs, "run"));
    }
    // Searches that end by themselves leave more.
    let is_used_up = |budget: f64| stats.searched >= 0.9 * budget;
    if stats.budget.is_some_and(is_used_up) {
        effort.push_str("; more may find more");
    }
    let all = show_seconds(stats.seconds);
    let _ = write!(effort, "; {all} with building and testing");
    let _ = writeln!(text, "{}", Palette.dim(&effort));
    for phase in &report.phases {
        // That the time was over is how every search ends; that something was not done at all is worth a line.
        let is_left_out = phase.left.is_some() && phase.gave.is_empty();
        if !options.verbose && !is_left_out {
            continue;
        }
        let mut line = format!("{:<9} {:>8}", phase.name, show_seconds(phase.seconds));
        for part in [Some(&phase.gave), phase.left.as_ref()]
            .into_iter()
            .flatten()
        {
            if !part.is_empty() {
                let _ = write!(line, "  {part}");
            }
        }
        let _ = writeln!(text, "  {}", Palette.dim(&line));
    }
    losses(text, report, options);
    let has_new = report
        .targets
        .iter()
        .any(|target| target.state == State::Covered);
    if has_new || !report.findings.is_empty() {
        let next = format!(
            "to write these inputs as tests of your project: parallax tests {}",
            report.patch.range
        );
        let _ = writeln!(text, "{}", Palette.dim(&next));
    }
}

fn losses(text: &mut String, report: &PatchReport, options: Options) {
    if report.losses.is_empty() {
        return;
    }
    let most = match options.verbose {
        true => report.losses.len(),
        false => MOST_LOSSES,
    };
    let shown = report.losses.iter().take(most);
    let mut names: Vec<String> = shown
        .map(|loss| {
            let times = counted(loss.count, "time");
            format!("{} ({times})", show_loss(&loss.function))
        })
        .collect();
    if report.losses.len() > most {
        names.push(format!("{} more", report.losses.len() - most));
    }
    let line = format!(
        "What comes out of these could not be traced back to the input, so errors that depend on it may have been missed: {}",
        names.join(", ")
    );
    for line in fold(&line, options.width) {
        let _ = writeln!(text, "{}", Palette.dim(&line));
    }
}

/// Breaks a sentence between words.
fn fold(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always one");
        let length = line.chars().count();
        if length > 0 && length + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if length > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn sentences_are_broken_between_words() {
        assert_eq!(fold("one two three", 8), ["one two", "three"]);
        assert_eq!(fold("incomprehensible", 8), ["incomprehensible"]);
    }
}
