//! Memory that comes and goes by mapping: no labels of former contents, and those of the file that is
//! mapped.

use super::{fix, give, own, take};
use crate::core_state::Core;
use crate::{events, inputs, loss, shadow, trace};
use parallax_abi::trace::{Concretized, LossKind};

type Bytes = *mut u8;

const FAILED: Bytes = usize::MAX as Bytes;
const PROT_READ: i32 = 1;
const MAP_ANONYMOUS: i32 = 0x20;
/// Bytes of one mapping that get labels, all at once: the rest of a larger file is a loss.
const MOST_LABELLED: u64 = 16 << 20;

unsafe extern "C" {
    fn mmap(at: Bytes, size: usize, access: i32, flags: i32, descriptor: i32, offset: i64)
    -> Bytes;
    fn munmap(at: Bytes, size: usize) -> i32;
    fn mremap(at: Bytes, old: usize, new: usize, flags: i32, target: Bytes) -> Bytes;
}

/// A symbolic file that is mapped, for the time when the mapping grows.
#[derive(Clone, Copy)]
pub struct Mapping {
    address: u64,
    source: u32,
    /// Of the first mapped byte.
    offset: u64,
    /// Of the file when it was mapped.
    length: u64,
}

fn is_traced() -> bool {
    trace::header().is_some()
}

/// Labels the part of a mapping from `from` on up to `to`. Behind the end of the file there is nothing
/// of it, only the page's tail of zeros.
unsafe fn label(core: &mut Core, mapping: Mapping, from: u64, to: u64) {
    let there = mapping.length.saturating_sub(mapping.offset).min(to);
    let labelled = there.min(from.saturating_add(MOST_LABELLED));
    if labelled > from {
        // SAFETY: mapped readable, and inside the file.
        unsafe {
            inputs::label_bytes(
                core,
                mapping.source,
                mapping.offset + from,
                mapping.address + from,
                labelled - from,
            );
        }
    }
    if labelled < there {
        loss::record(core, LossKind::Stream, 0, b"mmap of a large file");
    }
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
    let [_, lsize, _, _, ldescriptor, loffset] = take::<6>(own!(__plx_m_mmap));
    fix(lsize, size as u64, Concretized::Size);
    fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
    fix(loffset, offset as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let address = mmap(at, size, access, flags, descriptor, offset);
        if address != FAILED && is_traced() {
            shadow::clear(address as u64, size as u64);
            if flags & MAP_ANONYMOUS == 0 {
                events::with_core(|core| {
                    mapped(
                        core,
                        address as u64,
                        size as u64,
                        access,
                        descriptor,
                        offset,
                    );
                });
            }
        }
        give(own!(__plx_m_mmap), 0);
        address
    }
}

/// A file was mapped: labels it if it is symbolic.
unsafe fn mapped(
    core: &mut Core,
    address: u64,
    size: u64,
    access: i32,
    descriptor: i32,
    offset: i64,
) {
    let Some(stream) = inputs::stream(core, descriptor).filter(|stream| stream.is_regular()) else {
        return;
    };
    if access & PROT_READ == 0 {
        loss::record(core, LossKind::Stream, 0, b"mmap without PROT_READ");
        return;
    }
    let mapping = Mapping {
        address,
        source: stream.source(),
        offset: offset as u64,
        length: stream.length(),
    };
    core.mappings.retain(|known| known.address != address);
    core.mappings.push(mapping);
    // SAFETY: the kernel just mapped it.
    unsafe { label(core, mapping, 0, size) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_munmap(at: Bytes, size: usize) -> i32 {
    let [_, lsize] = take::<2>(own!(__plx_m_munmap));
    fix(lsize, size as u64, Concretized::Size);
    // SAFETY: the program's own call.
    unsafe {
        let status = munmap(at, size);
        if status == 0 && is_traced() {
            shadow::clear(at as u64, size as u64);
            let gone = at as u64..at as u64 + size as u64;
            events::with_core(|core| {
                core.mappings.retain(|known| !gone.contains(&known.address));
            });
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
    let [_, lold, lnew] = take::<3>(own!(__plx_m_mremap));
    fix(lold, old as u64, Concretized::Size);
    fix(lnew, new as u64, Concretized::Size);
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
            events::with_core(|core| {
                let known = core.mappings.as_mut_slice().iter_mut();
                let Some(known) = known.into_iter().find(|known| known.address == at as u64) else {
                    return;
                };
                known.address = address as u64;
                let mapping = *known;
                label(core, mapping, kept, new as u64);
            });
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
