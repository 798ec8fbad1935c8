//! What becomes of the results of a comparison's tasks: entries of the corpus, suspects, findings, counts.

use std::sync::Arc;
use std::time::Duration;

use super::SLOTS;
use super::clusters::{Cluster, distance, key, size};
use super::comparer::Counts;
use super::director::{
    MOST_ALIKE, MOST_FAILED, MOST_FED, MOST_SUSPECTS, Searching, USUAL, phase_of,
};
use super::given::Given;
use super::interface::DivergeError;
use super::native::{Attempt, Met, Tried, Verdict};
use super::task::Suspect;
use super::triage::Class;
use super::walk::Place;
use crate::core::corpus::Entry;

impl Searching<'_, '_, '_> {
    /// Takes in an input that was run natively; whether it showed something new.
    pub(super) fn take_tried(&mut self, tried: Tried, lane: usize) -> bool {
        let Tried {
            attempt,
            differs,
            hung,
            time,
            counters,
            ends,
            difference,
            error,
        } = tried;
        self.counts.inputs += 1;
        let is_given = attempt.generation == 0;
        if let Some(error) = error {
            self.fail(error, is_given.then_some(attempt.kind as usize));
            return false;
        }
        self.failed = 0;
        // Without a clock nothing may depend on how fast the machine is.
        let time = match (self.shared.budget.is_timed(), hung) {
            (true, _) => time,
            (false, true) => attempt.limit,
            (false, false) => USUAL,
        };
        self.hangs.note(&attempt.scenario, attempt.kind, time, hung);
        if is_given && !hung {
            self.slowest = self.slowest.max(time);
        }
        let mut is_new = self.corpus.cover(0, &counters.old);
        is_new |= self.corpus.cover(1, &counters.new);
        let is_new_end = self.corpus.end(ends);
        if differs {
            let size = size(&attempt.scenario);
            let (seen, smallest) = self.differences.entry(difference).or_insert((0, size));
            let rank = *seen;
            *seen += 1;
            is_new |= rank == 0;
            // Of many that look alike some are looked at, and those that are smaller.
            let is_smaller = size < *smallest;
            *smallest = size.min(*smallest);
            if rank < MOST_ALIKE || is_smaller {
                self.suspect(rank, &attempt, lane, true);
            }
        } else if is_new && self.has_sanitizers() {
            self.suspect(1, &attempt, lane, false);
        }
        // An input that does not end is no start for others.
        if is_given || (is_new || is_new_end) && !hung {
            self.add(attempt, time, is_given);
        }
        is_new || is_new_end
    }

    fn has_sanitizers(&self) -> bool {
        self.prepared
            .is_some_and(|prepared| prepared.programs.new.checked.is_some())
    }

    fn suspect(&mut self, rank: u32, attempt: &Attempt, lane: usize, differs: bool) {
        let number = self.counts.inputs;
        let suspect = Suspect {
            scenario: attempt.scenario.clone(),
            seed: Arc::clone(&attempt.seed),
            phase: phase_of(lane, attempt.generation),
            differs,
        };
        let key = (rank, !differs, size(&suspect.scenario), number);
        self.suspects.insert(key, suspect);
        if self.suspects.len() > MOST_SUSPECTS {
            self.suspects.pop_last();
            self.lose("(inputs that there was no time to look at)");
        }
    }

    fn lose(&mut self, what: &str) {
        *self.counts.losses.entry(what.to_owned()).or_default() += 1;
    }

    /// Makes an input an entry of the corpus, and a start for the traced comparison.
    fn add(&mut self, attempt: Attempt, time: Duration, is_given: bool) {
        if let Some(parent) = attempt.parent {
            self.corpus.entries[parent].children += 1;
        }
        let scenario = Arc::new(attempt.scenario);
        let entry = self.corpus.add(Entry {
            scenario: Arc::clone(&scenario),
            seed: Arc::clone(&attempt.seed),
            generation: attempt.generation,
            time,
            turns: 0,
            children: 0,
        });
        let slot = match is_given {
            true => attempt.kind as usize % SLOTS,
            false => entry % SLOTS,
        };
        if is_given || self.feed[slot].len() < MOST_FED {
            self.feed[slot].push_back(Given {
                index: is_given.then_some(attempt.kind as usize),
                scenario,
                seed: attempt.seed,
                generation: attempt.generation,
            });
        } else {
            self.lose("(inputs that ran something new and were not traced)");
        }
    }

    /// A run that fails ends that run, unless they all do.
    pub(super) fn fail(&mut self, error: DivergeError, seed: Option<usize>) {
        if let Some(seed) = seed {
            if self.seeds.len() > 1 {
                self.observer.left_out(seed, &error);
                self.settle(seed);
            } else {
                self.error.get_or_insert(error);
            }
            return;
        }
        if error.is_about_the_input() {
            return;
        }
        self.failed += 1;
        self.lose("(inputs that could not be run)");
        if self.failed >= MOST_FAILED {
            self.error.get_or_insert(error);
        }
    }

    /// Takes in what an input showed on all builds; whether it is a new finding.
    pub(super) fn take_met(&mut self, met: Met, lane: usize) -> bool {
        let Met {
            scenario,
            seed,
            verdict,
            place,
            parted,
            phase,
        } = met;
        if parted && !matches!(verdict, Verdict::Unknown) {
            *self.counts.divergences.entry(phase).or_default() += 1;
        }
        let (shown, is_steady) = match verdict {
            Verdict::Unknown => return false,
            Verdict::Silent => {
                self.take_silent(place, parted);
                return false;
            }
            Verdict::Shown { shown, is_steady } => (*shown, is_steady),
        };
        self.counts.replayed += 1;
        // An error that both have and that nothing of the patch leads to is not what is looked for.
        if shown.class == Class::Both && !parted {
            return false;
        }
        let versions = self.prepared.map(|prepared| prepared.versions);
        let origin = place.and_then(|place| Some(versions?.origin(&place)));
        let name = key(&shown, origin);
        let is_new = self.clusters.is_new(&name);
        if is_new && !is_steady {
            self.counts.flaky += 1;
            return false;
        }
        self.shared.findings.insert(self.issued, name.clone());
        let at = self.clusters.add(Cluster {
            key: name,
            distance: distance(&seed, &scenario),
            scenario,
            shown,
            place,
            phase,
            count: 1,
            seconds: self.started.elapsed().as_secs_f64(),
        });
        if is_new {
            self.observer.found(&self.clusters.list[at]);
            self.found[lane].1 += 1;
        }
        is_new
    }

    fn take_silent(&mut self, place: Option<Place>, parted: bool) {
        self.counts.replayed += 1;
        match (parted, place) {
            (true, Some(place)) => {
                self.counts.silent += 1;
                *self.counts.silent_places.entry(place).or_default() += 1;
            }
            (true, None) => self.counts.silent += 1,
            (false, Some(_)) => self.counts.together += 1,
            (false, None) => {}
        }
    }

    pub(super) fn take_counts(&mut self, counts: Counts) {
        let totals = &mut self.counts;
        totals.runs += counts.runs;
        totals.undecided += counts.undecided;
        totals.left_out += counts.left_out;
        totals.cut += counts.cut;
        totals.cost.one += counts.cost.one;
        totals.cost.both += counts.cost.both;
        for (name, count) in counts.losses {
            *totals.losses.entry(name).or_default() += count;
        }
        for paths in counts.paths {
            totals.paths += u64::from(self.shared.paths.insert(self.issued, paths));
        }
        for index in counts.settled {
            self.settle(index);
        }
        for (index, error) in counts.left {
            self.observer.left_out(index, &error);
        }
    }
}
