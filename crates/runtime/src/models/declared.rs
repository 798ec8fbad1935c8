//! Input, assumptions and errors that a program declares itself, through the functions of other tools
//! (KLEE's, those of the competition on software verification). The functions are written in C and shared
//! with the plain program (`declared/` beside `src/`); here is what only a traced program does.

use super::{call_site, fix, give, own, take};
use crate::ops::{Operand, checked};
use crate::trace::new_event;
use crate::{context, events, inputs, loss, nodes, start, sys, trace};
use parallax_abi::trace::{Concretized, Event, EventKind};
use parallax_expr::build;

/// Memory is the program's input number `index` of this sort, and has its contents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_declare(address: *mut u8, size: usize, index: u32, name: *const u8) {
    // SAFETY: the program's own memory; the name is a C string.
    unsafe {
        crate::shadow::clear(address as u64, size as u64);
        let name = loss::name_of(name);
        events::with_core(|core| {
            inputs::label_object(core, index, name, address as u64, size as u64);
        });
    }
}

/// The program reports an error; `kind` is a `Report`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_report(kind: u32, message: *const u8) {
    // SAFETY: the message is a C string.
    let message = unsafe { loss::name_of(message) };
    events::with_core(|core| {
        let text = trace::blob(message, 1);
        let context = context::current(core);
        trace::event(Event {
            detail: kind as u8,
            label: text.map_or(0, |_| message.len() as u32),
            y: text.unwrap_or(0),
            site: call_site(),
            context,
            ..new_event(EventKind::Report)
        });
    });
}

/// Logs that the program relies on a condition being not zero.
fn assume(label: u32, condition: u64) {
    if label == 0 {
        return;
    }
    let site = call_site();
    events::with_core(|core| {
        let width = u32::from(trace::node(label).width);
        let mask = u64::MAX >> (64 - width.clamp(1, 64));
        let operand = Operand::new(label, condition & mask, 0);
        if checked(core, operand, width, 0, site).label == 0 {
            return;
        }
        let zero = build::constant(&mut core.nodes, width, 0);
        let is_zero = build::eq(&mut core.nodes, label, zero);
        let holds = build::not(&mut core.nodes, is_zero);
        let holds = nodes::finish(core, holds, site);
        if holds == 0 {
            return;
        }
        let context = context::current(core);
        trace::event(Event {
            detail: u8::from(condition & mask != 0),
            label: holds,
            site,
            context,
            ..new_event(EventKind::Assume)
        });
        core.settled.settle(holds);
    });
}

/// Ends the program without a word.
fn end_silently() -> ! {
    start::exit_event(0);
    sys::exit_now(0)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_klee_assume(condition: usize) {
    let [label] = take::<1>(own!(__plx_m_klee_assume));
    assume(label, condition as u64);
    if condition == 0 {
        end_silently();
    }
    give(own!(__plx_m_klee_assume), 0);
}

/// The value that an expression has in this run: without label, and fixed, because whatever is done with it is
/// only true for this value.
macro_rules! value {
    ($model:ident, $type:ty, $bits:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(value: $type) -> $type {
            let [label] = take::<1>(own!($model));
            let bits: fn($type) -> u64 = $bits;
            fix(label, bits(value), Concretized::Operand);
            give(own!($model), 0);
            value
        }
    };
}
value!(__plx_m_klee_get_valuef, f32, |value| value.to_bits().into());
value!(__plx_m_klee_get_valued, f64, f64::to_bits);
value!(__plx_m_klee_get_valuel, i64, |value| value as u64);
value!(__plx_m_klee_get_valuell, i64, |value| value as u64);
value!(__plx_m_klee_get_value_i32, i32, |value| (value as u32)
    .into());
value!(__plx_m_klee_get_value_i64, i64, |value| value as u64);

/// Programs declare the parameter as `int` or as `_Bool`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___VERIFIER_assume(condition: i32) {
    let [label] = take::<1>(own!(__plx_m___VERIFIER_assume));
    assume(label, u64::from(condition as u32));
    if condition == 0 {
        end_silently();
    }
    give(own!(__plx_m___VERIFIER_assume), 0);
}
