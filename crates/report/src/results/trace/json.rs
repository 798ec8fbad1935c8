//! The report for programs: one JSON object, schema 1.
//!
//! Fields are only ever added within a schema. Bytes that are not UTF-8 are given as
//! `{"base64": "…"}`; what does not apply is null.

use parallax_abi::SiteId;
use parallax_abi::trace::{Concretized, EventKind};
use serde_json::{Value, json};

use super::explain::Explain;
use super::{Folded, Report, words};
use crate::results::source::Places;
use crate::results::{document, outcome};

/// Entries of each list unless all are asked for: a large input has millions.
const MOST: usize = 10_000;

/// The report as one line. Lists are cut at [`MOST`] unless `all` is set; `omitted` says how many
/// entries are missing.
pub fn render(report: &Report, all: bool) -> String {
    let writer = Writer {
        most: if all { usize::MAX } else { MOST },
        report,
        places: Places::new(report.sites),
        explain: Explain::new(report),
    };
    document::of_one_run("trace", report.outcome, writer.report())
}

struct Writer<'a> {
    most: usize,
    report: &'a Report<'a>,
    places: Places<'a>,
    explain: Explain<'a>,
}

impl Writer<'_> {
    fn report(&self) -> Value {
        let (branches, sensitive, fixed) = (
            self.report.branches(),
            self.report.sensitive(),
            self.report.fixed(),
        );
        let list = |folded: &[Folded], entry: &dyn Fn(&Folded) -> Value| {
            let shown = folded.iter().take(self.most);
            shown.map(entry).collect::<Vec<Value>>()
        };
        let omitted = |folded: &[Folded]| folded.len().saturating_sub(self.most);
        json!({
            "program": self.report.program.to_string_lossy(),
            "result": outcome::json(self.report.outcome),
            "branches": list(&branches, &|branch| self.branch(branch)),
            "sensitive": list(&sensitive, &|operation| self.operation(operation)),
            "fixed": list(&fixed, &|fixed| self.fixed(fixed)),
            "omitted": {
                "branches": omitted(&branches),
                "sensitive": omitted(&sensitive),
                "fixed": omitted(&fixed),
            },
            "assumptions": list(&self.report.assumptions(), &|assumption| self.assumption(assumption)),
            "reports": list(&self.report.reports(), &|report| self.reported(report)),
            "losses": self.losses(),
            "inputs": self.inputs(),
            "mismatches": self.mismatches(),
            "stats": self.stats(),
        })
    }

    /// Fields that every entry with a place has.
    fn place(&self, site: SiteId) -> Value {
        let mut place = json!({
            "site": format!("{:016x}", site.0),
            "file": null,
            "line": null,
            "column": null,
            "function": null,
        });
        if let Some(view) = self.places.site(site) {
            place["file"] = view.file.into();
            place["function"] = view.function.into();
            if view.line != 0 {
                place["line"] = view.line.into();
                place["column"] = view.column.into();
            }
        }
        place
    }

    fn entry(&self, folded: &Folded) -> Value {
        let mut entry = self.place(folded.place.site);
        entry["inside"] = folded.place.inside.into();
        entry["kind"] = words::event(folded.kind).into();
        entry["count"] = folded.count.into();
        let (calls, has_more) = self.report.call_stack(&folded.first);
        let calls: Vec<Value> = calls.into_iter().map(|site| self.place(site)).collect();
        entry["stack"] = calls.into();
        if has_more {
            entry["stack_cut"] = true.into();
        }
        entry
    }

    fn branch(&self, branch: &Folded) -> Value {
        let mut entry = self.entry(branch);
        entry["condition"] = self.explain.expression(branch.first.label).into();
        entry["taken"] = match branch.kind {
            EventKind::Branch | EventKind::Select => (branch.first.detail != 0).into(),
            EventKind::Switch if self.report.took_default(&branch.first) == Some(true) => {
                "default".into()
            }
            _ => branch.first.y.into(),
        };
        entry
    }

    fn operation(&self, operation: &Folded) -> Value {
        let mut entry = self.entry(operation);
        entry["text"] = self.explain.operation(operation).to_string().into();
        let label = operation.first.label;
        entry["expression"] = if label == 0 {
            Value::Null
        } else {
            self.explain.expression(label).into()
        };
        if let Some(object) = self.explain.object_of(operation) {
            entry["object"] = json!({
                "kind": format!("{:?}", object.kind).to_lowercase(),
                "name": String::from_utf8_lossy(object.name),
                "size": object.size,
            });
        }
        entry
    }

    fn fixed(&self, fixed: &Folded) -> Value {
        let mut entry = self.entry(fixed);
        entry["expression"] = self.explain.expression(fixed.first.label).into();
        entry["value"] = self.explain.value(fixed.first.label).into();
        entry["reason"] = words::concretized(fixed.first.detail).into();
        entry["argument"] = (fixed.first.detail == Concretized::Argument as u8).into();
        entry
    }

    fn assumption(&self, assumption: &Folded) -> Value {
        let mut entry = self.entry(assumption);
        entry["condition"] = self.explain.expression(assumption.first.label).into();
        entry["holds"] = (assumption.first.detail != 0).into();
        entry
    }

    fn reported(&self, report: &Folded) -> Value {
        let mut entry = self.entry(report);
        entry["kind"] = words::report_kind(report.first.detail).into();
        let message = self.report.trace.report_message(&report.first);
        entry["message"] = String::from_utf8_lossy(message).into();
        entry
    }

    fn losses(&self) -> Vec<Value> {
        let entry = |loss: &super::FoldedLoss| {
            let mut entry = json!({
                "function": loss.name,
                "kind": words::loss(loss.kind),
                "count": loss.count,
                "places": loss.places,
            });
            entry["first"] = self.place(loss.site);
            entry
        };
        self.report.losses().iter().map(entry).collect()
    }

    fn inputs(&self) -> Vec<Value> {
        let sources = self.report.sources();
        let end = |end: super::End| json!({"length": end.length, "wanted": end.wanted});
        let entry = |source: &super::SourceUse| json!({"name": source.name, "bytes": source.bytes, "end": source.end.map(end)});
        sources.iter().map(entry).collect()
    }

    /// Null unless the self-check was asked for.
    fn mismatches(&self) -> Value {
        let Some(check) = self.report.self_check else {
            return Value::Null;
        };
        let hex = |value: u128| format!("{value:#x}");
        let faults = check.faults.iter().map(|fault| {
            let mut entry = self.place(fault.site.unwrap_or_default());
            entry["kind"] = words::fault_kind(fault.what).into();
            entry["operator"] = fault.op.map(|op| format!("{op:?}")).into();
            entry["expected"] = fault.expected.map(hex).into();
            entry["actual"] = hex(fault.actual).into();
            entry["expression"] = self.explain.expression(fault.label).into();
            entry
        });
        faults.collect()
    }

    fn stats(&self) -> Value {
        let (trace, outcome) = (self.report.trace, self.report.outcome);
        let check = self.report.self_check;
        json!({
            "nodes": trace.node_count(),
            "events": trace.event_count(),
            "contexts": trace.context_count(),
            "objects": trace.object_count(),
            "tables": trace.table_count(),
            "sources": trace.source_count(),
            "processes": trace.process_count(),
            "leftover_processes": outcome.leftover_processes,
            "damaged": trace.damaged_nodes() + trace.damaged_events(),
            "attached": trace.attached(),
            "stopped": trace.stop().map(|stop| words::stop(stop).0),
            "refused": trace.refusal().map(words::refusal),
            "cpu_seconds": outcome.cpu.as_secs_f64(),
            "checked_nodes": check.map(|check| check.nodes),
            "checked_inputs": check.map(|check| check.inputs),
            "unchecked_inputs": check.map(|check| check.unchecked_inputs),
            "mismatches": check.map(|check| check.fault_count),
        })
    }
}
