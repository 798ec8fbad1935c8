//! Coverage before and after, and over time, as drawings inside of the page.

use std::fmt::Write as _;

use super::escape::escaped;
use crate::headline;
use crate::model::{Moment, PatchReport, Tally};
use crate::words::{counted, show_seconds};

const WIDTH: f64 = 520.0;
/// Where bars begin, and the room that they have.
const LEFT: f64 = 70.0;
const ROOM: f64 = WIDTH - LEFT - 60.0;
/// Of the drawing over time.
const HEIGHT: f64 = 170.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 140.0;

pub fn section(page: &mut String, report: &PatchReport) {
    let Some(change) = headline::coverage(report) else {
        return;
    };
    let tally = report.tally();
    let _ = writeln!(
        page,
        "<h2 id=\"coverage\">Changed lines that some input runs: {}</h2>\n<div class=\"charts\">",
        escaped(&change)
    );
    before_and_after(page, &tally);
    over_time(page, &report.timeline, &tally);
    page.push_str("</div>\n");
    if report.coverage().len() > 1 {
        files(page, report);
    }
}

fn before_and_after(page: &mut String, tally: &Tally) {
    let _ = writeln!(
        page,
        "<div class=\"card\"><h3>Before and after</h3>\n<svg viewBox=\"0 0 {WIDTH} 110\" role=\"img\" aria-label=\"{} of {} lines before, {} after\">",
        tally.suite,
        tally.lines,
        tally.suite + tally.new
    );
    let rows = [
        ("tests", tally.suite, 0, tally.before()),
        ("now", tally.suite, tally.new, tally.after()),
    ];
    for (number, (name, suite, new, share)) in rows.into_iter().enumerate() {
        let y = 8.0 + number as f64 * 40.0;
        let width = |part: u64| part as f64 / tally.lines.max(1) as f64 * ROOM;
        let _ = writeln!(
            page,
            "<text x=\"0\" y=\"{}\">{name}</text>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{ROOM}\" height=\"24\" rx=\"3\" fill=\"var(--code)\" stroke=\"var(--line)\"/>\n\
             <rect x=\"{LEFT}\" y=\"{y}\" width=\"{:.1}\" height=\"24\" rx=\"3\" fill=\"var(--suite-mark)\"/>\n\
             <rect x=\"{:.1}\" y=\"{y}\" width=\"{:.1}\" height=\"24\" rx=\"3\" fill=\"var(--covered-mark)\"/>\n\
             <text x=\"{}\" y=\"{}\">{:.1} %</text>",
            y + 17.0,
            width(suite),
            LEFT + width(suite),
            width(new),
            LEFT + ROOM + 8.0,
            y + 17.0,
            share.unwrap_or(0.0)
        );
    }
    let _ = writeln!(
        page,
        "<text x=\"{LEFT}\" y=\"104\">{}: {} run by your tests, {} by new inputs only, {} by none</text>\n</svg></div>",
        counted(tally.lines, "changed line"),
        tally.suite,
        tally.new,
        tally.left()
    );
}

/// Steps, since between two points nothing was reached; findings are dots on them.
fn over_time(page: &mut String, timeline: &[Moment], tally: &Tally) {
    let (Some(last), true) = (timeline.last(), timeline.len() > 1) else {
        return;
    };
    let end = last.seconds.max(0.001);
    let x = |seconds: f64| LEFT + (seconds / end).clamp(0.0, 1.0) * ROOM;
    let most = tally
        .lines
        .max(timeline.iter().map(|at| at.covered).max().unwrap_or(0))
        .max(1);
    let y = |covered: u64| BOTTOM - covered as f64 / most as f64 * (BOTTOM - TOP);
    let _ = writeln!(
        page,
        "<div class=\"card\"><h3>Over time</h3>\n<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Lines that run, over time\">"
    );
    for (line, name) in [(0, "0".to_owned()), (most, most.to_string())] {
        let _ = writeln!(
            page,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"var(--line)\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{name}</text>",
            LEFT + ROOM,
            y(line),
            y(line),
            LEFT - 8.0,
            y(line) + 4.0
        );
    }
    let mut path = String::new();
    for (number, at) in timeline.iter().enumerate() {
        let _ = match number {
            0 => write!(path, "M{:.1},{:.1}", x(at.seconds), y(at.covered)),
            _ => write!(path, "H{:.1}V{:.1}", x(at.seconds), y(at.covered)),
        };
    }
    let _ = writeln!(
        page,
        "<path d=\"{path}\" fill=\"none\" stroke=\"var(--covered-mark)\" stroke-width=\"2\"/>"
    );
    let mut known = 0;
    for at in timeline.iter().filter(|at| {
        let is_new = at.findings > known;
        known = at.findings;
        is_new
    }) {
        let _ = writeln!(
            page,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"var(--bad)\"><title>{} after {}</title></circle>",
            x(at.seconds),
            y(at.covered),
            counted(at.findings, "finding"),
            show_seconds(at.seconds)
        );
    }
    let _ = writeln!(
        page,
        "<text x=\"{LEFT}\" y=\"160\">0 s</text><text x=\"{}\" y=\"160\" text-anchor=\"end\">{}</text>\
         <text x=\"{}\" y=\"160\" text-anchor=\"middle\">lines that run; dots are findings</text>\n</svg></div>",
        LEFT + ROOM,
        show_seconds(end),
        LEFT + ROOM / 2.0
    );
}

fn files(page: &mut String, report: &PatchReport) {
    page.push_str(
        "<div class=\"card scroll\"><table class=\"plain\"><tr><th>file</th><th class=\"number\">lines</th>\
         <th class=\"number\">your tests</th><th class=\"number\">new inputs</th><th class=\"number\">left</th></tr>\n",
    );
    for file in report.coverage() {
        let tally = file.tally();
        let _ = writeln!(
            page,
            "<tr><td class=\"mono\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
            escaped(&file.file),
            tally.lines,
            tally.suite,
            tally.new,
            tally.left()
        );
    }
    page.push_str("</table></div>\n");
}
