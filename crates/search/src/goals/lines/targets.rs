//! The targets of a search: which are open, whose turn it is, and what is known about those that were not reached.

use std::time::{Duration, Instant};

use parallax_abi::SiteId;
use parallax_analysis::{BlockId, Program};
use parallax_exec::coverage::Counter;
use parallax_scenario::Scenario;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

use super::focus::{Around, Focus, Known};
use super::queue::Way;
use super::ran::{Counters, Seen};
use super::ways::UNKNOWN;
use super::{Aims, Obstacle, Outcome, Verdict};
use crate::core::corpus::EntryId;

/// Attempts in the first turn of a target; each of its next ones has twice as many, up to the most.
const FIRST_TURN: u32 = 64;
const MOST_DOUBLED: u32 = 6;

/// One of them.
#[derive(Default)]
struct Wanted {
    /// Where the function begins that it is in.
    entry: Option<BlockId>,
    verdict: Option<Verdict>,
    /// The nearest branch that could not be got past; `contradicts` is there if all attempts at that distance were contradictions.
    obstacle: Option<Obstacle>,
    /// The branch that runs came to nearest, whether it depends on input or not.
    nearest: Option<Obstacle>,
    /// Preconditions say that nothing leads there.
    is_refuted: bool,
    turns: u32,
    runs: u64,
    paths: u64,
    queries: u64,
    time: Duration,
    /// Of earlier searches.
    before: Duration,
    seeds: Vec<Arc<Scenario>>,
    distance: Option<u32>,
    /// There was nothing left to try when there had been so much news.
    dry: Option<u64>,
}

/// See the module's description.
pub struct Targets {
    list: Vec<Wanted>,
    by_counter: FxHashMap<Counter, Vec<usize>>,
    /// So many are searched for, of which so many are open.
    searched: usize,
    open: usize,
    /// For each of them.
    runs: Option<u64>,
    time: Option<Duration>,
    /// Since when it is the turn of the one that is searched for.
    since: Instant,
}

impl Targets {
    pub fn new(program: &Program, counters: &Counters, aims: &Aims) -> Targets {
        let mut by_block: FxHashMap<BlockId, Vec<usize>> = FxHashMap::default();
        let mut list = Vec::new();
        for (number, target) in aims.targets.iter().enumerate() {
            for block in &target.blocks {
                by_block.entry(*block).or_default().push(number);
            }
            let first = target.blocks.first();
            let function = first.map(|block| program.function(program.block(*block).function));
            list.push(Wanted {
                entry: function.and_then(|function| function.entry()),
                before: aims.before.get(number).copied().unwrap_or_default(),
                ..Wanted::default()
            });
        }
        let mut by_counter: FxHashMap<Counter, Vec<usize>> = FxHashMap::default();
        for (counter, blocks) in counters.of_blocks() {
            let targets = blocks.iter().filter_map(|block| by_block.get(block));
            for target in targets.flatten() {
                by_counter.entry(counter).or_default().push(*target);
            }
        }
        Targets {
            searched: aims.searched,
            open: aims.searched,
            list,
            by_counter,
            runs: aims.runs,
            time: aims.time,
            since: Instant::now(),
        }
    }

    /// Whether each was reached, or had all that there is for one.
    pub fn are_done(&self) -> bool {
        let mut all = 0..self.searched;
        self.open == 0
            || all.all(|target| {
                !self.is_open(target)
                    || self.is_out_of_runs(target)
                    || self.is_out_of_time(target, Duration::ZERO)
            })
    }

    pub fn is_open(&self, target: usize) -> bool {
        self.list[target].verdict.is_none()
    }

    /// Open targets that a run has reached.
    pub fn reached_by(&self, ran: &[(Counter, u32)]) -> Vec<usize> {
        let counters = ran.iter().map(|(counter, _)| counter);
        let targets = counters.filter_map(|counter| self.by_counter.get(counter));
        let mut reached: Vec<usize> = targets
            .flatten()
            .copied()
            .filter(|target| self.is_open(*target))
            .collect();
        reached.sort_unstable();
        reached.dedup();
        reached
    }

