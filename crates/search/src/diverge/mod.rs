//! Inputs on which two versions of a program part ways (Shadow, ICSE 2016), without annotations.
//!
//! Both versions are traced on the same input. What corresponds in their code is found first ([`correspond`]); then the
//! conditions that they decided are walked through side by side ([`walk`]), as expressions over the same input bytes
//! ([`pool`], [`lockstep`]). Where a condition is another expression in the new version, the solver is asked for an input
//! that one version decides otherwise. Each input on which the versions part is a point from which the new
//! version is explored ([`bounded`]), and each one is run natively on both versions, plain and checked ([`triage`]).
//! Inputs that show the same are one cluster ([`clusters`]).
//!
//! Unlike the paper's, the comparison does not end with the paths that it was given: with the time that is left, both
//! versions are taken along other paths together ([`common`]).

mod align;
mod bounded;
pub mod clusters;
mod common;
pub mod correspond;
mod extremes;
mod finish;
mod given;
mod interface;
mod lockstep;
mod numerals;
mod pool;
mod questions;
pub mod triage;
mod visits;
pub mod walk;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_solver::Solver;

use crate::explore::{Ended, ExploreError, loss_names};
use crate::worker::{Means, Traced, Worker, with_objects};
use bounded::Point;
use clusters::{Cluster, Clusters, distance};
use common::{Failures, Frontier, Next};
use correspond::Correspondence;
use given::{Numbers, Pending};
use lockstep::{Equals, Lockstep, Pair, changed};
use parallax_exec::cpu;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use pool::Components;
use triage::{Class, Court, Shown};
use visits::MOST_DECISIONS;
use walk::{Both, Place, Version, Walk};

pub use interface::{Cost, DivergeError, Observer, Options, Phase, Progress, Subjects, Summary};

/// Share of the budget after which questions about scenarios that were given share what is left with the rest.
const FIRST: f64 = 0.5;

/// Both versions' places.
#[derive(Clone, Copy)]
pub struct Versions<'v> {
    pub sites: Both<&'v SiteMap>,
    pub correspondence: &'v Correspondence,
}

/// Compares two versions.
pub struct Diverger<'d> {
    options: &'d Options,
    versions: Versions<'d>,
    workers: Both<Worker<'d>>,
    court: Court,
    solver: Solver,
    components: Components,
    equals: Equals,
    changed: HashSet<String>,
    /// Scenarios that were run.
    known: HashSet<Scenario>,
    paths: HashSet<(u64, u64)>,
    clusters: Clusters,
    /// Scenarios of which there is something left to ask.
    pending: VecDeque<Pending>,
    /// What has been or will be asked about of them.
    places: HashSet<u64>,
    /// Scenarios of which other numbers are left to try.
    numbers: VecDeque<Numbers>,
    points: Vec<Point>,
    /// Memory that the runs and constraints of points take.
    loaded: u64,
    frontier: Frontier,
    failures: Failures,
    started: Instant,
    counts: Counts,
}

#[derive(Debug, Default)]
struct Counts {
    divergences: BTreeMap<Phase, u64>,
    silent: u64,
    silent_places: HashMap<Place, u64>,
    replayed: u64,
    together: u64,
    runs: u64,
    undecided: u64,
    left_out: u64,
    cut: u64,
    flaky: u64,
    losses: BTreeMap<String, u64>,
    cost: Cost,
    /// Runs of each of the phases that share what there is.
    concolic: u64,
    bounded: u64,
    common: u64,
    numbers: u64,
}

