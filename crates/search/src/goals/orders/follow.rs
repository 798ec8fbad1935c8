//! In which order a run came to the nodes of the graph, and between which of its decisions.
//!
//! The covered program logs it: counters of nodes are watched from the start, those of decisions from when a run makes them. The
//! decisions themselves are known from the traced program; both orders are brought together here.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use parallax_exec::coverage::{Counter, CoverageRegion, counted};
use parallax_exec::execute::{Executor, RunOptions, Settings};
use parallax_scenario::Scenario;
use parallax_trace::path::Choice;

use super::Code;
use super::marks::{Deciding, Marks};
use super::sequences::{Sequence, sequence};
use crate::core::goal::{Examined, Examiner};
use crate::core::guide::Standings;
use crate::core::limits::Limit;
use crate::explore::ExploreError;
use crate::worker::Traced;

/// Runs the covered program, on as many threads as want to.
pub struct Following<'f> {
    pub(super) code: Code<'f>,
    pub(super) marks: Marks<'f>,
    program: PathBuf,
    settings: Settings,
    free: Mutex<Vec<Follower>>,
    runs: AtomicU64,
}

/// What one thread needs for it.
struct Follower {
    executor: Executor,
    region: CoverageRegion,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Nodes, in order.
    pub nodes: Vec<usize>,
    /// Per decision of the run: how many of the nodes came before it; nothing if it was not traced.
    pub before: Vec<u32>,
    /// It went on for longer than could be seen.
    pub is_cut: bool,
}

/// What watched counters counted, in order.
struct Logged {
    counters: Vec<Counter>,
    is_cut: bool,
}

impl<'f> Following<'f> {
    /// For the covered program that the tables belong to.
    pub fn new(code: Code<'f>, program: &Path, settings: &Settings) -> Following<'f> {
        Following {
            marks: Marks::new(code.analysis, code.dependences, code.graph, code.tables),
            code,
            program: program.to_owned(),
            settings: settings.clone(),
            free: Mutex::default(),
            runs: AtomicU64::new(0),
        }
    }

    /// Runs of the covered program.
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// The changes that a run executed, in order, and whether there were more.
    pub(super) fn sequence(&self, walked: &Walked) -> (Sequence, bool) {
        let nodes = walked.nodes.iter();
        let changes = nodes.filter(|node| self.code.graph.is_change(**node));
        sequence(changes.map(|node| self.marks.same(*node)))
    }

    /// The changes that an input executes; `None` if it cannot be run.
    pub(super) fn changes(&self, scenario: &Scenario, until: Option<Instant>) -> Option<Sequence> {
        let logged = self.logged(scenario, &[], self.settings.timeout, until);
        Some(self.sequence(&self.come_to(&logged.ok()?)).0)
    }

    fn come_to(&self, logged: &Logged) -> Walked {
        let counters = logged.counters.iter();
        let nodes = counters.flat_map(|counter| self.marks.begun(*counter));
        Walked {
            nodes: nodes.copied().collect(),
            before: Vec::new(),
            is_cut: logged.is_cut,
        }
    }

    /// The nodes that a traced run came to, between its decisions.
    fn follow(
        &self,
        scenario: &Scenario,
        traced: &Traced,
        limit: Duration,
        until: Option<Instant>,
    ) -> Result<Walked, ExploreError> {
        let Code {
            analysis, sites, ..
        } = self.code;
        let mut standings = Standings::new(analysis, sites, traced);
        // Loops decide the same a thousand times.
        let mut known: HashMap<(u64, u32, bool), usize> = HashMap::new();
        let mut sets: Vec<Deciding> = Vec::new();
        let decisions = traced.decisions.iter();
        let deciding: Vec<usize> = decisions
            .map(|decision| {
                let taken = (decision.choice == Choice::Side).then_some(decision.value != 0);
                let key = (decision.site.0, decision.context, taken == Some(true));
                *known.entry(key).or_insert_with(|| {
                    let standing = standings.of(decision);
                    sets.push(self.marks.deciding(analysis, standing.here(), taken));
                    sets.len() - 1
                })
            })
            .collect();
        let counters = sets.iter().flat_map(|set| &set.counters).copied();
        let fresh: Vec<Counter> = counters
            .filter(|counter| self.marks.begun(*counter).is_empty())
            .collect();
        let logged = self.logged(scenario, &fresh, limit, until)?;
        let places = align(&logged.counters, &deciding, &sets);
        let mut come: Vec<u32> = Vec::with_capacity(logged.counters.len());
        let mut sum = 0;
        for counter in &logged.counters {
            sum += self.marks.begun(*counter).len() as u32;
            come.push(sum);
        }
        let before = places.into_iter();
        let before = before.map(|place| place.map_or(0, |place| come[place]));
        Ok(Walked {
            before: before.collect(),
            ..self.come_to(&logged)
        })
    }

    /// Runs an input and logs the counters of nodes, and these.
    fn logged(
        &self,
        scenario: &Scenario,
        more: &[Counter],
        limit: Duration,
        until: Option<Instant>,
    ) -> Result<Logged, ExploreError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let free = self.free().pop();
        let mut follower = match free {
            Some(follower) => follower,
            None => self.another()?,
        };
        let Follower { executor, region } = &mut follower;
        executor.end_by(until);
        region.watch(more);
        region.take_log();
        let options = RunOptions {
            fresh: false,
            timeout: Some(limit),
        };
        let result = executor.run_with(scenario, &[region.shared()], options);
        let log = region.take_log();
        // What is logged of a run must not depend on the runs before it.
        region.unwatch(more);
        self.free().push(follower);
        result?;
        Ok(Logged {
            counters: log.counters,
            is_cut: log.is_cut,
        })
    }

