//! Symbolic addresses: making them, reading and writing through them.

use crate::core_state::Core;
use crate::ops::{Operand, checked};
use crate::trace::new_event;
use crate::{context, hash, lock, loss, nodes, objects, shadow, tables, trace};
use parallax_abi::Op;
use parallax_abi::trace::{Concretized, Event, EventKind, LossKind};
use parallax_expr::{Store, build};

/// Bits of an address.
const WIDTH: u32 = 64;
/// Nodes of an address that are looked at to find what it was derived from.
const SEARCH_NODES: usize = 64;

/// Pointer arithmetic with a label on either side.
pub fn address(base: u64, lbase: u32, offset: u64, loffset: u32, site: u64) -> u32 {
    if lbase | loffset == 0 || !trace::active() {
        return 0;
    }
    let Some(mut core) = lock::enter() else {
        return 0;
    };
    let core = &mut *core;
    let op = Op::Add as u8;
    let base = checked(core, Operand::new(lbase, base, 0), WIDTH, op, site);
    let offset = checked(core, Operand::new(loffset, offset, 0), WIDTH, op, site);
    if base.label | offset.label == 0 {
        return 0;
    }
    let from = match base.label {
        0 => derived_from_object(core, base.value as u64),
        label => label,
    };
    let by = match offset.label {
        0 => build::constant(&mut core.nodes, WIDTH, offset.value),
        label => label,
    };
    let sum = build::add(&mut core.nodes, from, by);
    nodes::finish(core, sum, site)
}

/// A concrete pointer as an expression: its object's address plus the distance.
fn derived_from_object(core: &mut Core, pointer: u64) -> u32 {
    let found = core.objects.find(pointer);
    let object = objects::record(core, found);
    if object == 0 {
        return 0;
    }
    let start = build::object(&mut core.nodes, object, found.base);
    let distance = build::constant(&mut core.nodes, WIDTH, u128::from(pointer - found.base));
    build::add(&mut core.nodes, start, distance)
}

/// The object that an address was derived from: an object node among the terms of its
/// sum, preferably the one that contains the present address.
fn object_of(core: &mut Core, label: u32, address: u64) -> u32 {
    let mut pending = [0u32; SEARCH_NODES];
    let mut count = 1;
    let mut next = 0;
    pending[0] = label;
    let mut first = 0;
    while next < count {
        let node = core.nodes.node(pending[next]);
        next += 1;
        let terms: &[u32] = match Op::from_byte(node.op) {
            Some(Op::Object) => {
                let object = trace::object(node.a);
                if address.wrapping_sub(object.base) <= object.size {
                    return node.a;
                }
                if first == 0 {
                    first = node.a;
                }
                &[]
            }
            Some(Op::Add) => &[node.a, node.b],
            Some(Op::Sub) => &[node.a],
            Some(Op::Ite) => &[node.b, node.c],
            _ => &[],
        };
        for term in terms {
            if count < SEARCH_NODES {
                pending[count] = *term;
                count += 1;
            }
        }
    }
    if first != 0 {
        return first;
    }
    let found = core.objects.find(address);
    objects::record(core, found)
}

fn log(core: &mut Core, event: Event, key: &[u64]) {
    let context = context::current(core);
    let seen = hash::pair(
        hash::words(key),
        hash::words(&[event.kind.into(), event.label.into(), event.site]),
    );
    if core.seen.insert(seen) {
        trace::event(Event { context, ..event });
    }
}

/// Reads through a labelled address; the value's label.
///
/// # Safety
/// The program is about to read these bytes itself.
pub unsafe fn load(laddress: u32, address: u64, size: u64, site: u64) -> u32 {
    if !trace::active() {
        return 0;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        match load_from_table(laddress, address, size, site) {
            Some(label) => label,
            None => shadow::load(address, size, site),
        }
    }
}

unsafe fn load_from_table(laddress: u32, address: u64, size: u64, site: u64) -> Option<u32> {
    if laddress == 0 || size == 0 || size > shadow::MAX_BYTES {
        return None;
    }
    let mut core = lock::enter()?;
    let core = &mut *core;
    let at = checked(
        core,
        Operand::new(laddress, address, 0),
        WIDTH,
        Op::Table as u8,
        site,
    );
    if at.label == 0 {
        return None;
    }
    let index = object_of(core, at.label, address);
    if index == 0 {
        return None;
    }
    let event = Event {
        detail: size as u8,
        label: at.label,
        site,
        x: index,
        y: address,
        ..new_event(EventKind::Load)
    };
    log(core, event, &[size, index.into()]);
    let object = trace::object(index);
    let inside = address.wrapping_sub(object.base);
    let is_inside = inside <= object.size && size <= object.size - inside;
    if let Some(table) = is_inside
        .then(|| tables::of_object(core, index, site))
        .flatten()
    {
        // SAFETY: the program is about to read these bytes itself.
        let value = unsafe { shadow::value_at(address, size) };
        let label = build::table(&mut core.nodes, at.label, table, 8 * size as u32, value);
        return Some(nodes::finish(core, label, site));
    }
    if trace::active() {
        loss::record(core, LossKind::Table, site, &[]);
        fix(core, at.label, address, Concretized::LoadAddress, site);
    }
    None
}

