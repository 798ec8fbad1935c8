//! Open-addressing hash tables in the runtime's own memory.
//!
//! [`Map`] maps a hash to indices of records that live elsewhere (nodes, contexts,
//! ...); the caller compares. [`Seen`] is a set of 64-bit keys. Both grow by
//! a factor and swap to the larger table with a single store, so that a process
//! forked in the middle of it by another thread still finds a consistent table.

use crate::{arena, sys};

/// A table's memory: a header followed by the slots.
#[repr(C)]
struct Slots {
    mask: usize,
    used: usize,
    /// The slots start on a cache line.
    padding: [u64; 6],
    slots: [u64; 0],
}

/// What a table starts with: with its header less than a page, because the kernel takes longer to hand
/// out a page than a short run takes to fill it.
const FIRST_SLOTS: usize = 256;
/// The table of expressions is soon larger.
const FIRST_LOCAL_SLOTS: usize = 2048;
/// Small tables grow in larger steps: each step costs pages anew.
const SMALL_SLOTS: usize = 16 << 10;
const HUGE_PAGE: usize = 2 << 20;
const HEADER: usize = size_of::<Slots>();

fn bytes_of(slots: usize) -> usize {
    HEADER + slots * 8
}

fn fresh(slots: usize) -> Option<*mut Slots> {
    let bytes = bytes_of(slots);
    let table = arena::allocate(bytes)? as *mut Slots;
    if bytes >= HUGE_PAGE {
        // Slots are visited at random: small pages would cost a miss each.
        sys::advise(table as usize, bytes, sys::MADV_HUGEPAGE);
    }
    // SAFETY: fresh memory of sufficient size.
    unsafe { (*table).mask = slots - 1 };
    Some(table)
}

#[inline(always)]
unsafe fn slot(table: *mut Slots, at: usize) -> *mut u64 {
    // SAFETY: the caller keeps `at` below the number of slots.
    unsafe { (&raw mut (*table).slots).cast::<u64>().add(at) }
}

/// Puts a nonzero word into the first free slot of its probe sequence.
unsafe fn put(table: *mut Slots, position: usize, word: u64) {
    // SAFETY: the caller keeps the table below full.
    unsafe {
        let mask = (*table).mask;
        let mut at = position & mask;
        while *slot(table, at) != 0 {
            at = (at + 1) & mask;
        }
        *slot(table, at) = word;
        (*table).used += 1;
    }
}

/// Makes room for one more; false if there is no memory.
/// `put_back` enters a word of the old table into the new one.
unsafe fn make_room(
    table: &mut *mut Slots,
    first: usize,
    put_back: impl Fn(*mut Slots, u64),
) -> bool {
    // SAFETY: the table is null or was made by `fresh`.
    unsafe {
        let old = *table;
        if old.is_null() {
            return fresh(first).is_some_and(|new| {
                *table = new;
                true
            });
        }
        let slots = (*old).mask + 1;
        if (*old).used * 8 < slots * 5 {
            return true;
        }
        let factor = if slots < SMALL_SLOTS { 4 } else { 2 };
        let Some(new) = fresh(slots * factor) else {
            return false;
        };
        for at in 0..slots {
            let word = *slot(old, at);
            if word != 0 {
                put_back(new, word);
            }
        }
        *table = new;
        arena::release(old as usize, bytes_of(slots));
        true
    }
}

/// Hash → index. A slot is `hash (32 bits) << 32 | index + 1`.
pub struct Map {
    table: *mut Slots,
}

impl Map {
    pub const fn new() -> Map {
        Map {
            table: core::ptr::null_mut(),
        }
    }

    #[inline(always)]
    fn short(hash: u64) -> u64 {
        (hash ^ hash >> 32) & 0xffff_ffff
    }

    /// The index stored under `hash` for which `equal` holds.
    #[inline(always)]
    pub fn find(&self, hash: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        if self.table.is_null() {
            return None;
        }
        let short = Map::short(hash);
        // SAFETY: positions are masked; a table is never full.
        unsafe {
            let mask = (*self.table).mask;
            let mut at = short as usize & mask;
            loop {
                let word = *slot(self.table, at);
                if word == 0 {
                    return None;
                }
                let index = (word as u32).wrapping_sub(1);
                if word >> 32 == short && equal(index) {
                    return Some(index);
                }
                at = (at + 1) & mask;
            }
        }
    }

