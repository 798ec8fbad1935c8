//! `read` and its family: bytes that come in get their labels.

use super::{fix, fix_length, give, own, take};
use crate::{events, inputs, shadow, trace};
use parallax_abi::trace::Concretized;

type Bytes = *mut u8;

unsafe extern "C" {
    fn read(descriptor: i32, to: Bytes, size: usize) -> isize;
    fn pread(descriptor: i32, to: Bytes, size: usize, offset: i64) -> isize;
    fn readv(descriptor: i32, parts: *const Part, count: i32) -> isize;
    fn __read_chk(descriptor: i32, to: Bytes, size: usize, room: usize) -> isize;
    fn __pread_chk(descriptor: i32, to: Bytes, size: usize, offset: i64, room: usize) -> isize;
}

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    base: Bytes,
    size: usize,
}

/// Labels what was just read; `at` is the offset given to `pread`.
unsafe fn arrived(descriptor: i32, to: Bytes, count: isize, at: Option<i64>) {
    let part = Part {
        base: to,
        size: usize::MAX,
    };
    // SAFETY: passed on to the caller.
    unsafe { arrived_in_parts(descriptor, &[part], count, at) };
}

unsafe fn arrived_in_parts(descriptor: i32, parts: &[Part], count: isize, at: Option<i64>) {
    if count <= 0 || !trace::active() {
        return;
    }
    let count = count as u64;
    events::with_core(|core| {
        let stream = inputs::stream(core, descriptor);
        let offset = match (stream, at) {
            (None, _) => None,
            (Some(_), Some(at)) => u64::try_from(at).ok(),
            (Some(stream), None) => stream.offset_of_last(core, descriptor, count),
        };
        let mut done = 0;
        for part in parts {
            let size = (part.size as u64).min(count - done);
            // SAFETY: the kernel just wrote these bytes.
            unsafe {
                match (stream, offset) {
                    (Some(stream), Some(offset)) if size > 0 => {
                        stream.label(core, offset + done, part.base as u64, size);
                    }
                    _ => shadow::clear(part.base as u64, size),
                }
            }
            done += size;
        }
    });
}

/// Labelled arguments that only count with their value. Descriptor and length.
fn fix_arguments([ldescriptor, lto, lsize]: [u32; 3], descriptor: i32, to: Bytes, size: usize) {
    fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
    fix(lto, to as u64, Concretized::StoreAddress);
    fix_length(lsize, size, to);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_read(descriptor: i32, to: Bytes, size: usize) -> isize {
    fix_arguments(take(own!(__plx_m_read)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = read(descriptor, to, size);
        arrived(descriptor, to, count, None);
        give(own!(__plx_m_read), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___read_chk(
    descriptor: i32,
    to: Bytes,
    size: usize,
    room: usize,
) -> isize {
    fix_arguments(take(own!(__plx_m___read_chk)), descriptor, to, size);
    // SAFETY: the program's own call.
    unsafe {
        let count = __read_chk(descriptor, to, size, room);
        arrived(descriptor, to, count, None);
        give(own!(__plx_m___read_chk), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_pread(
    descriptor: i32,
    to: Bytes,
    size: usize,
    offset: i64,
) -> isize {
    let [ldescriptor, lto, lsize, loffset] = take::<4>(own!(__plx_m_pread));
    fix_arguments([ldescriptor, lto, lsize], descriptor, to, size);
    fix(loffset, offset as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let count = pread(descriptor, to, size, offset);
        arrived(descriptor, to, count, Some(offset));
        give(own!(__plx_m_pread), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___pread_chk(
    descriptor: i32,
    to: Bytes,
    size: usize,
    offset: i64,
    room: usize,
) -> isize {
    let [ldescriptor, lto, lsize, loffset] = take::<4>(own!(__plx_m___pread_chk));
    fix_arguments([ldescriptor, lto, lsize], descriptor, to, size);
    fix(loffset, offset as u64, Concretized::Argument);
    // SAFETY: the program's own call.
    unsafe {
        let count = __pread_chk(descriptor, to, size, offset, room);
        arrived(descriptor, to, count, Some(offset));
        give(own!(__plx_m___pread_chk), 0);
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_readv(descriptor: i32, parts: *const Part, count: i32) -> isize {
    let [ldescriptor, lparts, lcount] = take::<3>(own!(__plx_m_readv));
    fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
    fix(lparts, parts as u64, Concretized::Argument);
    fix(lcount, count as u32 as u64, Concretized::Argument);
    // SAFETY: the program's own call; the kernel accepted the parts.
    unsafe {
        let done = readv(descriptor, parts, count);
        if done > 0 {
            let parts = core::slice::from_raw_parts(parts, count as usize);
            arrived_in_parts(descriptor, parts, done, None);
        }
        give(own!(__plx_m_readv), 0);
        done
    }
}
