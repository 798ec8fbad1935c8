//! The shared memory that covered programs count in.

use std::collections::BTreeMap;
use std::mem::{offset_of, size_of};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parallax_abi::cover::{
    COUNTER_OFFSET, ENVIRONMENT, Header, MAGIC, MODULE_OFFSET, MODULES, Module, NO_ROOM, VERSION,
    WATCHED,
};

use crate::shared::{Shared, SharedError, SharedMemory};

/// Counters for any number of runs of any number of programs. What several runs
/// count in the same region adds up.
#[derive(Debug)]
pub struct CoverageRegion {
    memory: SharedMemory,
    /// Kept here and not read back: the program can damage the header.
    capacity: u32,
    /// Entries of the log.
    log: u32,
}

/// What the watched counters of a region counted, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    pub counters: Vec<Counter>,
    /// There was more than fits.
    pub is_cut: bool,
}

/// One counter of a module, by its place in the order of the module's site table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Counter {
    pub module: u64,
    pub index: u32,
}

/// A [`Module`] that programs may be writing.
#[repr(C)]
struct Slot {
    id: AtomicU64,
    first: AtomicU32,
    count: AtomicU32,
}

const _: () = assert!(
    offset_of!(Slot, id) == offset_of!(Module, id)
        && offset_of!(Slot, first) == offset_of!(Module, first)
        && offset_of!(Slot, count) == offset_of!(Module, count)
);

/// What the region says about one module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// In the order of the module's site table.
    Counters(Vec<u32>),
    /// It asked for counters and got none.
    NoRoom,
    /// It names counters outside of the region.
    Damaged,
}

/// What was counted up to one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Snapshot {
    pub modules: BTreeMap<u64, Entry>,
    /// How often a module found no room; one for each process that tried.
    pub refused: u32,
}

impl Snapshot {
    /// Counts of both. A module that only one of them knows is as that one says.
    pub fn join(mut self, other: Snapshot) -> Snapshot {
        self.refused += other.refused;
        for (module, entry) in other.modules {
            match (self.modules.get_mut(&module), entry) {
                (Some(Entry::Counters(sum)), Entry::Counters(more)) if sum.len() == more.len() => {
                    for (sum, more) in sum.iter_mut().zip(more) {
                        *sum = sum.saturating_add(more);
                    }
                }
                (Some(known), more @ Entry::Counters(_)) => *known = more,
                (Some(_), _) => {}
                (None, entry) => {
                    self.modules.insert(module, entry);
                }
            }
        }
        self
    }
}

impl CoverageRegion {
    /// Room for the largest programs (a counter for each block, two for each branch); 16 MiB if it is
    /// ever filled.
    pub const DEFAULT_CAPACITY: u32 = 4 << 20;

    /// Creates a region with room for `capacity` counters, all zero.
    pub fn create(capacity: u32) -> Result<CoverageRegion, SharedError> {
        CoverageRegion::with_log(capacity, 0)
    }

