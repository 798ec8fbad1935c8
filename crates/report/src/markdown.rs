//! The report as Markdown, fit for a comment on a pull request.
//!
//! What comes from programs or sources stands in code blocks whose fence it cannot contain; what is left out for the size of comments
//! is said.

use std::fmt::Write as _;

use crate::beside::{self, Row};
use crate::given::{ending, inputs};
use crate::headline;
use crate::model::{Finding, Group, Level, PatchReport, Role, State, Target, Verdict};
use crate::paste;
use crate::words::{counted, printable, shorten, show_command, show_loss, show_seconds, spans};

/// GitHub takes no longer comments; in bytes, which are at least as many as characters.
pub const LIMIT: usize = 65_536;
/// Kept free for saying what was left out.
const RESERVE: usize = 512;
/// Of an output, a line and a list.
const MOST_ROWS: usize = 40;
const MOST_COLUMNS: usize = 200;
const MOST_TARGETS: usize = 50;
const MOST_ALIKE: usize = 20;

/// At most [`LIMIT`] bytes.
pub fn render(report: &PatchReport) -> String {
    render_within(report, LIMIT)
}

/// At most so many bytes, but the verdict and the table in any case.
pub fn render_within(report: &PatchReport, limit: usize) -> String {
    let mut text = top(report);
    let room = limit.saturating_sub(RESERVE);
    let mut left_out = 0;
    for group in report.groups() {
        let block = finding(report, &group);
        if text.len() + block.len() > room {
            left_out += group.size() as u64;
        } else {
            text.push_str(&block);
        }
    }
    let mut lines_left_out = false;
    for block in [lines(report), foot(report)] {
        match text.len() + block.len() > room {
            true => lines_left_out = true,
            false => text.push_str(&block),
        }
    }
    if left_out > 0 || lines_left_out {
        let what = match left_out {
            0 => "parts of it".to_owned(),
            count => counted(count, "finding"),
        };
        let _ = writeln!(
            text,
            "\n_A comment has room for {limit} bytes: {what} left out here. The other forms of the report have everything._"
        );
    }
    text
}

fn top(report: &PatchReport) -> String {
    let mark = match report.verdict() {
        Verdict::Broken => "❌",
        Verdict::Differs => "⚠️",
        Verdict::Passed => "✅",
        Verdict::Interrupted => "⏸️",
        Verdict::Untested => "⚠️",
        Verdict::Nothing => "➖",
    };
    let mut text = format!("## {mark} Parallax: {}\n\n", headline::sentence(report));
    for remark in headline::remarks(report).iter().chain(&report.notes) {
        let _ = writeln!(text, "- {}", escaped(remark));
    }
    let tally = report.tally();
    let patch = &report.patch;
    let _ = writeln!(
        text,
        "\n| patch | changed lines with code | run by your tests | run by new inputs | left |\n|---|---:|---:|---:|---:|"
    );
    let percent = |part: Option<f64>| part.map_or(String::new(), |part| format!(" ({part:.1} %)"));
    let _ = writeln!(
        text,
        "| {} ({} → {}) | {} | {}{} | {}{} | {} |",
        code(&patch.range),
        code(patch.old.short_id()),
        code(patch.new.short_id()),
        tally.lines,
        tally.suite,
        percent(tally.before()),
        tally.new,
        percent(tally.after()),
        tally.left(),
    );
    text
}

