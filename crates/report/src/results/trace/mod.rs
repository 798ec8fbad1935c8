//! What a traced run showed, ready to be read by people ([`text`]) or programs ([`json`]).
//!
//! Events are folded: the same thing at the same place on the same expression is
//! one entry with a count, in the order of first occurrence. Expressions are put into
//! words only when an entry is shown.

mod explain;
mod json;
mod text;
pub mod words;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use parallax_abi::SiteId;
use parallax_abi::entry::symbol::MODEL_SOURCES;
use parallax_abi::trace::{Event, EventKind, LossKind, SourceKind};
use parallax_exec::run::Outcome;
use parallax_exec::sites::SiteMap;
use parallax_trace::Trace;
use parallax_trace::selfcheck::Summary;

use super::{Ended, source};

pub use json::render as render_json;
pub use text::{Detail, render as render_text};

/// Everything that a report is made from.
pub struct Report<'a> {
    /// The program as the user named it.
    pub program: PathBuf,
    pub outcome: &'a Outcome,
    pub trace: &'a Trace,
    pub sites: &'a SiteMap,
    /// If the user asked for it.
    pub self_check: Option<&'a Summary>,
    pub timeout: Duration,
    pub memory: u64,
}

/// Events that are the same but for when they happened.
#[derive(Clone, Copy, Debug)]
pub struct Folded<'a> {
    pub kind: EventKind,
    /// The first of them.
    pub first: Event,
    pub count: u64,
    pub place: Place<'a>,
}

/// Where something happened in the program: for what happens inside the model of a library function, the
/// call of that function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<'a> {
    pub site: SiteId,
    /// The library function.
    pub inside: Option<&'a str>,
}

/// Precision lost for one reason through one function.
#[derive(Clone, Debug)]
pub struct FoldedLoss {
    pub kind: LossKind,
    /// What cost it: a function without model, an instruction; else where it happened.
    pub name: String,
    pub count: u64,
    /// The first place.
    pub site: SiteId,
    pub places: u64,
}

/// How much was read from one source.
#[derive(Clone, Debug)]
pub struct SourceUse {
    /// `argv[1]`, `stdin`, `file("x")`.
    pub name: String,
    /// Bytes that were read, repeated reads counted once; 0 for arguments, which are just there.
    pub bytes: u64,
    /// Where a reader met the end last, if one did.
    pub end: Option<End>,
}

/// The end of an input, as a reader met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Of the input.
    pub length: u64,
    /// How many more bytes were asked for.
    pub wanted: u32,
}

/// Calls shown of a call stack.
const MOST_CALLS: usize = 64;

