//! Which inputs will probably not come to an end.
//!
//! A run that does not end costs as much as a hundred that do. When such runs take more than a small share of the time, inputs
//! that look like those that hung are left out: a few features of each input are enough, because what makes a program wait or
//! count for ever is mostly plain (a number that is too large, a word at a certain place). What is left out is counted.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parallax_scenario::{Bytes, Scenario};
use rustc_hash::{FxHashMap, FxHashSet};

/// The share of the time that runs which do not end may take.
const SHARE: f64 = 0.1;
/// How much longer than its parent's a run may take, and how long in any case, while runs that do not end take no more than their share.
const SLOWER: f64 = 20.0;
const LEAST: Duration = Duration::from_millis(100);
/// The same however much of the time they take.
const SLOWER_WHEN_COSTLY: f64 = 2.0;
const LEAST_WHEN_COSTLY: Duration = Duration::from_millis(5);
/// An input is left out if so many of those with one of its features hung.
const RISK: f64 = 0.3;
/// Times that a feature must have been seen.
const EXPERIENCE: u32 = 2;
/// Arguments and files that are looked at.
const MOST_PARTS: usize = 8;

/// How long runs may take. All threads share it, so that each knows at once what the others lost.
#[derive(Debug, Default)]
pub struct Pace {
    /// In microseconds.
    hanging: AtomicU64,
    all: AtomicU64,
}

impl Pace {
    /// Takes in how long a run took, and whether it had to be ended.
    pub fn note(&self, time: Duration, hung: bool) {
        let time = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.all.fetch_add(time, Ordering::Relaxed);
        if hung {
            self.hanging.fetch_add(time, Ordering::Relaxed);
        }
    }

    /// How long a run may take if that of its parent took this long. The more of the time goes into runs that do not end, the shorter:
    /// at twice the share a quarter of it. What is ended too early is only left out: before a hang is reported, it is seen with the full
    /// limit.
    pub fn limit(&self, parent: Duration) -> Duration {
        let all = self.all.load(Ordering::Relaxed) as f64;
        let hanging = self.hanging.load(Ordering::Relaxed) as f64;
        let patience = match hanging > all * SHARE {
            true => (all * SHARE / hanging).powi(2),
            false => 1.0,
        };
        let slower = (SLOWER * patience).max(SLOWER_WHEN_COSTLY);
        let least = LEAST.mul_f64(patience).max(LEAST_WHEN_COSTLY);
        parent.mul_f64(slower).max(least)
    }
}

/// What is known about runs that did not end.
#[derive(Clone, Debug, Default)]
pub struct Hangs {
    /// By feature: how often it was seen, and how often in an input that hung.
    features: FxHashMap<u64, (u32, u32)>,
    /// The same by the digits of the longest number.
    digits: BTreeMap<usize, (u32, u32)>,
    hanging: Duration,
    all: Duration,
    risky: Risky,
    /// Whether it has to be found out again what is risky.
    is_stale: bool,
    /// Inputs that were left out.
    pub avoided: u64,
    /// Runs that were ended because of their time.
    pub count: u64,
}

impl Hangs {
    /// Takes in how long a run took, and whether it had to be ended. `kind` says what kind of change made the input.
    pub fn note(&mut self, scenario: &Scenario, kind: u64, time: Duration, hung: bool) {
        self.all += time;
        self.is_stale |= hung || !self.risky.features.is_empty() || self.risky.digits.is_some();
        if hung {
            self.hanging += time;
            self.count += 1;
        }
        let count = |(seen, hangs): &mut (u32, u32)| {
            *seen += 1;
            *hangs += u32::from(hung);
        };
        for feature in features(scenario, kind) {
            count(self.features.entry(feature).or_default());
        }
        if let Some(digits) = most_digits(scenario) {
            count(self.digits.entry(digits).or_default());
        }
    }

    /// Time of runs that had to be ended.
    pub fn time(&self) -> Duration {
        self.hanging
    }

    /// Whether they take more than their share.
    fn is_costly(&self) -> bool {
        self.hanging.as_secs_f64() > self.all.as_secs_f64() * SHARE
    }

    /// Whether an input should be left out.
    pub fn avoids(&mut self, scenario: &Scenario, kind: u64) -> bool {
        let is_risky = self.risky().has(scenario, kind);
        self.avoided += u64::from(is_risky);
        is_risky
    }

