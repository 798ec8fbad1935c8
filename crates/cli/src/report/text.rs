//! The report for people.
//!
//! Short by default: places in the order in which the program came by, at each the
//! source line and the first few conditions, the rest counted. Nothing that limits what
//! the report can say (losses, limits, damage) is ever left out.

use std::fmt::Write as _;

use parallax_abi::SiteId;
use parallax_abi::trace::EventKind;
use parallax_engine::run::{Captured, End};

use super::explain::Explain;
use super::source::Places;
use super::{Folded, Report, words};
use crate::console::{Palette, printable, shorten};
use crate::size::{counted, show_bytes, show_count, show_time};

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

/// One line at a place: a tag (side taken, kind), what, how often.
struct Row {
    tag: String,
    style: fn(&Palette, &str) -> String,
    text: String,
    count: u64,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn write(&mut self) {
        self.ending();
        if self.detail.output {
            let outcome = self.report.outcome;
            self.output("stdout", &outcome.stdout);
            self.output("stderr", &outcome.stderr);
        }
        if self.detail.events {
            self.events();
        } else {
            let report = self.report;
            self.section(
                "Branches on the input",
                &report.branches(),
                Self::branch_row,
            );
            self.section(
                "Operations that another input could make fail",
                &report.sensitive(),
                Self::operation_row,
            );
            self.section(
                "Values fixed to what they were",
                &report.fixed(),
                Self::fixed_row,
            );
        }
        self.losses();
        self.mismatches();
        self.limits();
        self.totals();
    }

    fn ending(&mut self) {
        let outcome = self.report.outcome;
        let time = show_time(outcome.duration);
        let ending = match outcome.end {
            End::Exit(0) => format!("ended with exit code {} after {time}", Palette.good("0")),
            End::Exit(code) => {
                let code = Palette.warn(&code.to_string());
                format!("ended with exit code {code} after {time}")
            }
            End::Signal(number) => {
                let name = Palette.bad(&words::signal(number));
                format!("was killed by {name} after {time}")
            }
            End::Timeout => {
                let limit = Palette.bad(&show_time(self.report.timeout));
                format!("did not end within {limit} and was stopped (--timeout)")
            }
            End::OutOfMemory => {
                let limit = Palette.bad(&show_bytes(self.report.memory));
                format!("used more than {limit} of memory and was stopped (--memory)")
            }
        };
        let program = Palette.heading(&self.report.program.display().to_string());
        self.line(&format!("{program} {ending}"));
        if outcome.leftover_processes > 0 {
            let left = counted(u64::from(outcome.leftover_processes), "process/processes");
            self.line(&format!("  {left} that it left behind were stopped too"));
        }
    }

    fn output(&mut self, name: &str, captured: &Captured) {
        if captured.total == 0 {
            return;
        }
        let size = show_bytes(captured.total);
        self.line(&format!(
            "\n{} {}",
            Palette.heading(name),
            Palette.dim(&size)
        ));
        let mut lines = captured.bytes.split(|byte| *byte == b'\n').peekable();
        let mut shown = 0;
        while let Some(line) = lines.next() {
            if line.is_empty() && lines.peek().is_none() {
                break;
            }
            if shown == self.detail.output_lines() {
                let rest = lines.filter(|line| !line.is_empty()).count() + 1;
                let more = format!("  … {} more", counted(rest as u64, "line"));
                self.line(&Palette.dim(&more));
                return;
            }
            let text = printable(line);
            let text = if self.detail.all {
                text
            } else {
                shorten(&text, self.detail.width.saturating_sub(4))
            };
            self.line(&format!("  {} {text}", Palette.dim("│")));
            shown += 1;
        }
        if captured.truncated() {
            let kept = show_bytes(captured.bytes.len() as u64);
            self.line(&Palette.dim(&format!("  … only the first {kept} were kept")));
        }
    }