impl<'a> Report<'a> {
    fn ended(&self) -> Ended<'_> {
        Ended {
            program: &self.program,
            outcome: self.outcome,
            timeout: self.timeout,
            memory: self.memory,
        }
    }

    /// The innermost calls that led to an event, outermost of them first, and whether
    /// there are more.
    pub fn call_stack(&self, event: &Event) -> (Vec<SiteId>, bool) {
        let mut calls = self.trace.calls_outward(event.context);
        let mut context: Vec<SiteId> = calls.by_ref().take(MOST_CALLS).collect();
        context.reverse();
        let stack = self.sites.call_stack(&context, SiteId(event.site));
        (stack, calls.next().is_some())
    }

    /// The site of an event as it was written, if it happened in an inlined copy.
    fn original(&self, event: &Event) -> SiteId {
        let site = SiteId(event.site);
        self.sites.get(site).map_or(site, |view| view.original)
    }

    /// Where an event happened.
    pub fn place(&self, event: &Event) -> Place<'a> {
        let site = SiteId(event.site);
        let own = Place {
            site: self.original(event),
            inside: None,
        };
        let Some(mut inside) = self.modelled(site) else {
            return own;
        };
        // Models call each other: the outermost is what the program called.
        for site in self.call_stack(event).0.into_iter().rev() {
            match self.modelled(site) {
                Some(outer) => inside = outer,
                None => {
                    return Place {
                        site,
                        inside: Some(inside),
                    };
                }
            }
        }
        Place {
            inside: Some(inside),
            ..own
        }
    }

    /// The library function whose model a site belongs to.
    fn modelled(&self, site: SiteId) -> Option<&'a str> {
        let view = self.sites.get(site)?;
        let prefix = parallax_abi::entry::symbol::MODEL_PREFIX;
        let named = |function: &'a str| function.strip_prefix(prefix);
        named(view.function)
            .or_else(|| named(view.host))
            .or_else(|| view.file.starts_with(MODEL_SOURCES).then_some(view.host))
    }

    /// Events of some kinds, folded, in order of first occurrence.
    pub fn folded(&self, wanted: impl Fn(EventKind, &Event) -> bool) -> Vec<Folded<'a>> {
        let mut order: Vec<Folded> = Vec::new();
        let mut index: HashMap<(u8, u8, u64, u64, u32, u32), usize> = HashMap::new();
        let mut places: HashMap<(u64, u32), (Place, SiteId)> = HashMap::new();
        for (kind, event) in self.trace.events() {
            if !wanted(kind, event) {
                continue;
            }
            let (place, original) = *places
                .entry((event.site, event.context))
                .or_insert_with(|| (self.place(event), self.original(event)));
            // Arithmetic of a model is ours: it says nothing about the program.
            let arithmetic = matches!(
                kind,
                EventKind::Division | EventKind::Shift | EventKind::Overflow
            );
            if arithmetic && place.inside.is_some() {
                continue;
            }
            let Event {
                detail, label, x, ..
            } = *event;
            let key = (event.kind, detail, original.0, place.site.0, label, x);
            match index.get(&key) {
                Some(at) => order[*at].count += 1,
                None => {
                    index.insert(key, order.len());
                    order.push(Folded {
                        kind,
                        first: *event,
                        count: 1,
                        place,
                    });
                }
            }
        }
        order
    }

    /// Where the program chose a way depending on the input.
    pub fn branches(&self) -> Vec<Folded<'a>> {
        use EventKind::*;
        self.folded(|kind, event| {
            matches!(kind, Branch | Select | Switch) || kind == IndirectCall && event.label != 0
        })
    }

    /// Operations that can fail for another input.
    pub fn sensitive(&self) -> Vec<Folded<'a>> {
        use EventKind::*;
        self.folded(|kind, _| {
            matches!(
                kind,
                Load | Store | Division | Shift | Overflow | Allocation | Length
            )
        })
    }

    /// Where a value that depends on the input was fixed to what it was.
    pub fn fixed(&self) -> Vec<Folded<'a>> {
        self.folded(|kind, _| kind == EventKind::Concretize)
    }

    /// What the program demands of its input.
    pub fn assumptions(&self) -> Vec<Folded<'a>> {
        self.folded(|kind, _| kind == EventKind::Assume)
    }

    /// Errors that the program reported of its own accord.
    pub fn reports(&self) -> Vec<Folded<'a>> {
        self.folded(|kind, _| kind == EventKind::Report)
    }

    /// Losses by what cost them, most frequent first.
    pub fn losses(&self) -> Vec<FoldedLoss> {
        let mut order: Vec<FoldedLoss> = Vec::new();
        let mut index: HashMap<(LossKind, String), usize> = HashMap::new();
        for loss in self.trace.losses() {
            let mut name = loss.name().into_owned();
            if name.is_empty() {
                name = match self.sites.get(loss.site) {
                    Some(site) => site.function.to_owned(),
                    None => "?".to_owned(),
                };
            }
            let at = *index.entry((loss.kind, name.clone())).or_insert_with(|| {
                order.push(FoldedLoss {
                    kind: loss.kind,
                    name,
                    count: 0,
                    site: loss.site,
                    places: 0,
                });
                order.len() - 1
            });
            order[at].count += u64::from(loss.count);
            order[at].places += 1;
        }
        // Stable: equal counts stay in order of first occurrence.
        order.sort_by_key(|loss| std::cmp::Reverse(loss.count));
        order
    }

    /// The sources of input that were used, and how much was read of each.
    pub fn sources(&self) -> Vec<SourceUse> {
        let count = self.trace.source_count() as usize;
        let (mut read, mut ends) = (vec![0_u64; count], vec![None; count]);
        for (kind, event) in self.trace.events() {
            let source = event.x as usize;
            if kind == EventKind::Input {
                let end = event.y.saturating_add(event.label.into());
                read[source] = read[source].max(end);
            } else if kind == EventKind::EndOfInput {
                ends[source] = Some(End {
                    length: event.y,
                    wanted: event.label,
                });
            }
        }
        (0..self.trace.source_count())
            .filter_map(|index| {
                let source = self.trace.source(index)?;
                let (bytes, end) = (read[index as usize], ends[index as usize]);
                let is_used = bytes > 0 || end.is_some() || source.kind == SourceKind::Argument;
                is_used.then(|| SourceUse {
                    name: source::input_name(&source),
                    bytes,
                    end,
                })
            })
            .collect()
    }

    /// Whether a `switch` found none of its cases; `None` if its cases are unknown.
    pub fn took_default(&self, event: &Event) -> Option<bool> {
        let site = self.sites.get(SiteId(event.site))?;
        Some(site.successor_of(event.y) == 0)
    }

    /// Whether something was found that must change the exit code.
    pub fn has_findings(&self) -> bool {
        self.self_check.is_some_and(|check| check.fault_count > 0)
    }
}