/// Findings that are one thing: the first whole, then a list of the others.
fn finding(report: &PatchReport, group: &Group<'_>) -> String {
    let found = group.first;
    let mark = match report.level(found) {
        Level::Error => "🔴",
        Level::Warning => "🟡",
        Level::Note => "⚪",
    };
    let open = match found.fails(report.promise.is_some()) {
        true => " open",
        false => "",
    };
    let mut text = format!(
        "\n<details{open}>\n<summary>{mark} <b>{}</b>: {}</summary>\n\n",
        html(&found.program),
        html(&headline::title_and_place(report, found))
    );
    let _ = writeln!(text, "{}", found.class.explained());
    if let Some(accepted) = &found.accepted {
        let _ = writeln!(text, "\nAccepted: {}", escaped(&accepted.because));
    }
    if let Some(golden) = found.golden {
        let _ = writeln!(text, "\nOf three versions, {}.", golden.in_words());
    }
    let problems: Vec<String> = found
        .problems
        .iter()
        .map(|one| one.message.clone())
        .collect();
    if !problems.is_empty() {
        fenced(&mut text, "text", &problems.join("\n"));
    }
    input(&mut text, found);
    behaviour(&mut text, found);
    for (hunk, role) in report.hunks(found) {
        let place = format!("{}:{}", hunk.file, hunk.new.first.max(1));
        let what = match role {
            Role::Guilty => "It comes from",
            Role::Open => "It may come from",
            Role::Needed => "That needs",
        };
        let _ = writeln!(text, "{what} {}:", code(&place));
        let removed = hunk.removed.iter().map(|line| format!("-{line}"));
        let added = hunk.added.iter().map(|line| format!("+{line}"));
        let lines: Vec<String> = removed.chain(added).take(MOST_ROWS).collect();
        fenced(&mut text, "diff", &lines.join("\n"));
    }
    if let Some(interaction) = &found.interaction {
        let what = match found.needs_several() {
            true => "It needs all of these changes, in this order:",
            false => "It ran these changes, in this order:",
        };
        let places = interaction.sequence.iter();
        let places: Vec<String> = places
            .map(|(file, line, source)| format!("{file}:{line}  {source}"))
            .collect();
        let _ = writeln!(text, "{what}");
        fenced(&mut text, "text", &places.join("\n"));
    }
    if !found.replay.is_empty() {
        let _ = writeln!(text, "To see it again:");
        fenced(&mut text, "sh", &found.replay);
    }
    if found.fails(false) && !found.id.is_empty() {
        let accept = |more: &str| code(&headline::accept(found, more));
        let _ = writeln!(text, "If it is intended: {}", accept(""));
        if !group.alike.is_empty() {
            let _ = writeln!(text, "\nWith all that follow: {}", accept(" --alike"));
        }
    }
    alike(&mut text, group);
    text.push_str("\n</details>\n");
    text
}

/// Other inputs that show it.
fn alike(text: &mut String, group: &Group<'_>) {
    if group.alike.is_empty() {
        return;
    }
    let many = counted(group.alike.len() as u64, "other finding");
    let _ = writeln!(text, "\n{many} of this kind from the same change:\n");
    for found in group.alike.iter().take(MOST_ALIKE) {
        let command = shorten(&paste::line(&found.command, &found.scenario), MOST_COLUMNS);
        let _ = writeln!(text, "- {} {}", code(&found.id), code(&command));
    }
    if group.alike.len() > MOST_ALIKE {
        let _ = writeln!(text, "- {} more", group.alike.len() - MOST_ALIKE);
    }
}

fn input(text: &mut String, found: &Finding) {
    let lines = paste::commands(&found.command, &found.scenario).unwrap_or_else(|| {
        let given = inputs(&found.scenario).into_iter();
        let given = given.map(|(name, bytes)| shorten(&format!("# {name}: {bytes}"), MOST_COLUMNS));
        given.chain([show_command(&found.command)]).collect()
    });
    fenced(text, "sh", &lines.join("\n"));
}

/// Old and new as a diff, which every reader knows.
fn behaviour(text: &mut String, found: &Finding) {
    let mut lines = Vec::new();
    match (&found.old, &found.new) {
        (Some(old), Some(new)) if ending(old) == ending(new) => {
            lines.push(format!("  {}", ending(new)));
        }
        (old, new) => {
            lines.extend(old.as_ref().map(|old| format!("- {}", ending(old))));
            lines.extend(new.as_ref().map(|new| format!("+ {}", ending(new))));
        }
    }
    for difference in found.differences.iter().filter(|one| one.part != "end") {
        lines.push(format!("@@ {} @@", difference.part));
        for row in beside::rows(&difference.lines).iter().take(MOST_ROWS) {
            match row {
                Row::Same(line) => lines.push(format!("  {line}")),
                Row::Differs(old, new) => {
                    lines.extend(old.as_ref().map(|line| format!("- {line}")));
                    lines.extend(new.as_ref().map(|line| format!("+ {line}")));
                }
                Row::Gap => lines.push("  …".to_owned()),
            }
        }
    }
    if !lines.is_empty() {
        let lines: Vec<String> = lines
            .iter()
            .map(|line| shorten(line, MOST_COLUMNS))
            .collect();
        let _ = writeln!(text, "What the old version does (-) and the new one (+):");
        fenced(text, "diff", &lines.join("\n"));
    }
}