    pub fn reached(&mut self, target: usize, verdict: Verdict) {
        if self.is_open(target) {
            self.list[target].verdict = Some(verdict);
            self.open -= usize::from(target < self.searched);
        }
    }

    /// An alternative was asked about for a target, and an input that takes it was run or not.
    pub fn asked(&mut self, target: usize, has_run: bool) {
        let wanted = &mut self.list[target];
        wanted.queries += 1;
        wanted.paths += u64::from(has_run);
        wanted.runs += u64::from(has_run);
    }

    /// An entry is traced for a target.
    pub fn traced(&mut self, target: usize) {
        self.list[target].runs += 1;
    }

    fn is_out_of_runs(&self, target: usize) -> bool {
        self.runs.is_some_and(|most| self.list[target].runs >= most)
    }

    fn is_out_of_time(&self, target: usize, more: Duration) -> bool {
        let spent = self.list[target].before + self.list[target].time + more;
        self.time.is_some_and(|most| spent >= most)
    }

    /// Whether a target can have a turn when there has been so much news.
    fn is_eligible(&self, target: usize, news: u64) -> bool {
        self.is_open(target)
            && !self.is_out_of_runs(target)
            && !self.is_out_of_time(target, Duration::ZERO)
            && self.list[target].dry.is_none_or(|dry| dry < news)
    }

    pub fn has_open(&self, news: u64) -> bool {
        (0..self.searched).any(|target| self.is_eligible(target, news))
    }

    /// Whether the turn of a target goes on.
    pub fn may_go_on(&self, focus: &Focus<'_>, news: u64) -> bool {
        let target = focus.target;
        let elapsed = match self.time {
            Some(_) => self.since.elapsed(),
            None => Duration::ZERO,
        };
        if !self.is_eligible(target, news) || self.is_out_of_time(target, elapsed) {
            return false;
        }
        let mut others = (0..self.searched).filter(|other| *other != target);
        focus.left > 0 || !others.any(|other| self.is_eligible(other, news))
    }

    /// Whose turn is next, and how many attempts it has: the one with the fewest turns, of these the nearest.
    pub fn next(&self, known: &[Known], news: u64) -> Option<(usize, u32)> {
        let all = 0..self.searched;
        let eligible = all.filter(|target| self.is_eligible(*target, news));
        let target = eligible.min_by_key(|target| {
            let wanted = &self.list[*target];
            // Before its first turn: whether anything ran the function that it is in.
            let is_far = wanted.turns == 0
                && wanted
                    .entry
                    .is_none_or(|entry| !known.iter().any(|known| known.ran.has(entry)));
            (
                wanted.turns,
                is_far,
                wanted.distance.unwrap_or(UNKNOWN),
                *target,
            )
        })?;
        let doubled = self.list[target].turns.min(MOST_DOUBLED);
        Some((target, FIRST_TURN << doubled))
    }

    /// A target has its turn.
    pub fn begin(&mut self, focus: &Focus<'_>, known: &[Known]) {
        self.since = Instant::now();
        let wanted = &mut self.list[focus.target];
        wanted.turns += 1;
        wanted.is_refuted = focus.aims[0].guide.is_refuted;
        if wanted.turns == 1 {
            wanted.distance = focus.aims[0].distance().map(|distance| distance - 1);
            let nearest = focus.aims[0].nearest.iter();
            for (_, entry) in nearest {
                let seed = seed(known, *entry);
                if !wanted.seeds.contains(&seed) {
                    wanted.seeds.push(seed);
                }
            }
        }
    }

    /// There is nothing left to try for a target until there is more news.
    pub fn dry(&mut self, target: Option<usize>, news: u64) {
        if let Some(target) = target {
            self.list[target].dry = Some(news);
        }
    }

