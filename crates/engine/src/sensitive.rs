//! Operations that fail for some inputs: what would have to hold for the failure.
//!
//! A memory access through a symbolic address fails outside of the object that the address was derived
//! from; a division by zero; signed arithmetic out of range; a shift by the width or more. For each such event of a
//! trace this makes the condition, as an expression over the input, under which it fails.

use parallax_abi::trace::{Event, EventKind, ObjectKind};
use parallax_abi::{Op, SiteId};
use parallax_expr::{Label, Store, build};
use parallax_solver::Overlay;

use crate::path::decided_by;
use crate::sites::SiteMap;
use crate::trace::Trace;

/// What would go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Failure {
    OutOfBounds,
    DivisionByZero,
    Overflow,
    Shift,
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

/// All operations of a trace that could fail, in order.
pub fn operations(trace: &Trace, sites: &SiteMap) -> Vec<Sensitive> {
    let mut found = Vec::new();
    let mut position = 0;
    for (kind, event) in trace.events() {
        let before = position;
        if decided_by(trace, sites, kind, event).is_some() {
            position += 1;
        }
        let failure = match kind {
            EventKind::Load | EventKind::Store => Failure::OutOfBounds,
            EventKind::Division => Failure::DivisionByZero,
            EventKind::Shift => Failure::Shift,
            EventKind::Overflow => Failure::Overflow,
            _ => continue,
        };
        found.push(Sensitive {
            failure,
            site: SiteId(event.site),
            context: event.context,
            // A write is a decision itself, made by the address that could fail.
            position: before,
            kind,
            event: *event,
        });
    }
    found
}

/// The expression, one bit wide, that is true when the operation fails; `None` if it cannot.
pub fn condition(overlay: &mut Overlay<'_, Trace>, operation: &Sensitive) -> Option<Label> {
    let event = &operation.event;
    let label = match operation.kind {
        EventKind::Load | EventKind::Store => out_of_bounds(overlay, event)?,
        EventKind::Division => {
            let width = overlay.base().node(event.label)?.width;
            let zero = build::constant(overlay, width.into(), 0);
            build::eq(overlay, event.label, zero)
        }
        EventKind::Shift => shifts_too_far(overlay, event)?,
        EventKind::Overflow => overflow(overlay, event)?,
        _ => return None,
    };
    let is_open = label != 0 && overlay.node(label).op != Op::Const as u8;
    is_open.then_some(label)
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

/// The address lies before the object or too close to its end.
fn out_of_bounds(overlay: &mut Overlay<'_, Trace>, event: &Event) -> Option<Label> {
    let object = overlay.base().object(event.x)?;
    let size = u64::from(event.detail);
    if object.kind == ObjectKind::Unknown || object.size < size {
        return None;
    }
    // One comparison for both ends: the distance from the start, taken as unsigned.
    let last = build::constant(overlay, 64, u128::from(object.size - size));
    let base = build::constant(overlay, 64, u128::from(object.base));
    let distance = build::sub(overlay, event.label, base);
    Some(build::binary(overlay, Op::Ult, last, distance))
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
