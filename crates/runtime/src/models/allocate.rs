//! The allocator: bounds of heap objects, and memory that starts without labels.
//!
//! The real functions are libc's, or whatever stands in for them.

use super::{call_site, fix, give, own, take, weak};
use crate::ops::{self, Operand};
use crate::trace::new_event;
use crate::{context, events, heap, shadow, trace};
use parallax_abi::trace::{Concretized, Event, EventKind};

type Bytes = *mut u8;

unsafe extern "C" {
    fn malloc(size: usize) -> Bytes;
    fn calloc(count: usize, size: usize) -> Bytes;
    fn realloc(old: Bytes, size: usize) -> Bytes;
    fn free(object: Bytes);
    fn __errno_location() -> *mut i32;
}

const EINVAL: i32 = 22;
const ENOMEM: i32 = 12;

/// A symbolic size: logged, and fixed.
fn log_size(label: u32, size: usize) {
    if label == 0 || !trace::active() {
        return;
    }
    let site = call_site();
    events::with_core(|core| {
        let operand = Operand::new(label, size as u64, 0);
        if ops::checked(core, operand, 64, 0, site).label == 0 {
            return;
        }
        let context = context::current(core);
        let event = new_event(EventKind::Allocation);
        trace::event(Event {
            label,
            site,
            context,
            y: size as u64,
            ..event
        });
    });
    fix(label, size as u64, Concretized::Size);
}

/// An object begins to live.
#[inline]
unsafe fn born(object: Bytes, size: usize) {
    if !object.is_null() && trace::keeps_books() {
        // SAFETY: the allocator just gave the memory out.
        unsafe {
            shadow::clear(object as u64, size as u64);
            heap::add(object as u64, size as u64);
        }
    }
}