    /// Adds an index that is not there yet; false if there is no memory.
    pub fn insert(&mut self, hash: u64, index: u32) -> bool {
        let short = Map::short(hash);
        // SAFETY: `make_room` keeps the table below full.
        unsafe {
            if !make_room(&mut self.table, FIRST_SLOTS, |table, word| {
                put(table, (word >> 32) as usize, word)
            }) {
                return false;
            }
            put(
                self.table,
                short as usize,
                short << 32 | u64::from(index.wrapping_add(1)),
            );
        }
        true
    }
}

/// As [`Map`], with a hint where each entry should lie: entries whose places are near each
/// other share cache lines as long as there is room. For the one table that grows too large
/// for the cache.
///
/// An entry lies in the line of slots that its place names, or, if that was full, where
/// its hash says. Entries are never removed, so a line that has a free
/// slot has sent nobody away.
pub struct LocalMap {
    table: *mut Slots,
}

/// Slots in a cache line.
const LINE: usize = 8;

impl LocalMap {
    pub const fn new() -> LocalMap {
        LocalMap {
            table: core::ptr::null_mut(),
        }
    }

    /// The index stored under `hash` for which `equal` holds.
    #[inline(always)]
    pub fn find(&self, place: u64, hash: u64, equal: impl Fn(u32) -> bool) -> Option<u32> {
        if self.table.is_null() {
            return None;
        }
        let short = Map::short(hash);
        let is_it = |word: u64| word >> 32 == short && equal((word as u32).wrapping_sub(1));
        // SAFETY: positions are masked; a table is never full.
        unsafe {
            let mask = (*self.table).mask;
            let line = place as usize & mask & !(LINE - 1);
            for at in line..line + LINE {
                let word = *slot(self.table, at);
                if word == 0 {
                    return None;
                }
                if is_it(word) {
                    return Some((word as u32).wrapping_sub(1));
                }
            }
            let mut at = short as usize & mask;
            loop {
                let word = *slot(self.table, at);
                if word == 0 {
                    return None;
                }
                if is_it(word) {
                    return Some((word as u32).wrapping_sub(1));
                }
                at = (at + stride_of(short)) & mask;
            }
        }
    }

    /// Adds an index that is not there yet; false if there is no memory. `place_of` tells the
    /// place of an index when the table grows.
    pub fn insert(
        &mut self,
        place: u64,
        hash: u64,
        index: u32,
        place_of: impl Fn(u32) -> u64,
    ) -> bool {
        let word = Map::short(hash) << 32 | u64::from(index.wrapping_add(1));
        let put_back = |table, word: u64| {
            // SAFETY: the new table is larger than the old one.
            unsafe { put_near(table, place_of((word as u32).wrapping_sub(1)), word) }
        };
        // SAFETY: `make_room` keeps the table below full.
        unsafe {
            if !make_room(&mut self.table, FIRST_LOCAL_SLOTS, put_back) {
                return false;
            }
            put_near(self.table, place, word);
        }
        true
    }
}

/// Puts a word into its line, or else where its hash says.
unsafe fn put_near(table: *mut Slots, place: u64, word: u64) {
    // SAFETY: the caller keeps the table below full.
    unsafe {
        let line = place as usize & (*table).mask & !(LINE - 1);
        for at in line..line + LINE {
            if *slot(table, at) == 0 {
                *slot(table, at) = word;
                (*table).used += 1;
                return;
            }
        }
        let short = word >> 32;
        let mask = (*table).mask;
        let mut at = short as usize & mask;
        while *slot(table, at) != 0 {
            at = (at + stride_of(short)) & mask;
        }
        *slot(table, at) = word;
        (*table).used += 1;
    }
}

/// How far apart the places are where a word is looked for that found no room in its line.
/// Full lines lie side by side, so steps of one would walk through all of them. Odd, so that
/// every slot is reached.
#[inline(always)]
fn stride_of(short: u64) -> usize {
    (short >> 3) as usize | 1
}

/// A set of 64-bit keys (hashes of what was logged already).
pub struct Seen {
    table: *mut Slots,
}

