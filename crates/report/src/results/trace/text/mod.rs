//! The report for people.
//!
//! Short by default: places in the order in which the program came by, at each the
//! source line and the first few conditions, the rest counted. Nothing that limits what
//! the report can say (losses, limits, damage) is ever left out.

mod findings;
mod places;

use std::fmt::Write as _;

use super::explain::Explain;
use super::{Folded, Report, words};
use crate::palette::Palette;
use crate::results::outcome;
use crate::results::source::Places;
use crate::words::{counted, show_bytes, show_time};

/// How much to show.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// Everything.
    pub all: bool,
    /// Events one by one instead of places.
    pub events: bool,
    /// The program's output (it went to the terminal otherwise).
    pub output: bool,
    pub width: usize,
}

impl Detail {
    fn places(&self) -> usize {
        if self.all { usize::MAX } else { 20 }
    }

    fn rows(&self) -> usize {
        if self.all { usize::MAX } else { 4 }
    }

    fn output_lines(&self) -> usize {
        if self.all { usize::MAX } else { 10 }
    }
}

/// The whole report.
pub fn render(report: &Report, detail: &Detail) -> String {
    let mut writer = Writer {
        report,
        detail: *detail,
        places: Places::new(report.sites),
        explain: Explain::new(report),
        text: String::new(),
    };
    writer.write();
    writer.text
}

struct Writer<'a> {
    report: &'a Report<'a>,
    detail: Detail,
    places: Places<'a>,
    explain: Explain<'a>,
    text: String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn write(&mut self) {
        self.text.push_str(&self.report.ended().to_string());
        if self.detail.output {
            let width = (!self.detail.all).then_some(self.detail.width);
            let (outcome, lines) = (self.report.outcome, self.detail.output_lines());
            for (name, captured) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
                let shown = outcome::output(name, captured, lines, width);
                self.text.push_str(&shown);
            }
        }
        if self.detail.events {
            self.events();
        } else {
            self.sections();
        }
        self.reports();
        self.losses();
        self.mismatches();
        self.limits();
        self.totals();
    }

    fn events(&mut self) {
        self.line(&format!("\n{}", Palette.heading("Events")));
        let most = if self.detail.all { usize::MAX } else { 200 };
        let events: Vec<_> = self.report.trace.events().collect();
        for (number, (kind, event)) in events.iter().take(most).enumerate() {
            let entry = Folded {
                kind: *kind,
                first: **event,
                count: 1,
                place: self.report.place(event),
            };
            let what = self.explain.event(&entry);
            let mut line = format!(
                "  {number:>6} {} ",
                Palette.warn(&format!("{:<13}", words::event(*kind)))
            );
            if event.site != 0 {
                let name = self.places.name(entry.place.site);
                let _ = write!(line, "{} ", Palette.place(&name));
            }
            line.push_str(&what);
            if event.process > 1 {
                let _ = write!(
                    line,
                    " {}",
                    Palette.dim(&format!("process {}", event.process))
                );
            }
            self.line(&line);
        }
        if events.len() > most {
            let more = format!(
                "  … {} more, --all",
                counted((events.len() - most) as u64, "event")
            );
            self.line(&Palette.dim(&more));
        }
    }

    /// Everything that makes the report less than the whole truth.
    fn limits(&mut self) {
        let trace = self.report.trace;
        let mut notes = Vec::new();
        if let Some(stop) = trace.stop() {
            let (why, help) = words::stop(stop);
            notes.push(format!(
                "tracing stopped before the program ended: {why}; {help}"
            ));
        }
        if let Some(refusal) = trace.refusal() {
            notes.push(format!("not traced: {}", words::refusal(refusal)));
        } else if !trace.attached() {
            notes.push("not traced: the program ended before its first instruction".to_owned());
        }
        let damaged = trace.damaged_nodes() + trace.damaged_events();
        if damaged > 0 {
            let entries = counted(damaged.into(), "entry/entries");
            notes.push(format!(
                "{entries} of the trace were not completely written"
            ));
        }
        if !notes.is_empty() {
            self.line("");
        }
        for note in notes {
            self.line(&format!("{} {note}", Palette.warn("note:")));
        }
    }

    fn totals(&mut self) {
        let trace = self.report.trace;
        let mut parts = vec![
            counted(trace.node_count().into(), "expression"),
            counted(trace.event_count().into(), "event"),
        ];
        if trace.process_count() > 1 {
            parts.push(counted(trace.process_count().into(), "process/processes"));
        }
        parts.push(format!(
            "{} of CPU time",
            show_time(self.report.outcome.cpu)
        ));
        self.line(&format!(
            "\n{} {}",
            Palette.heading("Totals"),
            parts.join(", ")
        ));
        if let Some(base) = self.places.elsewhere() {
            self.line(&format!(
                "  source paths are relative to {}",
                base.display()
            ));
        }
        let sources = self.report.sources();
        if sources.is_empty() {
            self.line("  no symbolic input");
            return;
        }
        let most = if self.detail.all { usize::MAX } else { 8 };
        let mut inputs: Vec<String> = sources
            .iter()
            .take(most)
            .map(|source| {
                let bytes = (source.bytes > 0).then(|| show_bytes(source.bytes));
                let end = source.end.map(|_| "to its end".to_owned());
                let notes: Vec<String> = bytes.into_iter().chain(end).collect();
                match notes.is_empty() {
                    true => source.name.clone(),
                    false => format!("{} ({})", source.name, notes.join(", ")),
                }
            })
            .collect();
        if sources.len() > most {
            inputs.push(format!("{} more", sources.len() - most));
        }
        self.line(&format!("  input: {}", inputs.join(", ")));
    }
}
