//! Control-flow events and the bookkeeping around calls.

use crate::core_state::Core;
use crate::ops::{Operand, checked};
use crate::trace::new_event;
use crate::{access, context, hash, lock, loss, shadow, tls, trace};
use parallax_abi::model::is_output;
use parallax_abi::tls::{MAX_ARGS, MAX_VARIADIC};
use parallax_abi::trace::{Concretized, Event, EventKind, LossKind, ObjectKind};

/// Conditional branch or select.
pub fn branch(kind: EventKind, label: u32, taken: u32, site: u64) {
    if label == 0 || !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let taken = taken & 1;
    if checked(core, Operand::new(label, taken.into(), 0), 1, 0, site).label == 0 {
        return;
    }
    core.decisions += 1;
    let context = context::current(core);
    trace::event(Event {
        detail: taken as u8,
        label,
        site,
        context,
        ..new_event(kind)
    });
    core.settled.settle(label);
}

pub fn switch(label: u32, value: u64, site: u64) {
    if label == 0 || !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let width = trace::node(label).width.into();
    if checked(core, Operand::new(label, value, 0), width, 0, site).label == 0 {
        return;
    }
    core.decisions += 1;
    let context = context::current(core);
    let event = new_event(EventKind::Switch);
    trace::event(Event {
        label,
        site,
        context,
        y: value,
        ..event
    });
}

/// Indirect call: concrete targets once per site, symbolic ones each time.
pub fn indirect_call(label: u32, target: u64, site: u64) {
    if !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    let label = checked(core, Operand::new(label, target, 0), 64, 0, site).label;
    let key = hash::words(&[EventKind::IndirectCall as u64, site, target]);
    let is_new = core.seen.insert(key);
    if label == 0 && !is_new {
        return;
    }
    let context = context::current(core);
    let event = new_event(EventKind::IndirectCall);
    trace::event(Event {
        label,
        site,
        context,
        y: target,
        ..event
    });
    if label != 0 {
        access::fix(core, label, target, Concretized::Target, site);
    }
}

/// Most memory behind a pointer that is looked at for labels.
const OFFERED: u64 = 4096;

/// Tags a call as one with labels if the memory behind a pointer argument has any.
pub fn offer(pointer: u64, callee: u64) {
    if !trace::active() {
        return;
    }
    let protocol = tls::protocol();
    // SAFETY: this thread's own block.
    if unsafe { (*protocol).callee } == callee {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let found = core.objects.find(pointer);
    let size = match found.kind {
        ObjectKind::Unknown => 16,
        _ => (found.base + found.size)
            .saturating_sub(pointer)
            .min(OFFERED),
    };
    // SAFETY: the tables are reserved while tracing is active; this thread's own block.
    unsafe {
        if shadow::peek(pointer, size) {
            (*protocol).args.fill(0);
            (*protocol).variadic.fill(0);
            (*protocol).callee = callee;
        }
    }
}

/// Nobody took the labels of a call's arguments.
pub fn untaken(name: &[u8], count: u64, site: u64) {
    let protocol = tls::protocol();
    // SAFETY: this thread's own block.
    let args = unsafe {
        (*protocol).callee = 0;
        (*protocol).returned = 0;
        (*protocol).args
    };
    if !trace::active() {
        return;
    }
    let Some(mut core) = lock::enter() else {
        return;
    };
    let core = &mut *core;
    if is_output(name) {
        // Labelled arguments were announced before the call.
        if args.iter().take(count as usize).all(|label| *label == 0) {
            put_out(core, 0, 0, site);
        }
    } else {
        for label in args.into_iter().take((count as usize).min(MAX_ARGS)) {
            if label != 0 {
                let node = trace::node(label);
                access::fix(core, label, node.lo, Concretized::Argument, site);
            }
        }
        loss::record(core, LossKind::Call, site, name);
    }
}

/// A labelled value is put out.
pub fn output(label: u32, argument: u32, site: u64) {
    if label != 0 {
        with_core(|core| put_out(core, label, argument, site));
    }
}

fn put_out(core: &mut Core, label: u32, argument: u32, site: u64) {
    let context = context::current(core);
    trace::event(Event {
        label,
        site,
        context,
        x: argument,
        ..new_event(EventKind::Output)
    });
}

/// What a label stands for is fixed from here on.
pub fn give_up(label: u32, site: u64) {
    if label != 0 {
        with_core(|core| {
            let value = trace::node(label).lo;
            access::fix(core, label, value, Concretized::Operand, site);
        });
    }
}

/// A loss that instrumented code noticed.
pub fn note_loss(kind: LossKind, name: &[u8], site: u64) {
    if !trace::active() {
        return;
    }
    if let Some(mut core) = lock::enter() {
        loss::record(&mut core, kind, site, name);
    }
}

/// Runs something under the lock if tracing is active.
pub fn with_core(action: impl FnOnce(&mut Core)) {
    if trace::active()
        && let Some(mut core) = lock::enter()
    {
        action(&mut core);
    }
}

/// As [`with_core`], also before a trace is there, if one will come: for what later traces must know.
pub fn with_books(action: impl FnOnce(&mut Core)) {
    if trace::keeps_books()
        && let Some(mut core) = lock::enter()
    {
        action(&mut core);
    }
}

/// The x86-64 `va_list`.
#[repr(C)]
pub struct VaList {
    gp_offset: u32,
    fp_offset: u32,
    overflow_area: u64,
    save_area: u64,
}

/// General registers, then vector registers, in the register save area.
const SAVE_SLOTS: usize = 22;
const SLOT: u64 = 8;

/// Gives the areas of variable arguments the labels that the caller passed, and
/// clears what former calls left there.
///
/// # Safety
/// `list` was just initialised by `va_start`; `labels` is null or points to
/// `MAX_VARIADIC` labels.
pub unsafe fn va_start(list: *const VaList, labels: *const u32, overflow_bytes: u64) {
    // SAFETY: passed on to the caller.
    unsafe {
        let VaList {
            overflow_area,
            save_area,
            ..
        } = *list;
        shadow::clear(save_area, SAVE_SLOTS as u64 * SLOT);
        shadow::clear(overflow_area, overflow_bytes);
        if labels.is_null() || !trace::active() {
            return;
        }
        for slot in 0..MAX_VARIADIC {
            let label = *labels.add(slot);
            if label == 0 {
                continue;
            }
            let address = match slot.checked_sub(SAVE_SLOTS) {
                None => save_area + slot as u64 * SLOT,
                Some(above) if (above as u64) * SLOT < overflow_bytes => {
                    overflow_area + above as u64 * SLOT
                }
                Some(_) => break,
            };
            let bytes = u64::from(trace::node(label).width).div_ceil(8);
            shadow::store(address, bytes, label);
        }
    }
}
