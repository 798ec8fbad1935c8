//! Operations: from operands with labels to the result's label.
//!
//! Each labelled operand must have its label's value; one that does not is
//! treated as concrete and reported. What the machine computes differently from
//! C's rules has no expression. Operations that can fail for other inputs
//! are logged, each (operator, operands) once.

use crate::core_state::Core;
use crate::memo::BinaryKey;
use crate::trace::new_event;
use crate::{context, hash, lock, loss, nodes, trace};
use parallax_abi::Op;
use parallax_abi::entry::code;
use parallax_abi::trace::{Event, EventKind, LossKind, Mismatch, flags};
use parallax_expr::build::{self, FloatPredicate};
use parallax_expr::value;

/// A value as instrumented code passes it.
#[derive(Clone, Copy)]
pub struct Operand {
    pub label: u32,
    pub value: u128,
}

impl Operand {
    pub fn new(label: u32, lo: u64, hi: u64) -> Operand {
        Operand {
            label,
            value: u128::from(lo) | u128::from(hi) << 64,
        }
    }

    fn cut(self, width: u32) -> Operand {
        let mask = if width < 128 {
            (1 << width) - 1
        } else {
            u128::MAX
        };
        Operand {
            value: self.value & mask,
            ..self
        }
    }
}

/// The operand with its label removed if the label does not stand for the value, or if the path leaves it no
/// other.
#[inline]
pub fn checked(core: &mut Core, operand: Operand, width: u32, op: u8, site: u64) -> Operand {
    let operand = operand.cut(width);
    if operand.label == 0 {
        return operand;
    }
    let node = trace::node(operand.label);
    let is_right = u32::from(node.width) == width && value(node) == operand.value;
    if is_right && !core.settled.contains(operand.label) {
        return operand;
    }
    if !is_right {
        report_difference(core, operand, op, site);
    }
    Operand {
        label: 0,
        ..operand
    }
}

#[cold]
fn report_difference(core: &mut Core, operand: Operand, op: u8, site: u64) {
    if !trace::has_flag(flags::SELF_CHECK) {
        return loss::record(core, LossKind::Stale, site, &[]);
    }
    let node = trace::node(operand.label);
    trace::add_mismatch(Mismatch {
        site,
        label: operand.label,
        op: op.into(),
        expected_lo: node.lo,
        expected_hi: node.hi,
        actual_lo: operand.value as u64,
        actual_hi: (operand.value >> 64) as u64,
    });
}

/// The operand's node, a constant if it has no label.
fn node_of(core: &mut Core, operand: Operand, width: u32) -> u32 {
    match operand.label {
        0 => build::constant(&mut core.nodes, width, operand.value),
        label => label,
    }
}

/// The label for the program; a construction that failed although tracing goes on
/// and depth was no problem had no value in C.
fn finish_or_undefined(core: &mut Core, label: u32, site: u64) -> u32 {
    if label == 0 && trace::active() && !core.nodes.is_too_deep() {
        loss::record(core, LossKind::Undefined, site, &[]);
    }
    nodes::finish(core, label, site)
}

/// Unary operator or conversion.
pub fn unary(packed: u64, a: Operand, site: u64) -> u32 {
    if a.label == 0 || !trace::active() {
        return 0;
    }
    let Some(op) = Op::from_byte(code::op(packed)) else {
        return 0;
    };
    let Some(mut core) = lock::enter() else {
        return 0;
    };
    let (lo, hi) = (a.value as u64, (a.value >> 64) as u64);
    let key = BinaryKey {
        code: packed | UNARY,
        a: lo,
        b: hi,
        la: a.label,
        lb: 0,
    };
    let known = core.operations.get(&key);
    if known != 0 && !core.settled.contains(known) {
        return known;
    }
    let core = &mut *core;
    let a = checked(core, a, code::from(packed), op as u8, site);
    if a.label == 0 {
        return 0;
    }
    if packed & code::ZERO_IS_UNDEFINED != 0 && a.value == 0 {
        loss::record(core, LossKind::Undefined, site, &[]);
        return 0;
    }
    let mut label = build::unary(
        &mut core.nodes,
        op,
        a.label,
        code::to(packed),
        code::extra(packed),
    );
    if packed & code::NEGATE != 0 {
        label = build::not(&mut core.nodes, label);
    }
    let label = finish_or_undefined(core, label, site);
    core.operations.put(key, label);
    label
}

/// Tells unary operations from binary ones in the cache.
const UNARY: u64 = 1 << 63;

/// Binary operator on at most 64 bits.
#[inline]
pub fn binary(packed: u64, la: u32, lb: u32, a: u64, b: u64, site: u64) -> u32 {
    if la | lb == 0 || !trace::active() {
        return 0;
    }
    let Some(mut core) = lock::enter() else {
        return 0;
    };
    let key = BinaryKey {
        code: packed,
        a,
        b,
        la,
        lb,
    };
    match core.operations.get(&key) {
        0 => {
            let operands = (Operand::new(la, a, 0), Operand::new(lb, b, 0));
            let result = compute(&mut core, packed, operands, site);
            core.operations.put(key, result);
            result
        }
        known if core.settled.contains(known) => 0,
        known => known,
    }
}