/// Lines that new inputs run, and lines that nothing runs.
fn lines(report: &PatchReport) -> String {
    let targets = report.targets.iter();
    let targets: Vec<&Target> = targets.filter(|one| one.state != State::Suite).collect();
    if targets.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n<details>\n<summary>{} that no test runs</summary>\n\n| lines | function | now |\n|---|---|---|\n",
        counted(targets.len() as u64, "group/groups") + " of changed lines"
    );
    for target in targets.iter().take(MOST_TARGETS) {
        let place = format!("{}:{}", target.file, spans(&target.lines));
        let said = match (&target.command, &target.why) {
            (Some(command), _) => format!("{}: {}", target.state.in_words(), cell_code(command)),
            (None, Some(why)) => format!("{}: {}", target.state.in_words(), cell(why)),
            (None, None) => target.state.in_words().to_owned(),
        };
        let function = cell_code(&target.function);
        let _ = writeln!(text, "| {} | {function} | {said} |", cell_code(&place));
    }
    if targets.len() > MOST_TARGETS {
        let _ = writeln!(text, "\n{} more.", targets.len() - MOST_TARGETS);
    }
    text.push_str("\n</details>\n");
    text
}

fn foot(report: &PatchReport) -> String {
    let stats = &report.stats;
    let mut text = format!(
        "\n<sub>Parallax {}: searched {}, {}; every input in it was run on the real programs.",
        escaped(&report.version),
        show_seconds(stats.searched),
        counted(stats.runs, "run")
    );
    if !report.losses.is_empty() {
        let names = report.losses.iter().take(6);
        let names: Vec<String> = names.map(|loss| code(&show_loss(&loss.function))).collect();
        let _ = write!(
            text,
            " What {} make of the input could not be followed, so something may have been missed.",
            names.join(", ")
        );
    }
    text.push_str("</sub>\n");
    text
}

/// A block of text that nothing in it ends.
fn fenced(text: &mut String, language: &str, body: &str) {
    let body: String = body
        .lines()
        .map(|line| printable(line.as_bytes()) + "\n")
        .collect();
    let fence = "`".repeat((longest_run(&body) + 1).max(3));
    let _ = writeln!(text, "\n{fence}{language}\n{body}{fence}\n");
}

/// A span of code.
fn code(text: &str) -> String {
    let text = printable(text.as_bytes());
    let fence = "`".repeat(longest_run(&text) + 1);
    let pad = match text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        true => " ",
        false => "",
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A span of code in a table.
fn cell_code(text: &str) -> String {
    code(&shorten(text, MOST_COLUMNS)).replace('|', "\\|")
}

/// Text in a table.
fn cell(text: &str) -> String {
    escaped(&shorten(text, MOST_COLUMNS)).replace('\n', " ")
}

fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`');
    runs.map(str::len).max().unwrap_or(0)
}

/// Text in which nothing means anything but itself; nobody is notified either.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in printable(text.as_bytes()).chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '@' => escaped.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text inside of an element.
fn html(text: &str) -> String {
    let text = printable(text.as_bytes());
    let text = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    text.replace('@', "&#64;")
        .replace('`', "&#96;")
        .replace('*', "&#42;")
        .replace('_', "&#95;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_block_but_its_own_fence() {
        let mut text = String::new();
        fenced(&mut text, "text", "a\n```\n````\nb");
        assert_eq!(text, "\n`````text\na\n```\n````\nb\n`````\n\n");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
    }

    #[test]
    fn text_means_nothing_but_itself() {
        assert_eq!(escaped("<b>@you *x*"), "&lt;b&gt;&#64;you \\*x\\*");
        assert_eq!(cell_code("a|b"), "`a\\|b`");
    }
}