impl<'d> Diverger<'d> {
    pub fn new(
        subjects: &Subjects,
        options: &'d Options,
        versions: Versions<'d>,
    ) -> Result<Diverger<'d>, DivergeError> {
        let explore = &options.explore;
        let means = Means {
            limits: explore.limits,
            symbolic: &explore.symbolic,
            settings: &explore.settings,
            solver: &explore.solver,
        };
        let worker = |version: Version| {
            Worker::new(
                subjects.programs.get(version),
                means,
                versions.sites.get(version),
            )
        };
        let correspondence = versions.correspondence;
        Ok(Diverger {
            workers: Both {
                old: worker(Version::Old)?,
                new: worker(Version::New)?,
            },
            court: Court::new(subjects, &explore.settings)?,
            solver: Solver::new(explore.solver.clone()),
            components: Components::default(),
            equals: Equals::default(),
            changed: correspondence.changed.iter().cloned().collect(),
            known: HashSet::new(),
            paths: HashSet::new(),
            clusters: Clusters::default(),
            pending: VecDeque::new(),
            places: HashSet::new(),
            numbers: VecDeque::new(),
            points: Vec::new(),
            loaded: 0,
            frontier: Frontier::default(),
            failures: Failures::default(),
            started: Instant::now(),
            counts: Counts::default(),
            options,
            versions,
        })
    }

    /// Compares until the budget is used up or nothing is left to try.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Summary, DivergeError> {
        self.begin(observer)?;
        let ended = self.search(observer)?;
        self.finish(ended, observer)
    }

    /// The share of the budget that is used up.
    fn used(&self, observer: &dyn Observer) -> f64 {
        if self.is_over(observer).is_some() {
            return 1.0;
        }
        let runs = self.options.explore.runs;
        let of_runs = runs.map_or(0.0, |runs| self.counts.runs as f64 / runs.max(1) as f64);
        let of_time = self.searching().map_or(0.0, |time| {
            self.elapsed().as_secs_f64() / time.as_secs_f64().max(0.001)
        });
        of_runs.max(of_time)
    }

    fn search(&mut self, observer: &mut dyn Observer) -> Result<Ended, DivergeError> {
        loop {
            if let Some(ended) = self.is_over(observer) {
                return Ok(ended);
            }
            let open = self
                .points
                .iter()
                .enumerate()
                .filter(|(_, point)| point.is_open());
            let point = open
                .min_by_key(|(at, point)| (point.runs, *at))
                .map(|(at, _)| at);
            let counts = &self.counts;
            let work = [
                (!self.pending.is_empty(), counts.concolic, Phase::Concolic),
                (point.is_some(), counts.bounded, Phase::Bounded),
                (self.frontier.len() > 0, counts.common, Phase::Common),
                (!self.numbers.is_empty(), counts.numbers, Phase::Numbers),
            ];
            // What was asked of tests comes first, but not at the cost of everything else.
            let is_first = !self.pending.is_empty() && self.used(observer) < FIRST;
            let fewest = work.iter().filter(|(some, _, _)| *some);
            let next = fewest.min_by_key(|(_, runs, _)| *runs);
            match next.map(|(_, _, phase)| *phase) {
                None => return Ok(Ended::Exhausted),
                Some(_) if is_first => self.take_turn(observer)?,
                Some(Phase::Bounded) => {
                    if let Some(point) = point {
                        self.explore(point, observer)?;
                    }
                }
                Some(Phase::Common) => self.take_other_path(observer)?,
                Some(Phase::Numbers) => self.take_numbers(observer)?,
                Some(_) => self.take_turn(observer)?,
            }
        }
    }

    fn take_other_path(&mut self, observer: &mut dyn Observer) -> Result<(), DivergeError> {
        let Some(Next {
            scenario,
            generation,
        }) = self.frontier.take()
        else {
            return Ok(());
        };
        let before = self.counts.runs;
        let seed = self.nearest_seed(&scenario);
        self.follow(scenario, &seed, generation, observer)?;
        self.counts.common += self.counts.runs - before;
        Ok(())
    }

    fn nearest_seed(&self, scenario: &Scenario) -> Arc<Scenario> {
        let seeds = self.options.seeds.iter();
        let nearest = seeds.min_by_key(|seed| distance(seed, scenario));
        Arc::new(nearest.cloned().unwrap_or_default())
    }

    fn is_over(&self, observer: &dyn Observer) -> Option<Ended> {
        let budget = &self.options.explore;
        if observer.stop() {
            Some(Ended::Stopped)
        } else if budget.runs.is_some_and(|runs| self.counts.runs >= runs) {
            Some(Ended::Runs)
        } else if self.searching().is_some_and(|time| self.elapsed() >= time) {
            Some(Ended::Time)
        } else {
            None
        }
    }

    fn tell(&self, phase: Phase, observer: &mut dyn Observer) {
        observer.progress(&Progress {
            phase,
            runs: self.counts.runs,
            divergences: self.counts.divergences.values().sum(),
            clusters: self.clusters.list.len() as u64,
            open: self.points.iter().filter(|point| point.is_open()).count() as u64,
        });
    }

    /// Traces both versions on an input.
    fn trace(&mut self, scenario: Scenario) -> Result<Pair, DivergeError> {
        let start = cpu::of_thread();
        let (ran, new) = self.workers.new.trace(&scenario)?;
        let between = cpu::of_thread();
        let one = between - start + ran.cpu;
        let (ran, old) = self.workers.old.trace(&scenario)?;
        self.counts.cost.one += one;
        self.counts.cost.both += one + (cpu::of_thread() - between) + ran.cpu;
        self.counts.runs += 2;
        if !old.trace.attached() || !new.trace.attached() {
            return Err(ExploreError::Untraced.into());
        }
        let scenario = with_objects(scenario, &old.trace);
        let scenario = with_objects(scenario, &new.trace);
        let is_long = |run: &Traced| run.decisions.len() > MOST_DECISIONS;
        self.counts.cut += u64::from(is_long(&old)) + u64::from(is_long(&new));
        Ok(Pair {
            scenario,
            runs: Both { old, new },
        })
    }

    /// Brings the runs of both versions side by side.
    fn compare(&mut self, pair: &Pair) -> (Lockstep, Walk) {
        let start = cpu::of_thread();
        let lockstep = Lockstep::new(pair, &self.versions, &mut self.components);
        let walk = lockstep.walk();
        self.counts.cost.both += cpu::of_thread() - start;
        (lockstep, walk)
    }

    /// Traces both versions on an input and sees what it shows. `None` if its paths are known.
    fn meet(
        &mut self,
        scenario: Scenario,
        seed: &Arc<Scenario>,
        phase: Phase,
        asked: Option<Place>,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Pair, Lockstep, Walk)>, DivergeError> {
        let pair = self.trace(scenario)?;
        let Both { old, new } = &pair.runs;
        let losses = [old, new].map(|run| loss_names(run, MOST_DECISIONS));
        for (name, count) in losses.into_iter().flatten() {
            *self.counts.losses.entry(name).or_default() += count;
        }
        let is_new = self.paths.insert((old.exact_path(), new.exact_path()));
        // Of inputs on one path the values that are put out can differ.
        if !is_new && asked.is_none() {
            return Ok(None);
        }
        let (lockstep, walk) = self.compare(&pair);
        self.counts.left_out += walk.left_out as u64;
        let parted = walk.parting.map(|parting| parting.place);
        let place = parted.or(asked).or_else(|| lockstep.differing(&walk));
        if phase != Phase::Common || walk.parting.is_some() || self.court.differ(&pair.scenario)? {
            let shown = self.court.judge(&pair.scenario)?;
            self.sort(
                &pair.scenario,
                seed,
                shown,
                place,
                walk.parting.is_some(),
                phase,
                observer,
            )?;
        }
        if let Some(parting) = walk.parting {
            let origin = pair.scenario.clone();
            let point = Point::new(parting.place, Arc::clone(seed), origin, parting.decisions);
            self.points.push(point);
        }
        self.tell(phase, observer);
        Ok(Some((pair, lockstep, walk)))
    }

    /// Takes in what an input shows.
    #[expect(clippy::too_many_arguments, reason = "what is known of one input")]
    fn sort(
        &mut self,
        scenario: &Scenario,
        seed: &Scenario,
        shown: Shown,
        place: Option<Place>,
        parted: bool,
        phase: Phase,
        observer: &mut dyn Observer,
    ) -> Result<(), DivergeError> {
        self.counts.replayed += 1;
        if parted {
            *self.counts.divergences.entry(phase).or_default() += 1;
        }
        if shown.class == Class::Silent {
            match (parted, place) {
                (true, Some(place)) => {
                    self.counts.silent += 1;
                    *self.counts.silent_places.entry(place).or_default() += 1;
                }
                (true, None) => self.counts.silent += 1,
                (false, Some(_)) => self.counts.together += 1,
                (false, None) => {}
            }
            return Ok(());
        }
        // An error that both have and that nothing of the patch leads to is not what is looked for.
        if shown.class == Class::Both && !parted {
            return Ok(());
        }
        let origin = place.map(|place| self.origin(&place));
        let is_new = self.clusters.is_new(&clusters::key(&shown, origin));
        if is_new && !self.is_steady(scenario, &shown)? {
            self.counts.flaky += 1;
            return Ok(());
        }
        let cluster = Cluster {
            key: clusters::key(&shown, origin),
            distance: distance(seed, scenario),
            scenario: scenario.clone(),
            shown,
            place,
            phase,
            count: 1,
            seconds: self.started.elapsed().as_secs_f64(),
        };
        let at = self.clusters.add(cluster);
        if is_new {
            observer.found(&self.clusters.list[at]);
        }
        Ok(())
    }

    /// Names a place without the calls that led there.
    fn origin(&self, place: &Place) -> u64 {
        let name = |version: Version| {
            let site = (*place.sites.get(version))?;
            let view = self.versions.sites.get(version).get(site);
            Some(view.map_or(site.0, |view| view.original.0))
        };
        name(Version::New)
            .or_else(|| name(Version::Old))
            .unwrap_or(place.name)
    }

    /// One turn of the second phase.
    fn explore(&mut self, at: usize, observer: &mut dyn Observer) -> Result<(), DivergeError> {
        let before = self.counts.runs;
        let in_memory = self.points[at].bytes();
        self.recall(at)?;
        let sites = self.versions.sites.new;
        let (turns, undecided) = self.points[at].turn(sites, &self.solver, &mut self.components);
        self.counts.undecided += undecided;
        for turn in turns {
            let scenario = changed(&turn.scenario, &turn.model, &self.components);
            let scenario = scenario.filter(|one| self.options.explore.shape.accepts(one));
            let Some(scenario) = scenario.filter(|one| self.known.insert(one.clone())) else {
                continue;
            };
            let (_, traced) = self.workers.new.trace(&scenario)?;
            self.counts.runs += 1;
            let scenario = with_objects(scenario, &traced.trace);
            let shown = self.court.judge(&scenario)?;
            let point = &self.points[at];
            let (place, seed) = (point.place, Arc::clone(&point.seed));
            self.sort(
                &scenario,
                &seed,
                shown,
                Some(place),
                true,
                Phase::Bounded,
                observer,
            )?;
            if self.paths.insert((0, traced.exact_path())) {
                self.points[at].add(scenario, traced, turn.from);
            }
            self.tell(Phase::Bounded, observer);
            if self.is_over(observer).is_some() {
                break;
            }
        }
        let runs = self.counts.runs - before;
        self.points[at].runs += runs.max(1);
        self.counts.bounded += runs.max(1);
        self.loaded = self.loaded + self.points[at].bytes() - in_memory;
        if self.loaded > self.options.explore.trace_memory || !self.points[at].is_open() {
            self.loaded -= self.points[at].bytes();
            self.points[at].forget();
        }
        Ok(())
    }

    /// Brings what a point needs for its turn back into memory.
    fn recall(&mut self, at: usize) -> Result<(), DivergeError> {
        if !self.points[at].is_held() {
            let (origin, parted) = (Arc::clone(&self.points[at].origin), self.points[at].parted);
            let pair = self.trace((*origin).clone())?;
            let lockstep = Lockstep::new(&pair, &self.versions, &mut self.components);
            self.points[at].hold(lockstep.held(parted, Version::Old));
            if self.points[at].absent() == Some(origin) {
                self.points[at].recall(pair.runs.new);
            }
        }
        if let Some(scenario) = self.points[at].absent() {
            let (_, traced) = self.workers.new.trace(&scenario)?;
            self.counts.runs += 1;
            self.points[at].recall(traced);
        }
        Ok(())
    }

    /// Time since the beginning.
    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
