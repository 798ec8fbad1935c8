//! Which changed lines run, and what is in the way of the others.

use std::fmt::Write as _;

use super::{Options, fold};
use crate::model::{FileCoverage, PatchReport, State, Tally, Target};
use crate::palette::Palette;
use crate::words::{counted, shorten, spans};

/// Targets of each kind that are listed unless all are asked for.
const MOST: usize = 6;

pub fn coverage(text: &mut String, report: &PatchReport, options: Options) {
    let tally = report.tally();
    let (Some(before), Some(after)) = (tally.before(), tally.after()) else {
        return;
    };
    let change = format!("{before:.1} % with your tests, {after:.1} % with the new inputs as well");
    let change = match tally.left() {
        0 => Palette.good(&change),
        _ => Palette.warn(&change),
    };
    let title = Palette.heading("Changed lines that run");
    let _ = writeln!(text, "\n{title}: {change}");
    table(text, &report.coverage(), &tally);
    let targets = report.targets.iter();
    let (run, left): (Vec<&Target>, Vec<&Target>) = targets
        .filter(|target| target.state != State::Suite)
        .partition(|target| target.state.is_covered());
    found(text, options, &run);
    open(text, options, &left);
}

fn table(text: &mut String, files: &[FileCoverage], total: &Tally) {
    let longest = files.iter().map(|file| file.file.chars().count()).max();
    let longest = longest.unwrap_or(0).max("in total".len());
    let heading = format!(
        "   {:<longest$}  {:>13}  {:>10}  {:>15}  {:>9}",
        "file", "changed lines", "your tests", "only new inputs", "never run"
    );
    let _ = writeln!(text, "{}", Palette.dim(&heading));
    let mut row = |name: &str, tally: &Tally| {
        let _ = writeln!(
            text,
            "   {name:<longest$}  {:>13}  {:>10}  {:>15}  {:>9}",
            tally.lines,
            tally.suite,
            tally.new,
            tally.left()
        );
    };
    for file in files {
        row(&file.file, &file.tally());
    }
    if files.len() > 1 {
        row("in total", total);
    }
}

fn found(text: &mut String, options: Options, list: &[&Target]) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{}",
        Palette.heading("New inputs for lines that no test ran")
    );
    let most = if options.verbose { list.len() } else { MOST };
    let room = options.width.saturating_sub(5);
    for target in list.iter().take(most) {
        let place = Palette.place(&place(target));
        let _ = writeln!(text, "   {place}  in {}()", target.function);
        if let Some(command) = &target.command {
            let _ = writeln!(text, "     {}", shorten(command, room));
        }
        if let Some(test) = &target.test {
            let _ = writeln!(text, "     {} {test}", Palette.dim("as a test:"));
        }
        if options.verbose {
            for (number, step) in (1..).zip(&target.steps) {
                let at = step.file.as_ref();
                let at = at.map_or(String::new(), |file| {
                    format!(" at {file}:{}  {}", step.line, step.text)
                });
                let line = format!("{number}. {}{at}", step.what);
                let _ = writeln!(text, "     {}", Palette.dim(&shorten(&line, room)));
            }
        }
    }
    more(text, list.len() - most.min(list.len()));
}

fn open(text: &mut String, options: Options, list: &[&Target]) {
    if list.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{}",
        Palette.heading("Changed lines that nothing ran")
    );
    let most = if options.verbose { list.len() } else { MOST };
    let room = options.width.saturating_sub(5);
    for target in list.iter().take(most) {
        let _ = writeln!(
            text,
            "   {}  in {}()  {}",
            Palette.place(&place(target)),
            target.function,
            Palette.warn(target.state.in_words())
        );
        for why in target.why.iter().chain(&target.notes) {
            let most = if options.verbose { usize::MAX } else { 2 };
            for line in fold(why, room).iter().take(most) {
                let _ = writeln!(text, "     {}", Palette.dim(line));
            }
        }
    }
    more(text, list.len() - most.min(list.len()));
    let hint = "parallax why FILE:LINE says more about a line";
    let _ = writeln!(text, "   {}", Palette.dim(hint));
}

fn place(target: &Target) -> String {
    format!("{}:{}", target.file, spans(&target.lines))
}

fn more(text: &mut String, count: usize) {
    if count > 0 {
        let more = format!("{}: -v shows all", counted(count as u64, "more group"));
        let _ = writeln!(text, "   {}", Palette.dim(&more));
    }
}
