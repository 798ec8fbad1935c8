//! Inputs that reach a given line.
//!
//! Every decision of a run could have gone otherwise; the static analysis says how many decisions then lie between there
//! and the target. The nearest way is tried first, from any run so far ([`queue`]): this is KATCH's greedy step, with the
//! whole tree of paths kept. A way that contradicts what was decided before it is tried again without the
//! last decision that it contradicts, and so on (informed path regeneration). Where branches do not
//! help, the input gets another structure. The target counts as reached when a run of the covered program says so.

mod interface;
pub mod map;
mod queue;
mod ways;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use parallax_abi::SiteId;
use parallax_analysis::Analysis;
use parallax_analysis::effects::Effects;
use parallax_analysis::lines::normalise;

use crate::coverage::{Counted, Counter, counted};
use crate::explore::frontier::RunId;
use crate::explore::slot::{Attempt, Child, Slot, Tried, Work};
use crate::explore::{ExploreError, Programs, Run, loss_names};
use crate::parallel::in_parallel;
use crate::question::{Goal, Known};
use crate::scenario::Scenario;
use crate::sites::{ModuleSites, SiteMap};
use crate::worker::Traced;

pub use interface::{
    Heuristic, Means, Observer, Obstacle, Options, Progress, Step, Summary, Verdict,
};
use map::{Guide, Target};
use queue::{Queue, Way};

/// Slots: work done at a time, whatever the number of threads.
const SLOTS: usize = 4;
/// Ways that are tried before the next ones are chosen: looking ahead of the best one costs little.
const BATCH: usize = 8;
/// Traces of runs that are kept; others are made again when they are needed.
const TRACES: usize = 256;

/// Searches for one target after the other.
pub struct Coverer<'c> {
    analysis: &'c Analysis,
    effects: Effects<'c>,
    options: &'c Options,
    sites: &'c SiteMap,
    tables: &'c [ModuleSites],
    slots: Vec<Slot<'c>>,
    /// What the given scenarios ran.
    seeds: Vec<Child>,
}

impl<'c> Coverer<'c> {
    /// Runs the given scenarios. The tables are those of the covered program.
    pub fn new(
        programs: &Programs,
        analysis: &'c Analysis,
        options: &'c Options,
        sites: &'c SiteMap,
        tables: &'c [ModuleSites],
    ) -> Result<Coverer<'c>, ExploreError> {
        let mut slots = vec![Slot::new(programs, &options.explore, sites)?];
        while slots.len() < SLOTS {
            slots.push(slots[0].beside());
        }
        let mut seeds = Vec::new();
        for seed in &options.seeds {
            seeds.push(slots[0].start(seed.clone())?);
        }
        if let Some(first) = seeds.first()
            && !first.traced.trace.attached()
        {
            return Err(ExploreError::Untraced);
        }
        Ok(Coverer {
            analysis,
            effects: analysis.effects(),
            options,
            sites,
            tables,
            slots,
            seeds,
        })
    }

    /// Searches for an input that reaches the target.
    pub fn cover(
        &mut self,
        target: &Target,
        observer: &mut dyn Observer,
    ) -> Result<Summary, ExploreError> {
        let started = Instant::now();
        let executions = |slots: &[Slot<'_>]| slots.iter().map(Slot::runs).sum::<u64>();
        let (before, asked) = (executions(&self.slots), self.queries());
        let mut search = Search {
            options: self.options,
            sites: self.sites,
            guide: Guide::new(
                self.analysis,
                &self.effects,
                target,
                self.options.has(Heuristic::Preconditions),
            ),
            counters: counters(self.tables, self.analysis, target),
            started,
            queue: Queue::default(),
            runs: Vec::new(),
            origins: Vec::new(),
            kept: Default::default(),
            known: HashSet::new(),
            paths: HashSet::new(),
            fixed: HashMap::new(),
            losses: BTreeMap::new(),
            nearest: None,
            obstacle: None,
            traced_runs: 0,
        };
        let (verdict, stopped) = search.run(&mut self.slots, &self.seeds, observer)?;
        Ok(Summary {
            verdict,
            runs: search.traced_runs,
            paths: search.paths.len() as u64,
            executions: executions(&self.slots) - before,
            time: started.elapsed(),
            queries: self.queries() - asked,
            losses: search.losses,
            stopped,
        })
    }

    fn queries(&self) -> u64 {
        let slots = self.slots.iter();
        slots.map(|slot| slot.statistics().queries).sum()
    }
}

