//! How a run could have gone otherwise: the other side of each of its branches, other values, operations that fail, inputs of another
//! structure.
//!
//! Every traced run is asked for its alternatives once; goals value them ([`super::goal`]), and [`super::turn`] makes inputs of the ones
//! that are chosen.

use std::collections::{BTreeMap, HashMap};

use parallax_abi::SiteId;
use parallax_abi::trace::{EventKind, SourceKind};
use parallax_exec::sites::SiteMap;
use parallax_trace::Trace;
use parallax_trace::path::{self, Choice, Decision};
use rustc_hash::FxHashMap;

use super::compared::compared;
use super::corpus::EntryId;
use super::limits::{Limit, Limits};
use super::random::mix;
use crate::worker::Traced;

/// What is to be otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// The branch with this index takes its other side.
    Side { decision: u32 },
    /// What was fixed at the decision with this index has another value than any before.
    Otherwise { decision: u32 },
    /// The decision has this value.
    Value { decision: u32, value: u64 },
    /// The decision has none of the case values of its `switch`.
    Default { decision: u32 },
    /// The operation with this index fails.
    Fail { operation: u32 },
    /// An input gets one byte more at its end: the source with this index.
    Grow { source: u32 },
    /// An input ends earlier: it keeps this many bytes.
    Cut { source: u32, length: u32 },
    /// The argument with this number is left out.
    Drop { argument: u32 },
    /// There is one more argument, before the one with this index; it looks like an option or like a word.
    Insert { argument: u32, is_option: bool },
}

impl Change {
    /// Whether there is a place in the program that is reached when the change is made: then runs tell whether it has been.
    /// Others count as reached once they were tried.
    pub fn has_place(self) -> bool {
        matches!(
            self,
            Change::Side { .. } | Change::Value { .. } | Change::Default { .. }
        )
    }

    /// The value that a decision has then, as far as it says where the program goes: any other one for what was fixed.
    pub fn value(self, decision: &Decision) -> u128 {
        match self {
            Change::Value { value, .. } => value.into(),
            Change::Default { .. } => path::DEFAULT,
            _ => decision.value ^ 1,
        }
    }

    /// The decision that it is about.
    pub fn decision(self) -> Option<usize> {
        match self {
            Change::Side { decision }
            | Change::Otherwise { decision }
            | Change::Value { decision, .. }
            | Change::Default { decision } => Some(decision as usize),
            _ => None,
        }
    }
}

/// One alternative of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub entry: EntryId,
    pub change: Change,
    /// Where it would part from the run; 0 if that is nowhere in the program.
    pub site: SiteId,
    /// What would be reached: whatever path leads there, in this calling context and for what is compared, and after coming by so
    /// often.
    pub levels: [u64; 3],
    /// Identifies the path up to and with the change: tried once.
    pub path: u64,
    /// Length of the path up to there.
    pub depth: u32,
    /// How many calls are between `main` and the place.
    pub calls: u32,
}

/// Changes of structure are as good as alternatives that lie so many calls deep.
const STRUCTURE_CALLS: u32 = 4;

/// What fixed things and pointers have been, by [`fixed_key`]: ranges of values.
pub type FixedValues = HashMap<u64, Vec<(u128, u128)>>;

/// Names the place of a fixed value, whatever value it has.
pub fn fixed_key(decisions: &[Decision], index: usize) -> u64 {
    path::extend(
        before(decisions, index),
        decisions[index].site.0,
        Choice::Fixed,
        0,
    )
}

/// Identifies the path before a decision.
pub fn before(decisions: &[Decision], index: usize) -> u64 {
    match index.checked_sub(1) {
        Some(last) => decisions[last].exact,
        None => path::START,
    }
}

