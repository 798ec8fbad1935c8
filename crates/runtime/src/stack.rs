//! Objects on this thread's stack.
//!
//! Instrumented functions announce each object when it begins to live and set the
//! count back when they return, so the array mirrors the stack. It belongs to
//! the thread and needs no lock.

use crate::{shadow, sys, tls, trace};

#[derive(Clone, Copy)]
#[repr(C)]
struct StackObject {
    base: u64,
    size: u64,
}

/// One page: a thread that ends leaves its array behind.
const FIRST_CAPACITY: u64 = 256;
/// Objects looked at before a search gives up.
const SEARCH_LIMIT: u64 = 1 << 16;

/// An object begins to live: clears what a former frame left there, and registers it.
///
/// # Safety
/// The tables are reserved; the range is stack memory of this thread.
pub unsafe fn begin(base: u64, size: u64) {
    // SAFETY: passed on to the caller; the block is this thread's own.
    unsafe {
        shadow::clear(base, size);
        if !trace::active() {
            return;
        }
        let local = tls::local();
        let protocol = &raw mut (*local).protocol;
        let count = (*protocol).stack_object_count;
        if count >= (*protocol).stack_object_capacity && !grow(count) {
            return;
        }
        let objects = (*protocol).stack_objects.cast::<StackObject>();
        objects
            .add(count as usize)
            .write(StackObject { base, size });
        (*protocol).stack_object_count = count + 1;
        (*local).stack_high = (*local).stack_high.max(base + size);
    }
}

#[cold]
unsafe fn grow(count: u64) -> bool {
    const RECORD: usize = size_of::<StackObject>();
    // SAFETY: this thread's own block; old memory is copied before it is given back.
    unsafe {
        let protocol = tls::protocol();
        let old_capacity = (*protocol).stack_object_capacity;
        let capacity = (old_capacity * 2).max(FIRST_CAPACITY).max(count + 1);
        let Some(memory) = sys::allocate(capacity as usize * RECORD) else {
            return false;
        };
        let old = (*protocol).stack_objects;
        if !old.is_null() {
            let used = old_capacity.min(count) as usize * RECORD;
            core::ptr::copy_nonoverlapping(old, memory as *mut u8, used);
            sys::unmap(old as usize, old_capacity as usize * RECORD);
        }
        (*protocol).stack_objects = memory as *mut u8;
        (*protocol).stack_object_capacity = capacity;
    }
    true
}

/// Base and size of the object of this thread's stack that contains `address`, or
/// else ends there.
pub fn find(address: u64) -> Option<(u64, u64)> {
    let local = tls::local();
    // SAFETY: this thread's own block and array.
    unsafe {
        // What lies below this frame is dead, above the first object nothing is registered.
        let here = &raw const local as u64;
        if address < here || address > (*local).stack_high {
            return None;
        }
        let protocol = &raw const (*local).protocol;
        let count = (*protocol)
            .stack_object_count
            .min((*protocol).stack_object_capacity);
        let objects = (*protocol).stack_objects.cast::<StackObject>();
        let mut ends_here = None;
        for at in (count.saturating_sub(SEARCH_LIMIT)..count).rev() {
            let StackObject { base, size } = *objects.add(at as usize);
            if address >= base && address < base + size {
                return Some((base, size));
            }
            if address == base + size && ends_here.is_none() {
                ends_here = Some((base, size));
            }
        }
        ends_here
    }
}
