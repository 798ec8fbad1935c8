//! Labels of memory, held against a plain table of them.

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