impl Seen {
    pub const fn new() -> Seen {
        Seen {
            table: core::ptr::null_mut(),
        }
    }

    /// Whether the key was inserted.
    pub fn contains(&self, key: u64) -> bool {
        if self.table.is_null() {
            return false;
        }
        let key = key.max(1);
        // SAFETY: positions are masked; the table always has a free slot.
        unsafe {
            let mask = (*self.table).mask;
            let mut at = key as usize & mask;
            while *slot(self.table, at) != 0 {
                if *slot(self.table, at) == key {
                    return true;
                }
                at = (at + 1) & mask;
            }
        }
        false
    }

    /// Adds `key`; true if it was not there. Without memory everything is new.
    pub fn insert(&mut self, key: u64) -> bool {
        let key = key.max(1);
        // SAFETY: positions are masked; `make_room` keeps the table below full.
        unsafe {
            if !make_room(&mut self.table, FIRST_SLOTS, |table, word| {
                put(table, word as usize, word)
            }) {
                return true;
            }
            let mask = (*self.table).mask;
            let mut at = key as usize & mask;
            loop {
                match *slot(self.table, at) {
                    0 => break,
                    word if word == key => return false,
                    _ => at = (at + 1) & mask,
                }
            }
            put(self.table, key as usize, key);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    #[test]
    fn a_map_finds_everything_again_after_growing() {
        let mut map = Map::new();
        for index in 0..50_000u32 {
            let hash = hash::pair(u64::from(index), 7);
            assert_eq!(map.find(hash, |at| at == index), None);
            assert!(map.insert(hash, index));
        }
        for index in 0..50_000u32 {
            let hash = hash::pair(u64::from(index), 7);
            assert_eq!(map.find(hash, |at| at == index), Some(index));
        }
    }

    #[test]
    fn a_local_map_finds_everything_wherever_it_was_put() {
        // All at one place, in a row, and scattered.
        let places: [fn(u32) -> u64; 3] = [
            |_| 5,
            |index| u64::from(index) * 4,
            |index| hash::pair(index.into(), 3),
        ];
        for place in places {
            let mut map = LocalMap::new();
            for index in 0..30_000u32 {
                let hash = hash::pair(u64::from(index), 7);
                assert_eq!(map.find(place(index), hash, |at| at == index), None);
                assert!(map.insert(place(index), hash, index, place));
            }
            for index in 0..30_000u32 {
                let hash = hash::pair(u64::from(index), 7);
                assert_eq!(map.find(place(index), hash, |at| at == index), Some(index));
            }
        }
    }

    /// Slots looked at until an index is found.
    fn probes(map: &Map, hash: u64, index: u32) -> usize {
        // SAFETY: the index is in the map.
        unsafe {
            let mask = (*map.table).mask;
            let start = Map::short(hash) as usize & mask;
            let mut at = start;
            while *slot(map.table, at) as u32 != index + 1 {
                at = (at + 1) & mask;
            }
            at.wrapping_sub(start) & mask
        }
    }

    #[test]
    fn keys_in_progression_do_not_cluster() {
        let hashes: [fn(u64) -> u64; 3] = [
            |n| hash::pair(hash::pair(0x2001, 0) ^ n, 0),
            |n| hash::pair(n << 32 | 0x2010, n + 1),
            |n| hash::pair(0x0802 | 7 << 32, n),
        ];
        for (kind, hash) in hashes.iter().enumerate() {
            let mut map = Map::new();
            let count = 80_000u32;
            for index in 0..count {
                assert!(map.insert(hash(index.into()), index));
            }
            let total: usize = (0..count)
                .map(|index| probes(&map, hash(index.into()), index))
                .sum();
            let average = total as f64 / f64::from(count);
            assert!(
                average < 1.0,
                "{average} probes on average for keys of kind {kind}"
            );
        }
    }

    #[test]
    fn a_set_says_new_once() {
        let mut seen = Seen::new();
        for key in 1..20_000u64 {
            assert!(seen.insert(hash::pair(key, 0)));
        }
        for key in 1..20_000u64 {
            assert!(!seen.insert(hash::pair(key, 0)));
        }
    }
}
