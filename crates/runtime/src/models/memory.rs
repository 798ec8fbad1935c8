//! `memcpy` and its family.

use super::{call_site, fix, give, own, take};
use crate::{access, events, nodes, shadow, trace};
use parallax_abi::trace::Concretized;
use parallax_expr::build;

type Bytes = *mut u8;

unsafe extern "C" {
    fn memcpy(to: Bytes, from: Bytes, size: usize) -> Bytes;
    fn memmove(to: Bytes, from: Bytes, size: usize) -> Bytes;
    fn memset(to: Bytes, byte: i32, size: usize) -> Bytes;
    fn explicit_bzero(to: Bytes, size: usize);
    fn __memcpy_chk(to: Bytes, from: Bytes, size: usize, room: usize) -> Bytes;
    fn __memmove_chk(to: Bytes, from: Bytes, size: usize, room: usize) -> Bytes;
    fn __memset_chk(to: Bytes, byte: i32, size: usize, room: usize) -> Bytes;
    fn __explicit_bzero_chk(to: Bytes, size: usize, room: usize);
}

/// Labelled pointers and length of a copy: logged and fixed. `labels` are those of
/// target, source and length.
fn log_copy(labels: [u32; 3], to: Bytes, from: Bytes, size: usize) {
    if labels == [0; 3] || !trace::active() {
        return;
    }
    let [lto, lfrom, lsize] = labels;
    let (site, length) = (call_site(), size as u64);
    access::range(to as u64, lto, length, lsize, true, site);
    if from != to {
        access::range(from as u64, lfrom, length, lsize, false, site);
    }
    fix(lsize, length, Concretized::Length);
}

#[inline]
unsafe fn copied(labels: [u32; 3], to: Bytes, from: Bytes, size: usize) {
    log_copy(labels, to, from, size);
    // SAFETY: the tables are reserved.
    unsafe { shadow::copy(to as u64, from as u64, size as u64) };
}

/// Labels a filled range; `lbyte` is the label of the `int` argument.
unsafe fn filled(labels: [u32; 3], to: Bytes, byte: i32, size: usize) {
    let [lto, lbyte, lsize] = labels;
    log_copy([lto, 0, lsize], to, to, size);
    let mut label = 0;
    if lbyte != 0 {
        events::with_core(|core| {
            let node = trace::node(lbyte);
            if node.width == 32 && node.lo == u64::from(byte as u32) {
                let low = build::extract(&mut core.nodes, lbyte, 0, 8);
                label = nodes::finish(core, low, 0);
            }
        });
    }
    // SAFETY: the tables are reserved.
    unsafe { shadow::fill(to as u64, size as u64, label) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_memcpy(to: Bytes, from: Bytes, size: usize) -> Bytes {
    let labels = take::<3>(own!(__plx_m_memcpy));
    // SAFETY: the program's own call.
    unsafe {
        copied(labels, to, from, size);
        memcpy(to, from, size);
    }
    give(own!(__plx_m_memcpy), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_memmove(to: Bytes, from: Bytes, size: usize) -> Bytes {
    let labels = take::<3>(own!(__plx_m_memmove));
    // SAFETY: the program's own call.
    unsafe {
        copied(labels, to, from, size);
        memmove(to, from, size);
    }
    give(own!(__plx_m_memmove), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_mempcpy(to: Bytes, from: Bytes, size: usize) -> Bytes {
    let labels = take::<3>(own!(__plx_m_mempcpy));
    // SAFETY: the program's own call.
    unsafe {
        copied(labels, to, from, size);
        memcpy(to, from, size);
    }
    // Target and length are fixed now, so the end is concrete.
    give(own!(__plx_m_mempcpy), 0);
    to.wrapping_add(size)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_bcopy(from: Bytes, to: Bytes, size: usize) {
    let [lfrom, lto, lsize] = take::<3>(own!(__plx_m_bcopy));
    // SAFETY: the program's own call.
    unsafe {
        copied([lto, lfrom, lsize], to, from, size);
        memmove(to, from, size);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_memset(to: Bytes, byte: i32, size: usize) -> Bytes {
    let labels = take::<3>(own!(__plx_m_memset));
    // SAFETY: the program's own call.
    unsafe {
        filled(labels, to, byte, size);
        memset(to, byte, size);
    }
    give(own!(__plx_m_memset), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_bzero(to: Bytes, size: usize) {
    let [lto, lsize] = take::<2>(own!(__plx_m_bzero));
    // SAFETY: the program's own call.
    unsafe {
        filled([lto, 0, lsize], to, 0, size);
        memset(to, 0, size);
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m_explicit_bzero(to: Bytes, size: usize) {
    let [lto, lsize] = take::<2>(own!(__plx_m_explicit_bzero));
    // SAFETY: the program's own call.
    unsafe {
        filled([lto, 0, lsize], to, 0, size);
        explicit_bzero(to, size);
    }
}

/// The fortified forms end the program if the size exceeds the room, so labels
/// move only if it does not.
unsafe fn copied_within(labels: [u32; 3], to: Bytes, from: Bytes, size: usize, room: usize) {
    log_copy(labels, to, from, size);
    if size <= room {
        // SAFETY: the tables are reserved.
        unsafe { shadow::copy(to as u64, from as u64, size as u64) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___memcpy_chk(
    to: Bytes,
    from: Bytes,
    size: usize,
    room: usize,
) -> Bytes {
    let labels = take::<3>(own!(__plx_m___memcpy_chk));
    // SAFETY: the program's own call.
    unsafe {
        copied_within(labels, to, from, size, room);
        __memcpy_chk(to, from, size, room);
    }
    give(own!(__plx_m___memcpy_chk), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___memmove_chk(
    to: Bytes,
    from: Bytes,
    size: usize,
    room: usize,
) -> Bytes {
    let labels = take::<3>(own!(__plx_m___memmove_chk));
    // SAFETY: the program's own call.
    unsafe {
        copied_within(labels, to, from, size, room);
        __memmove_chk(to, from, size, room);
    }
    give(own!(__plx_m___memmove_chk), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___mempcpy_chk(
    to: Bytes,
    from: Bytes,
    size: usize,
    room: usize,
) -> Bytes {
    let labels = take::<3>(own!(__plx_m___mempcpy_chk));
    // SAFETY: the program's own call.
    unsafe {
        copied_within(labels, to, from, size, room);
        __memcpy_chk(to, from, size, room);
    }
    give(own!(__plx_m___mempcpy_chk), 0);
    to.wrapping_add(size)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___memset_chk(
    to: Bytes,
    byte: i32,
    size: usize,
    room: usize,
) -> Bytes {
    let labels = take::<3>(own!(__plx_m___memset_chk));
    // SAFETY: the program's own call.
    unsafe {
        if size <= room {
            filled(labels, to, byte, size);
        } else {
            log_copy([labels[0], 0, labels[2]], to, to, size);
        }
        __memset_chk(to, byte, size, room);
    }
    give(own!(__plx_m___memset_chk), labels[0]);
    to
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m___explicit_bzero_chk(to: Bytes, size: usize, room: usize) {
    let [lto, lsize] = take::<2>(own!(__plx_m___explicit_bzero_chk));
    // SAFETY: the program's own call.
    unsafe {
        if size <= room {
            filled([lto, 0, lsize], to, 0, size);
        }
        __explicit_bzero_chk(to, size, room);
    }
}