/// The counters that say that a target was reached.
fn counters(tables: &[ModuleSites], analysis: &Analysis, target: &Target) -> HashSet<Counter> {
    let wanted: HashSet<SiteId> = target
        .blocks
        .iter()
        .map(|block| analysis.program.block(*block).site)
        .collect();
    let of_module = |module: &ModuleSites| {
        let numbered = (0..).zip(counted(&module.table));
        let is_wanted = |(index, counted): (u32, Counted)| match counted {
            Counted::Block(site) if wanted.contains(&site) => Some(Counter {
                module: module.module,
                index,
            }),
            _ => None,
        };
        numbered.filter_map(is_wanted).collect::<Vec<_>>()
    };
    // Blocks of static functions of the same name can share sites across files.
    let has_file = |module: &&ModuleSites| {
        let mut files = module.table.files.iter();
        files.any(|file| normalise(file) == target.file)
    };
    tables.iter().filter(has_file).flat_map(of_module).collect()
}

/// How a run was made.
struct Origin {
    parent: RunId,
    means: Means,
    site: Option<SiteId>,
    distance: Option<u32>,
}

/// A search for one target.
struct Search<'s> {
    options: &'s Options,
    sites: &'s SiteMap,
    guide: Guide<'s>,
    counters: HashSet<Counter>,
    started: Instant,
    queue: Queue,
    runs: Vec<Run>,
    /// Of each run; `None` for what was given.
    origins: Vec<Option<Origin>>,
    /// Runs whose traces are kept, oldest first.
    kept: std::collections::VecDeque<RunId>,
    known: HashSet<Scenario>,
    paths: HashSet<u64>,
    fixed: Known,
    losses: BTreeMap<String, u64>,
    /// Least number of decisions between anything that ran and the target.
    nearest: Option<u32>,
    /// The nearest branch that could not be got past; `contradicts` is there if all attempts at that distance were
    /// contradictions.
    obstacle: Option<Obstacle>,
    traced_runs: u64,
}

