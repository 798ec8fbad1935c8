//! The presence table: which granules of memory may carry labels.
//!
//! A granule's byte must be nonzero if a byte of the granule or one of the 15
//! bytes after it is labelled (see `parallax_abi::layout`). A nonzero byte where nothing
//! is labelled any more is allowed and costs time only, so it is removed
//! lazily: whole granules when they are cleared, others after they
//! have sent instrumented code into the runtime in vain for a while. Until then the
//! byte counts these visits.

use core::sync::atomic::{Ordering::SeqCst, fence};
use parallax_abi::layout::{PRESENCE_REACH, PRESENCE_SHIFT, label_address, presence_address};

pub const GRANULE: u64 = 1 << PRESENCE_SHIFT;
/// How far beyond its end a granule's presence reaches.
pub const REACH: u64 = PRESENCE_REACH - 1;
const VISITS_IN_VAIN: u8 = 64;
/// End of user space: what lies beyond has no presence byte.
pub const LIMIT: u64 = 1 << 47;

#[inline(always)]
pub fn at(address: u64) -> *mut u8 {
    presence_address(address) as *mut u8
}

/// Whether the granule of `address` may carry labels.
///
/// # Safety
/// The tables are reserved and `address` lies in user space.
#[inline(always)]
pub unsafe fn is_set(address: u64) -> bool {
    // SAFETY: passed on to the caller.
    unsafe { *at(address) != 0 }
}

/// Makes labels in `[address, address + size)` visible. Called after they were written.
///
/// # Safety
/// As [`is_set`]; `size` is not 0.
#[inline(always)]
pub unsafe fn set(address: u64, size: u64) {
    let mut granule = address.saturating_sub(REACH) >> PRESENCE_SHIFT;
    let last = (address + size - 1) >> PRESENCE_SHIFT;
    while granule <= last {
        // SAFETY: passed on to the caller.
        unsafe { *at(granule << PRESENCE_SHIFT) = 1 };
        granule += 1;
    }
}

/// Whether no byte of a range is labelled.
unsafe fn is_bare(start: u64, size: u64) -> bool {
    let words = label_address(start) as *const u32;
    // SAFETY: label words of user memory.
    unsafe { (0..size as usize).fold(0, |all, at| all | *words.add(at)) == 0 }
}

/// Removes the presence of the granule that starts at `start`, if nothing in its reach
/// is labelled. Another thread may label at the same time: it writes label,
/// then presence; we write presence, then look at the labels.
unsafe fn remove_if_bare(start: u64) {
    // SAFETY: as `is_set`.
    unsafe {
        *at(start) = 0;
        fence(SeqCst);
        if !is_bare(start, GRANULE + REACH) {
            *at(start) = 1;
        }
    }
}

/// The same for a granule whose own labels were just cleared.
///
/// # Safety
/// As [`is_set`].
pub unsafe fn remove_cleared(start: u64) {
    // SAFETY: passed on to the caller.
    unsafe {
        *at(start) = 0;
        fence(SeqCst);
        if !is_bare(start + GRANULE, REACH) {
            *at(start) = 1;
        }
    }
}

/// Instrumented code came here because of the granule of `address`, and found nothing.
///
/// # Safety
/// As [`is_set`].
#[inline]
pub unsafe fn visited_in_vain(address: u64) {
    // SAFETY: passed on to the caller.
    unsafe {
        match *at(address) {
            0 => {}
            VISITS_IN_VAIN.. => remove_if_bare(address & !(GRANULE - 1)),
            visits => *at(address) = visits + 1,
        }
    }
}

/// First address in `[from, end)` whose granule may carry labels, or `end`.
/// Looks at eight granules at a time.
///
/// # Safety
/// As [`is_set`], for the whole range.
#[inline]
pub unsafe fn next_set(from: u64, end: u64) -> u64 {
    if from >= end {
        return end;
    }
    let mut granule = from >> PRESENCE_SHIFT;
    let last = (end - 1) >> PRESENCE_SHIFT;
    let byte_at = |granule: u64| at(granule << PRESENCE_SHIFT).cast_const();
    // SAFETY: the word read covers granules of one aligned block of eight,
    // which lies inside the table.
    unsafe {
        while granule <= last {
            if granule.is_multiple_of(8)
                && granule + 7 <= last
                && byte_at(granule).cast::<u64>().read() == 0
            {
                granule += 8;
                continue;
            }
            if *byte_at(granule) != 0 {
                return from.max(granule << PRESENCE_SHIFT);
            }
            granule += 1;
        }
    }
    end
}
