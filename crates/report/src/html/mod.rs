//! The report as one HTML file that needs nothing else: no network, no fonts, no libraries.
//!
//! Everything that comes from programs, sources or people goes through [`escape`]; and should something get past it, the
//! page's own policy allows no script but ours, by its hash, and no request at all. Graphs are images, in which nothing is executed.
//! The script folds and filters; without it the page can be read all the same.
//!
//! A test opens the page in Chromium and looks at the console and the log of requests; a page that logs and requests shows that the test would notice.

mod chart;
mod diff;
mod escape;
mod finding;
mod tables;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::headline;
use crate::model::{Class, PatchReport};
use crate::words::{counted, show_seconds};
use escape::{code, escaped};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

pub fn render(report: &PatchReport) -> String {
    let mut page = String::new();
    head(&mut page, report);
    banner(&mut page, report);
    page.push_str("<main>\n");
    chart::section(&mut page, report);
    findings(&mut page, report);
    diff::section(&mut page, report);
    tables::targets(&mut page, report);
    graphs(&mut page, report);
    tables::effort(&mut page, report);
    page.push_str("</main>\n");
    foot(&mut page, report);
    page
}

fn head(page: &mut String, report: &PatchReport) {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    let _ = writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; \
         style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <link rel=\"icon\" href=\"data:,\">\n\
         <title>{}: {}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>",
        escaped(&report.patch.range),
        escaped(&headline::sentence(report)),
    );
}

fn banner(page: &mut String, report: &PatchReport) {
    let patch = &report.patch;
    let _ = writeln!(
        page,
        "<header class=\"{}\"><div>\n<h1>{}</h1>\n<p>{} <span class=\"dim\">{} {} → {} {}</span></p>",
        report.verdict().name(),
        escaped(&first_upper(&headline::sentence(report))),
        code(&patch.range),
        escaped(&patch.old.label),
        code(patch.old.short_id()),
        escaped(&patch.new.label),
        code(patch.new.short_id()),
    );
    for remark in headline::remarks(report) {
        let remark = first_upper(&remark);
        let _ = writeln!(page, "<p class=\"dim\">{}.</p>", escaped(&remark));
    }
    for note in &report.notes {
        let _ = writeln!(page, "<p class=\"dim\">{}</p>", escaped(note));
    }
    page.push_str("</div></header>\n");
}

fn findings(page: &mut String, report: &PatchReport) {
    if report.findings.is_empty() {
        return;
    }
    page.push_str("<h2 id=\"findings\">Findings</h2>\n");
    let ranked = report.ranked();
    let of = |class: Class| ranked.iter().filter(|found| found.class == class).count();
    let classes: Vec<Class> = Class::ALL
        .into_iter()
        .filter(|class| of(*class) > 0)
        .collect();
    page.push_str("<div class=\"filters\">");
    if classes.len() > 1 {
        let _ = write!(
            page,
            "<button type=\"button\" data-show=\"all\" aria-pressed=\"true\">All ({})</button>",
            ranked.len()
        );
        for class in classes {
            let _ = write!(
                page,
                "<button type=\"button\" data-show=\"{}\" aria-pressed=\"false\">{} ({})</button>",
                class.name(),
                class.heading(),
                of(class)
            );
        }
    }
    page.push_str(
        "<button type=\"button\" data-fold=\"open\" data-of=\"details[data-class]\">Unfold all</button>\
         <button type=\"button\" data-fold=\"close\" data-of=\"details[data-class]\">Fold all</button></div>\n",
    );
    for group in report.groups() {
        finding::cards(page, report, &group);
    }
    if !report.stale.is_empty() {
        let names: Vec<String> = report.stale.iter().map(|id| code(id)).collect();
        let _ = writeln!(
            page,
            "<p class=\"dim\">Accepted before, but not seen this time: {}.</p>",
            names.join(", ")
        );
    }
}

/// As images: nothing in an image is executed, and its styles stay inside.
fn graphs(page: &mut String, report: &PatchReport) {
    if report.graphs.is_empty() {
        return;
    }
    page.push_str(
        "<h2 id=\"graphs\">How changes follow each other</h2>\n<p class=\"dim\">In which order changed statements can run, \
         where their effects meet, and where that can be seen.</p>\n",
    );
    for graph in &report.graphs {
        let _ = writeln!(
            page,
            "<details class=\"card\" open><summary>{}</summary><div class=\"body scroll\"><p>\
             <img class=\"graph\" alt=\"Graph of the changes in {}\" src=\"data:image/svg+xml;base64,{}\"></p></div></details>",
            code(&graph.program),
            escaped(&graph.program),
            STANDARD.encode(&graph.svg)
        );
    }
}

fn foot(page: &mut String, report: &PatchReport) {
    let stats = &report.stats;
    let _ = writeln!(
        page,
        "<footer>Parallax {}; {}, searched for {}. Every input in this report was run on the real programs.</footer>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>",
        escaped(&report.version),
        counted(stats.runs, "run"),
        show_seconds(stats.searched)
    );
}

fn first_upper(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    first
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(characters)
        .collect()
}
