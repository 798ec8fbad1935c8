//! The decisions of a run: what its input decided, in order.
//!
//! Every event that ties the path to the input becomes a decision: an expression and the value that it
//! had. All inputs that give the same values follow the same path, as far as the trace can tell.

use parallax_abi::trace::{Concretized, Event, EventKind, ObjectKind};
use parallax_abi::{Op, SiteId};
use parallax_expr::{Label, value};
use parallax_solver::{Constraint, Holds};
use rustc_hash::FxHashSet;

use crate::trace::Trace;
use parallax_exec::sites::SiteMap;

/// What kind of choice it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// A branch, or a conditional expression: 0 or 1.
    Side,
    /// The case of a `switch`, or [`DEFAULT`].
    Case,
    /// A value that had to be fixed: an address written to, a size, an argument of foreign code.
    Fixed,
    /// The object that a pointer from memory points to: what is read there is another thing for each.
    Object,
    /// What an answer of the system rested on, kept as it was: nobody knows what else it could be.
    Kept,
    /// A condition that the program itself demands: it is only ever changed so that it holds.
    Assumed,
}

/// The value of a `switch` that has no case of its own.
pub const DEFAULT: u128 = u128::MAX;

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub choice: Choice,
    pub site: SiteId,
    /// Calling context in the trace.
    pub context: u32,
    pub label: Label,
    /// What was decided; of an object, the lowest address that may be read.
    pub value: u128,
    /// The same as `value`; of an object, the highest address that may be read.
    pub high: u128,
    /// Identifies everything decided so far, this one included; equal for equal beginnings of paths.
    pub prefix: u64,
    /// The same, with addresses and sizes.
    pub exact: u64,
    /// Whether the same was decided before: then it decides nothing.
    pub repeated: bool,
    /// Which of the trace's events it is.
    pub event: u32,
}

impl Decision {
    /// What all inputs have in common that decide the same.
    pub fn constraints(&self, sites: &SiteMap) -> Vec<Constraint> {
        match self.choice {
            Choice::Case if self.value == DEFAULT => no_case(sites, self),
            Choice::Object => vec![Constraint {
                label: self.label,
                holds: Holds::Within(self.value, self.high),
            }],
            _ => vec![Constraint::equals(self.label, self.value)],
        }
    }
}

/// The value of a `switch` is none of its cases.
pub fn no_case(sites: &SiteMap, decision: &Decision) -> Vec<Constraint> {
    let differs = |case: &u64| Constraint::differs(decision.label, (*case).into());
    cases(sites, decision.site).iter().map(differs).collect()
}

/// The case values of a `switch`.
pub fn cases(sites: &SiteMap, site: SiteId) -> &[u64] {
    sites.get(site).map_or(&[][..], |site| site.cases)
}

/// Where a decision for the value leads: cases of a `switch` that share a block are one way on.
pub fn side(sites: &SiteMap, decision: &Decision, value: u128) -> u128 {
    if decision.choice != Choice::Case {
        return value;
    }
    let Some(view) = sites.get(decision.site) else {
        return value;
    };
    let case = u64::try_from(value).map_or(0, |value| view.successor_of(value));
    view.first_like(case).into()
}

/// The decisions of a trace, in order.
pub fn decisions(trace: &Trace, sites: &SiteMap) -> Vec<Decision> {
    let mut list = Vec::new();
    let (mut prefix, mut exact) = (START, START);
    let mut decided = FxHashSet::default();
    for (number, kind, event) in trace.numbered_events() {
        let Some((choice, value, high)) = decided_by(trace, sites, kind, event) else {
            continue;
        };
        // Addresses and sizes differ between inputs that do the same; so does how much there is to keep of a name.
        prefix = match choice {
            Choice::Kept => prefix,
            Choice::Fixed | Choice::Object => extend(prefix, event.site, choice, 0),
            _ => extend(prefix, event.site, choice, value),
        };
        exact = extend(exact, event.site, choice, value);
        // A condition says by itself what is asked; of a `switch` its cases do.
        let question = match choice {
            Choice::Case => event.site,
            _ => 0,
        };
        list.push(Decision {
            choice,
            site: SiteId(event.site),
            context: event.context,
            label: event.label,
            value,
            high,
            prefix,
            exact,
            repeated: !decided.insert((event.label, choice, question)),
            event: number,
        });
    }
    list
}

/// The decisions that runs on the same path have in common: all but what was only kept.
pub fn shared(list: &[Decision]) -> impl Iterator<Item = &Decision> {
    list.iter()
        .filter(|decision| decision.choice != Choice::Kept)
}

/// What an event decides, if anything.
fn decided_by(
    trace: &Trace,
    sites: &SiteMap,
    kind: EventKind,
    event: &Event,
) -> Option<(Choice, u128, u128)> {
    let value = value(trace.node(event.label)?);
    let same = |choice| Some((choice, value, value));
    match kind {
        EventKind::Branch | EventKind::Select => same(Choice::Side),
        EventKind::Concretize if event.detail == Concretized::Answer as u8 => same(Choice::Kept),
        EventKind::Store | EventKind::Concretize => same(Choice::Fixed),
        EventKind::Assume => same(Choice::Assumed),
        EventKind::Switch => {
            let is_case = |case: &u64| u128::from(*case) == value;
            if cases(sites, SiteId(event.site)).iter().any(is_case) {
                same(Choice::Case)
            } else {
                Some((Choice::Case, DEFAULT, DEFAULT))
            }
        }
        EventKind::Load if !is_derived(trace, event.label) => {
            let object = trace.object(event.x)?;
            let room = object.size.checked_sub(event.detail.into())?;
            let base = u128::from(object.base);
            let is_known = object.kind != ObjectKind::Unknown;
            is_known.then_some((Choice::Object, base, base + u128::from(room)))
        }
        _ => None,
    }
}

/// Whether an address was computed from an object's own, so that it can only point elsewhere by going astray.
fn is_derived(trace: &Trace, address: Label) -> bool {
    /// Sums of pointers have few terms.
    const MOST: usize = 64;
    let mut pending = vec![address];
    for _ in 0..MOST {
        let Some(node) = pending.pop().and_then(|label| trace.node(label)) else {
            return false;
        };
        match Op::from_byte(node.op) {
            Some(Op::Object) => return true,
            Some(Op::Add) => pending.extend([node.a, node.b]),
            Some(Op::Sub) => pending.push(node.a),
            Some(Op::Ite) => pending.extend([node.b, node.c]),
            _ => {}
        }
    }
    true
}

/// Identifies the path without decisions.
pub const START: u64 = 0;

/// Identifies a path with one more decision.
pub fn extend(path: u64, site: u64, choice: Choice, value: u128) -> u64 {
    let words = [
        path,
        site,
        choice as u64,
        value as u64,
        (value >> 64) as u64,
    ];
    words
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum: u64, word| {
            (sum ^ word)
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(29)
        })
}
