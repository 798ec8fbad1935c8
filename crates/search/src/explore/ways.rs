//! The ways in which a run could have gone otherwise.

use std::collections::BTreeMap;

use parallax_abi::SiteId;
use parallax_abi::trace::{EventKind, SourceKind};
use rustc_hash::FxHashMap;

use super::Explorer;
use super::compared::compared;
use super::frontier::{Candidate, RunId, mix};
use crate::question::{Goal, fixed_key};
use crate::worker::Traced;
use parallax_exec::sites::SiteMap;
use parallax_trace::path::{self, Choice, Decision};

/// Ways of one run that are offered at most.
pub(crate) const MOST_WAYS: usize = 20_000;
/// Changes of structure are as good as ways that lie so many calls deep.
const STRUCTURE_CALLS: u32 = 4;
/// Different values of one fixed thing that are tried.
const MOST_FIXED: usize = 16;

impl Explorer<'_> {
    /// Offers all ways in which the run could have gone otherwise.
    pub(super) fn offer(&mut self, run: RunId, traced: &Traced) {
        for (index, place) in places(self.sites, traced).into_iter().enumerate() {
            let decision = &traced.decisions[index];
            let side = path::side(self.sites, decision, decision.value);
            self.frontier
                .reached_by(run, place.levels(decision.value, side));
            if index < MOST_WAYS && !decision.repeated {
                self.offer_decision(run, traced, index, place);
            }
        }
        for (index, operation) in traced.operations.iter().take(MOST_WAYS).enumerate() {
            let original = original(self.sites, operation.site);
            let failing = mix(original.0 ^ mix(operation.failure as u64 + 1));
            let here = in_context(failing, traced, operation.context);
            self.frontier.offer(Candidate {
                run,
                goal: Goal::Fail {
                    operation: index as u32,
                },
                site: operation.site,
                levels: [failing, here, here],
                // Tried on one path of each calling context, not on all paths that lead there.
                path: here,
                depth: operation.position as u32,
                calls: calls(traced, operation.context),
            });
        }
        self.offer_structure(run, traced);
    }

    fn offer_decision(&mut self, run: RunId, traced: &Traced, index: usize, place: Place) {
        let decision: &Decision = &traced.decisions[index];
        let before = match index.checked_sub(1) {
            Some(last) => traced.decisions[last].exact,
            None => path::START,
        };
        let number = index as u32;
        let within = calls(traced, decision.context);
        let mut offer = |goal: Goal, value: u128| {
            let side = path::side(self.sites, decision, value);
            self.frontier.offer(Candidate {
                run,
                goal,
                site: decision.site,
                levels: place.levels(value, side),
                path: path::extend(before, decision.site.0, decision.choice, value),
                depth: number,
                calls: within,
            });
        };
        for (goal, value) in others(self.sites, decision, number) {
            offer(goal, value);
        }
        if matches!(decision.choice, Choice::Fixed | Choice::Object) {
            let key = fixed_key(&traced.decisions, index);
            let values = self.fixed.entry(key).or_default();
            let range = (decision.value, decision.high);
            if !values.contains(&range) {
                values.push(range);
            }
            // A new way for each value that becomes known.
            let known = values.len();
            if known <= MOST_FIXED {
                offer(
                    Goal::Otherwise { decision: number },
                    u128::MAX - known as u128,
                );
            }
        }
    }

    /// Longer and shorter inputs, fewer arguments.
    fn offer_structure(&mut self, run: RunId, traced: &Traced) {
        let path = traced.path();
        for structure in structures(traced) {
            let Structure { goal, what, name } = structure;
            self.frontier.offer(Candidate {
                run,
                goal,
                site: SiteId(0),
                levels: [what, what, name],
                path: mix(name ^ path),
                depth: u32::MAX,
                calls: STRUCTURE_CALLS,
            });
        }
    }
}

/// A change of an input's structure.
pub(crate) struct Structure {
    pub goal: Goal,
    /// Names what is changed, and how.
    pub what: u64,
    /// The same, with by how much.
    pub name: u64,
}

/// Longer and shorter inputs, fewer arguments.
pub(crate) fn structures(traced: &Traced) -> Vec<Structure> {
    let trace = &traced.trace;
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    for (_, event) in trace.events_of(EventKind::EndOfInput) {
        ends.insert(event.x, event.y);
    }
    let mut changes = Vec::new();
    let mut add = |goal: Goal, kind: u64, source: u32, detail: u32| {
        let what = mix(kind ^ mix(source.into()));
        let name = mix(what ^ mix(u64::from(detail) + 1));
        changes.push(Structure { goal, what, name });
    };
    for (source, length) in ends {
        add(Goal::Grow { source }, 0x6772_6f77, source, 0);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        for shorter in [0, length / 2, length.saturating_sub(1)] {
            if shorter < length {
                let goal = Goal::Cut {
                    source,
                    length: shorter,
                };
                add(goal, 0x6375_7400, source, shorter);
            }
        }
    }
    let sources = (0..trace.source_count()).filter_map(|index| trace.source(index));
    for argument in sources.filter(|source| source.kind == SourceKind::Argument) {
        let goal = Goal::Drop {
            argument: argument.index,
        };
        add(goal, 0x6472_6f70, argument.index, 0);
    }
    changes
}