    /// Entries grouped by place.
    fn section(&mut self, title: &str, entries: &[Folded], row: fn(&Self, &Folded) -> Row) {
        if entries.is_empty() {
            return;
        }
        let groups = by_place(entries);
        let executed: u64 = entries.iter().map(|entry| entry.count).sum();
        let summary = format!(
            "{}, {}, {}",
            counted(groups.len() as u64, "place"),
            counted(entries.len() as u64, "expression"),
            counted(executed, "time")
        );
        self.line(&format!(
            "\n{} {}",
            Palette.heading(title),
            Palette.dim(&summary)
        ));
        let shown = self.detail.places();
        for (site, members) in groups.iter().take(shown) {
            self.place(*site);
            let kept = self.detail.rows();
            // One entry more costs no more than saying that there is one more.
            let kept = if members.len() == kept.saturating_add(1) {
                members.len()
            } else {
                kept
            };
            let rows: Vec<Row> = members
                .iter()
                .take(kept)
                .map(|entry| row(self, entry))
                .collect();
            self.rows(&rows);
            if members.len() > kept {
                let times: u64 = members[kept..].iter().map(|entry| entry.count).sum();
                let more = format!(
                    "      … {} more here, {} (--all)",
                    show_count((members.len() - kept) as u64),
                    counted(times, "time")
                );
                self.line(&Palette.dim(&more));
            }
        }
        if groups.len() > shown {
            let more = format!(
                "  … {} more, --all",
                counted((groups.len() - shown) as u64, "place")
            );
            self.line(&Palette.dim(&more));
        }
    }

    fn place(&mut self, site: SiteId) {
        let name = Palette.place(&self.places.name(site));
        let function = self.places.function(site);
        if function.is_empty() {
            self.line(&format!("  {name}"));
        } else {
            self.line(&format!("  {name} in {function}"));
        }
        if let Some(source) = self.places.line(site) {
            let source = shorten(
                &printable(source.as_bytes()),
                self.detail.width.saturating_sub(6),
            );
            self.line(&format!(
                "    {} {}",
                Palette.dim("│"),
                Palette.dim(&source)
            ));
        }
    }

    fn rows(&mut self, rows: &[Row]) {
        let tags = rows.iter().map(|row| row.tag.chars().count()).max();
        let width = tags.unwrap_or(0);
        for row in rows {
            let padding = " ".repeat(width - row.tag.chars().count());
            let tag = (row.style)(&Palette, &row.tag);
            let times = if row.count > 1 {
                format!(" ×{}", show_count(row.count))
            } else {
                String::new()
            };
            let room = self
                .detail
                .width
                .saturating_sub(6 + width + 2 + times.chars().count());
            let text = if self.detail.all {
                row.text.clone()
            } else {
                shorten(&row.text, room)
            };
            let times = Palette.dim(&times);
            self.line(&format!("      {tag}{padding}  {text}{times}"));
        }
    }

    fn branch_row(&self, branch: &Folded) -> Row {
        let (tag, style): (String, fn(&Palette, &str) -> String) = match branch.kind {
            EventKind::Branch | EventKind::Select if branch.first.detail != 0 => {
                ("true".to_owned(), Palette::good)
            }
            EventKind::Branch | EventKind::Select => ("false".to_owned(), Palette::warn),
            EventKind::Switch if self.report.took_default(&branch.first) == Some(true) => {
                ("default".to_owned(), Palette::warn)
            }
            EventKind::Switch => (self.explain.case(&branch.first), Palette::good),
            _ => ("calls".to_owned(), Palette::good),
        };
        Row {
            tag,
            style,
            text: self.explain.expression(branch.first.label),
            count: branch.count,
        }
    }

    fn operation_row(&self, operation: &Folded) -> Row {
        Row {
            tag: words::event(operation.kind).to_owned(),
            style: Palette::warn,
            text: self.explain.operation(operation),
            count: operation.count,
        }
    }

    fn fixed_row(&self, fixed: &Folded) -> Row {
        Row {
            tag: self.explain.value(fixed.first.label),
            style: Palette::warn,
            text: format!(
                "= {}, {}",
                self.explain.expression(fixed.first.label),
                words::concretized(fixed.first.detail)
            ),
            count: fixed.count,
        }
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
            };
            let what = self.explain.event(&entry);
            let name = self.places.name(entry.site());
            let place = if event.site == 0 { "" } else { &name };
            let mut line = format!(
                "  {number:>6} {} {} {what}",
                Palette.warn(&format!("{:<13}", words::event(*kind))),
                Palette.place(place)
            );
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

