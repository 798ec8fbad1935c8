//! In which order a run came to the nodes of the graph, and between which of its decisions.
//!
//! The covered program logs it: counters of nodes are watched from the start, those of decisions from when a run makes them. The
//! decisions themselves are known from the traced program; both orders are brought together here.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Instant;

use parallax_analysis::Analysis;

use super::marks::{Deciding, Marks};
use crate::cover::map::Standings;
use crate::explore::ExploreError;
use crate::worker::Traced;
use parallax_exec::coverage::{Counter, CoverageRegion, counted};
use parallax_exec::execute::{Executor, Settings};
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;
use parallax_trace::path::Choice;

/// Entries of a log; what a longer run does later is not seen.
const MOST_LOGGED: u32 = 1 << 20;

/// Runs the covered program.
pub struct Follower {
    executor: Executor,
    region: CoverageRegion,
    watched: BTreeSet<Counter>,
    pub runs: u64,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walked {
    /// Nodes, in order.
    pub nodes: Vec<usize>,
    /// Per decision of the run: how many of the nodes came before it.
    pub before: Vec<u32>,
    /// It went on for longer than could be seen.
    pub is_cut: bool,
}

impl Follower {
    /// The tables are those of the covered program.
    pub fn new(
        program: &Path,
        tables: &[ModuleSites],
        marks: &Marks<'_>,
        settings: &Settings,
    ) -> Result<Follower, ExploreError> {
        let region = CoverageRegion::with_log(CoverageRegion::DEFAULT_CAPACITY, MOST_LOGGED)?;
        for module in tables {
            region.reserve(module.module, counted(&module.table).len() as u32);
        }
        region.watch(marks.counters());
        Ok(Follower {
            executor: Executor::new(program, settings.clone())?,
            region,
            watched: marks.counters().copied().collect(),
            runs: 0,
        })
    }

    /// No run goes on after that.
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.executor.end_by(until);
    }

    /// The nodes that an input comes to.
    pub fn nodes(
        &mut self,
        marks: &Marks<'_>,
        scenario: &Scenario,
    ) -> Result<Walked, ExploreError> {
        let (logged, is_cut) = self.logged(scenario)?;
        let nodes = logged.iter().flat_map(|counter| marks.begun(*counter));
        Ok(Walked {
            nodes: nodes.copied().collect(),
            before: Vec::new(),
            is_cut,
        })
    }

    /// The nodes that a traced run came to, between its decisions.
    pub fn follow(
        &mut self,
        analysis: &Analysis,
        sites: &SiteMap,
        marks: &Marks<'_>,
        scenario: &Scenario,
        traced: &Traced,
    ) -> Result<Walked, ExploreError> {
        let mut standings = Standings::new(analysis, sites, traced);
        // Loops decide the same a thousand times.
        let mut known: HashMap<(u64, u32, bool), usize> = HashMap::new();
        let mut sets: Vec<Deciding> = Vec::new();
        let deciding: Vec<usize> = traced
            .decisions
            .iter()
            .map(|decision| {
                let taken = (decision.choice == Choice::Side).then_some(decision.value != 0);
                let key = (decision.site.0, decision.context, taken == Some(true));
                *known.entry(key).or_insert_with(|| {
                    let standing = standings.of(decision);
                    sets.push(marks.deciding(analysis, standing.here(), taken));
                    sets.len() - 1
                })
            })
            .collect();
        let fresh: Vec<Counter> = sets
            .iter()
            .flat_map(|set| &set.counters)
            .filter(|counter| !self.watched.contains(counter))
            .copied()
            .collect();
        self.region.watch(&fresh);
        self.watched.extend(fresh);
        let (logged, is_cut) = self.logged(scenario)?;
        let places = align(&logged, &deciding, &sets);
        let mut nodes = Vec::new();
        let mut come: Vec<u32> = Vec::with_capacity(logged.len());
        for counter in &logged {
            nodes.extend(marks.begun(*counter));
            come.push(nodes.len() as u32);
        }
        let before = places.into_iter().map(|place| match place {
            Some(place) => come[place],
            None => 0,
        });
        Ok(Walked {
            before: before.collect(),
            nodes,
            is_cut,
        })
    }

    fn logged(&mut self, scenario: &Scenario) -> Result<(Vec<Counter>, bool), ExploreError> {
        self.runs += 1;
        self.region.take_log();
        self.executor.run(scenario, &[self.region.shared()])?;
        let log = self.region.take_log();
        Ok((log.counters, log.is_cut))
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