    /// What inputs that should be left out now have in common.
    pub fn risky(&mut self) -> Risky {
        if std::mem::take(&mut self.is_stale) {
            let is_much = self.is_costly();
            let is_risky = |(seen, hangs): &(u32, u32)| {
                *seen >= EXPERIENCE && f64::from(*hangs) > f64::from(*seen) * RISK
            };
            let all = self.features.iter().filter(|_| is_much);
            let all = all.filter(|(_, counts)| is_risky(counts));
            let mut digits = self.digits.iter().filter(|_| is_much);
            let digits = digits.find(|(_, counts)| is_risky(counts));
            self.risky = Risky {
                features: Arc::new(all.map(|(feature, _)| *feature).collect()),
                digits: digits.map(|(digits, _)| *digits),
            };
        }
        self.risky.clone()
    }
}

/// Features of inputs that should be left out, for those who make inputs meanwhile.
#[derive(Clone, Debug, Default)]
pub struct Risky {
    features: Arc<FxHashSet<u64>>,
    /// Numbers with so many digits or more: what counts too far with one also does with a larger one.
    digits: Option<usize>,
}

impl Risky {
    pub fn has(&self, scenario: &Scenario, kind: u64) -> bool {
        let is_known = |feature: &u64| self.features.contains(feature);
        let is_large = self
            .digits
            .is_some_and(|least| most_digits(scenario) >= Some(least));
        is_large || !self.features.is_empty() && features(scenario, kind).iter().any(is_known)
    }
}

/// The parts of an input that are looked at.
fn parts(scenario: &Scenario) -> impl Iterator<Item = &Bytes> {
    let files = scenario.files.iter().take(MOST_PARTS).map(|(_, file)| file);
    let parts = scenario.argv.iter().take(MOST_PARTS).chain(files);
    parts.chain([&scenario.stdin])
}

/// How many digits the longest number of an input has.
fn most_digits(scenario: &Scenario) -> Option<usize> {
    parts(scenario).filter_map(digits).max()
}

/// What may have to do with it besides numbers: how it was made, and how each part begins.
fn features(scenario: &Scenario, kind: u64) -> Vec<u64> {
    let mut found = Vec::new();
    // What has no kind is made in many ways.
    if kind != 0 {
        found.push(hashed(("kind", kind)));
    }
    for (place, part) in parts(scenario).enumerate() {
        if part.is_empty() {
            continue;
        }
        found.push(hashed(("begin", place, part[0])));
        // An option may stand anywhere.
        if part[0] == b'-' {
            found.push(hashed(("word", &part[..part.len().min(MOST_PARTS)])));
        }
    }
    found
}

/// How many digits the longest number has.
fn digits(part: &Bytes) -> Option<usize> {
    let runs = part.split(|byte| !byte.is_ascii_digit()).map(<[u8]>::len);
    runs.max().filter(|longest| *longest > 0)
}

fn hashed(thing: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    thing.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(word: &str) -> Scenario {
        Scenario {
            argv: vec![word.as_bytes().into()],
            ..Scenario::default()
        }
    }

    #[test]
    fn inputs_like_those_that_hung_are_left_out_when_hanging_costs_too_much() {
        let mut hangs = Hangs::default();
        let quick = Duration::from_millis(1);
        for word in ["1", "20", "300", "x", "abc"] {
            hangs.note(&with(word), 0, quick, false);
        }
        assert!(!hangs.avoids(&with("5000"), 1));
        for word in ["4000", "5000", "hello", "hop"] {
            hangs.note(&with(word), 1, quick * 100, true);
        }
        assert!(hangs.avoids(&with("6000"), 2));
        assert!(hangs.avoids(&with("house"), 2));
        assert!(!hangs.avoids(&with("600"), 2));
        assert!(!hangs.avoids(&with("xyz"), 2));
        assert_eq!((hangs.avoided, hangs.count), (2, 4));
    }

    #[test]
    fn runs_get_less_time_the_more_of_it_hanging_ones_take() {
        let pace = Pace::default();
        let parent = Duration::from_millis(10);
        assert_eq!(pace.limit(parent), parent * 20);
        pace.note(Duration::from_millis(400), false);
        pace.note(Duration::from_millis(100), true);
        assert_eq!(pace.limit(parent), parent * 5);
        pace.note(Duration::from_secs(1), true);
        assert_eq!(pace.limit(parent), parent * 2);
        assert_eq!(pace.limit(Duration::ZERO), LEAST_WHEN_COSTLY);
    }

    #[test]
    fn nothing_is_left_out_while_hanging_costs_little() {
        let mut hangs = Hangs::default();
        hangs.note(&with("x"), 0, Duration::from_secs(10), false);
        for _ in 0..5 {
            hangs.note(&with("hello"), 0, Duration::from_millis(100), true);
        }
        assert!(!hangs.avoids(&with("hello"), 0));
    }
}