    /// Likewise, with room for `log` entries of watched counters.
    pub fn with_log(capacity: u32, log: u32) -> Result<CoverageRegion, SharedError> {
        let words = u64::from(capacity) + u64::from(log);
        let bytes = COUNTER_OFFSET as u64 + words * size_of::<u32>() as u64;
        let memory = SharedMemory::create(c"parallax-cover", "coverage counters", bytes)?;
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            capacity,
            used: 0,
            refused: 0,
            log,
            logged: 0,
        };
        // SAFETY: the mapping begins with a page for the header, is page aligned and writable, and
        // nobody else has the descriptor yet.
        unsafe { memory.map.as_mut_ptr().cast::<Header>().write(header) };
        Ok(CoverageRegion {
            memory,
            capacity,
            log,
        })
    }

    /// For handing it to a program.
    pub fn shared(&self) -> Shared<'_> {
        self.memory.shared(ENVIRONMENT)
    }

    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        let modules = self.present().into_iter();
        Snapshot {
            modules: modules
                .map(|module| (module.id, self.entry(module)))
                .collect(),
            refused: self.read_u32(offset_of!(Header, refused)),
        }
    }

    /// The modules that have asked for counters, by their numbers.
    fn present(&self) -> Vec<Module> {
        let mut present = Vec::new();
        for slot in self.table() {
            let id = slot.id.load(Ordering::Acquire);
            if id != 0 {
                present.push(Module {
                    id,
                    first: slot.first.load(Ordering::Acquire),
                    count: slot.count.load(Ordering::Acquire),
                });
            }
        }
        present.sort_by_key(|module| module.id);
        // Only a damaged table has one twice.
        present.dedup_by_key(|module| module.id);
        present
    }

    /// Counters that have grown since the counts that are given, which are brought up to date.
    pub fn counted_since(&self, before: &mut BTreeMap<u64, Vec<u32>>) -> Vec<Counter> {
        let counts = self.counts_since(before).into_iter();
        counts.map(|(counter, _)| counter).collect()
    }

    /// The same, with how often. After every run of a covered program: what has not changed is neither copied nor kept twice.
    pub fn counts_since(&self, before: &mut BTreeMap<u64, Vec<u32>>) -> Vec<(Counter, u32)> {
        let mut grown = Vec::new();
        for found in self.present() {
            let Ok(counters) = self.counters(found) else {
                continue;
            };
            let (module, mask) = (found.id, self.mask());
            let known = before.entry(module).or_default();
            known.resize(counters.len(), 0);
            for (index, (known, counter)) in known.iter_mut().zip(counters).enumerate() {
                let now = counter.load(Ordering::Acquire) & mask;
                if now != *known {
                    let index = index as u32;
                    grown.push((Counter { module, index }, now.wrapping_sub(*known)));
                    *known = now;
                }
            }
        }
        grown
    }

    fn entry(&self, module: Module) -> Entry {
        match self.counters(module) {
            Ok(counters) => {
                let numbers = counters.iter().map(|one| one.load(Ordering::Acquire));
                Entry::Counters(numbers.map(|number| number & self.mask()).collect())
            }
            Err(entry) => entry,
        }
    }

    /// The counters of a module, or why it has none.
    fn counters(&self, module: Module) -> Result<&[AtomicU32], Entry> {
        let Module { first, count, .. } = module;
        let Some(first) = first.checked_sub(1).filter(|_| first != NO_ROOM) else {
            // A process that was killed while it set the module up leaves 0.
            return Err(Entry::NoRoom);
        };
        match first.checked_add(count) {
            Some(end) if end <= self.capacity => {
                let offset = COUNTER_OFFSET + first as usize * size_of::<u32>();
                let bytes = count as usize * size_of::<u32>();
                assert!(offset + bytes <= self.memory.map.len());
                // SAFETY: inside the mapping, aligned as every counter is.
                Ok(unsafe {
                    let first = self.memory.map.as_ptr().add(offset);
                    std::slice::from_raw_parts(first.cast::<AtomicU32>(), count as usize)
                })
            }
            _ => Err(Entry::Damaged),
        }
    }

    /// What of a counter is a number: without a log the highest bit is one of its digits.
    fn mask(&self) -> u32 {
        match self.log {
            0 => u32::MAX,
            _ => !WATCHED,
        }
    }

    fn table(&self) -> &[Slot] {
        const { assert!(COUNTER_OFFSET == MODULE_OFFSET + MODULES * size_of::<Slot>()) };
        assert!(COUNTER_OFFSET <= self.memory.map.len());
        // SAFETY: inside the mapping, which is page aligned; any bytes are a slot.
        unsafe {
            let first = self.memory.map.as_ptr().add(MODULE_OFFSET);
            std::slice::from_raw_parts(first.cast::<Slot>(), MODULES)
        }
    }

    /// Gives a module its counters before a program asks for them, so that they can be watched from the start. Nobody may
    /// be counting. `false` if they do not fit.
    pub fn reserve(&self, module: u64, count: u32) -> bool {
        for probe in 0..MODULES {
            let slot = (module as usize).wrapping_add(probe) % MODULES;
            let at = MODULE_OFFSET + slot * size_of::<Module>();
            let id = self.read_u64(at + offset_of!(Module, id));
            if id == module && module != 0 {
                return true;
            }
            if id != 0 {
                continue;
            }
            let used = self.read_u32(offset_of!(Header, used));
            let end = used.checked_add(count).filter(|end| *end <= self.capacity);
            let Some(end) = end.filter(|_| module != 0) else {
                return false;
            };
            let set = |offset: usize, value: u32| self.word(offset).store(value, Ordering::Release);
            set(offset_of!(Header, used), end);
            set(at + offset_of!(Module, first), used + 1);
            set(at + offset_of!(Module, count), count);
            // SAFETY: inside the mapping, aligned as every field is.
            let id = unsafe { &*self.memory.map.as_ptr().add(at).cast::<AtomicU64>() };
            id.store(module, Ordering::Release);
            return true;
        }
        false
    }

    /// Where each module's counters begin, and how many it has.
    fn modules(&self) -> BTreeMap<u32, (u64, u32)> {
        let mut modules = BTreeMap::new();
        for slot in 0..MODULES {
            let at = MODULE_OFFSET + slot * size_of::<Module>();
            let id = self.read_u64(at + offset_of!(Module, id));
            let first = self.read_u32(at + offset_of!(Module, first));
            let count = self.read_u32(at + offset_of!(Module, count));
            if id != 0 && first != 0 && first != NO_ROOM {
                modules.insert(first - 1, (id, count));
            }
        }
        modules
    }

    /// From now on these counters are logged; those of modules that have no counters are left out.
    pub fn watch<'c>(&self, counters: impl IntoIterator<Item = &'c Counter>) {
        self.each(counters, |word| {
            word.fetch_or(WATCHED, Ordering::AcqRel);
        });
    }

    /// From now on these are not.
    pub fn unwatch<'c>(&self, counters: impl IntoIterator<Item = &'c Counter>) {
        self.each(counters, |word| {
            word.fetch_and(!WATCHED, Ordering::AcqRel);
        });
    }

    fn each<'c>(
        &self,
        counters: impl IntoIterator<Item = &'c Counter>,
        action: impl Fn(&AtomicU32),
    ) {
        let modules = self.modules();
        let first: BTreeMap<u64, (u32, u32)> = modules
            .into_iter()
            .map(|(first, (id, count))| (id, (first, count)))
            .collect();
        for counter in counters {
            if let Some((first, count)) = first.get(&counter.module)
                && counter.index < *count
                && let Some(at) = first.checked_add(counter.index)
                && at < self.capacity
            {
                let offset = COUNTER_OFFSET + at as usize * size_of::<u32>();
                action(self.word(offset));
            }
        }
    }

    /// What was logged since the last time. Nobody may be counting.
    pub fn take_log(&self) -> Log {
        let logged = self.word(offset_of!(Header, logged));
        let written = logged.swap(0, Ordering::AcqRel);
        let modules = self.modules();
        let base = COUNTER_OFFSET + self.capacity as usize * size_of::<u32>();
        let counter = |entry: u32| {
            let at = self.read_u32(base + entry as usize * size_of::<u32>());
            let (first, (module, count)) = modules.range(..=at).next_back()?;
            (at - first < *count).then_some(Counter {
                module: *module,
                index: at - first,
            })
        };
        Log {
            counters: (0..written.min(self.log)).filter_map(counter).collect(),
            is_cut: written > self.log,
        }
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset + size_of::<u32>() <= self.memory.map.len());
        // SAFETY: inside the mapping, aligned as every field and counter is.
        unsafe { &*self.memory.map.as_ptr().add(offset).cast::<AtomicU32>() }
    }

    /// Programs may still be counting: what is read is a value that was there at some moment.
    fn read_u32(&self, offset: usize) -> u32 {
        self.word(offset).load(Ordering::Acquire)
    }

    fn read_u64(&self, offset: usize) -> u64 {
        assert!(offset + size_of::<u64>() <= self.memory.map.len());
        // SAFETY: inside the mapping, aligned as every field is.
        let word = unsafe { &*self.memory.map.as_ptr().add(offset).cast::<AtomicU64>() };
        word.load(Ordering::Acquire)
    }

    /// Writes as a covered program would.
    #[cfg(test)]
    pub(super) fn put(&self, module: Module, counters: &[u32]) {
        // SAFETY: inside the mapping by the capacity that the tests choose.
        unsafe {
            let base = self.memory.map.as_mut_ptr();
            let table = base.add(MODULE_OFFSET).cast::<Module>();
            let mut slot = module.id as usize % MODULES;
            while (*table.add(slot)).id != 0 {
                slot = (slot + 1) % MODULES;
            }
            table.add(slot).write(module);
            let all = base.add(COUNTER_OFFSET).cast::<u32>();
            for (index, counter) in counters.iter().enumerate() {
                all.add(module.first as usize - 1 + index).write(*counter);
            }
        }
    }

    #[cfg(test)]
    pub(super) fn refuse(&self) {
        // SAFETY: the header is at the start of the mapping.
        unsafe { (*self.memory.map.as_mut_ptr().cast::<Header>()).refused += 1 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_of_default_size_costs_almost_no_memory() {
        let region = CoverageRegion::create(CoverageRegion::DEFAULT_CAPACITY).unwrap();
        assert!(region.memory.resident_bytes() <= 64 << 10);
        assert_eq!(region.snapshot(), Snapshot::default());
    }

    #[test]
    fn counters_outside_of_the_region_are_not_read() {
        let region = CoverageRegion::create(8).unwrap();
        let put = |id, first, count| region.put(Module { id, first, count }, &[]);
        put(1, 1, 8);
        put(2, 2, 8);
        put(3, NO_ROOM - 1, u32::MAX);
        put(4, 0, 8);
        put(5, NO_ROOM, 8);
        let modules = region.snapshot().modules;
        assert_eq!(modules[&1], Entry::Counters(vec![0; 8]));
        assert_eq!(modules[&2], Entry::Damaged);
        assert_eq!(modules[&3], Entry::Damaged);
        assert_eq!(modules[&4], Entry::NoRoom);
        assert_eq!(modules[&5], Entry::NoRoom);
    }

    #[test]
    fn what_watched_counters_count_is_logged_in_order() {
        const COUNTERS: u32 = 8;
        let region = CoverageRegion::with_log(COUNTERS, 3).unwrap();
        assert!(region.reserve(5, 3) && region.reserve(6, 4) && region.reserve(5, 3));
        assert!(!region.reserve(7, 2));
        let counter = |module, index| Counter { module, index };
        region.watch(&[counter(6, 1), counter(6, 9), counter(8, 0)]);
        let raw = region.word(COUNTER_OFFSET + 4 * size_of::<u32>());
        assert_eq!(raw.fetch_add(1, Ordering::Relaxed), WATCHED);
        let modules = region.snapshot().modules;
        assert_eq!(modules[&6], Entry::Counters(vec![0, 1, 0, 0]));
        // As a program would write: the second module's counter, the first one's, one that nobody has, and too many.
        let log = COUNTER_OFFSET + COUNTERS as usize * size_of::<u32>();
        for (at, entry) in [4, 0, 7].into_iter().enumerate() {
            region
                .word(log + at * size_of::<u32>())
                .store(entry, Ordering::Relaxed);
        }
        let logged = region.word(offset_of!(Header, logged));
        logged.store(4, Ordering::Relaxed);
        let counters = vec![counter(6, 1), counter(5, 0)];
        let is_cut = true;
        assert_eq!(region.take_log(), Log { counters, is_cut });
        assert_eq!(region.take_log(), Log::default());
    }

    #[test]
    fn counters_that_have_grown_are_told_once_by_module_and_with_how_often() {
        let region = CoverageRegion::with_log(8, 1).unwrap();
        assert!(region.reserve(9, 2) && region.reserve(4, 3));
        let counter = |module, index| Counter { module, index };
        region.watch(&[counter(4, 1)]);
        let add = |at: usize, count: u32| {
            let word = region.word(COUNTER_OFFSET + at * size_of::<u32>());
            word.fetch_add(count, Ordering::Relaxed);
        };
        add(0, 5);
        add(3, 1);
        let mut before = BTreeMap::new();
        let counts = region.counts_since(&mut before);
        assert_eq!(counts, [(counter(4, 1), 1), (counter(9, 0), 5)]);
        assert_eq!(region.counts_since(&mut before), []);
        add(0, 2);
        assert_eq!(region.counts_since(&mut before), [(counter(9, 0), 2)]);
    }

    #[test]
    fn modules_whose_slots_collide_are_told_apart() {
        let region = CoverageRegion::create(8).unwrap();
        let other = 5 + MODULES as u64;
        for (id, first) in [(5, 1), (other, 3)] {
            let count = 2;
            region.put(Module { id, first, count }, &[first, first + 1]);
        }
        let modules = region.snapshot().modules;
        assert_eq!(modules[&5], Entry::Counters(vec![1, 2]));
        assert_eq!(modules[&other], Entry::Counters(vec![3, 4]));
    }
}
