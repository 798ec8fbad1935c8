//! Whether what the program did agrees with the value of the expression it did it on.

use parallax_abi::SiteId;
use parallax_abi::trace::{Event, EventKind};
use parallax_expr::value;

use super::{Fault, What};
use crate::trace::Trace;

pub(super) fn check(trace: &Trace, kind: EventKind, event: &Event) -> Option<Fault> {
    let node = trace.node(event.label)?;
    let fault = |what, expected, actual| {
        Some(Fault {
            what,
            label: event.label,
            site: Some(SiteId(event.site)),
            op: None,
            expected: Some(expected),
            actual,
        })
    };
    let same = |what, actual: u64| {
        // Sizes and addresses have at most 64 bits.
        let expected = value(node);
        if expected == u128::from(actual) {
            None
        } else {
            fault(what, expected, actual.into())
        }
    };
    match kind {
        EventKind::Branch | EventKind::Select | EventKind::Assume => {
            let (condition, taken) = (value(node), u128::from(event.detail));
            if condition == taken {
                None
            } else {
                fault(What::Branch, condition, taken)
            }
        }
        EventKind::Switch => same(What::Switch, event.y),
        EventKind::Load | EventKind::Store => same(What::Address, event.y),
        EventKind::IndirectCall => same(What::Address, event.y),
        EventKind::Allocation | EventKind::Length => same(What::Size, event.y),
        EventKind::Concretize
        | EventKind::Division
        | EventKind::Shift
        | EventKind::Overflow
        | EventKind::Input
        | EventKind::Process
        | EventKind::Exit
        | EventKind::Output
        | EventKind::EndOfInput
        | EventKind::Report
        | EventKind::Access
        | EventKind::Format => None,
    }
}