/// Writes through a labelled address: from here on the address is what it is now.
pub fn store(laddress: u32, address: u64, size: u64, site: u64) {
    if laddress == 0 || !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let at = checked(
        core,
        Operand::new(laddress, address, 0),
        WIDTH,
        Op::Table as u8,
        site,
    );
    if at.label == 0 {
        return;
    }
    let event = Event {
        detail: size.min(255) as u8,
        label: at.label,
        site,
        x: object_of(core, at.label, address),
        y: address,
        ..new_event(EventKind::Store)
    };
    log(core, event, &[size, address]);
    core.settled.settle(at.label);
}

/// Fixes a labelled value to its present one.
pub fn concretize(operand: Operand, reason: u8, site: u64) {
    if operand.label == 0 || !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let width = trace::node(operand.label).width.into();
    let operand = checked(core, operand, width, 0, site);
    if operand.label != 0 {
        log_fixed(core, operand.label, operand.value as u64, reason, site);
    }
}

/// Fixes the label of a value that was checked already.
pub fn fix(core: &mut Core, label: u32, value: u64, reason: Concretized, site: u64) {
    log_fixed(core, label, value, reason as u8, site);
}

fn log_fixed(core: &mut Core, label: u32, value: u64, reason: u8, site: u64) {
    let event = Event {
        detail: reason,
        label,
        site,
        y: value,
        ..new_event(EventKind::Concretize)
    };
    log(core, event, &[reason.into()]);
    core.settled.settle(label);
}

/// An access through an address without a label, once between any two decisions.
pub fn concrete(site: u64) {
    if !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let event = Event {
        site,
        ..new_event(EventKind::Access)
    };
    log(core, event, &[core.decisions]);
}

/// A memory function writes or reads a range: what can go wrong with it is logged, and the place fixed.
pub fn range(place: u64, lplace: u32, length: u64, llength: u32, written: bool, site: u64) {
    if llength != 0
        && trace::active()
        && let Some(mut core) = lock::enter()
    {
        log_length(&mut core, place, length, llength, site);
    }
    if written {
        store(lplace, place, length, site);
    } else {
        read(lplace, place, length, site);
    }
}

/// A length, logged with what there is of the object from the place on.
fn log_length(core: &mut Core, place: u64, length: u64, label: u32, site: u64) {
    let operand = Operand::new(label, length, 0);
    if checked(core, operand, WIDTH, 0, site).label == 0 {
        return;
    }
    let found = core.objects.find(place).from(place);
    let x = objects::record(core, found);
    let event = Event {
        label,
        site,
        x,
        y: length,
        ..new_event(EventKind::Length)
    };
    log(core, event, &[x.into()]);
}

/// Reads a range through a labelled address, which is what it is now from here on: no table is made of so much.
fn read(laddress: u32, address: u64, size: u64, site: u64) {
    if laddress == 0 || !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let operand = Operand::new(laddress, address, 0);
    if checked(core, operand, WIDTH, Op::Table as u8, site).label == 0 {
        return;
    }
    let event = Event {
        detail: size.min(255) as u8,
        label: laddress,
        site,
        x: object_of(core, laddress, address),
        y: address,
        ..new_event(EventKind::Load)
    };
    log(core, event, &[size, event.x.into()]);
    loss::record(core, LossKind::Table, site, b"memcpy");
    fix(core, laddress, address, Concretized::LoadAddress, site);
}

/// Bytes of a format that are looked at.
const FORMAT_BYTES: u64 = 256;
/// Places in a format that are logged: one is enough for a conversion that nobody meant.
const FORMAT_PLACES: usize = 4;

/// A format: where two bytes of input stand one behind the other, a conversion could stand.
///
/// # Safety
/// The program is about to read the format itself.
pub unsafe fn format(format: u64, site: u64) {
    if !trace::active() {
        return;
    }
    let mut logged = 0;
    let mut before = 0;
    for at in 0..FORMAT_BYTES {
        // SAFETY: the format ends with a zero byte, and none was found so far.
        let (byte, label) = unsafe {
            let address = format + at;
            (*(address as *const u8), shadow::load(address, 1, site))
        };
        if byte == 0 || logged == FORMAT_PLACES {
            break;
        }
        if before != 0
            && label != 0
            && let Some(mut core) = lock::enter()
        {
            let event = Event {
                label: before,
                site,
                x: label,
                y: at - 1,
                ..new_event(EventKind::Format)
            };
            log(&mut core, event, &[label.into(), at]);
            logged += 1;
            before = 0;
        } else {
            before = label;
        }
    }
}
