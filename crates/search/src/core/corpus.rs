//! The inputs that were run.
//!
//! Every input is known by a hash of its content, whoever made it, so that none is run twice. Those that showed something new (to
//! any goal, in any version) are entries: the ones that sources change further.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use parallax_exec::coverage::Counter;
use parallax_scenario::Scenario;
use rustc_hash::FxHashMap;

use super::traces::Traces;

/// Names an input by its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InputId(u128);

impl InputId {
    pub fn of(scenario: &Scenario) -> InputId {
        // Two different hashes of everything: one of 64 bits would meet its like among 2^32 inputs.
        let half = |salt: u64| {
            let mut hasher = DefaultHasher::new();
            hasher.write_u64(salt);
            scenario.hash(&mut hasher);
            hasher.finish()
        };
        InputId(u128::from(half(0x5bd1_e995)) << 64 | u128::from(half(0x1b87_3593)))
    }
}

/// Things that are known from some moment on. Who began before that moment does not know them, whichever thread is
/// faster: tasks that run at the same time see the same.
#[derive(Debug)]
pub struct Known<K: Eq + Hash> {
    since: RwLock<FxHashMap<K, u64>>,
}

impl<K: Eq + Hash> Default for Known<K> {
    fn default() -> Known<K> {
        Known {
            since: RwLock::default(),
        }
    }
}

impl<K: Eq + Hash> Known<K> {
    /// Whether it was known at that moment.
    pub fn at(&self, moment: u64, thing: &K) -> bool {
        let known = self.since.read().unwrap_or_else(|error| error.into_inner());
        known.get(thing).is_some_and(|since| *since <= moment)
    }

    /// Makes it known from that moment on; whether it was not known at all.
    pub fn insert(&self, moment: u64, thing: K) -> bool {
        let mut known = self
            .since
            .write()
            .unwrap_or_else(|error| error.into_inner());
        let mut is_new = false;
        known.entry(thing).or_insert_with(|| {
            is_new = true;
            moment
        });
        is_new
    }
}

/// Index of an entry.
pub type EntryId = usize;

/// An input that is worth going on from.
#[derive(Clone, Debug)]
pub struct Entry {
    pub scenario: Arc<Scenario>,
    /// What it was made from; `None` if it was given.
    pub parent: Option<EntryId>,
    /// The given input that it was made from, in any number of steps; itself if it was given.
    pub seed: Arc<Scenario>,
    /// Steps from there.
    pub generation: u32,
    /// Time of a native run.
    pub time: Duration,
    /// Whether the versions were seen to differ.
    pub differs: bool,
    /// Whether it was traced, or is being traced.
    pub is_traced: bool,
    /// How often it was changed, and how often that showed something new.
    pub turns: u32,
    pub children: u32,
}

/// The number of the new version.
const NEW: u8 = 1;

/// Entries, and what all inputs have covered.
#[derive(Debug, Default)]
pub struct Corpus {
    pub entries: Vec<Entry>,
    /// Those that showed something new natively: the ones that sources change. Others only take paths of their own.
    pub bases: Vec<EntryId>,
    pub traces: Traces,
    /// Which counts of which counters have been seen, in classes.
    counted: FxHashMap<(u8, Counter), u8>,
    covered: u64,
    /// How runs of all versions ended together.
    ends: FxHashMap<u64, ()>,
}

impl Corpus {
    /// One that keeps so many bytes of traces.
    pub fn new(trace_memory: u64) -> Corpus {
        Corpus {
            traces: Traces::new(trace_memory),
            ..Corpus::default()
        }
    }

    /// Takes in what one version ran; whether any of it is new.
    pub fn cover(&mut self, version: u8, counters: &[(Counter, u32)]) -> bool {
        let mut is_new = false;
        for (counter, count) in counters {
            let class = class(*count);
            let seen = self.counted.entry((version, *counter)).or_default();
            is_new |= *seen & class == 0;
            self.covered += u64::from(*seen == 0 && version == NEW);
            *seen |= class;
        }
        is_new
    }

    /// Counters of the new version that are not zero.
    pub fn covered(&self) -> u64 {
        self.covered
    }

    /// Takes in how an input ended in all versions; whether it is new that they end so together.
    pub fn end(&mut self, ends: u64) -> bool {
        self.ends.insert(ends, ()).is_none()
    }

    /// Adds an entry; a base is one that sources change.
    pub fn add(&mut self, entry: Entry, is_base: bool) -> EntryId {
        let id = self.entries.len();
        self.entries.push(entry);
        if is_base {
            self.bases.push(id);
        }
        id
    }
}

/// Counts are told apart roughly, as AFL does: one more turn of a long loop is nothing new.
fn class(count: u32) -> u8 {
    match count {
        0 => 0,
        1 => 1,
        2 => 2,
        3 => 4,
        4..=7 => 8,
        8..=15 => 16,
        16..=31 => 32,
        32..=127 => 64,
        _ => 128,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_known_during_a_task_is_not_known_to_it() {
        let known = Known::default();
        assert!(known.insert(5, "a"));
        assert!(!known.insert(3, "a"));
        assert!(!known.at(4, &"a"));
        assert!(known.at(5, &"a"));
    }

    #[test]
    fn a_counter_is_new_once_for_each_class_of_counts() {
        let mut corpus = Corpus::default();
        let counter = Counter {
            module: 1,
            index: 2,
        };
        assert!(corpus.cover(0, &[(counter, 1)]));
        assert!(!corpus.cover(0, &[(counter, 1)]));
        assert!(corpus.cover(0, &[(counter, 9)]));
        assert!(!corpus.cover(0, &[(counter, 12)]));
        assert!(corpus.cover(1, &[(counter, 1)]));
    }

    #[test]
    fn inputs_are_told_apart_by_content() {
        let with = |word: &str| Scenario {
            argv: vec![word.as_bytes().into()],
            ..Scenario::default()
        };
        assert_eq!(InputId::of(&with("a")), InputId::of(&with("a")));
        assert_ne!(InputId::of(&with("a")), InputId::of(&with("b")));
    }
}