/// Binary operator on any width.
pub fn binary_wide(packed: u64, a: Operand, b: Operand, site: u64) -> u32 {
    if a.label | b.label == 0 || !trace::active() {
        return 0;
    }
    match lock::enter() {
        Some(mut core) => compute(&mut core, packed, (a, b), site),
        None => 0,
    }
}

fn compute(core: &mut Core, packed: u64, (a, b): (Operand, Operand), site: u64) -> u32 {
    let Some(op) = Op::from_byte(code::op(packed)) else {
        return 0;
    };
    let width = code::from(packed);
    if !(1..=128).contains(&width) {
        return 0;
    }
    let a = checked(core, a, width, op as u8, site);
    // The low part of a concatenation may be wider or narrower than the high one.
    let b_width = if op == Op::Concat {
        code::to(packed).saturating_sub(width)
    } else {
        width
    };
    let b = checked(core, b, b_width, op as u8, site);
    if a.label | b.label == 0 {
        return 0;
    }
    log_if_sensitive(core, op, packed, width, (a, b), site);
    if is_undefined(op, width, a.value, b.value) {
        loss::record(core, LossKind::Undefined, site, &[]);
        return 0;
    }
    let x = node_of(core, a, width);
    let y = node_of(core, b, b_width);
    let mut label = match (op, code::extra(packed)) {
        (Op::FEq, number @ 1..) => match FloatPredicate::from_number(number) {
            Some(predicate) => build::fcmp(&mut core.nodes, predicate, x, y),
            None => 0,
        },
        _ => build::binary(&mut core.nodes, op, x, y),
    };
    if packed & code::NEGATE != 0 {
        label = build::not(&mut core.nodes, label);
    }
    finish_or_undefined(core, label, site)
}

/// `if c then a else b` on at most 64 bits.
pub fn ite(packed: u64, c: Operand, a: Operand, b: Operand, site: u64) -> u32 {
    if c.label | a.label | b.label == 0 || !trace::active() {
        return 0;
    }
    let Some(mut core) = lock::enter() else {
        return 0;
    };
    let core = &mut *core;
    let width = code::from(packed);
    let op = Op::Ite as u8;
    let c = checked(core, c, 1, op, site);
    let a = checked(core, a, width, op, site);
    let b = checked(core, b, width, op, site);
    if c.label == 0 {
        return if c.value != 0 { a.label } else { b.label };
    }
    let x = node_of(core, a, width);
    let y = node_of(core, b, width);
    let label = build::ite(&mut core.nodes, c.label, x, y);
    nodes::finish(core, label, site)
}

/// Whether the machine's result is not what the expression means.
fn is_undefined(op: Op, width: u32, a: u128, b: u128) -> bool {
    match op {
        Op::Shl | Op::LShr | Op::AShr => b >= u128::from(width),
        Op::UDiv | Op::URem => b == 0,
        Op::SDiv | Op::SRem => b == 0 || (b == all_ones(width) && a == 1 << (width - 1)),
        _ => false,
    }
}

fn all_ones(width: u32) -> u128 {
    u128::MAX >> (128 - width)
}

/// Logs what could fail for another input. An operation on the same operands is
/// logged once: a second one can fail only when the first one does.
fn log_if_sensitive(
    core: &mut Core,
    op: Op,
    packed: u64,
    width: u32,
    (a, b): (Operand, Operand),
    site: u64,
) {
    let event = match op {
        Op::UDiv | Op::URem if b.label != 0 => new_event(EventKind::Division),
        Op::SDiv | Op::SRem if b.label != 0 || b.value == all_ones(width) => {
            new_event(EventKind::Division)
        }
        Op::Shl | Op::LShr | Op::AShr if b.label != 0 => new_event(EventKind::Shift),
        Op::Add | Op::Sub | Op::Mul | Op::Shl if packed & code::NO_SIGNED_WRAP != 0 => {
            new_event(EventKind::Overflow)
        }
        _ => return,
    };
    let operand = |operand: Operand| match operand.label {
        0 => operand.value as u64,
        label => u64::from(label) | 1 << 63,
    };
    let key = hash::words(&[event.kind.into(), packed, operand(a), operand(b)]);
    if !core.seen.insert(key) {
        return;
    }
    let event = match EventKind::from_byte(event.kind) {
        Some(EventKind::Division) => Event {
            label: b.label,
            x: a.label,
            ..event
        },
        Some(EventKind::Shift) => Event {
            label: b.label,
            x: width,
            ..event
        },
        _ => overflow_event(core, event, width, a, b),
    };
    let context = context::current(core);
    trace::event(Event {
        detail: op as u8,
        site,
        context,
        ..event
    });
}

/// The concrete operand goes into the event itself, or into a constant
/// node if it has more than 56 bits.
fn overflow_event(core: &mut Core, event: Event, width: u32, a: Operand, b: Operand) -> Event {
    let signed = |operand: Operand| (operand.value << (128 - width)) as i128 >> (128 - width);
    let fits = |value: i128| (value << 72) >> 72 == value;
    let (mut label, mut x, mut concrete) = (a.label, b.label, 0);
    if a.label == 0 {
        concrete = signed(a);
    } else if b.label == 0 {
        concrete = signed(b);
    }
    if !fits(concrete) {
        concrete = 0;
        label = node_of(core, a, width);
        x = node_of(core, b, width);
    }
    Event {
        label,
        x,
        y: u64::from(width) | (concrete as u64) << 8,
        ..event
    }
}