    fn another(&self) -> Result<Follower, ExploreError> {
        let entries = Limit::OrderLog.value() as u32;
        let region = CoverageRegion::with_log(CoverageRegion::DEFAULT_CAPACITY, entries)?;
        for module in self.code.tables {
            region.reserve(module.module, counted(&module.table).len() as u32);
        }
        region.watch(self.marks.counters());
        Ok(Follower {
            executor: Executor::new(&self.program, self.settings.clone())?,
            region,
        })
    }

    fn free(&self) -> MutexGuard<'_, Vec<Follower>> {
        self.free.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl Examiner for Following<'_> {
    fn examine(
        &self,
        scenario: &Scenario,
        traced: Option<&Traced>,
        limit: Duration,
        until: Option<Instant>,
    ) -> Option<Examined> {
        let walked = match traced {
            Some(traced) => self.follow(scenario, traced, limit, until).ok()?,
            None => self.come_to(&self.logged(scenario, &[], limit, until).ok()?),
        };
        Some(Arc::new(walked))
    }
}

/// For each decision, which has a set of counters that count when it is made, its entry in the log, or the last one that is known to
/// come before it. A decision that is made as often as its counters counted is certain; others, of which only some depend on input, are
/// taken to be the first that come in question between the certain ones around them.
fn align(logged: &[Counter], deciding: &[usize], sets: &[Deciding]) -> Vec<Option<usize>> {
    let mut entries: HashMap<Counter, Vec<usize>> = HashMap::new();
    for (at, counter) in logged.iter().enumerate() {
        entries.entry(*counter).or_default().push(at);
    }
    // Entries of each set, in order.
    let of_set: Vec<Vec<usize>> = sets
        .iter()
        .map(|set| {
            let mut list: Vec<usize> = set
                .counters
                .iter()
                .filter_map(|counter| entries.get(counter))
                .flatten()
                .copied()
                .collect();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect();
    let mut times = vec![0; sets.len()];
    for set in deciding {
        times[*set] += 1;
    }
    let mut turn = vec![0; sets.len()];
    let certain: Vec<Option<usize>> = deciding
        .iter()
        .map(|set| {
            turn[*set] += 1;
            let list = &of_set[*set];
            (list.len() == times[*set]).then(|| list[turn[*set] - 1])
        })
        .collect();
    let mut limits: Vec<usize> = Vec::with_capacity(deciding.len());
    let mut limit = logged.len();
    for place in certain.iter().rev() {
        limit = place.unwrap_or(limit).min(limit);
        limits.push(limit);
    }
    limits.reverse();
    let mut last: Option<usize> = None;
    let mut used = vec![0; sets.len()];
    let mut places = Vec::with_capacity(deciding.len());
    for ((set, certain), limit) in deciding.iter().zip(certain).zip(limits) {
        let list = &of_set[*set];
        let found = certain.or_else(|| {
            let from = list.partition_point(|at| last.is_some_and(|last| *at < last));
            // A call can decide several times.
            let from = match sets[*set].is_once {
                true => from.max(used[*set]),
                false => from,
            };
            list.get(from).copied().filter(|at| *at <= limit)
        });
        if let Some(at) = found {
            used[*set] = list.partition_point(|entry| *entry <= at);
            last = Some(last.map_or(at, |last| last.max(at)));
        }
        places.push(last);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(list: &[u32]) -> Deciding {
        Deciding {
            counters: counters(list),
            is_once: true,
        }
    }

    fn counters(list: &[u32]) -> Vec<Counter> {
        let counter = |index: &u32| Counter {
            module: 1,
            index: *index,
        };
        list.iter().map(counter).collect()
    }

    #[test]
    fn decisions_that_are_made_as_often_as_counted_are_certain() {
        let logged = counters(&[1, 9, 2, 9, 1, 2]);
        let sets = [once(&[1]), once(&[2])];
        let places = align(&logged, &[0, 1, 0, 1], &sets);
        assert_eq!(places, [Some(0), Some(2), Some(4), Some(5)]);
    }

    #[test]
    fn others_come_between_the_certain_ones_around_them() {
        // Counter 1 counts three times, but only one of them depends on input: it lies behind the first 2.
        let logged = counters(&[1, 2, 1, 3, 1]);
        let sets = [once(&[2]), once(&[1]), once(&[3])];
        assert_eq!(
            align(&logged, &[0, 1, 2], &sets),
            [Some(1), Some(2), Some(3)]
        );
        // What is nowhere in the log keeps the place of what came before.
        let sets = [once(&[2]), once(&[7])];
        assert_eq!(align(&logged, &[1, 0, 1], &sets), [None, Some(1), Some(1)]);
    }
}
