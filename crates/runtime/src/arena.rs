//! Memory for the small tables of a run: many pieces from one mapping.
//!
//! Most runs are short, and what they spend in the kernel on memory is what they spend at all: a mapping of its own
//! for each table, and a fault for each page when it is read and again when it is written. So small pieces are
//! cut from one mapping whose pages are there from the start. What is larger, or comes later, is mapped on its own.

use crate::sys;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a short run needs.
const BYTES: usize = 48 << 10;
/// Larger pieces would leave nothing for the others.
const MOST: usize = BYTES / 2;
/// Pieces start on a cache line.
const ALIGNMENT: usize = 64;

/// 0 if there is none.
static START: AtomicUsize = AtomicUsize::new(0);
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Gets the mapping, in the process in which tracing begins: a run server's would have to be copied page by page.
pub fn set_up() {
    if START.load(Relaxed) != 0 {
        return;
    }
    if let Some(start) = sys::allocate_at_once(BYTES) {
        NEXT.store(start, Relaxed);
        START.store(start, Relaxed);
    }
}

fn is_inside(address: usize) -> bool {
    let start = START.load(Relaxed);
    start != 0 && (start..start + BYTES).contains(&address)
}

/// Fresh zeroed memory.
pub fn allocate(size: usize) -> Option<usize> {
    if size <= MOST && START.load(Relaxed) != 0 {
        let size = size.next_multiple_of(ALIGNMENT);
        let start = START.load(Relaxed);
        let cut = NEXT.fetch_update(Relaxed, Relaxed, |next| {
            let end = next + size;
            (end <= start + BYTES).then_some(end)
        });
        if let Ok(piece) = cut {
            return Some(piece);
        }
    }
    sys::allocate(size)
}

/// Gives memory back that [`allocate`] gave. Small pieces stay: what outgrew one has more memory than that.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn release(address: usize, size: usize) {
    if !is_inside(address) {
        // SAFETY: passed on to the caller; a mapping of its own.
        unsafe { sys::unmap(address, size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_zeroed_and_never_overlap() {
        set_up();
        let sizes = [
            1,
            64,
            2112,
            16 << 10,
            100,
            30 << 10,
            3,
            40 << 10,
            8000,
            20_000,
        ];
        let pieces = sizes.map(|size| (allocate(size).expect("memory"), size));
        for (number, (piece, size)) in pieces.iter().enumerate() {
            assert_eq!(piece % ALIGNMENT, 0);
            // SAFETY: a piece of that size, which nobody else has.
            let bytes = unsafe { core::slice::from_raw_parts_mut(*piece as *mut u8, *size) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(number as u8 + 1);
        }
        assert!(is_inside(pieces[0].0) && !is_inside(pieces[7].0));
        for (number, (piece, size)) in pieces.iter().enumerate() {
            // SAFETY: as before; given back at the end.
            unsafe {
                let bytes = core::slice::from_raw_parts(*piece as *const u8, *size);
                assert!(bytes.iter().all(|byte| *byte == number as u8 + 1));
                release(*piece, *size);
            }
        }
    }
}
