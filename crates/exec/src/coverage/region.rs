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
        let mut modules = BTreeMap::new();
        for slot in 0..MODULES {
            let at = MODULE_OFFSET + slot * size_of::<Module>();
            let id = self.read_u64(at + offset_of!(Module, id));
            if id == 0 {
                continue;
            }
            let first = self.read_u32(at + offset_of!(Module, first));
            let count = self.read_u32(at + offset_of!(Module, count));
            modules.insert(id, self.entry(first, count));
        }
        Snapshot {
            modules,
            refused: self.read_u32(offset_of!(Header, refused)),
        }
    }

    /// Counters that have grown since the counts that are given, which are brought up to date.
    pub fn counted_since(&self, before: &mut BTreeMap<u64, Vec<u32>>) -> Vec<Counter> {
        let counts = self.counts_since(before).into_iter();
        counts.map(|(counter, _)| counter).collect()
    }

    /// The same, with how often.
    pub fn counts_since(&self, before: &mut BTreeMap<u64, Vec<u32>>) -> Vec<(Counter, u32)> {
        let mut grown = Vec::new();
        for (module, entry) in self.snapshot().modules {
            let Entry::Counters(counters) = entry else {
                continue;
            };
            let known = before.entry(module).or_default();
            known.resize(counters.len(), 0);
            for (index, (old, new)) in known.iter().zip(&counters).enumerate() {
                if old != new {
                    let index = index as u32;
                    grown.push((Counter { module, index }, new.wrapping_sub(*old)));
                }
            }
            *known = counters;
        }
        grown
    }

    fn entry(&self, first: u32, count: u32) -> Entry {
        let Some(first) = first.checked_sub(1).filter(|_| first != NO_ROOM) else {
            // A process that was killed while it set the module up leaves 0.
            return Entry::NoRoom;
        };
        match first.checked_add(count) {
            Some(end) if end <= self.capacity => {
                let counter = |index: u32| COUNTER_OFFSET + index as usize * size_of::<u32>();
                // Without a log the highest bit is a number's.
                let number = |at: u32| match self.log {
                    0 => self.read_u32(counter(at)),
                    _ => self.read_u32(counter(at)) & !WATCHED,
                };
                Entry::Counters((first..end).map(number).collect())
            }
            _ => Entry::Damaged,
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
                self.word(offset).fetch_or(WATCHED, Ordering::AcqRel);
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