/// The alternatives of an entry's run at its branches and operations, in the order of the path.
pub fn alternatives(
    sites: &SiteMap,
    entry: EntryId,
    traced: &Traced,
    fixed: &mut FixedValues,
    limits: &mut Limits,
) -> Vec<Alternative> {
    let most = Limit::Decisions.value() as usize;
    limits.hit_by(
        Limit::Decisions,
        traced.decisions.len().saturating_sub(most) as u64,
    );
    let mut list = Vec::new();
    let mut contexts = Contexts::default();
    for (index, place) in places(sites, traced).into_iter().enumerate().take(most) {
        let decision = &traced.decisions[index];
        if decision.repeated {
            continue;
        }
        let before = before(&traced.decisions, index);
        for (change, value) in changes(sites, traced, index, fixed, limits) {
            let side = path::side(sites, decision, value);
            list.push(Alternative {
                entry,
                change,
                site: decision.site,
                levels: place.levels(value, side),
                path: path::extend(before, decision.site.0, decision.choice, value),
                depth: index as u32,
                calls: contexts.calls(&traced.trace, decision.context),
            });
        }
    }
    let most = Limit::Operations.value() as usize;
    limits.hit_by(
        Limit::Operations,
        traced.operations.len().saturating_sub(most) as u64,
    );
    for (index, operation) in traced.operations.iter().enumerate().take(most) {
        let failing = mix(original(sites, operation.site).0 ^ mix(operation.failure as u64 + 1));
        let here = in_context(failing, traced, operation.context);
        list.push(Alternative {
            entry,
            change: Change::Fail {
                operation: index as u32,
            },
            site: operation.site,
            levels: [failing, here, here],
            path: mix(here ^ mix(traced.path())),
            depth: operation.position as u32,
            calls: contexts.calls(&traced.trace, operation.context),
        });
    }
    list
}

/// How a decision could go otherwise, with the value that each would have. A thing that was fixed could have another value than
/// those that are known.
pub fn changes(
    sites: &SiteMap,
    traced: &Traced,
    index: usize,
    fixed: &mut FixedValues,
    limits: &mut Limits,
) -> Vec<(Change, u128)> {
    let decision = &traced.decisions[index];
    let number = index as u32;
    let mut list = others(sites, decision, number);
    if matches!(decision.choice, Choice::Fixed | Choice::Object) {
        let values = fixed
            .entry(fixed_key(&traced.decisions, index))
            .or_default();
        let range = (decision.value, decision.high);
        if !values.contains(&range) {
            if values.len() >= Limit::FixedValues.value() as usize {
                limits.hit(Limit::FixedValues);
                return list;
            }
            values.push(range);
        }
        // Another alternative for each value that becomes known.
        let value = u128::MAX - values.len() as u128;
        list.push((Change::Otherwise { decision: number }, value));
    }
    list
}

/// The other sides of a decision that the program knows, with the values that lead there.
pub fn others(sites: &SiteMap, decision: &Decision, number: u32) -> Vec<(Change, u128)> {
    match decision.choice {
        // A run that does not meet a demand ends there; one that does goes on.
        Choice::Assumed if decision.value == 0 => {
            vec![(Change::Otherwise { decision: number }, 1)]
        }
        Choice::Assumed | Choice::Kept | Choice::Fixed | Choice::Object => Vec::new(),
        Choice::Side => vec![(Change::Side { decision: number }, decision.value ^ 1)],
        Choice::Case => {
            let cases = path::cases(sites, decision.site).iter();
            let cases = cases.filter(|case| u128::from(**case) != decision.value);
            let mut list: Vec<(Change, u128)> = cases
                .map(|case| {
                    let change = Change::Value {
                        decision: number,
                        value: *case,
                    };
                    (change, u128::from(*case))
                })
                .collect();
            if decision.value != path::DEFAULT {
                list.push((Change::Default { decision: number }, path::DEFAULT));
            }
            list
        }
    }
}

/// Longer and shorter inputs and fewer arguments, as alternatives.
pub fn structural(entry: EntryId, traced: &Traced) -> Vec<Alternative> {
    let structures = structures(traced).into_iter();
    let alternative = |structure| restructuring(entry, traced, structure);
    structures.map(alternative).collect()
}

/// One more argument, of this many, as alternatives.
pub fn inserting(entry: EntryId, traced: &Traced, arguments: usize) -> Vec<Alternative> {
    let insertions = insertions(arguments).map(|(change, name)| Structure {
        change,
        what: name,
        name,
    });
    let alternative = |structure| restructuring(entry, traced, structure);
    insertions.map(alternative).collect()
}

fn restructuring(entry: EntryId, traced: &Traced, structure: Structure) -> Alternative {
    Alternative {
        entry,
        change: structure.change,
        site: SiteId(0),
        levels: [structure.what, structure.what, structure.name],
        path: mix(structure.name ^ traced.path()),
        depth: u32::MAX,
        calls: STRUCTURE_CALLS,
    }
}

/// A change of an input's structure.
pub struct Structure {
    pub change: Change,
    /// Names what is changed, and how.
    pub what: u64,
    /// The same, with by how much.
    pub name: u64,
}

