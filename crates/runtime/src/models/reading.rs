//! `read` and its family: bytes that come in get their labels.

use super::{fix, fix_length, give, own, take};
use crate::{events, inputs, shadow, trace};
use parallax_abi::trace::Concretized;

type Bytes = *mut u8;

unsafe extern "C" {
    fn read(descriptor: i32, to: Bytes, size: usize) -> isize;
    fn pread(descriptor: i32, to: Bytes, size: usize, offset: i64) -> isize;
    fn readv(descriptor: i32, parts: *const Part, count: i32) -> isize;
    fn preadv(descriptor: i32, parts: *const Part, count: i32, offset: i64) -> isize;
    fn preadv2(descriptor: i32, parts: *const Part, count: i32, offset: i64, flags: i32) -> isize;
    fn __read_chk(descriptor: i32, to: Bytes, size: usize, room: usize) -> isize;
    fn __pread_chk(descriptor: i32, to: Bytes, size: usize, offset: i64, room: usize) -> isize;
}

/// `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    pub base: Bytes,
    pub size: usize,
}

/// Where in the source bytes were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// At the descriptor's own position, which moved on.
    Position,
    /// At the position, which stayed where it is (`MSG_PEEK`).
    Ahead,
    /// At a given offset.
    Offset(u64),
}

/// Labels what was just read.
///
/// # Safety
/// The system call filled the first `count` bytes of the parts.
pub(super) unsafe fn arrived(descriptor: i32, parts: &[Part], count: isize, at: At) {
    let Ok(count) = u64::try_from(count) else {
        return;
    };
    if !trace::active() {
        return;
    }
    let sizes = parts.iter().map(|part| part.size as u64);
    let wanted = sizes.fold(0, u64::saturating_add);
    events::with_core(|core| {
        let stream = inputs::stream(core, descriptor);
        let offset = stream.and_then(|stream| match at {
            At::Offset(offset) => Some(offset),
            At::Position => stream.offset_of_last(descriptor, count),
            At::Ahead => Some(stream.next()),
        });
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
        if let (Some(stream), Some(offset)) = (stream, offset) {
            stream.note_end(core, descriptor, offset, count, wanted);
        }
    });
}

/// An offset that was given; a negative one is refused by the kernel.
fn at_offset(offset: i64) -> At {
    u64::try_from(offset).map_or(At::Position, At::Offset)
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
        arrived(descriptor, &[Part { base: to, size }], count, At::Position);
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
        arrived(descriptor, &[Part { base: to, size }], count, At::Position);
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
        arrived(
            descriptor,
            &[Part { base: to, size }],
            count,
            at_offset(offset),
        );
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
        arrived(
            descriptor,
            &[Part { base: to, size }],
            count,
            at_offset(offset),
        );
        give(own!(__plx_m___pread_chk), 0);
        count
    }
}

/// Reading into several places: `$offset` is where in the source.
macro_rules! scattered {
    ($model:ident, $real:ident($($extra:ident: $type:ty),*), $at:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $model(
            descriptor: i32,
            parts: *const Part,
            count: i32,
            $($extra: $type),*
        ) -> isize {
            let [ldescriptor, lparts, lcount, loffset] = take::<4>(own!($model));
            fix(ldescriptor, descriptor as u32 as u64, Concretized::Argument);
            fix(lparts, parts as u64, Concretized::Argument);
            fix(lcount, count as u32 as u64, Concretized::Argument);
            if loffset != 0 {
                fix(loffset, trace::node(loffset).lo, Concretized::Argument);
            }
            // SAFETY: the program's own call; the kernel accepted the parts.
            unsafe {
                let done = $real(descriptor, parts, count, $($extra),*);
                if done >= 0 && count > 0 {
                    let parts = core::slice::from_raw_parts(parts, count as usize);
                    arrived(descriptor, parts, done, $at);
                }
                give(own!($model), 0);
                done
            }
        }
    };
}
scattered!(__plx_m_readv, readv(), At::Position);
scattered!(__plx_m_preadv, preadv(offset: i64), at_offset(offset));
// Offset -1 means the descriptor's own.
scattered!(__plx_m_preadv2, preadv2(offset: i64, flags: i32), at_offset(offset));