impl Search<'_> {
    fn run(
        &mut self,
        slots: &mut [Slot<'_>],
        seeds: &[Child],
        observer: &mut dyn Observer,
    ) -> Result<(Verdict, bool), ExploreError> {
        if let Some(seed) = seeds.iter().position(|seed| self.reaches(seed)) {
            return Ok((Verdict::Suite(seed), false));
        }
        for seed in seeds {
            if self.known.insert(seed.scenario.clone()) {
                self.add(&seed.scenario, &seed.traced, None);
            }
        }
        self.offer_splices();
        loop {
            observer.progress(&Progress {
                runs: self.traced_runs,
                distance: self.nearest,
                open: self.queue.len() as u64,
            });
            if observer.stop() {
                return Ok((self.failed(), true));
            }
            let budget = &self.options.explore;
            let is_late = budget
                .time
                .is_some_and(|time| self.started.elapsed() >= time);
            let left = budget.runs.map_or(BATCH, |runs| {
                usize::try_from(runs.saturating_sub(self.traced_runs)).unwrap_or(BATCH)
            });
            if is_late || left == 0 {
                return Ok((self.failed(), false));
            }
            let ways = self.queue.take(BATCH.min(left));
            if ways.is_empty() {
                return Ok((self.failed(), false));
            }
            for (way, attempt) in self.try_all(slots, ways)? {
                if let Some(verdict) = self.merge(way, attempt) {
                    return Ok((verdict, false));
                }
            }
        }
    }

    /// Tries ways, those of different runs at the same time.
    fn try_all(
        &mut self,
        slots: &mut [Slot<'_>],
        ways: Vec<Way>,
    ) -> Result<Vec<(Way, Attempt)>, ExploreError> {
        let mut groups: BTreeMap<RunId, Vec<Way>> = BTreeMap::new();
        for way in ways {
            groups.entry(way.candidate.run).or_default().push(way);
        }
        let groups: Vec<(RunId, Vec<Way>)> = groups.into_iter().collect();
        let mut tried = Vec::new();
        for groups in groups.chunks(slots.len()) {
            let work = |(run, ways): &(RunId, Vec<Way>)| {
                let run = &self.runs[*run as usize];
                Work {
                    scenario: &run.scenario,
                    traced: run.traced.clone(),
                    candidates: ways.iter().map(|way| way.candidate).collect(),
                    runs: &self.runs,
                    known: &self.known,
                    fixed: &self.fixed,
                    regenerate: self.options.has(Heuristic::Regenerate),
                }
            };
            let tasks = slots.iter_mut().zip(groups.iter().map(work)).collect();
            let jobs = self.options.explore.jobs;
            let results = in_parallel(jobs, tasks, |(slot, work)| slot.work(work));
            for ((run, ways), done) in groups.iter().zip(results) {
                let done = done?;
                if let Some(traced) = done.traced {
                    self.traced_runs += 1;
                    self.keep(*run, traced);
                }
                tried.extend(ways.iter().copied().zip(done.attempts));
            }
        }
        Ok(tried)
    }

    /// Takes in what became of a way; the verdict if it has reached the target.
    fn merge(&mut self, way: Way, attempt: Attempt) -> Option<Verdict> {
        let is_place = way.candidate.goal.has_place();
        match attempt.result {
            Tried::Infeasible { against } => {
                if is_place {
                    self.failed_at(way, Some(against));
                }
            }
            Tried::Undecided => self.failed_at(way, None),
            // An input would go there, but it may not be made, or it has been run and did not.
            Tried::Rejected => {
                if is_place {
                    self.failed_at(way, None);
                }
            }
            Tried::Ran(child) => {
                self.traced_runs += 1;
                let origin = Origin {
                    parent: way.candidate.run,
                    means: match way.candidate.goal {
                        Goal::Take { .. } => Means::Splice,
                        _ if child.gave_up.is_some() => Means::Regenerate,
                        Goal::Grow { .. }
                        | Goal::Cut { .. }
                        | Goal::Drop { .. }
                        | Goal::Insert { .. } => Means::Structure,
                        _ => Means::Greedy,
                    },
                    site: is_place.then_some(way.candidate.site),
                    distance: (way.distance < ways::UNKNOWN).then_some(way.distance),
                };
                if self.reaches(&child) {
                    let mut steps = self.steps(way.candidate.run);
                    steps.push(Step {
                        means: origin.means,
                        site: origin.site,
                        scenario: child.scenario.clone(),
                        distance: origin.distance,
                    });
                    return Some(Verdict::Covered {
                        scenario: child.scenario,
                        steps,
                    });
                }
                if let Some(against) = child.gave_up {
                    self.failed_at(way, Some(against));
                } else if child.went == Some(false) {
                    self.failed_at(way, None);
                }
                if self.known.insert(child.scenario.clone()) {
                    self.add(&child.scenario, &child.traced, Some(origin));
                }
            }
        }
        None
    }

    fn reaches(&self, child: &Child) -> bool {
        child
            .ran
            .iter()
            .any(|counter| self.counters.contains(counter))
    }

    /// Takes in a run and offers its ways.
    fn add(&mut self, scenario: &Scenario, traced: &Arc<Traced>, origin: Option<Origin>) {
        for (name, count) in loss_names(traced) {
            *self.losses.entry(name).or_default() += count;
        }
        let generation = match &origin {
            Some(origin) => self.runs[origin.parent as usize].generation + 1,
            None => 0,
        };
        let run = self.runs.len() as RunId;
        self.runs.push(Run {
            scenario: scenario.clone(),
            generation,
            traced: None,
        });
        self.origins.push(origin);
        if self.paths.insert(traced.exact_path()) {
            self.offer(run, traced);
            self.keep(run, Arc::clone(traced));
        }
    }

    fn keep(&mut self, run: RunId, traced: Arc<Traced>) {
        self.runs[run as usize].traced = Some(traced);
        self.kept.push_back(run);
        if self.kept.len() > TRACES
            && let Some(oldest) = self.kept.pop_front()
        {
            self.runs[oldest as usize].traced = None;
        }
    }

    fn failed_at(&mut self, way: Way, against: Option<Vec<SiteId>>) {
        if way.distance >= ways::UNKNOWN {
            return;
        }
        let nearest = self.obstacle.as_ref().map(|obstacle| obstacle.distance);
        if nearest == Some(way.distance)
            && let Some(obstacle) = &mut self.obstacle
            && against.is_none()
        {
            obstacle.contradicts = None;
        }
        if nearest.is_none_or(|nearest| way.distance < nearest) {
            self.obstacle = Some(Obstacle {
                site: way.candidate.site,
                distance: way.distance,
                scenario: self.runs[way.candidate.run as usize].scenario.clone(),
                contradicts: against,
            });
        }
    }

    /// What is said when the target was not reached.
    fn failed(&mut self) -> Verdict {
        let obstacle = self.obstacle.take();
        match &obstacle {
            // What leads to it directly was tried, and each time something on the way there forbade it.
            Some(Obstacle {
                distance: 0,
                contradicts: Some(_),
                ..
            }) => Verdict::Infeasible(obstacle),
            _ if self.guide.is_refuted => Verdict::Infeasible(obstacle),
            None if self.nearest.is_none() => Verdict::Missed,
            _ => Verdict::Blocked(obstacle),
        }
    }

    /// How a run came about.
    fn steps(&self, run: RunId) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut at = run;
        while let Some(origin) = &self.origins[at as usize] {
            steps.push(Step {
                means: origin.means,
                site: origin.site,
                scenario: self.runs[at as usize].scenario.clone(),
                distance: origin.distance,
            });
            at = origin.parent;
        }
        steps.reverse();
        steps
    }
}
