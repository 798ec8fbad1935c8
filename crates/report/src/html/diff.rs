//! The patch as an annotated diff: what is known about each changed line, in colour and in words.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escape::escaped;
use crate::model::{FileCoverage, Hunk, LineCoverage, LineState, PatchReport, SourceFile, State};
use crate::words::counted;

/// Unchanged lines that are shown around hunks.
const AROUND: u32 = 3;

pub fn section(page: &mut String, report: &PatchReport) {
    if report.patch.hunks.is_empty() {
        return;
    }
    page.push_str("<h2 id=\"patch\">The patch, line by line</h2>\n");
    legend(page);
    let coverage = report.coverage();
    for file in &report.patch.files {
        let known = coverage.iter().find(|one| one.file == file.name);
        let hunks = report.patch.hunks.iter();
        let hunks: Vec<&Hunk> = hunks.filter(|hunk| hunk.file == file.name).collect();
        if !hunks.is_empty() {
            of_file(page, report, file, &hunks, known);
        }
    }
}

fn legend(page: &mut String) {
    page.push_str("<div class=\"legend\">");
    for state in State::ALL {
        let name = state.name();
        let _ = write!(
            page,
            "<span><i style=\"background:var(--{name});border-color:var(--{name}-mark)\"></i>{}</span>",
            state.in_words()
        );
    }
    page.push_str(
        "<span><i></i>has no code</span><span><b>◆</b>a finding comes from here</span></div>\n",
    );
}

fn of_file(
    page: &mut String,
    report: &PatchReport,
    file: &SourceFile,
    hunks: &[&Hunk],
    known: Option<&FileCoverage>,
) {
    let renamed = file.old_name.as_ref();
    let renamed = renamed.map_or(String::new(), |old| {
        format!(" <span class=\"dim\">was {}</span>", escaped(old))
    });
    let left = known.map_or(0, |known| known.tally().left());
    let summary = match left {
        0 => String::new(),
        left => format!(
            " <span class=\"dim\">{} that nothing runs</span>",
            counted(left, "line")
        ),
    };
    let _ = writeln!(
        page,
        "<details class=\"card\" open><summary><span class=\"mono\">{}</span>{renamed}{summary}</summary>\
         <div class=\"scroll\"><table class=\"diff mono\">",
        escaped(&file.name)
    );
    let lines = known.map_or(&[][..], |known| &known.lines);
    let lines: BTreeMap<u32, &LineCoverage> = lines.iter().map(|line| (line.line, line)).collect();
    let text: Option<Vec<&str>> = file.text.as_ref().map(|text| text.lines().collect());
    let mut sheet = Sheet {
        page,
        report,
        lines,
        text: text.unwrap_or_default(),
        next: 1,
        shift: 0,
    };
    for (number, hunk) in hunks.iter().enumerate() {
        sheet.hunk(hunk, hunks.get(number + 1).copied());
    }
    page.push_str("</table></div></details>\n");
}

/// A file as far as it is written.
struct Sheet<'s> {
    page: &'s mut String,
    report: &'s PatchReport,
    lines: BTreeMap<u32, &'s LineCoverage>,
    /// Of the new version; empty if it is not known.
    text: Vec<&'s str>,
    /// The line of the new version that comes next.
    next: u32,
    /// What is to be added to a line of the new version for that of the old one.
    shift: i64,
}

impl Sheet<'_> {
    /// A hunk with what is around it, as far as that does not belong to the next one.
    fn hunk(&mut self, hunk: &Hunk, after: Option<&Hunk>) {
        // Of no lines, the span says what they would come after.
        let begin = |hunk: &Hunk| hunk.new.first + u32::from(hunk.new.count == 0);
        let first = begin(hunk);
        let from = first.saturating_sub(AROUND).max(self.next);
        if from > self.next || self.text.is_empty() {
            self.gap(hunk);
        }
        self.around(from, first);
        for (line, number) in hunk.removed.iter().zip(hunk.old.first..) {
            let _ = writeln!(
                self.page,
                "<tr class=\"removed\"><td class=\"number\">{number}</td><td class=\"number\"></td><td class=\"mark\"></td>\
                 <td class=\"code\">{}</td></tr>",
                escaped(line)
            );
        }
        for (line, number) in hunk.added.iter().zip(hunk.new.first..) {
            self.added(number, line);
        }
        self.next = first + hunk.new.count;
        self.shift = i64::from(hunk.old.first + hunk.old.count) + i64::from(hunk.old.count == 0)
            - i64::from(self.next);
        let end = self.next + AROUND;
        let end = after.map_or(end, |after| end.min(begin(after)));
        self.around(self.next, end);
    }

    fn gap(&mut self, hunk: &Hunk) {
        let _ = writeln!(
            self.page,
            "<tr class=\"gap\"><td colspan=\"4\">line {}</td></tr>",
            hunk.new.first.max(1)
        );
    }

    /// Unchanged lines, those that there are.
    fn around(&mut self, from: u32, to: u32) {
        for number in from..to {
            let Some(line) = self.text.get(number as usize - 1) else {
                break;
            };
            let _ = writeln!(
                self.page,
                "<tr class=\"around\"><td class=\"number\">{}</td><td class=\"number\">{number}</td><td class=\"mark\"></td>\
                 <td class=\"code\">{}</td></tr>",
                i64::from(number) + self.shift,
                escaped(line)
            );
            self.next = number + 1;
        }
    }

    fn added(&mut self, number: u32, line: &str) {
        let known = self.lines.get(&number);
        let (class, said) = match known.map(|known| known.state) {
            Some(LineState::Code(state)) => (state.name(), self.said(known, state)),
            _ => ("", "has no code".to_owned()),
        };
        let (divergent, mark) = match known.is_some_and(|known| known.is_divergent) {
            true => (" divergent", "◆"),
            false => ("", ""),
        };
        let _ = writeln!(
            self.page,
            "<tr class=\"added {class}{divergent}\" title=\"{}\"><td class=\"number\"></td><td class=\"number\">{number}</td>\
             <td class=\"mark\">{mark}</td><td class=\"code\">{}</td></tr>",
            escaped(&said),
            escaped(line)
        );
    }

    /// What is known about a line, where the mouse rests.
    fn said(&self, known: Option<&&LineCoverage>, state: State) -> String {
        let target = known
            .and_then(|known| known.target)
            .and_then(|number| self.report.targets.get(number));
        let more = target.and_then(|target| match state {
            State::Suite if target.hits > 1 => Some(counted(target.hits, "input")),
            State::Covered => target.command.clone(),
            _ => target.why.clone(),
        });
        match more {
            Some(more) => format!("{}: {more}", state.in_words()),
            None => state.in_words().to_owned(),
        }
    }
}
