//! A small cache in front of expression construction: the same operation on the same
//! operands gives the same node, without canonicalising and looking it up again.
//!
//! The key holds labels *and* concrete values, so that a hit also proves that
//! the operands still have their labels' values.

use crate::hash;

const ENTRIES: usize = 2048;

/// Operands of a binary operation as the program passed them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    pub code: u64,
    pub a: u64,
    pub b: u64,
    pub la: u32,
    pub lb: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    key: Key,
    /// 0 in an unused entry; results that are concrete are not remembered.
    result: u32,
}

pub struct Memo {
    entries: [Entry; ENTRIES],
}

impl Memo {
    pub const fn new() -> Memo {
        let key = Key {
            code: 0,
            a: 0,
            b: 0,
            la: 0,
            lb: 0,
        };
        Memo {
            entries: [Entry { key, result: 0 }; ENTRIES],
        }
    }

    #[inline(always)]
    fn slot(key: &Key) -> usize {
        let labels = u64::from(key.la) << 32 | u64::from(key.lb);
        let hash = hash::pair(
            labels ^ key.code.rotate_left(17),
            key.a ^ key.b.rotate_left(32),
        );
        hash as usize % ENTRIES
    }

    /// The label that was made for this operation before, or 0.
    #[inline(always)]
    pub fn get(&self, key: &Key) -> u32 {
        let entry = &self.entries[Memo::slot(key)];
        if entry.key == *key { entry.result } else { 0 }
    }

    #[inline(always)]
    pub fn put(&mut self, key: Key, result: u32) {
        if result != 0 {
            self.entries[Memo::slot(&key)] = Entry { key, result };
        }
    }
}
