//! Label words: what each byte of memory stands for.
//!
//! Reading and writing of labels takes no lock; only assembling a value from
//! the bytes of several nodes does. Clearing works always, also when tracing has
//! stopped and inside signal handlers, because a label that outlives its byte is wrong.

use crate::core_state::Core;
use crate::memo::LoadKey;
use crate::presence::{self, GRANULE, LIMIT};
use crate::{lock, loss, nodes, trace};
use parallax_abi::layout::{LABEL_BYTE_BITS, label_address};
use parallax_abi::trace::{LossKind, Node};
use parallax_expr::{build, value};

/// Largest value that one label can stand for.
pub const MAX_BYTES: u64 = 16;

#[inline(always)]
fn words(address: u64) -> *mut u32 {
    label_address(address) as *mut u32
}

/// Whether a range is user memory for which the tables have entries.
#[inline(always)]
fn is_valid(address: u64, size: u64) -> bool {
    address < LIMIT && size <= LIMIT - address
}

/// Concrete value of `size` (at most 16) bytes, as two words.
#[inline(always)]
unsafe fn memory(address: u64, size: u64) -> (u64, u64) {
    let at = address as *const u8;
    // SAFETY: the program is about to read these bytes itself.
    unsafe {
        match size {
            1 => (u64::from(*at), 0),
            2 => (u64::from(at.cast::<u16>().read_unaligned()), 0),
            4 => (u64::from(at.cast::<u32>().read_unaligned()), 0),
            8 => (at.cast::<u64>().read_unaligned(), 0),
            _ => {
                let mut all = 0u128;
                for index in 0..size.min(MAX_BYTES) {
                    all |= u128::from(*at.add(index as usize)) << (8 * index);
                }
                (all as u64, (all >> 64) as u64)
            }
        }
    }
}

/// Concrete value of at most 16 bytes.
///
/// # Safety
/// The bytes can be read.
pub unsafe fn value_at(address: u64, size: u64) -> u128 {
    // SAFETY: passed on to the caller.
    let (lo, hi) = unsafe { memory(address, size) };
    u128::from(lo) | u128::from(hi) << 64
}

/// Label of `size` bytes read as one little-endian value, or 0.
///
/// # Safety
/// The tables are reserved and the bytes can be read.
#[inline]
pub unsafe fn load(address: u64, size: u64, site: u64) -> u32 {
    if !trace::active() || !is_valid(address, size) || size == 0 || size > MAX_BYTES {
        return 0;
    }
    // SAFETY: passed on to the caller. The common sizes are told apart, so that
    // their loops are unrolled.
    unsafe {
        match size {
            1 => load_words::<1>(address, site),
            2 => load_words::<2>(address, site),
            4 => load_words::<4>(address, site),
            8 => load_words::<8>(address, site),
            _ => match is_labelled(words(address), size as usize) {
                true => load_parts(address, size, site),
                false => vain(address),
            },
        }
    }
}

#[cold]
unsafe fn vain(address: u64) -> u32 {
    // SAFETY: as `load`.
    unsafe { presence::visited_in_vain(address) };
    0
}

#[inline(always)]
unsafe fn is_labelled(at: *const u32, count: usize) -> bool {
    // SAFETY: as `load`.
    unsafe { (0..count).fold(0, |any, index| any | *at.add(index)) != 0 }
}

/// A whole node is found without lock and construction.
#[inline(always)]
unsafe fn load_words<const N: usize>(address: u64, site: u64) -> u32 {
    // SAFETY: as `load`.
    unsafe {
        let at = words(address);
        let first = *at;
        let mut others = 0;
        for index in 1..N {
            others |= *at.add(index) ^ first.wrapping_add(index as u32);
        }
        if first & 15 == 0 && others == 0 && first != 0 {
            let label = first >> LABEL_BYTE_BITS;
            let node = trace::node(label);
            if usize::from(node.width) == 8 * N && memory(address, N as u64) == (node.lo, node.hi) {
                return label;
            }
        }
        if is_labelled(at, N) {
            load_parts(address, N as u64, site)
        } else {
            vain(address)
        }
    }
}

/// Builds the value from the labels of its bytes.
#[cold]
unsafe fn load_parts(address: u64, size: u64, site: u64) -> u32 {
    let Some(mut core) = lock::enter() else {
        return 0;
    };
    // SAFETY: as `load`.
    unsafe {
        // The same bytes were likely put together before, in the same state.
        let mut key = LoadKey {
            words: [0; 8],
            value: 0,
            size,
        };
        if size <= 8 {
            core::ptr::copy_nonoverlapping(words(address), key.words.as_mut_ptr(), size as usize);
            key.value = memory(address, size).0;
            let known = core.loads.get(&key);
            if known != 0 {
                return known;
            }
        }
        let label = assemble(&mut core, address, size, site);
        let label = nodes::finish(&mut core, label, site);
        // A stale label that was just dropped makes the key one that is not found again.
        if size <= 8 {
            core.loads.put(key, label);
        }
        label
    }
}

/// Byte `index` of a node's value.
fn byte_of(node: &Node, index: u32) -> u8 {
    (value(node) >> (8 * index)) as u8
}

/// Drops labels of the range whose value differs from memory.
///
/// # Safety
/// As [`load`].
pub unsafe fn drop_stale(core: &mut Core, address: u64, size: u64, site: u64) {
    let mut stale = false;
    // SAFETY: passed on to the caller.
    unsafe {
        let mut at = presence::next_set(address, address + size);
        while at < address + size {
            let word = words(at);
            if *word != 0 {
                let node = trace::node(*word >> LABEL_BYTE_BITS);
                if byte_of(node, *word & 15) != *(at as *const u8) {
                    *word = 0;
                    stale = true;
                }
            }
            at += 1;
            if at.is_multiple_of(GRANULE) {
                at = presence::next_set(at, address + size);
            }
        }
    }
    if stale {
        loss::record(core, LossKind::Stale, site, &[]);
    }
}

