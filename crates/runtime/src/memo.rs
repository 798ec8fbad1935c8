//! Small caches in front of expression construction: the same operation on the same
//! operands gives the same node, without canonicalising and looking it up again.
//!
//! A key holds labels *and* concrete values, so that a hit also proves that
//! the operands still have their labels' values.

use crate::hash;

const ENTRIES: usize = 2048;

/// What an operation is remembered by. All zero is never asked for.
pub trait Key: Copy + Eq {
    const NONE: Self;
    fn hash(&self) -> u64;
}

/// Operands of a binary operation as the program passed them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BinaryKey {
    pub code: u64,
    pub a: u64,
    pub b: u64,
    pub la: u32,
    pub lb: u32,
}

impl Key for BinaryKey {
    const NONE: BinaryKey = BinaryKey {
        code: 0,
        a: 0,
        b: 0,
        la: 0,
        lb: 0,
    };

    #[inline(always)]
    fn hash(&self) -> u64 {
        let labels = u64::from(self.la) << 32 | u64::from(self.lb);
        hash::pair(
            labels ^ self.code.rotate_left(17),
            self.a ^ self.b.rotate_left(32),
        )
    }
}

/// Bytes of memory that are put together to a value: their label words and contents.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LoadKey {
    pub words: [u32; 8],
    pub value: u64,
    pub size: u64,
}

impl Key for LoadKey {
    const NONE: LoadKey = LoadKey {
        words: [0; 8],
        value: 0,
        size: 0,
    };

    #[inline(always)]
    fn hash(&self) -> u64 {
        let [a, b, c, d, e, f, g, h] = self.words.map(u64::from);
        let low = hash::pair(a | b << 32, c | d << 32);
        let high = hash::pair(e | f << 32, g | h << 32);
        hash::pair(low ^ self.value, high ^ self.size)
    }
}

#[derive(Clone, Copy)]
struct Entry<K> {
    key: K,
    /// 0 in an unused entry; results that are concrete are not remembered.
    result: u32,
}

pub struct Memo<K> {
    entries: [Entry<K>; ENTRIES],
}

impl<K: Key> Memo<K> {
    pub const fn new() -> Memo<K> {
        Memo {
            entries: [Entry {
                key: K::NONE,
                result: 0,
            }; ENTRIES],
        }
    }

    /// The label that was made for this operation before, or 0.
    #[inline(always)]
    pub fn get(&self, key: &K) -> u32 {
        let entry = &self.entries[key.hash() as usize % ENTRIES];
        if entry.key == *key { entry.result } else { 0 }
    }

    #[inline(always)]
    pub fn put(&mut self, key: K, result: u32) {
        if result != 0 {
            self.entries[key.hash() as usize % ENTRIES] = Entry { key, result };
        }
    }
}
