//! Small caches in front of expression construction: the same operation on the same
//! operands gives the same node, without canonicalising and looking it up again.
//!
//! A key holds labels *and* concrete values, so that a hit also proves that
//! the operands still have their labels' values.

use crate::hash;

const ENTRIES: usize = 2048;
/// Entries that are used at first: those of a short run lie on few pages, each of which would cost
/// more to touch than the cache can save.
const FIRST_ENTRIES: usize = 64;

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

/// The counters come first, in the page of the entries that are used first.
#[repr(C)]
pub struct Memo<K> {
    /// How often the number of entries in use was doubled.
    doubled: u32,
    /// How often something was remembered since then.
    puts: usize,
    entries: [Entry<K>; ENTRIES],
}

impl<K: Key> Memo<K> {
    pub const fn new() -> Memo<K> {
        Memo {
            doubled: 0,
            puts: 0,
            entries: [Entry {
                key: K::NONE,
                result: 0,
            }; ENTRIES],
        }
    }

    /// Touches the page that is used first by writing: read first, it would be handed out twice.
    pub fn set_up(&mut self) {
        // SAFETY: our own field.
        unsafe { core::ptr::write_volatile(&mut self.puts, 0) };
    }

    #[inline(always)]
    fn used(&self) -> usize {
        FIRST_ENTRIES << self.doubled
    }

    #[inline(always)]
    fn place(&self, key: &K) -> usize {
        // Twice the same for the optimiser, which then needs no check of its own.
        key.hash() as usize & (self.used() - 1) & (ENTRIES - 1)
    }

    /// The label that was made for this operation before, or 0.
    #[inline(always)]
    pub fn get(&self, key: &K) -> u32 {
        let entry = &self.entries[self.place(key)];
        if entry.key == *key { entry.result } else { 0 }
    }

    #[inline(always)]
    pub fn put(&mut self, key: K, result: u32) {
        if result == 0 {
            return;
        }
        self.puts += 1;
        if self.puts > self.used() && self.used() < ENTRIES {
            // What is remembered elsewhere now is only forgotten.
            self.doubled += 1;
            self.puts = 0;
        }
        let place = self.place(&key);
        self.entries[place] = Entry { key, result };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64) -> BinaryKey {
        BinaryKey {
            code: 1,
            a: number,
            b: 0,
            la: 1,
            lb: 0,
        }
    }

    #[test]
    fn what_was_just_remembered_is_known_and_never_taken_for_another() {
        let mut memo = Memo::new();
        for number in 0..10_000 {
            memo.put(key(number), number as u32 + 1);
            assert_eq!(memo.get(&key(number)), number as u32 + 1);
            let earlier = memo.get(&key(number / 2));
            assert!(earlier == 0 || earlier == (number / 2) as u32 + 1);
        }
        assert_eq!(memo.used(), ENTRIES);
    }

    #[test]
    fn a_short_run_uses_few_entries() {
        let mut memo = Memo::new();
        for number in 0..FIRST_ENTRIES as u64 {
            memo.put(key(number), 1);
        }
        assert_eq!(memo.used(), FIRST_ENTRIES);
    }
}