    /// Its turn is over.
    pub fn rest(&mut self, focus: &Focus<'_>, around: &Around<'_>, known: &[Known]) {
        let wanted = &mut self.list[focus.target];
        wanted.time += self.since.elapsed();
        let aim = &focus.aims[0];
        let Some((_, entry)) = aim.nearest.first() else {
            return;
        };
        let seen = Seen {
            analysis: around.analysis,
            counters: &around.counters,
            ran: &known[*entry].ran,
        };
        wanted.nearest = seen.blocked(&aim.guide).first().map(|blocked| Obstacle {
            site: blocked.site,
            distance: blocked.distance,
            scenario: (*known[*entry].scenario).clone(),
            contradicts: None,
            prefixes: 0,
            is_concrete: false,
        });
    }

    /// A way did not lead on.
    pub fn failed(
        &mut self,
        target: usize,
        way: &Way,
        against: Option<&[SiteId]>,
        known: &[Known],
    ) {
        if way.distance >= UNKNOWN || way.aim > 0 {
            return;
        }
        match &mut self.list[target].obstacle {
            Some(known) if known.distance < way.distance => {}
            Some(known) if known.distance == way.distance => {
                known.prefixes += 1;
                if against.is_none() {
                    known.contradicts = None;
                }
            }
            obstacle => {
                *obstacle = Some(Obstacle {
                    site: way.site,
                    distance: way.distance,
                    scenario: (*known[way.entry].scenario).clone(),
                    contradicts: against.map(<[SiteId]>::to_vec),
                    prefixes: 1,
                    is_concrete: false,
                });
            }
        }
    }

    /// What became of each. Input decided at these places.
    pub fn outcomes(self, decided: &FxHashSet<SiteId>) -> Vec<Outcome> {
        let numbers = 0..self.list.len();
        let limits: Vec<(bool, bool)> = numbers
            .map(|target| {
                let is_late = self.is_out_of_time(target, Duration::ZERO);
                (self.is_out_of_runs(target), is_late)
            })
            .collect();
        let outcome =
            |(mut wanted, (is_out_of_runs, is_out_of_time)): (Wanted, (bool, bool))| Outcome {
                is_searched: wanted.verdict.is_some() || wanted.turns > 0,
                is_out_of_runs,
                is_out_of_time,
                runs: wanted.runs,
                paths: wanted.paths,
                queries: wanted.queries,
                time: wanted.time,
                seeds: std::mem::take(&mut wanted.seeds),
                distance: wanted.distance,
                verdict: wanted.verdict(decided),
            };
        self.list.into_iter().zip(limits).map(outcome).collect()
    }
}

impl Wanted {
    fn verdict(self, decided: &FxHashSet<SiteId>) -> Verdict {
        if let Some(verdict) = self.verdict {
            return verdict;
        }
        let mut obstacle = self.obstacle;
        if let Some(mut nearest) = self.nearest
            && obstacle
                .as_ref()
                .is_none_or(|known| nearest.distance < known.distance)
        {
            nearest.is_concrete = !decided.contains(&nearest.site);
            obstacle = Some(nearest);
        }
        match &obstacle {
            // What leads to it directly was tried, and each time something on the way there forbade it.
            Some(Obstacle {
                distance: 0,
                contradicts: Some(_),
                ..
            }) => Verdict::Infeasible(obstacle),
            _ if self.is_refuted => Verdict::Infeasible(obstacle),
            None => Verdict::Missed,
            _ => Verdict::Blocked(obstacle),
        }
    }
}

/// The given scenario that an entry was made from.
fn seed(known: &[Known], entry: EntryId) -> Arc<Scenario> {
    let mut at = entry;
    while let Some(parent) = known[at].parent {
        at = parent;
    }
    Arc::clone(&known[at].scenario)
}
