//! The decisions of a run: what its input decided, in order.
//!
//! Every event that ties the path to the input becomes a decision: an expression and the value that it
//! had. All inputs that give the same values follow the same path, as far as the trace can tell.

use std::collections::HashSet;

use parallax_abi::SiteId;
use parallax_abi::trace::EventKind;
use parallax_expr::{Label, value};

use crate::trace::Trace;

/// What kind of choice it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// A branch, or a conditional expression: 0 or 1.
    Side,
    /// The value of a `switch`.
    Case,
    /// A value that had to be fixed: an address written to, a size, an argument of foreign code.
    Fixed,
    /// A condition that the program itself demands. It is never to be changed.
    Assumed,
}

/// One decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    pub choice: Choice,
    pub site: SiteId,
    /// Calling context in the trace.
    pub context: u32,
    pub label: Label,
    pub value: u128,
    /// Identifies everything decided so far, this one included; equal for equal beginnings of paths.
    pub prefix: u64,
    /// The same, with the values that had to be fixed: addresses and sizes.
    pub exact: u64,
    /// Whether the same was decided before: then it decides nothing.
    pub repeated: bool,
}

/// The decisions of a trace, in order.
pub fn decisions(trace: &Trace) -> Vec<Decision> {
    let mut list = Vec::new();
    let (mut prefix, mut exact) = (START, START);
    let mut decided = HashSet::new();
    for (kind, event) in trace.events() {
        let Some(choice) = choice(kind) else {
            continue;
        };
        let Some(node) = trace.node(event.label) else {
            continue;
        };
        let value = value(node);
        let meaning = if choice == Choice::Fixed { 0 } else { value };
        prefix = extend(prefix, event.site, choice, meaning);
        exact = extend(exact, event.site, choice, value);
        list.push(Decision {
            choice,
            site: SiteId(event.site),
            context: event.context,
            label: event.label,
            value,
            prefix,
            exact,
            repeated: !decided.insert(event.label),
        });
    }
    list
}

/// What kind of choice an event is; `None` if it decides nothing.
pub fn choice(kind: EventKind) -> Option<Choice> {
    match kind {
        EventKind::Branch | EventKind::Select => Some(Choice::Side),
        EventKind::Switch => Some(Choice::Case),
        EventKind::Store | EventKind::Concretize => Some(Choice::Fixed),
        EventKind::Assume => Some(Choice::Assumed),
        _ => None,
    }
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
