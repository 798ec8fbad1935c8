//! Operations that fail for some inputs: what would have to hold for the failure.
//!
//! A memory access through a symbolic address fails outside of the object that the address was derived
//! from; a division by zero; signed arithmetic out of range; a shift by the width or more; an allocation whose size
//! wrapped round or cannot be had; a copy longer than what it is copied to or from; a format that asks for arguments that
//! nobody gave; an assertion whose condition does not hold. For each such event of a trace this makes the condition, as an expression over the input, under which it fails.

mod size;

use parallax_abi::trace::{Event, EventKind, ObjectKind};
use parallax_abi::{Op, SiteId};
use parallax_expr::{Label, Store, build};
use parallax_solver::Overlay;
use serde::{Deserialize, Serialize};

use crate::path::Decision;
use crate::trace::Trace;
use parallax_exec::sites::SiteMap;

/// What would go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Failure {
    OutOfBounds,
    DivisionByZero,
    Overflow,
    Shift,
    Allocation,
    Length,
    Format,
    Assertion,
}

impl Failure {
    pub fn name(self) -> &'static str {
        match self {
            Failure::OutOfBounds => "out-of-bounds",
            Failure::DivisionByZero => "division-by-zero",
            Failure::Overflow => "overflow",
            Failure::Shift => "shift",
            Failure::Allocation => "allocation",
            Failure::Length => "length",
            Failure::Format => "format",
            Failure::Assertion => "assertion",
        }
    }
}

/// An operation that could fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sensitive {
    pub failure: Failure,
    pub site: SiteId,
    pub context: u32,
    /// How many decisions of the path come before it.
    pub position: usize,
    kind: EventKind,
    event: Event,
}

impl Sensitive {
    fn new(failure: Failure, position: usize, kind: EventKind, event: &Event) -> Sensitive {
        Sensitive {
            failure,
            site: SiteId(event.site),
            context: event.context,
            position,
            kind,
            event: *event,
        }
    }
}

/// The events of a trace, each with how many decisions of the path come before it.
fn positioned<'t>(
    trace: &'t Trace,
    decisions: &'t [Decision],
) -> impl Iterator<Item = (usize, EventKind, &'t Event)> {
    let mut position = 0;
    trace.numbered_events().map(move |(number, kind, event)| {
        while decisions
            .get(position)
            .is_some_and(|decision| decision.event < number)
        {
            position += 1;
        }
        (position, kind, event)
    })
}

/// All operations of a trace that could fail, in order.
pub fn operations(trace: &Trace, decisions: &[Decision]) -> Vec<Sensitive> {
    let mut found = Vec::new();
    // A write is a decision itself, made by the address that could fail: it comes after those before it, too.
    for (position, kind, event) in positioned(trace, decisions) {
        let failure = match kind {
            EventKind::Load | EventKind::Store => Failure::OutOfBounds,
            EventKind::Division => Failure::DivisionByZero,
            EventKind::Shift => Failure::Shift,
            EventKind::Overflow => Failure::Overflow,
            EventKind::Allocation => Failure::Allocation,
            EventKind::Length => Failure::Length,
            EventKind::Format => Failure::Format,
            _ => continue,
        };
        found.push(Sensitive::new(failure, position, kind, event));
    }
    found
}

/// Branches of a trace whose other side gives up: a failed assertion, or `abort`. In order.
pub fn assertions(trace: &Trace, decisions: &[Decision], sites: &SiteMap) -> Vec<Sensitive> {
    let mut found = Vec::new();
    for (position, kind, event) in positioned(trace, decisions) {
        if kind == EventKind::Branch && sites.gives_up(SiteId(event.site), event.detail == 0) {
            found.push(Sensitive::new(Failure::Assertion, position, kind, event));
        }
    }
    found
}

/// Accesses to memory whose address is concrete on this path but need not be on others: the site, and how many
/// decisions come before.
pub fn accesses(trace: &Trace, decisions: &[Decision]) -> Vec<(SiteId, usize)> {
    let accesses = positioned(trace, decisions).filter(|(_, kind, _)| *kind == EventKind::Access);
    accesses
        .map(|(position, _, event)| (SiteId(event.site), position))
        .collect()
}

/// When an operation fails: expressions, one bit wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// True whenever it fails.
    pub any: Label,
    /// True when it fails in a way that is sure to be noticed: sanitizers only look at the bytes next to an object.
    pub near: Option<Label>,
}

/// When the operation fails; `None` if it cannot.
pub fn condition(overlay: &mut Overlay<'_, Trace>, operation: &Sensitive) -> Option<Condition> {
    let event = &operation.event;
    let alone = |any: Label| Condition { any, near: None };
    let condition = match operation.kind {
        EventKind::Load | EventKind::Store => out_of_bounds(overlay, event)?,
        EventKind::Division => alone(division(overlay, event)?),
        EventKind::Shift => alone(shifts_too_far(overlay, event)?),
        EventKind::Overflow => alone(overflow(overlay, event)?),
        EventKind::Allocation => size::unobtainable(overlay, event)?,
        EventKind::Length => size::too_long(overlay, event)?,
        EventKind::Format => conversion(overlay, event)?,
        EventKind::Branch => alone(match event.detail {
            0 => event.label,
            _ => build::not(overlay, event.label),
        }),
        _ => return None,
    };
    is_open(overlay, condition.any).then_some(Condition {
        any: condition.any,
        near: condition.near.filter(|near| is_open(overlay, *near)),
    })
}