    fn losses(&mut self) {
        let losses = self.report.losses();
        if losses.is_empty() {
            return;
        }
        let total = losses.iter().map(|loss| loss.count).sum();
        let summary = counted(total, "time");
        self.line(&format!(
            "\n{} {}",
            Palette.heading("Precision lost"),
            Palette.dim(&summary)
        ));
        let names = losses.iter().map(|loss| loss.name.chars().count()).max();
        let width = names.unwrap_or(0).min(32);
        for loss in &losses {
            let times = format!("×{}", show_count(loss.count));
            let place = self.places.name(loss.site);
            let first = if loss.site == SiteId(0) {
                String::new()
            } else if loss.places > 1 {
                format!("first at {place}")
            } else {
                format!("at {place}")
            };
            let line = format!(
                "  {:width$}  {times:>6}  {} {}",
                printable(loss.name.as_bytes()),
                words::loss_sentence(loss.kind),
                Palette.dim(&first)
            );
            self.line(line.trim_end());
        }
        if self.report.trace.losses_are_cut() {
            self.line(&Palette.warn("  and at more places than could be recorded"));
        }
    }

    fn mismatches(&mut self) {
        let Some(check) = self.report.self_check else {
            return;
        };
        let checked = format!(
            "{}, {}, {} compared with the input",
            counted(check.nodes, "expression"),
            counted(check.events, "event"),
            counted(check.inputs, "input byte"),
        );
        self.line(&format!(
            "\n{} {}",
            Palette.heading("Self-check"),
            Palette.dim(&checked)
        ));
        if check.unchecked_inputs > 0 {
            let bytes = counted(check.unchecked_inputs, "input byte");
            self.line(&format!(
                "  {bytes} could not be compared (a pipe, or a file that changed since)"
            ));
        }
        if check.fault_count == 0 {
            self.line(&format!("  {}", Palette.good("no mismatches")));
            return;
        }
        let count = counted(check.fault_count, "mismatch/mismatches");
        self.line(&format!("  {}", Palette.bad(&count)));
        let most = if self.detail.all { usize::MAX } else { 20 };
        for fault in check.faults.iter().take(most) {
            let place = fault.site.map_or("unknown place".to_owned(), |site| {
                format!(
                    "{} in {}",
                    self.places.name(site),
                    self.places.function(site)
                )
            });
            self.line(&format!(
                "  {}: {}",
                Palette.place(&place),
                words::fault(fault.what)
            ));
            let operator = fault.op.map_or(String::new(), |op| format!("{op:?}: "));
            let expected = fault
                .expected
                .map_or("no value".to_owned(), |value| format!("{value:#x}"));
            self.line(&format!(
                "      {operator}expression says {}, program has {}",
                Palette.good(&expected),
                Palette.bad(&format!("{:#x}", fault.actual))
            ));
            if fault.label != 0 {
                self.line(&format!("      {}", self.explain.expression(fault.label)));
            }
        }
        if check.fault_count > check.faults.len().min(most) as u64 {
            let more = check.fault_count - check.faults.len().min(most) as u64;
            self.line(&Palette.dim(&format!("  … {} more", show_count(more))));
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
        let sources = self.report.sources();
        if sources.is_empty() {
            self.line("  no symbolic input");
            return;
        }
        let most = if self.detail.all { usize::MAX } else { 8 };
        let mut inputs: Vec<String> = sources
            .iter()
            .take(most)
            .map(|source| match source.bytes {
                0 => source.name.clone(),
                bytes => format!("{} ({})", source.name, show_bytes(bytes)),
            })
            .collect();
        if sources.len() > most {
            inputs.push(format!("{} more", sources.len() - most));
        }
        self.line(&format!("  input: {}", inputs.join(", ")));
    }
}

/// Groups by site, in order of first occurrence.
fn by_place(entries: &[Folded]) -> Vec<(SiteId, Vec<&Folded>)> {
    let mut groups: Vec<(SiteId, Vec<&Folded>)> = Vec::new();
    let mut index = std::collections::HashMap::new();
    for entry in entries {
        let at = *index.entry(entry.site()).or_insert_with(|| {
            groups.push((entry.site(), Vec::new()));
            groups.len() - 1
        });
        groups[at].1.push(entry);
    }
    groups
}
