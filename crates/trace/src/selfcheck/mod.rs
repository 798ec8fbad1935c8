//! Checks that every expression of a trace, evaluated on the run's own input, is the value that
//! the program computed.
//!
//! By induction, without evaluating anything twice: input bytes must be the bytes that the
//! program was really given ([`input`]), and each other node's recorded value must be what
//! its operator makes of its operands' recorded values ([`node`]). Then every recorded value is
//! the expression's value; and a wrong node is found itself, not through all that is
//! computed from it. What the program went on to do with the values (side of a
//! branch, case, address) must agree with them too, and whatever the runtime
//! itself found differing is reported as well.

mod event;
mod input;
mod node;

use std::collections::HashMap;

use parallax_abi::trace::EventKind;
use parallax_abi::{Op, SiteId};

pub use input::ActualInput;

use crate::trace::Trace;

/// Faults that are kept; all are counted.
const KEPT: usize = 1000;

/// One disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub what: What,
    /// The expression concerned; 0 if there is none.
    pub label: u32,
    /// Where, if known: expressions themselves have no place.
    pub site: Option<SiteId>,
    /// The operator concerned.
    pub op: Option<Op>,
    /// What the expression says; `None` if it has no value.
    pub expected: Option<u128>,
    /// What the program computed or did.
    pub actual: u128,
}

/// What disagrees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The operator gives another value for its operands than was recorded.
    Node,
    /// The byte is not the one that the program was given.
    Input,
    /// An operand that the program used is not its expression's value (seen by the runtime).
    Operand,
    /// The program took another side than the condition says.
    Branch,
    /// The program took another case than the value says.
    Switch,
    /// The address used is not its expression's value.
    Address,
    /// The size or length used is not its expression's value.
    Size,
}

/// What was checked, and what came out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub nodes: u64,
    pub events: u64,
    /// Input bytes compared with the input itself.
    pub inputs: u64,
    /// Input bytes that could not be compared: a pipe, or a file that changed or is gone.
    pub unchecked_inputs: u64,
    /// The first faults.
    pub faults: Vec<Fault>,
    /// All faults, also those not kept.
    pub fault_count: u64,
}

impl Summary {
    fn fault(&mut self, fault: Fault) {
        self.fault_count += 1;
        if self.faults.len() < KEPT {
            self.faults.push(fault);
        }
    }
}

/// Checks a whole trace.
pub fn check(trace: &Trace, actual: &ActualInput) -> Summary {
    let mut summary = Summary::default();
    let mut inputs = input::Checker::new(trace, actual);
    for (label, node) in trace.nodes() {
        summary.nodes += 1;
        let fault = if node.op == Op::Input as u8 {
            match inputs.check(label, node) {
                input::Verdict::Unknown => {
                    summary.unchecked_inputs += 1;
                    None
                }
                input::Verdict::Same => {
                    summary.inputs += 1;
                    None
                }
                input::Verdict::Different(fault) => Some(fault),
            }
        } else {
            node::check(trace, label, node)
        };
        if let Some(fault) = fault {
            summary.fault(fault);
        }
    }
    for (kind, event) in trace.events() {
        summary.events += 1;
        if let Some(fault) = event::check(trace, kind, event) {
            summary.fault(fault);
        }
    }
    for mismatch in trace.mismatches() {
        let value = |lo: u64, hi: u64| u128::from(lo) | u128::from(hi) << 64;
        summary.fault(Fault {
            what: What::Operand,
            label: mismatch.label,
            site: (mismatch.site != 0).then_some(SiteId(mismatch.site)),
            op: u8::try_from(mismatch.op).ok().and_then(Op::from_byte),
            expected: Some(value(mismatch.expected_lo, mismatch.expected_hi)),
            actual: value(mismatch.actual_lo, mismatch.actual_hi),
        });
    }
    let recorded = trace.mismatches().count() as u64;
    summary.fault_count += u64::from(trace.mismatch_count()).saturating_sub(recorded);
    place_faults(trace, &mut summary);
    summary
}

/// Gives faulty nodes the place of the first event about an expression that contains them.
fn place_faults(trace: &Trace, summary: &mut Summary) {
    // Expression → faulty one inside it. Operands come first, so one pass is enough.
    let mut inside: HashMap<u32, u32> = summary
        .faults
        .iter()
        .filter(|fault| fault.site.is_none())
        .map(|fault| (fault.label, fault.label))
        .collect();
    if inside.is_empty() {
        return;
    }
    for (label, node) in trace.nodes() {
        let arity = Op::from_byte(node.op).map_or(0, Op::arity);
        let operands = &[node.a, node.b, node.c][..arity];
        if let Some(faulty) = operands.iter().find_map(|operand| inside.get(operand)) {
            let faulty = *faulty;
            inside.entry(label).or_insert(faulty);
        }
    }
    let mut places: HashMap<u32, SiteId> = HashMap::new();
    for (kind, event) in trace.events() {
        if event.site != 0
            && !matches!(kind, EventKind::Input | EventKind::Process)
            && let Some(faulty) = inside.get(&event.label)
        {
            places.entry(*faulty).or_insert(SiteId(event.site));
        }
    }
    for fault in &mut summary.faults {
        if fault.site.is_none() {
            fault.site = places.get(&fault.label).copied();
        }
    }
}

#[cfg(test)]
mod tests;
