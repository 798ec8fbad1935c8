//! A finding for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use parallax_exec::finding::Finding;

use crate::given::{command_line, ending, inputs};
use crate::palette::Palette;
use crate::words::{printable, shorten};

/// Columns of an input that are shown.
const SHOWN: usize = 100;

/// What and where, in one line.
pub fn headline(finding: &Finding) -> String {
    let problem = &finding.problem;
    let kind = problem.kind.name();
    let place = match &problem.location {
        Some(location) => format!(
            " at {}",
            Palette.place(&format!("{}:{}", location.file, location.line))
        ),
        None => String::new(),
    };
    format!(
        "{}{place}: {}",
        Palette.heading(kind),
        printable(problem.message.as_bytes())
    )
}

/// All about a finding: what, where, on which input, and how to see it again.
pub fn section(program: &Path, kept: &BTreeMap<String, PathBuf>, finding: &Finding) -> String {
    let mut text = format!("{}\n", headline(finding));
    let program = program.to_string_lossy();
    let _ = writeln!(text, "  {}", command_line(&program, &finding.scenario));
    for (name, bytes) in inputs(&finding.scenario) {
        let shown = shorten(&bytes, SHOWN);
        let _ = writeln!(text, "  {} {shown}", Palette.dim(&format!("{name}:")));
    }
    let end = ending(&finding.ending);
    let _ = writeln!(text, "  {} {end}", Palette.dim("plain program:"));
    if let Some(directory) = kept.get(&finding.id()) {
        let _ = writeln!(
            text,
            "  {} {}/run.sh",
            Palette.dim("again:"),
            directory.display()
        );
    }
    text
}
