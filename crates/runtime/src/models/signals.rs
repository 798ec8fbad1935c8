//! Signal handlers run between any two instructions of the program, also between
//! a caller's writing of labels and the callee's taking of them. So handlers are
//! called through [`deliver`], which puts the protocol's fields back as they were.

use super::{give, own, take};
use crate::{shadow, tls};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use parallax_abi::tls::{Frame, MAX_ARGS, MAX_BYVAL, MAX_RESULTS, MAX_VARIADIC};

const SIGNALS: usize = 65;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;
const SIG_ERR: usize = usize::MAX;

/// The program's handlers, for those signals that lead to [`deliver`].
static HANDLERS: [AtomicUsize; SIGNALS] = [const { AtomicUsize::new(SIG_DFL) }; SIGNALS];

type Handler = unsafe extern "C" fn(i32, *mut u8, *mut u8);

/// The beginning of glibc's `struct sigaction`; only the handler is looked at.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    handler: usize,
    mask: [u64; 16],
    flags: i32,
    restorer: usize,
}

unsafe extern "C" {
    fn sigaction(signal: i32, action: *const Action, old: *mut Action) -> i32;
    fn signal(signal: i32, handler: usize) -> usize;
    fn __sysv_signal(signal: i32, handler: usize) -> usize;
}

/// What is saved around a handler.
struct Saved {
    callee: u64,
    returned: u64,
    frame: *mut Frame,
    overflow_bytes: u64,
    result: [u32; MAX_RESULTS],
    args: [u32; MAX_ARGS],
    variadic: [u32; MAX_VARIADIC],
    byval: [u64; MAX_BYVAL],
    stack_object_count: u64,
}

/// Runs the program's handler with clean protocol fields.
unsafe extern "C" fn deliver(signal: i32, information: *mut u8, context: *mut u8) {
    let handler = HANDLERS[signal as usize % SIGNALS].load(Relaxed);
    if handler == SIG_DFL || handler == SIG_IGN {
        return;
    }
    let protocol = tls::protocol();
    // SAFETY: this thread's own block; the handler is what the program installed.
    unsafe {
        let saved = Saved {
            callee: (*protocol).callee,
            returned: (*protocol).returned,
            frame: (*protocol).frame,
            overflow_bytes: (*protocol).overflow_bytes,
            result: (*protocol).result,
            args: (*protocol).args,
            variadic: (*protocol).variadic,
            byval: (*protocol).byval,
            stack_object_count: (*protocol).stack_object_count,
        };
        (*protocol).callee = 0;
        (*protocol).returned = 0;
        // The interrupted function may be half way through linking its frame.
        (*protocol).frame = core::ptr::null_mut();
        core::mem::transmute::<usize, Handler>(handler)(signal, information, context);
        (*protocol).callee = saved.callee;
        (*protocol).returned = saved.returned;
        (*protocol).frame = saved.frame;
        (*protocol).overflow_bytes = saved.overflow_bytes;
        (*protocol).result = saved.result;
        (*protocol).args = saved.args;
        (*protocol).variadic = saved.variadic;
        (*protocol).byval = saved.byval;
        (*protocol).stack_object_count = saved.stack_object_count;
    }
}

fn is_function(handler: usize) -> bool {
    ![SIG_DFL, SIG_IGN, SIG_ERR].contains(&handler)
}

/// What to hand to the kernel in place of the program's handler.
fn stand_in(handler: usize) -> usize {
    if is_function(handler) {
        deliver as *const () as usize
    } else {
        handler
    }
}

/// What the program must see in place of what the kernel has.
fn original(installed: usize, before: usize) -> usize {
    if installed == deliver as *const () as usize {
        before
    } else {
        installed
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_sigaction(
    number: i32,
    action: *const Action,
    old: *mut Action,
) -> i32 {
    take::<3>(own!(__plx_m_sigaction));
    let Some(slot) = HANDLERS.get(number as usize) else {
        // SAFETY: the program's own call, which fails.
        return unsafe { sigaction(number, action, old) };
    };
    let before = slot.load(Relaxed);
    // SAFETY: the program's own call.
    let status = unsafe {
        if action.is_null() {
            sigaction(number, action, old)
        } else {
            let mut ours = *action;
            let theirs = ours.handler;
            ours.handler = stand_in(theirs);
            if is_function(theirs) {
                slot.store(theirs, Relaxed);
            }
            let status = sigaction(number, &ours, old);
            if status != 0 {
                slot.store(before, Relaxed);
            }
            status
        }
    };
    if status == 0 && !old.is_null() {
        // SAFETY: the real function just wrote it.
        unsafe {
            shadow::clear(old as u64, size_of::<Action>() as u64);
            (*old).handler = original((*old).handler, before);
        }
    }
    give(own!(__plx_m_sigaction), 0);
    status
}

macro_rules! install {
    ($model:ident, $real:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(number: i32, handler: usize) -> usize {
            take::<2>(own!($model));
            let Some(slot) = HANDLERS.get(number as usize) else {
                // SAFETY: the program's own call, which fails.
                return unsafe { $real(number, handler) };
            };
            let before = slot.load(Relaxed);
            if is_function(handler) {
                slot.store(handler, Relaxed);
            }
            // SAFETY: the program's own call.
            let old = unsafe { $real(number, stand_in(handler)) };
            if old == SIG_ERR {
                slot.store(before, Relaxed);
            }
            give(own!($model), 0);
            original(old, before)
        }
    };
}
install!(__plx_m_signal, signal);
install!(__plx_m___sysv_signal, __sysv_signal);
