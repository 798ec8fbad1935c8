//! Memory that comes and goes by mapping: no labels of former contents.

use super::{give, own, take};
use crate::{shadow, trace};

type Bytes = *mut u8;

const FAILED: Bytes = usize::MAX as Bytes;

unsafe extern "C" {
    fn mmap(at: Bytes, size: usize, access: i32, flags: i32, descriptor: i32, offset: i64)
    -> Bytes;
    fn munmap(at: Bytes, size: usize) -> i32;
    fn mremap(at: Bytes, old: usize, new: usize, flags: i32, target: Bytes) -> Bytes;
}

fn is_traced() -> bool {
    trace::header().is_some()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_mmap(
    at: Bytes,
    size: usize,
    access: i32,
    flags: i32,
    descriptor: i32,
    offset: i64,
) -> Bytes {
    take::<6>(own!(__plx_m_mmap));
    // SAFETY: the program's own call.
    unsafe {
        let address = mmap(at, size, access, flags, descriptor, offset);
        if address != FAILED && is_traced() {
            shadow::clear(address as u64, size as u64);
        }
        give(own!(__plx_m_mmap), 0);
        address
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_munmap(at: Bytes, size: usize) -> i32 {
    take::<2>(own!(__plx_m_munmap));
    // SAFETY: the program's own call.
    unsafe {
        let status = munmap(at, size);
        if status == 0 && is_traced() {
            shadow::clear(at as u64, size as u64);
        }
        give(own!(__plx_m_munmap), 0);
        status
    }
}

/// `target` is passed on always: the real function looks at it only when the flags say so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_mremap(
    at: Bytes,
    old: usize,
    new: usize,
    flags: i32,
    target: Bytes,
) -> Bytes {
    take::<5>(own!(__plx_m_mremap));
    // SAFETY: the program's own call.
    unsafe {
        let address = mremap(at, old, new, flags, target);
        if address != FAILED && is_traced() {
            let kept = old.min(new) as u64;
            if address != at {
                shadow::copy(address as u64, at as u64, kept);
                shadow::clear(at as u64, old as u64);
            }
            shadow::clear(address as u64 + kept, (old.max(new) as u64) - kept);
        }
        give(own!(__plx_m_mremap), 0);
        address
    }
}

/// Locking all memory would lock the reserved tables, more than any machine has. The
/// program's pages stay where they are without it, only unlocked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_mlockall(_flags: i32) -> i32 {
    take::<1>(own!(__plx_m_mlockall));
    give(own!(__plx_m_mlockall), 0);
    0
}