/// More arguments: one more before each or behind the last, which looks like an option or does not; each with its name.
pub(crate) fn insertions(arguments: usize) -> impl Iterator<Item = (Goal, u64)> {
    (0..=arguments as u32).flat_map(|argument| {
        [true, false].map(|is_option| {
            let goal = Goal::Insert {
                argument,
                is_option,
            };
            let number = argument * 2 + u32::from(is_option);
            (goal, mix(0x696e_7365 ^ u64::from(number)))
        })
    })
}

/// The ways in which a decision could go otherwise whose sides the program knows, with the values that lead there.
pub(crate) fn others(sites: &SiteMap, decision: &Decision, number: u32) -> Vec<(Goal, u128)> {
    match decision.choice {
        // A run that does not meet a demand ends there; one that does goes on.
        Choice::Assumed if decision.value == 0 => {
            vec![(Goal::Otherwise { decision: number }, 1)]
        }
        Choice::Assumed | Choice::Kept | Choice::Fixed | Choice::Object => Vec::new(),
        Choice::Side => vec![(Goal::Side { decision: number }, decision.value ^ 1)],
        Choice::Case => {
            let mut ways = Vec::new();
            for case in path::cases(sites, decision.site) {
                let value = u128::from(*case);
                if value != decision.value {
                    let goal = Goal::Value {
                        decision: number,
                        value: *case,
                    };
                    ways.push((goal, value));
                }
            }
            if decision.value != path::DEFAULT {
                ways.push((Goal::Default { decision: number }, path::DEFAULT));
            }
            ways
        }
    }
}

/// Where each decision of a run is made.
pub(crate) fn places(sites: &SiteMap, traced: &Traced) -> Vec<Place> {
    let visits = visits(sites, traced).into_iter();
    let decisions = traced.decisions.iter();
    visits
        .zip(decisions)
        .map(|(visit, decision)| visit.place(traced, decision))
        .collect()
}

/// A decision's place, without what it compares.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
    site: SiteId,
    /// The site in its calling context.
    here: u64,
    /// How often the run had come by.
    pub occurrence: u32,
}

impl Visit {
    pub fn place(self, traced: &Traced, decision: &Decision) -> Place {
        Place {
            site: self.site,
            here: self.here,
            compared: compared(&traced.trace, decision.label).unwrap_or(0),
            occurrence: bucket(self.occurrence),
        }
    }
}

/// The visits of a run's decisions, in order.
pub(crate) fn visits(sites: &SiteMap, traced: &Traced) -> Vec<Visit> {
    let mut known: FxHashMap<(SiteId, u32), (SiteId, u64)> = FxHashMap::default();
    let mut occurrences: FxHashMap<u64, u32> = FxHashMap::default();
    let visit = |decision: &Decision| {
        let place = (decision.site, decision.context);
        let (site, here) = *known.entry(place).or_insert_with(|| {
            let site = original(sites, decision.site);
            (site, in_context(site.0, traced, decision.context))
        });
        let occurrence = occurrences.entry(here).or_default();
        *occurrence += 1;
        Visit {
            site,
            here,
            occurrence: *occurrence,
        }
    };
    traced.decisions.iter().map(visit).collect()
}

fn original(sites: &SiteMap, site: SiteId) -> SiteId {
    sites.get(site).map_or(site, |view| view.original)
}

/// Where a decision is made.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    site: SiteId,
    /// The site in its calling context.
    here: u64,
    /// What is compared, if input is compared with a constant; else 0.
    compared: u64,
    /// How often the run had come by, roughly.
    occurrence: u32,
}

impl Place {
    /// What is reached when the value is decided for here, which leads to this side: whatever way led here; by way of
    /// these calls and for this comparison; and with this value after coming by so often.
    pub fn levels(self, value: u128, side: u128) -> [u64; 3] {
        let in_context = mix(self.here ^ self.compared ^ value_key(side));
        let again = mix(in_context ^ value_key(value) ^ mix(u64::from(self.occurrence) << 32));
        [target(self.site, side), in_context, again]
    }
}

/// What is reached when a site decides for a value.
pub(super) fn target(site: SiteId, value: u128) -> u64 {
    mix(site.0 ^ value_key(value))
}

fn value_key(value: u128) -> u64 {
    mix(value as u64 ^ (value >> 64) as u64 ^ 0x5bd1_e995)
}

/// Small numbers are told apart, large ones by their size: loops make progress one turn at a time, but the hundredth
/// is not news after the ninety-ninth.
fn bucket(occurrence: u32) -> u32 {
    if occurrence <= 16 {
        occurrence
    } else {
        16 + occurrence.ilog2()
    }
}

/// How many calls lead there from `main`.
fn calls(traced: &Traced, context: u32) -> u32 {
    /// Deeper is deep enough.
    const MOST: usize = 32;
    traced.trace.calls_outward(context).take(MOST).count() as u32
}

/// A site by way of these calls.
fn in_context(site: u64, traced: &Traced, context: u32) -> u64 {
    /// Calls that tell contexts apart: recursion must not make every depth a new one.
    const CALLS: usize = 3;
    let calls = traced.trace.calls_outward(context).take(CALLS);
    calls.fold(mix(site), |sum, call| mix(sum ^ call.0))
}