/// Longer and shorter inputs, fewer arguments.
pub fn structures(traced: &Traced) -> Vec<Structure> {
    let trace = &traced.trace;
    let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
    for (_, event) in trace.events_of(EventKind::EndOfInput) {
        ends.insert(event.x, event.y);
    }
    let mut list = Vec::new();
    let mut add = |change: Change, kind: u64, source: u32, detail: u32| {
        let what = mix(kind ^ mix(source.into()));
        let name = mix(what ^ mix(u64::from(detail) + 1));
        list.push(Structure { change, what, name });
    };
    for (source, length) in ends {
        add(Change::Grow { source }, 0x6772_6f77, source, 0);
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        for shorter in [0, length / 2, length.saturating_sub(1)] {
            if shorter < length {
                let change = Change::Cut {
                    source,
                    length: shorter,
                };
                add(change, 0x6375_7400, source, shorter);
            }
        }
    }
    let sources = (0..trace.source_count()).filter_map(|index| trace.source(index));
    for argument in sources.filter(|source| source.kind == SourceKind::Argument) {
        let change = Change::Drop {
            argument: argument.index,
        };
        add(change, 0x6472_6f70, argument.index, 0);
    }
    list
}

/// More arguments: one more before each or after the last, which looks like an option or does not; each with its name.
pub fn insertions(arguments: usize) -> impl Iterator<Item = (Change, u64)> {
    (0..=arguments as u32).flat_map(|argument| {
        [true, false].map(|is_option| {
            let change = Change::Insert {
                argument,
                is_option,
            };
            let number = argument * 2 + u32::from(is_option);
            (change, mix(0x696e_7365 ^ u64::from(number)))
        })
    })
}

/// Where each decision of a run is made.
pub fn places(sites: &SiteMap, traced: &Traced) -> Vec<Place> {
    let visits = visits(sites, traced).into_iter();
    let decisions = traced.decisions.iter();
    visits
        .zip(decisions)
        .map(|(visit, decision)| visit.place(traced, decision))
        .collect()
}

/// A decision's place, without what it compares.
#[derive(Clone, Copy)]
pub struct Visit {
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
pub fn visits(sites: &SiteMap, traced: &Traced) -> Vec<Visit> {
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

/// The site that an inlined one is a copy of.
pub fn original(sites: &SiteMap, site: SiteId) -> SiteId {
    sites.get(site).map_or(site, |view| view.original)
}

/// Where a decision is made.
#[derive(Clone, Copy)]
pub struct Place {
    site: SiteId,
    /// The site in its calling context.
    here: u64,
    /// What is compared, if input is compared with a constant; else 0.
    compared: u64,
    /// How often the run had come by, roughly.
    occurrence: u32,
}

impl Place {
    /// What is reached when the value is decided for here, which leads to this side: see [`Alternative::levels`].
    pub fn levels(self, value: u128, side: u128) -> [u64; 3] {
        let in_context = mix(self.here ^ self.compared ^ value_key(side));
        let again = mix(in_context ^ value_key(value) ^ mix(u64::from(self.occurrence) << 32));
        [target(self.site, side), in_context, again]
    }
}

/// What is reached when a site decides for a value.
pub fn target(site: SiteId, value: u128) -> u64 {
    mix(site.0 ^ value_key(value))
}

fn value_key(value: u128) -> u64 {
    mix(value as u64 ^ (value >> 64) as u64 ^ 0x5bd1_e995)
}

/// Small numbers are told apart, large ones by their size: loops make progress one turn at a time, but the hundredth
/// is not news after the ninety-ninth.
fn bucket(occurrence: u32) -> u32 {
    match occurrence {
        0..=16 => occurrence,
        _ => 16 + occurrence.ilog2(),
    }
}

/// How many calls lead to a context from `main`, counted once for each.
#[derive(Default)]
struct Contexts(FxHashMap<u32, u32>);

impl Contexts {
    fn calls(&mut self, trace: &Trace, context: u32) -> u32 {
        /// Deeper is deep enough.
        const MOST: usize = 32;
        let count = || trace.calls_outward(context).take(MOST).count() as u32;
        *self.0.entry(context).or_insert_with(count)
    }
}

/// A site by way of these calls.
fn in_context(site: u64, traced: &Traced, context: u32) -> u64 {
    /// Calls that tell contexts apart: recursion must not make every depth a new one.
    const CALLS: usize = 3;
    let calls = traced.trace.calls_outward(context).take(CALLS);
    calls.fold(mix(site), |sum, call| mix(sum ^ call.0))
}