/// An object's life ends: its labels must not be found by the next owner.
unsafe fn dies(object: Bytes) {
    if object.is_null() || (trace::header().is_none() && !trace::keeps_books()) {
        return;
    }
    let address = object as u64;
    // SAFETY: the tables are reserved.
    unsafe {
        if let Some(size) = heap::size_at(address) {
            heap::remove(address);
            shadow::clear(address, size);
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_malloc(size: usize) -> Bytes {
    let [label] = take::<1>(own!(__plx_m_malloc));
    log_size(label, size);
    // SAFETY: the program's own call.
    unsafe {
        let object = malloc(size);
        born(object, size);
        give(own!(__plx_m_malloc), 0);
        object
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_calloc(count: usize, size: usize) -> Bytes {
    let [lcount, lsize] = take::<2>(own!(__plx_m_calloc));
    log_size(lcount, count);
    log_size(lsize, size);
    // SAFETY: the program's own call.
    unsafe {
        let object = calloc(count, size);
        born(object, count.wrapping_mul(size));
        give(own!(__plx_m_calloc), 0);
        object
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_free(object: Bytes) {
    let [label] = take::<1>(own!(__plx_m_free));
    fix(label, object as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        dies(object);
        free(object);
    }
    give(own!(__plx_m_free), 0);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_realloc(old: Bytes, size: usize) -> Bytes {
    let [lold, lsize] = take::<2>(own!(__plx_m_realloc));
    fix(lold, old as u64, Concretized::Argument);
    log_size(lsize, size);
    // SAFETY: the program's own call.
    let object = unsafe { resize(old, size) };
    give(own!(__plx_m_realloc), 0);
    object
}

/// Multiplication checked as glibc's, then `realloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_reallocarray(old: Bytes, count: usize, size: usize) -> Bytes {
    let [lold, lcount, lsize] = take::<3>(own!(__plx_m_reallocarray));
    fix(lold, old as u64, Concretized::Argument);
    log_size(lcount, count);
    log_size(lsize, size);
    // SAFETY: the program's own call.
    let object = unsafe {
        match count.checked_mul(size) {
            Some(bytes) => resize(old, bytes),
            None => {
                *__errno_location() = ENOMEM;
                core::ptr::null_mut()
            }
        }
    };
    give(own!(__plx_m_reallocarray), 0);
    object
}

/// `realloc` with the labels moving along. `realloc(p, 0)` frees in glibc.
unsafe fn resize(old: Bytes, size: usize) -> Bytes {
    if trace::header().is_none() && !trace::keeps_books() {
        // SAFETY: the program's own call.
        return unsafe { realloc(old, size) };
    }
    // SAFETY: the program's own call; the label tables cover both objects.
    unsafe {
        let had = if old.is_null() {
            0
        } else {
            size_of_object(old, size)
        };
        let new = realloc(old, size);
        if new.is_null() {
            if size == 0 {
                heap::remove(old as u64);
                shadow::clear(old as u64, had);
            }
            return new;
        }
        let size = size as u64;
        let (from, to) = (old as u64, new as u64);
        if to == from {
            let kept = had.min(size);
            shadow::clear(to + kept, had.max(size) - kept);
        } else {
            let kept = had.min(size);
            shadow::copy(to, from, kept);
            shadow::clear(to + kept, size - kept);
            if !old.is_null() {
                heap::remove(from);
                shadow::clear(from, had);
            }
        }
        if trace::keeps_books() {
            heap::add(to, size);
        }
        new
    }
}

/// Size of an object before it is resized. One that was made behind our back (by
/// libc itself) is asked for only when there are labels to move.
unsafe fn size_of_object(object: Bytes, wanted: usize) -> u64 {
    // SAFETY: the object is live.
    unsafe {
        if let Some(size) = heap::size_at(object as u64) {
            return size;
        }
        if !shadow::peek(object as u64, wanted as u64) {
            return 0;
        }
        match weak!("malloc_usable_size", unsafe extern "C" fn(Bytes) -> usize) {
            Some(usable) => usable(object) as u64,
            None => 0,
        }
    }
}

type Aligned = unsafe extern "C" fn(usize, usize) -> Bytes;
type Plain = unsafe extern "C" fn(usize) -> Bytes;

/// Without the real function there is no such memory.
unsafe fn out_of_memory() -> Bytes {
    // SAFETY: points to this thread's `errno`.
    unsafe { *__errno_location() = ENOMEM };
    core::ptr::null_mut()
}

macro_rules! aligned {
    ($model:ident, $real:literal) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(alignment: usize, size: usize) -> Bytes {
            let [lalignment, lsize] = take::<2>(own!($model));
            fix(lalignment, alignment as u64, Concretized::Argument);
            log_size(lsize, size);
            // SAFETY: the program's own call.
            unsafe {
                let object = match weak!($real, Aligned) {
                    Some(real) => real(alignment, size),
                    None => out_of_memory(),
                };
                born(object, size);
                give(own!($model), 0);
                object
            }
        }
    };
}
aligned!(__plx_m_aligned_alloc, "aligned_alloc");
aligned!(__plx_m_memalign, "memalign");

macro_rules! page_aligned {
    ($model:ident, $real:literal) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(size: usize) -> Bytes {
            let [label] = take::<1>(own!($model));
            log_size(label, size);
            // SAFETY: the program's own call.
            unsafe {
                let object = match weak!($real, Plain) {
                    Some(real) => real(size),
                    None => out_of_memory(),
                };
                born(object, size);
                give(own!($model), 0);
                object
            }
        }
    };
}
page_aligned!(__plx_m_valloc, "valloc");
page_aligned!(__plx_m_pvalloc, "pvalloc");

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_posix_memalign(
    place: *mut Bytes,
    alignment: usize,
    size: usize,
) -> i32 {
    type Real = unsafe extern "C" fn(*mut Bytes, usize, usize) -> i32;
    let [lplace, lalignment, lsize] = take::<3>(own!(__plx_m_posix_memalign));
    fix(lplace, place as u64, Concretized::StoreAddress);
    fix(lalignment, alignment as u64, Concretized::Argument);
    log_size(lsize, size);
    // SAFETY: the program's own call.
    unsafe {
        let status = match weak!("posix_memalign", Real) {
            Some(real) => real(place, alignment, size),
            None => EINVAL,
        };
        if status == 0 {
            born(*place, size);
            shadow::clear(place as u64, size_of::<Bytes>() as u64);
        }
        give(own!(__plx_m_posix_memalign), 0);
        status
    }
}