#[cfg(test)]
mod tests {
    use parallax_abi::Op;
    use parallax_exec::run::{Captured, End};
    use parallax_trace::region::{Limits, Region, Symbolic};
    use parallax_trace::selfcheck::{Fault, What};

    use super::*;

    /// A right trace has no mismatches, so this one is made up.
    #[test]
    fn a_mismatch_is_a_finding_and_shown_with_both_values() {
        let region = Region::create(Limits::within(1 << 20), &Symbolic::ALL, true).unwrap();
        let trace = Trace::read(region);
        let fault = Fault {
            what: What::Operand,
            label: 0,
            site: Some(SiteId(0x77)),
            op: Some(Op::Add),
            expected: Some(0x41),
            actual: 0x42,
        };
        let summary = Summary {
            faults: vec![fault],
            fault_count: 1,
            ..Summary::default()
        };
        let outcome = Outcome {
            end: End::Exit(0),
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration: Duration::ZERO,
            cpu: Duration::ZERO,
            leftover_processes: 0,
            answers: Vec::new(),
        };
        let (sites, clean) = (SiteMap::default(), Summary::default());
        let report = |self_check| Report {
            program: "prog".into(),
            outcome: &outcome,
            trace: &trace,
            sites: &sites,
            self_check,
            timeout: Duration::ZERO,
            memory: 0,
        };
        assert!(!report(None).has_findings());
        assert!(!report(Some(&clean)).has_findings());
        let report = report(Some(&summary));
        assert!(report.has_findings());
        let detail = Detail {
            all: false,
            events: false,
            output: true,
            width: 80,
        };
        let text = anstream::adapter::strip_str(&render_text(&report, &detail)).to_string();
        for part in [
            "1 mismatch",
            "0000000000000077",
            "Add",
            "0x41",
            "0x42",
            "not traced",
        ] {
            assert!(text.contains(part), "{part:?} is missing in:\n{text}");
        }
        let json: serde_json::Value = serde_json::from_str(&render_json(&report, false)).unwrap();
        let mismatch = &json["mismatches"][0];
        assert_eq!(
            (
                &mismatch["kind"],
                &mismatch["expected"],
                &mismatch["actual"]
            ),
            (&"operand".into(), &"0x41".into(), &"0x42".into())
        );
        assert_eq!(json["stats"]["mismatches"], 1);
    }
}
