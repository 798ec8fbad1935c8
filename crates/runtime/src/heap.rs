//! Bounds of heap objects: the size table, written by the models of the allocator.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use parallax_abi::layout::{LABEL_BASE, size_address};

/// Interior pointers are traced back at most this far.
const SEARCH_BYTES: u64 = 16 << 20;
const STEP: u64 = 16;

/// Range that ever held a heap object: most other pointers are told at once.
static LOWEST: AtomicU64 = AtomicU64::new(u64::MAX);
static HIGHEST: AtomicU64 = AtomicU64::new(0);

#[inline(always)]
fn word(address: u64) -> *mut u32 {
    size_address(address) as *mut u32
}

/// An object begins to live.
///
/// # Safety
/// The tables are reserved; `address` is 16-aligned and in user space.
pub unsafe fn add(address: u64, size: u64) {
    // SAFETY: passed on to the caller.
    unsafe { *word(address) = u32::try_from(size.saturating_add(1)).unwrap_or(u32::MAX) };
    if address < LOWEST.load(Relaxed) {
        LOWEST.fetch_min(address, Relaxed);
    }
    let end = address.saturating_add(size);
    if end > HIGHEST.load(Relaxed) {
        HIGHEST.fetch_max(end, Relaxed);
    }
}

/// Size of the object that starts here, if one does.
///
/// # Safety
/// As [`add`], for any address in user space.
pub unsafe fn size_at(address: u64) -> Option<u64> {
    if !address.is_multiple_of(STEP) {
        return None;
    }
    // SAFETY: passed on to the caller.
    match unsafe { *word(address) } {
        0 => None,
        size => Some(u64::from(size) - 1),
    }
}

/// The object is gone.
///
/// # Safety
/// As [`size_at`].
pub unsafe fn remove(address: u64) {
    if address.is_multiple_of(STEP) {
        // SAFETY: passed on to the caller. A word that is 0 is not touched, to
        // keep the table's untouched pages so.
        unsafe {
            if *word(address) != 0 {
                *word(address) = 0;
            }
        }
    }
}

/// Base and size of the object that contains `address` or ends there.
///
/// # Safety
/// As [`size_at`].
pub unsafe fn find(address: u64) -> Option<(u64, u64)> {
    if address < LOWEST.load(Relaxed)
        || address > HIGHEST.load(Relaxed)
        || address >= LABEL_BASE << 3
    {
        return None;
    }
    let mut base = address & !(STEP - 1);
    let lowest = address
        .saturating_sub(SEARCH_BYTES)
        .max(LOWEST.load(Relaxed));
    // SAFETY: the table covers user space.
    unsafe {
        while base >= lowest && base > 0 {
            if let Some(size) = size_at(base) {
                return (address <= base + size).then_some((base, size));
            }
            base -= STEP;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn interior_and_end_pointers_lead_to_their_object_until_it_is_gone() {
        let _guard = testing::set_up();
        let base = 0x7000_0000_1000u64;
        // SAFETY: the tables are reserved.
        unsafe {
            add(base, 100);
            add(base + 112, 0);
            assert_eq!(find(base), Some((base, 100)));
            assert_eq!(find(base + 99), Some((base, 100)));
            assert_eq!(find(base + 100), Some((base, 100)));
            assert_eq!(find(base + 101), None);
            assert_eq!(find(base + 112), Some((base + 112, 0)));
            remove(base);
            assert_eq!(find(base + 50), None);
        }
    }
}