/// Whether an expression could be built and depends on the input.
fn is_open(overlay: &Overlay<'_, Trace>, label: Label) -> bool {
    label != 0 && overlay.node(label).op != Op::Const as u8
}

/// Either of two conditions; 0 is one that never holds.
fn either(overlay: &mut Overlay<'_, Trace>, a: Label, b: Label) -> Label {
    match (a, b) {
        (0, label) | (label, 0) => label,
        _ => build::binary(overlay, Op::Or, a, b),
    }
}

/// The two bytes of a format are a conversion that takes a pointer: `%n` is sure to be noticed, since it writes there.
fn conversion(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Condition> {
    for label in [event.label, event.x] {
        if overlay.base().node(label)?.width != 8 {
            return None;
        }
    }
    let mut is = |label: Label, byte: u8| {
        let byte = build::constant(overlay, 8, byte.into());
        build::eq(overlay, label, byte)
    };
    let (percent, written, read) = (is(event.label, b'%'), is(event.x, b'n'), is(event.x, b's'));
    let pointer = build::or(overlay, written, read);
    Some(Condition {
        any: build::and(overlay, percent, pointer),
        near: Some(build::and(overlay, percent, written)),
    })
}

/// The divisor is 0, or the smallest number is divided by -1.
fn division(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Label> {
    let is_signed = matches!(Op::from_byte(event.detail), Some(Op::SDiv | Op::SRem));
    let known = if event.label != 0 {
        event.label
    } else {
        event.x
    };
    let width = u32::from(overlay.base().node(known)?.width);
    let mut fails = 0;
    if event.label != 0 {
        let zero = build::constant(overlay, width, 0);
        fails = build::eq(overlay, event.label, zero);
    }
    if is_signed && event.x != 0 {
        let least = build::constant(overlay, width, 1 << (width - 1));
        let mut overflows = build::eq(overlay, event.x, least);
        // A divisor without a label is logged only if it is -1.
        if event.label != 0 {
            let minus_one = build::constant(overlay, width, parallax_expr::bits::mask(width));
            let by_minus_one = build::eq(overlay, event.label, minus_one);
            overflows = build::binary(overlay, Op::And, overflows, by_minus_one);
        }
        fails = either(overlay, fails, overflows);
    }
    (fails != 0).then_some(fails)
}

fn shifts_too_far(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Label> {
    let amount = u32::from(overlay.base().node(event.label)?.width);
    // A width that the amount cannot reach is never reached.
    let width = u128::from(event.x);
    if amount < 32 && width >> amount != 0 {
        return None;
    }
    let width = build::constant(overlay, amount, width);
    Some(build::binary(overlay, Op::Ule, width, event.label))
}

/// How far from an object an access is surely noticed: the least that AddressSanitizer keeps free around objects.
const NEAR: u64 = 16;

/// The address lies before the object or too close to its end.
fn out_of_bounds(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Condition> {
    let object = overlay.base().object(event.x)?;
    let size = u64::from(event.detail);
    if object.kind == ObjectKind::Unknown || object.size < size {
        return None;
    }
    // One comparison for both ends: the distance from the start, taken as unsigned.
    let room = object.size - size;
    let last = build::constant(overlay, 64, u128::from(room));
    let base = build::constant(overlay, 64, u128::from(object.base));
    let distance = build::sub(overlay, event.label, base);
    let any = build::binary(overlay, Op::Ult, last, distance);
    let end = build::constant(overlay, 64, u128::from(room + NEAR));
    let not_far = build::binary(overlay, Op::Ule, distance, end);
    let behind = build::binary(overlay, Op::And, any, not_far);
    let start = build::constant(overlay, 64, u128::from(NEAR.wrapping_neg()));
    let before = build::binary(overlay, Op::Ule, start, distance);
    let near = build::binary(overlay, Op::Or, behind, before);
    Some(Condition {
        any,
        near: Some(near),
    })
}

/// The exact result, computed with more bits, does not fit.
fn overflow(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Label> {
    let op = Op::from_byte(event.detail)?;
    let width = (event.y & 0xff) as u32;
    let wide = match op {
        Op::Mul => width * 2,
        Op::Add | Op::Sub => width + 1,
        _ => return None,
    };
    if width == 0 || wide > 128 {
        return None;
    }
    let concrete = (event.y as i64 >> 8) as i128 as u128 & parallax_expr::bits::mask(width);
    let mut operand = |label: Label| {
        let label = match label {
            0 => build::constant(overlay, width, concrete),
            label if u32::from(overlay.node(label).width) != width => return None,
            label => label,
        };
        Some(build::sext(overlay, label, wide))
    };
    let (a, b) = (operand(event.label)?, operand(event.x)?);
    let exact = build::binary(overlay, op, a, b);
    let cut = build::extract(overlay, exact, 0, width);
    let back = build::sext(overlay, cut, wide);
    let fits = build::eq(overlay, exact, back);
    Some(build::not(overlay, fits))
}