/// Builds the value from the bytes' labels.
unsafe fn assemble(core: &mut Core, address: u64, size: u64, site: u64) -> u32 {
    let mut bytes = [0; MAX_BYTES as usize];
    let mut labels = [0; MAX_BYTES as usize];
    let length = size as usize;
    // SAFETY: as `load`.
    unsafe {
        drop_stale(core, address, size, site);
        core::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), length);
        core::ptr::copy_nonoverlapping(words(address), labels.as_mut_ptr(), length);
    }
    build::bytes(&mut core.nodes, &labels[..length], &bytes[..length])
}

/// Gives `size` bytes the value of `label`, or clears them. A value narrower than the
/// bytes is stored with zeros above, of a wider one the low bytes.
///
/// # Safety
/// The tables are reserved.
#[inline]
pub unsafe fn store(address: u64, size: u64, label: u32) {
    if !is_valid(address, size) || size == 0 {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        if label == 0 || !trace::active() || size > MAX_BYTES {
            return clear(address, size);
        }
        let word = label << LABEL_BYTE_BITS;
        let at = words(address);
        for index in 0..size as u32 {
            *at.add(index as usize) = word | index;
        }
        presence::set(address, size);
    }
}

/// Makes bytes concrete.
///
/// # Safety
/// The tables are reserved.
#[inline]
pub unsafe fn clear(address: u64, size: u64) {
    if !is_valid(address, size) || size == 0 {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        if size <= MAX_BYTES {
            // Also the ones at the start of the next granule: presence of the first
            // granule says whether any is labelled.
            if presence::is_set(address) {
                let at = words(address);
                let mut any = 0;
                for index in 0..size as usize {
                    any |= *at.add(index);
                    *at.add(index) = 0;
                }
                if any == 0 {
                    presence::visited_in_vain(address);
                }
            }
            return;
        }
        clear_range(address, address + size);
    }
}

unsafe fn clear_range(start: u64, end: u64) {
    // SAFETY: as `clear`.
    unsafe {
        let mut at = presence::next_set(start, end);
        while at < end {
            let granule = at & !(GRANULE - 1);
            let stop = end.min(granule + GRANULE);
            core::ptr::write_bytes(words(at), 0, (stop - at) as usize);
            at = presence::next_set(stop, end);
        }
        let first = start.next_multiple_of(GRANULE);
        let last = end & !(GRANULE - 1);
        let mut granule = presence::next_set(first, last);
        while granule < last {
            presence::remove_cleared(granule);
            granule = presence::next_set(granule + GRANULE, last);
        }
    }
}

/// Copies labels as `memmove` copies bytes.
///
/// # Safety
/// The tables are reserved.
pub unsafe fn copy(to: u64, from: u64, size: u64) {
    if size == 0 || to == from || !is_valid(to, size) || !is_valid(from, size) {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        if !trace::active() || presence::next_set(from, from + size) == from + size {
            return clear(to, size);
        }
        if to < from || to >= from + size {
            let mut done = 0;
            while done < size {
                // Up to the end of the source's granule: one presence byte decides.
                let length = (GRANULE - (from + done) % GRANULE).min(size - done);
                copy_piece(to + done, from + done, length);
                done += length;
            }
        } else {
            let mut left = size;
            while left > 0 {
                let into = (from + left - 1) % GRANULE + 1;
                let length = into.min(left);
                left -= length;
                copy_piece(to + left, from + left, length);
            }
        }
    }
}

/// Copies labels of bytes of one source granule.
unsafe fn copy_piece(to: u64, from: u64, size: u64) {
    // SAFETY: as `copy`.
    unsafe {
        if presence::is_set(from) {
            core::ptr::copy(words(from), words(to), size as usize);
            presence::set(to, size);
        } else {
            clear(to, size);
        }
    }
}

/// Gives `size` bytes the label of one byte, or clears them.
///
/// # Safety
/// The tables are reserved.
pub unsafe fn fill(address: u64, size: u64, label: u32) {
    if size == 0 || !is_valid(address, size) {
        return;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        if label == 0 || !trace::active() || trace::node(label).width != 8 {
            return clear(address, size);
        }
        let at = words(address);
        for index in 0..size as usize {
            *at.add(index) = label << LABEL_BYTE_BITS;
        }
        presence::set(address, size);
    }
}

/// Whether any of the bytes is labelled.
///
/// # Safety
/// The tables are reserved.
pub unsafe fn peek(address: u64, size: u64) -> bool {
    if !trace::active() || !is_valid(address, size) {
        return false;
    }
    let end = address + size;
    // SAFETY: passed on to the caller.
    unsafe {
        let mut at = presence::next_set(address, end);
        while at < end {
            let stop = end.min((at & !(GRANULE - 1)) + GRANULE);
            let labels = words(at);
            if (0..(stop - at) as usize).any(|index| *labels.add(index) != 0) {
                return true;
            }
            at = presence::next_set(stop, end);
        }
    }
    false
}

/// The label words of a range.
///
/// # Safety
/// The tables are reserved; nobody may write the words while the slice lives.
pub unsafe fn label_words(address: u64, size: u64) -> &'static [u32] {
    // SAFETY: passed on to the caller.
    unsafe { core::slice::from_raw_parts(words(address), size as usize) }
}

#[cfg(test)]
mod tests;
