//! What was lost, and what the self-check found.

use parallax_abi::SiteId;
use parallax_abi::trace::EventKind;

use super::super::{Folded, words};
use super::Writer;
use crate::palette::Palette;
use crate::words::{counted, printable, show_count};

impl Writer<'_> {
    /// Errors that the program reported of its own accord, and demands on the input that did not hold.
    pub(super) fn reports(&mut self) {
        let failed = self.report.assumptions().into_iter();
        let failed = failed.filter(|assumption| assumption.first.detail == 0);
        let entries: Vec<Folded> = self.report.reports().into_iter().chain(failed).collect();
        if entries.is_empty() {
            return;
        }
        self.line(&format!("\n{}", Palette.heading("Said by the program")));
        for entry in entries {
            let place = self.places.name(entry.place.site);
            let text = match entry.kind {
                EventKind::Assume => format!("assumed in vain: {}", self.explain.event(&entry)),
                _ => self.explain.event(&entry),
            };
            self.line(&format!(
                "  {} {}",
                Palette.place(&place),
                Palette.bad(&text)
            ));
        }
    }

    pub(super) fn losses(&mut self) {
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

    pub(super) fn mismatches(&mut self) {
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
}
