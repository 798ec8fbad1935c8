//! Exploration: new inputs for new paths, from one scenario or from nothing.
//!
//! A loop. Each run is traced; every decision of its path could have gone otherwise, every
//! sensitive operation could have failed, every input could be longer or shorter: these ways go to the
//! [`frontier`]. The best ones are taken in rounds; for each a solver is asked for the input, the input is run, and
//! the new run's own ways are added. Errors are run again on the plain and the checked program, and only what is seen
//! there is reported.
//!
//! Rounds make it deterministic: work is dealt out to a fixed number of [`slot`]s, in parallel, and results are
//! taken in order, so that the number of threads changes nothing but the time.

pub(crate) mod batch;
mod chapters;
mod compared;
pub(crate) mod frontier;
mod interface;
pub(crate) mod kept;
mod news;
pub(crate) mod parts;
mod reduce;
mod shape;
pub(crate) mod slot;
mod suspects;
pub(crate) mod ways;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use crate::journal::Journal;
use crate::parallel::in_parallel;
use crate::question::{Goal, Known};
use crate::worker::Traced;
use parallax_exec::finding::Finding;
use parallax_exec::run::End;
use parallax_exec::sites::{self, ModuleSites, SiteMap};
use parallax_scenario::Scenario;

use chapters::Chapters;
use frontier::{Candidate, Frontier, RunId, mix};
pub use interface::{
    Ended, ExploreError, Flips, Limit, Miss, Observer, Options, Programs, Progress, Summary,
    is_about_the_input,
};
use kept::Kept;
pub use news::Moment;
use news::News;
use parts::First;
pub(crate) use shape::is_near;
pub use shape::{ArgumentGroup, Bounds, Described, Shape};
use slot::{Attempt, Child, Common, Done, Slot, Tried, Work};
use suspects::Suspect;

/// Misses that are kept for the report.
const MOST_MISSES: usize = 20;
/// Slots: work done at a time, whatever the number of threads.
const SLOTS: usize = 4;
/// Ways of one run that are tried together.
const GROUP: usize = 16;
/// So many paths are all run on the checked program; later only some of those without news.
const CHECKED_PATHS: u64 = 256;
const CHECKED_SHARE: u64 = 8;
/// Explores a program, or goes on where the journal says that another process was.
pub fn explore(
    programs: &Programs,
    options: &Options,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> Result<Summary, ExploreError> {
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = match &programs.covered {
        Some(covered) => sites::read_tables(covered, &programs.covered_libraries)?,
        None => Vec::new(),
    };
    let mut slots = vec![Slot::new(programs, options, &sites)?];
    while slots.len() < SLOTS {
        slots.push(slots[0].beside());
    }
    let mut explorer = Explorer::new(options, &sites, &tables, journal, observer);
    explorer.has_sanitizers = programs.checked.is_some();
    let ended = explorer.run(&mut slots)?;
    explorer.reduce(&mut slots, ended)?;
    Ok(explorer.summary(ended, &slots))
}

/// A run that may be continued from.
pub(crate) struct Run {
    pub scenario: Scenario,
    /// 0 for what everything starts from.
    pub generation: u32,
    pub traced: Option<Arc<Traced>>,
}

/// What is missing of a run: where it lost track of the input, and how often; and whether it has more than `most` decisions, of which
/// no more are looked at.
pub(crate) fn loss_names(traced: &Traced, most: usize) -> Vec<(String, u64)> {
    let trace = &traced.trace;
    let name = |name: Cow<'_, str>| match name.is_empty() {
        true => "(memory)".to_owned(),
        false => name.into_owned(),
    };
    let losses = trace
        .losses()
        .map(|loss| (name(loss.name()), u64::from(loss.count)));
    let stop = trace.stop().map(|stop| {
        let what = format!("{stop:?}").to_lowercase();
        (format!("(trace cut short: {what})"), 1)
    });
    let is_long = traced.decisions.len() > most;
    let beyond = is_long.then(|| {
        (
            "(ways of a long run, all but the first or nearest)".to_owned(),
            1,
        )
    });
    losses.chain(stop).chain(beyond).collect()
}

struct Explorer<'e> {
    options: &'e Options,
    sites: &'e SiteMap,
    tables: &'e [ModuleSites],
    journal: &'e mut dyn Journal,
    chapters: Chapters,
    observer: &'e mut dyn Observer,
    has_sanitizers: bool,
    started: Instant,
    runs: Vec<Run>,
    kept: Kept,
    frontier: Frontier,
    known: HashSet<Scenario>,
    paths: HashSet<u64>,
    /// With all addresses and sizes.
    exact_paths: HashSet<u64>,
    news: News,
    /// The first run of each mode.
    firsts: Vec<First>,
    fixed: Known,
    findings: Vec<Finding>,
    losses: BTreeMap<String, u64>,
    flips: Flips,
    misses: Vec<Miss>,
    traced_runs: u64,
    tests: u64,
    unconfirmed: u64,
    flaky: u64,
    limited: BTreeMap<Limit, u64>,
    queries: u64,
}

