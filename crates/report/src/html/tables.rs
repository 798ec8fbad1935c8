//! The ledger of changed lines, and what was done.

use std::fmt::Write as _;

use super::escape::{code, escaped};
use super::finding::chain;
use crate::model::{PatchReport, State, Target};
use crate::words::{show_command, show_count, show_loss, show_seconds, spans};

/// What became of each group of changed lines that no test runs.
pub fn targets(page: &mut String, report: &PatchReport) {
    let all = report.targets.iter();
    let (run, left): (Vec<&Target>, Vec<&Target>) = all
        .filter(|target| target.state != State::Suite)
        .partition(|target| target.state.is_covered());
    if !run.is_empty() {
        page.push_str("<h2 id=\"inputs\">New inputs for lines that no test runs</h2>\n");
        for target in &run {
            covered(page, target);
        }
    }
    if !left.is_empty() {
        page.push_str(
            "<h2 id=\"left\">Changed lines that nothing ran</h2>\n<div class=\"card scroll\"><table class=\"plain\">\
             <tr><th>lines</th><th>function</th><th></th><th>why</th><th class=\"number\">searched</th></tr>\n",
        );
        for target in &left {
            let why: Vec<String> = target
                .why
                .iter()
                .chain(&target.notes)
                .map(|text| escaped(text))
                .collect();
            let _ = writeln!(
                page,
                "<tr><td class=\"mono place\">{}</td><td class=\"mono\">{}</td><td class=\"place\">{}</td><td>{}</td><td class=\"number\">{}</td></tr>",
                escaped(&place(target)),
                escaped(&target.function),
                target.state.in_words(),
                why.join("; "),
                show_seconds(target.seconds)
            );
        }
        page.push_str("</table></div>\n");
    }
}

fn covered(page: &mut String, target: &Target) {
    let _ = writeln!(
        page,
        "<details class=\"card\"><summary><span class=\"mono\">{}</span> in {}</summary><div class=\"body\">",
        escaped(&place(target)),
        code(&target.function)
    );
    if let Some(command) = &target.command {
        let _ = writeln!(page, "<pre>{}</pre>", escaped(&show_command(command)));
    }
    if let Some(test) = &target.test {
        let _ = writeln!(page, "<p>Written as a test: {}</p>", code(test));
    }
    if !target.steps.is_empty() {
        page.push_str("<h3>How this input was made from a test</h3>\n");
        chain(page, &target.steps);
    }
    page.push_str("</div></details>\n");
}

fn place(target: &Target) -> String {
    format!("{}:{}", target.file, spans(&target.lines))
}

/// Phases, programs, and where the input could not be followed.
pub fn effort(page: &mut String, report: &PatchReport) {
    if report.phases.is_empty() && report.losses.is_empty() && report.programs.is_empty() {
        return;
    }
    page.push_str("<h2 id=\"effort\">What was done</h2>\n");
    if !report.phases.is_empty() {
        page.push_str("<div class=\"card scroll\"><table class=\"plain\"><tr><th>phase</th><th class=\"number\">time</th><th></th></tr>\n");
        for phase in &report.phases {
            let left = phase.left.as_ref();
            let left = left.map_or(String::new(), |left| {
                format!(" <span class=\"dim\">({})</span>", escaped(left))
            });
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td class=\"number\">{}</td><td>{}{left}</td></tr>",
                escaped(&phase.name),
                show_seconds(phase.seconds),
                escaped(&phase.gave)
            );
        }
        page.push_str("</table></div>\n");
    }
    for program in &report.programs {
        let _ = writeln!(
            page,
            "<p class=\"dim\">{}: {} of {} recorded runs of your tests run changed code.</p>",
            code(&program.name),
            show_count(program.touching),
            show_count(program.scenarios)
        );
    }
    if !report.losses.is_empty() {
        let names = report.losses.iter();
        let names: Vec<String> = names
            .map(|loss| {
                format!(
                    "{} ({})",
                    code(&show_loss(&loss.function)),
                    show_count(loss.count)
                )
            })
            .collect();
        let _ = writeln!(
            page,
            "<p class=\"dim\">What these make of the input could not be followed, so something may have been missed: {}.</p>",
            names.join(", ")
        );
    }
}
