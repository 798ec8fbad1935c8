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
mod tests {
    use super::*;
    use crate::presence::REACH;
    use crate::testing::{self, Numbers};
    use parallax_abi::Op;

    const SIZE: usize = 4096;

    /// Memory with what its labels should be.
    struct Mirror {
        memory: Vec<u8>,
        words: Vec<u32>,
    }

    impl Mirror {
        fn new() -> Mirror {
            Mirror {
                memory: vec![0; SIZE],
                words: vec![0; SIZE],
            }
        }

        fn at(&self, offset: u64) -> u64 {
            self.memory.as_ptr() as u64 + offset
        }

        fn check(&self, step: u64) {
            // SAFETY: the tables are reserved.
            let actual = unsafe { label_words(self.at(0), SIZE as u64) };
            assert_eq!(actual, self.words, "step {step}");
            for (offset, _) in self
                .words
                .iter()
                .enumerate()
                .filter(|(_, word)| **word != 0)
            {
                for back in [0, REACH] {
                    let address = self.at(offset as u64) - back;
                    // SAFETY: the tables are reserved.
                    assert!(
                        unsafe { presence::is_set(address) },
                        "step {step}: byte {offset}"
                    );
                }
            }
        }
    }

    #[test]
    fn any_order_of_stores_clears_fills_and_copies_keeps_labels_and_presence() {
        let _guard = testing::set_up();
        let mut numbers = Numbers(1);
        let mut mirror = Mirror::new();
        let byte = testing::input(1, 0);
        for step in 0..20_000 {
            let from = numbers.below(SIZE as u64);
            let to = numbers.below(SIZE as u64);
            let most = if numbers.below(4) == 0 { 1500 } else { 40 };
            let size = numbers.below(most).min(SIZE as u64 - from.max(to));
            let range = to as usize..(to + size) as usize;
            // SAFETY: all ranges lie in the memory.
            unsafe {
                match numbers.below(5) {
                    0 => {
                        let size = size.min(MAX_BYTES);
                        store(mirror.at(to), size, byte);
                        for index in 0..size {
                            let word = byte << LABEL_BYTE_BITS | index as u32;
                            mirror.words[(to + index) as usize] = word;
                        }
                    }
                    1 => {
                        fill(mirror.at(to), size, byte);
                        mirror.words[range].fill(byte << LABEL_BYTE_BITS);
                    }
                    2 | 3 => {
                        clear(mirror.at(to), size);
                        mirror.words[range].fill(0);
                    }
                    _ => {
                        copy(mirror.at(to), mirror.at(from), size);
                        mirror
                            .words
                            .copy_within(from as usize..(from + size) as usize, to as usize);
                    }
                }
                let expected = mirror.words[to as usize..][..size as usize]
                    .iter()
                    .any(|w| *w != 0);
                assert_eq!(peek(mirror.at(to), size), expected, "step {step}");
            }
            if step % 50 == 0 {
                mirror.check(step);
            }
        }
        mirror.check(20_000);
        // SAFETY: the tables are reserved.
        unsafe {
            clear(mirror.at(0), SIZE as u64);
            let granule = mirror.at(GRANULE) & !(GRANULE - 1);
            assert!(
                !presence::is_set(granule),
                "a cleared granule has no presence"
            );
        }
    }

    #[test]
    fn a_stored_value_is_loaded_as_the_same_node_and_its_parts_as_extracts() {
        let _guard = testing::set_up();
        let memory = 0x1122_3344u32.to_le_bytes();
        testing::label(&memory, 0);
        let address = memory.as_ptr() as u64;
        // SAFETY: the bytes can be read.
        unsafe {
            let whole = load(address, 4, 0);
            assert_eq!(
                (trace::node(whole).width, trace::node(whole).lo),
                (32, 0x1122_3344)
            );
            store(address, 4, whole);
            assert_eq!(load(address, 4, 0), whole);
            let low = load(address + 1, 2, 0);
            assert_eq!((trace::node(low).width, trace::node(low).lo), (16, 0x2233));
            clear(address + 3, 1);
            let mixed = load(address, 4, 0);
            assert_eq!(trace::node(mixed).lo, 0x1122_3344);
            assert_eq!(load(address + 3, 1, 0), 0);
        }
    }

    #[test]
    fn a_byte_that_changed_behind_our_back_loses_its_label() {
        let _guard = testing::set_up();
        let mut memory = *b"abcd";
        testing::label(&memory, 100);
        memory[2] = b'X';
        let address = core::hint::black_box(memory.as_ptr()) as u64;
        // SAFETY: the bytes can be read.
        unsafe {
            assert_eq!(load(address + 2, 1, 0), 0);
            assert_eq!(trace::node(load(address + 1, 1, 0)).op, Op::Input as u8);
            assert!(!peek(address + 2, 1));
        }
    }

    #[test]
    fn presence_that_sends_code_here_in_vain_goes_away() {
        let _guard = testing::set_up();
        let memory = vec![0u8; 1024];
        let address = (memory.as_ptr() as u64).next_multiple_of(GRANULE);
        // SAFETY: the range lies in the memory.
        unsafe {
            store(address + 20, 1, testing::input(3, 0));
            clear(address + 20, 1);
            assert!(
                presence::is_set(address),
                "one byte says nothing about its granule"
            );
            for _ in 0..100 {
                assert_eq!(load(address + 40, 4, 0), 0);
            }
            assert!(!presence::is_set(address));
        }
    }
}