impl<'e> Explorer<'e> {
    fn new(
        options: &'e Options,
        sites: &'e SiteMap,
        tables: &'e [ModuleSites],
        journal: &'e mut dyn Journal,
        observer: &'e mut dyn Observer,
    ) -> Explorer<'e> {
        Explorer {
            options,
            sites,
            tables,
            journal,
            chapters: Chapters::default(),
            observer,
            has_sanitizers: false,
            started: Instant::now(),
            runs: Vec::new(),
            kept: Kept::default(),
            frontier: Frontier::new(options.seed),
            known: HashSet::new(),
            paths: HashSet::new(),
            exact_paths: HashSet::new(),
            news: News::new(tables),
            firsts: Vec::new(),
            fixed: HashMap::new(),
            findings: Vec::new(),
            losses: BTreeMap::new(),
            flips: Flips::default(),
            misses: Vec::new(),
            traced_runs: 0,
            tests: 0,
            unconfirmed: 0,
            flaky: 0,
            limited: BTreeMap::new(),
            queries: 0,
        }
    }

    fn run(&mut self, slots: &mut [Slot<'_>]) -> Result<Ended, ExploreError> {
        self.open_chapter(slots)?;
        self.start(slots)?;
        loop {
            self.queries = self.statistics(slots).queries;
            let progress = self.progress();
            self.observer.progress(&progress);
            if self.observer.stop() {
                return Ok(Ended::Stopped);
            }
            if self.options.time.is_some_and(|time| self.elapsed() >= time) {
                return Ok(Ended::Time);
            }
            let left = self.options.runs.map_or(usize::MAX, |runs| {
                usize::try_from(runs.saturating_sub(self.traced_runs)).unwrap_or(usize::MAX)
            });
            if left == 0 {
                return Ok(Ended::Runs);
            }
            let groups =
                self.frontier
                    .take(self.traced_runs, SLOTS, GROUP, left.min(SLOTS * GROUP));
            if groups.is_empty() {
                return Ok(Ended::Exhausted);
            }
            let ways = groups.iter().map(|group| group.candidates.len()).sum();
            self.chapters.count(ways);
            let suspects = self.round(slots, groups)?;
            self.check(slots, suspects)?;
            self.close_chapter(slots)?;
        }
    }

    /// Runs the scenarios that everything starts from.
    fn start(&mut self, slots: &mut [Slot<'_>]) -> Result<(), ExploreError> {
        let mut suspects = Vec::new();
        for seed in self.options.shape.seeds() {
            if !self.known.insert(seed.clone()) {
                continue;
            }
            let child = slots[0].start(seed)?;
            if self.runs.is_empty() && !child.traced.trace.attached() {
                return Err(ExploreError::Untraced);
            }
            suspects.extend(self.add(child, None));
        }
        self.check(slots, suspects)
    }

    /// Tries groups of ways, all at the same time.
    fn round(
        &mut self,
        slots: &mut [Slot<'_>],
        groups: Vec<frontier::Group>,
    ) -> Result<Vec<Suspect>, ExploreError> {
        let common = Common {
            runs: &self.runs,
            known: &self.known,
            fixed: &self.fixed,
            edits: &[],
            shape: &self.options.shape,
            regenerate: false,
        };
        let work: Vec<(RunId, Work<'_>)> = groups
            .into_iter()
            .map(|group| {
                let run = &self.runs[group.run as usize];
                let work = Work {
                    scenario: &run.scenario,
                    traced: run.traced.clone(),
                    candidates: group.candidates,
                    common,
                };
                (group.run, work)
            })
            .collect();
        let ids: Vec<RunId> = work.iter().map(|(run, _)| *run).collect();
        let tasks = slots.iter_mut().zip(work.into_iter().map(|(_, work)| work));
        let results = in_parallel(self.options.jobs, tasks.collect(), |(slot, work)| {
            slot.work(work)
        });
        let mut suspects = Vec::new();
        for (run, result) in ids.into_iter().zip(results) {
            let Done { traced, attempts } = result?;
            if let Some(traced) = traced {
                self.traced_runs += 1;
                self.keep(run, traced);
            }
            for attempt in attempts {
                suspects.extend(self.merge(attempt));
            }
        }
        Ok(suspects)
    }

    fn merge(&mut self, attempt: Attempt) -> Option<Suspect> {
        let Attempt { candidate, result } = attempt;
        if !candidate.goal.has_place() {
            for level in candidate.levels {
                self.frontier.reached(level);
            }
        }
        match result {
            Tried::Infeasible { .. } => self.flips.infeasible += 1,
            Tried::Undecided => self.flips.undecided += 1,
            Tried::Rejected => self.flips.rejected += 1,
            Tried::Ran(child) => {
                match child.went {
                    Some(true) => self.flips.taken += 1,
                    Some(false) => self.miss(&candidate, &child),
                    None => {}
                }
                // Another slot may have made the same scenario.
                if self.known.insert(child.scenario.clone()) {
                    let is_failure = matches!(candidate.goal, Goal::Fail { .. });
                    let depth = child.traced.decisions.len();
                    let (scenario, end) = (child.scenario.clone(), child.end);
                    let suspect = self.add(*child, Some(candidate.run));
                    return suspect.or_else(|| {
                        is_failure.then_some(Suspect {
                            scenario,
                            end,
                            depth,
                        })
                    });
                }
                self.traced_runs += 1;
            }
        }
        None
    }

    fn miss(&mut self, candidate: &Candidate, child: &Child) {
        self.flips.missed += 1;
        self.flips.unexplained += u64::from(child.losses.is_empty());
        if self.misses.len() < MOST_MISSES {
            self.misses.push(Miss {
                wanted: candidate.site,
                left_at: child.left_at,
                from: self.runs[candidate.run as usize].scenario.clone(),
                scenario: child.scenario.clone(),
                losses: child.losses.clone(),
            });
        }
    }

    /// Takes in a run; gives it back if it should be run on the checked program.
    fn add(&mut self, child: Child, parent: Option<RunId>) -> Option<Suspect> {
        let generation = parent.map_or(0, |parent| self.runs[parent as usize].generation + 1);
        self.traced_runs += 1;
        let Child {
            scenario,
            end,
            traced,
            ran,
            ..
        } = child;
        if let Some(limit) = Limit::of(end) {
            *self.limited.entry(limit).or_default() += 1;
        }
        let is_new_path = self.paths.insert(traced.path() ^ mix(end_class(end)));
        let moment = Moment {
            runs: self.traced_runs,
            time: self.started.elapsed(),
        };
        let first = self.news.take_in(&ran, moment);
        for counter in &first {
            self.frontier.close(self.news.name(*counter));
            if let Some((site, side)) = self.news.side(*counter) {
                self.frontier.reached(ways::target(site, side.into()));
            }
        }
        let gained = !first.is_empty();
        let open = self.news.open(&ran);
        for (name, count) in loss_names(&traced, ways::MOST_WAYS) {
            *self.losses.entry(name).or_default() += count;
        }
        if gained || is_new_path && self.options.keep_paths {
            self.tests += 1;
            self.observer.test(&scenario);
        }
        let depth = traced.decisions.len();
        let run = self.runs.len() as RunId;
        self.runs.push(Run {
            scenario: scenario.clone(),
            generation,
            traced: None,
        });
        let is_last = self
            .options
            .generations
            .is_some_and(|most| generation >= most);
        if self.exact_paths.insert(traced.exact_path()) && !is_last {
            let is_new_mode = self.frontier.add_run(run, self.news.mode(&ran), open);
            self.offer(run, &traced);
            if is_new_mode {
                self.offer_parts(run, end);
            }
            self.keep(run, traced);
        }
        let paths = self.paths.len() as u64;
        let is_abnormal = !matches!(end, End::Exit(_));
        let is_due = is_new_path && (paths <= CHECKED_PATHS || paths.is_multiple_of(CHECKED_SHARE));
        // Without sanitizers the plain program has nothing to add to a run that ended well.
        let is_worth_it = is_abnormal || self.has_sanitizers && (gained || is_due);
        is_worth_it.then_some(Suspect {
            scenario,
            end,
            depth,
        })
    }

    fn keep(&mut self, run: RunId, traced: Arc<Traced>) {
        let room = self.options.trace_memory;
        self.kept.keep(&mut self.runs, run, traced, room);
    }

    fn progress(&self) -> Progress {
        Progress {
            runs: self.traced_runs,
            paths: self.paths.len() as u64,
            queries: self.queries,
            covered: self.news.count(),
            findings: self.findings.len() as u64,
            open: self.frontier.len() as u64,
        }
    }

    fn summary(self, ended: Ended, slots: &[Slot<'_>]) -> Summary {
        let solver = self.statistics(slots);
        let seconds = self.elapsed().as_secs_f64();
        Summary {
            ended,
            progress: Progress {
                queries: solver.queries,
                ..self.progress()
            },
            seconds,
            coverage: slots[0].coverage(self.tables),
            findings: self.findings,
            latest: self.news.into_latest(),
            losses: self.losses,
            flips: self.flips,
            misses: self.misses,
            solver,
            executions: slots.iter().map(Slot::runs).sum(),
            tests: self.tests,
            unconfirmed: self.unconfirmed,
            flaky: self.flaky,
            limited: self.limited,
        }
    }
}

/// Runs that ended differently took different paths, whatever was decided.
fn end_class(end: End) -> u64 {
    match end {
        End::Exit(_) => 0,
        End::Signal(signal) => 1 + signal as u64,
        End::Timeout => 1000,
        End::OutOfMemory => 1001,
        End::TooManyProcesses => 1002,
        End::TooMuchOutput => 1003,
        End::Interrupted => 1004,
    }
}
