//! One slot's share of the traced comparison: inputs whose traces are asked about, divergences that are explored, other paths.
//!
//! Everything in it depends only on what it was given and on what was known when it was given it, so that slots can work at the
//! same time ([`crate::core::pipeline`]).

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parallax_exec::cpu;
use parallax_exec::run::End;
use parallax_scenario::Scenario;
use parallax_solver::Solver;
use rustc_hash::FxHashSet;

use super::Versions;
use super::bounded::Point;
use super::given::{Given, Pending};
use super::lockstep::{Equals, Lockstep, Pair, changed};
use super::pool::Components;
use super::visits::MOST_DECISIONS;
use super::walk::{Both, Place, Version, Walk};
use crate::core::corpus::{EntryId, InputId};
use crate::core::hangs::Risky;
use crate::engine::loss_names;
use crate::engine::native::{Attempt, Judged, Shared, Tried, judge, observe};
use crate::engine::{Cost, Options, Phase, SearchError};
use crate::explore::{ExploreError, Programs};
use crate::worker::{Means, Traced, Worker, with_objects};

/// Counts of one task.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub runs: u64,
    pub undecided: u64,
    pub left_out: u64,
    pub cut: u64,
    pub losses: BTreeMap<String, u64>,
    pub cost: Cost,
    /// Paths that were new.
    pub paths: Vec<(u64, u64)>,
    /// Given inputs, by number, of which everything was asked.
    pub settled: Vec<usize>,
    pub left: Vec<(usize, String)>,
}

/// See the module's description.
pub(crate) struct Comparer<'d> {
    pub options: &'d Options,
    pub versions: Versions<'d>,
    pub shared: &'d Shared,
    pub workers: Both<Worker<'d>>,
    pub solver: Solver,
    pub components: Components,
    pub equals: Equals,
    /// What of the rest is known: everything up to this moment.
    pub moment: u64,
    /// How long a native run takes as far as is known, and inputs that are left out because they would not end.
    pub usual: Duration,
    pub risky: Risky,
    pub avoided: u64,
    /// Inputs that it made itself.
    own: FxHashSet<InputId>,
    own_paths: FxHashSet<(u64, u64)>,
    /// Inputs that have not been traced.
    pub given: VecDeque<Given>,
    /// Inputs of which there is something left to ask.
    pub(super) pending: VecDeque<Pending>,
    /// What has been or will be asked about of them.
    pub places: HashSet<u64>,
    pub points: Vec<Point>,
    /// Memory that the runs and constraints of points take.
    loaded: u64,
    pub judged: Vec<Judged>,
    pub tried: Vec<Tried>,
    /// Entries whose paths of the new version others may want to see, and the one that is being traced.
    pub traced: Vec<(EntryId, NewPath)>,
    wanted: Option<EntryId>,
    pub counts: Counts,
}

/// How the new version ended, its input with the objects that it declared, and its trace.
pub(crate) type NewPath = (End, Arc<Scenario>, Arc<Traced>);

impl<'d> Comparer<'d> {
    pub fn new(
        new: &'d Programs,
        old: &'d Programs,
        versions: Versions<'d>,
        options: &'d Options,
        shared: &'d Shared,
    ) -> Result<Comparer<'d>, SearchError> {
        let explore = &options.explore;
        let means = Means {
            limits: explore.limits,
            symbolic: &explore.symbolic,
            settings: shared.settings(),
            solver: &explore.solver,
        };
        let worker = |version: Version, programs: &Programs| {
            let runners = shared.runners(version)?;
            let sites = versions.sites.get(version);
            let mut worker = Worker::on(runners, programs, means, sites);
            worker.end_by(shared.budget.deadline());
            Some(worker)
        };
        let workers = (worker(Version::Old, old), worker(Version::New, new));
        let (Some(old), Some(new)) = workers else {
            return Err(ExploreError::Untraced.into());
        };
        let solver = Solver::new(options.explore.solver.clone());
        solver.end_by(shared.budget.deadline());
        Ok(Comparer {
            workers: Both { old, new },
            solver,
            components: Components::default(),
            equals: Equals::default(),
            moment: 0,
            usual: options.explore.settings.timeout,
            risky: Risky::default(),
            avoided: 0,
            own: FxHashSet::default(),
            own_paths: FxHashSet::default(),
            given: VecDeque::new(),
            pending: VecDeque::new(),
            places: HashSet::new(),
            points: Vec::new(),
            loaded: 0,
            judged: Vec::new(),
            tried: Vec::new(),
            traced: Vec::new(),
            wanted: None,
            counts: Counts::default(),
            options,
            versions,
            shared,
        })
    }

    /// Whether an input has not been run, as far as is known.
    pub fn is_new(&mut self, scenario: &Scenario) -> bool {
        if self.risky.has(scenario, 0) {
            self.avoided += 1;
            return false;
        }
        let id = InputId::of(scenario);
        !self.shared.inputs.at(self.moment, &id) && self.own.insert(id)
    }

    pub fn is_over(&self) -> bool {
        self.shared.budget.is_over()
    }

    /// Whether there is something to do of this kind.
    pub fn has(&self, phase: Phase) -> bool {
        match phase {
            Phase::Given => !self.given.is_empty(),
            Phase::Concolic => !self.pending.is_empty(),
            Phase::Bounded => self.points.iter().any(Point::is_open),
            _ => false,
        }
    }

    /// Divergences from which there is something left to explore.
    pub fn open(&self) -> u64 {
        self.points.iter().filter(|point| point.is_open()).count() as u64
    }

    /// One turn of this kind.
    pub fn step(&mut self, phase: Phase) -> Result<(), SearchError> {
        match phase {
            Phase::Given => self.begin_next(),
            Phase::Concolic => self.take_turn(),
            Phase::Bounded => {
                let open = self.points.iter().enumerate();
                let open = open.filter(|(_, point)| point.is_open());
                match open.min_by_key(|(at, point)| (point.runs, *at)) {
                    Some((at, _)) => {
                        let explored = self.explore(at);
                        if explored.is_err() {
                            self.points[at].close();
                        }
                        explored
                    }
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Traces both versions on an input, or the old one if the new one's trace is known.
    pub fn trace(
        &mut self,
        scenario: Scenario,
        known: Option<Arc<Traced>>,
    ) -> Result<Pair, SearchError> {
        let new = match known {
            Some(new) => new,
            None => {
                let start = cpu::of_thread();
                let (ran, new) = self.workers.new.trace(&scenario)?;
                self.counts.runs += 1;
                let one = cpu::of_thread() - start + ran.cpu;
                self.counts.cost.one += one;
                self.counts.cost.both += one;
                let new = Arc::new(new);
                if let Some(entry) = self.wanted {
                    let scenario = with_objects(scenario.clone(), &new.trace);
                    let path = (ran.end, Arc::new(scenario), Arc::clone(&new));
                    self.traced.push((entry, path));
                }
                new
            }
        };
        let start = cpu::of_thread();
        let (ran, old) = self.workers.old.trace(&scenario)?;
        let old = Arc::new(old);
        self.counts.cost.both += cpu::of_thread() - start + ran.cpu;
        self.counts.runs += 1;
        if !old.trace.attached() || !new.trace.attached() {
            return Err(ExploreError::Untraced.into());
        }
        let scenario = with_objects(scenario, &old.trace);
        let scenario = with_objects(scenario, &new.trace);
        let is_long = |run: &Arc<Traced>| run.decisions.len() > MOST_DECISIONS;
        self.counts.cut += u64::from(is_long(&old)) + u64::from(is_long(&new));
        Ok(Pair {
            scenario,
            runs: Both { old, new },
        })
    }

    /// Brings the runs of both versions side by side.
    pub fn compare(&mut self, pair: &Pair) -> (Lockstep, Walk) {
        let start = cpu::of_thread();
        let lockstep = Lockstep::new(pair, &self.versions, &mut self.components);
        let walk = lockstep.walk();
        self.counts.cost.both += cpu::of_thread() - start;
        (lockstep, walk)
    }

    /// Sees what an input shows that was run natively before.
    pub(super) fn meet_given(
        &mut self,
        given: &mut Given,
    ) -> Result<Option<(Pair, Lockstep, Walk)>, SearchError> {
        let traced = given.traced.take();
        if let (None, Some(entry)) = (&traced, given.entry) {
            self.wanted = Some(entry);
        }
        let pair = self.trace((*given.scenario).clone(), traced);
        self.wanted = None;
        let pair = pair?;
        self.look_at(pair, &given.seed, Phase::Given, None, given.differs)
    }

    /// Runs an input natively, traces both versions on it and sees what it shows. `None` if its paths are known.
    pub fn meet(
        &mut self,
        scenario: Scenario,
        seed: &Arc<Scenario>,
        phase: Phase,
        asked: Option<Place>,
    ) -> Result<Option<(Pair, Lockstep, Walk)>, SearchError> {
        let (differs, hung) = self.observe(&scenario, seed);
        // A trace of what does not end would take its full time, twice.
        if hung {
            return Ok(None);
        }
        let pair = self.trace(scenario, None)?;
        self.look_at(pair, seed, phase, asked, differs)
    }

    /// What the paths of both versions come to. `None` if they are known.
    fn look_at(
        &mut self,
        pair: Pair,
        seed: &Arc<Scenario>,
        phase: Phase,
        asked: Option<Place>,
        differs: bool,
    ) -> Result<Option<(Pair, Lockstep, Walk)>, SearchError> {
        let Both { old, new } = &pair.runs;
        let losses = [old, new].map(|run| loss_names(run));
        let paths = (old.exact_path(), new.exact_path());
        for (name, count) in losses.into_iter().flatten() {
            *self.counts.losses.entry(name).or_default() += count;
        }
        let is_new = self.is_new_path(paths);
        // Of inputs on one path the values that are put out can differ.
        if !is_new && asked.is_none() {
            return Ok(None);
        }
        let (lockstep, walk) = self.compare(&pair);
        self.counts.left_out += walk.left_out as u64;
        let parted = walk.parting.map(|parting| parting.place);
        let place = parted.or(asked).or_else(|| lockstep.differing(&walk));
        let parted = walk.parting.is_some();
        self.judge(&pair.scenario, seed, differs, place, parted, phase)?;
        if let Some(parting) = walk.parting {
            let origin = pair.scenario.clone();
            let point = Point::new(parting.place, Arc::clone(seed), origin, parting.decisions);
            self.points.push(point);
        }
        Ok(Some((pair, lockstep, walk)))
    }

    /// Runs an input on the native builds, as every input is; whether the versions differ, and whether one did not end.
    fn observe(&mut self, scenario: &Scenario, seed: &Arc<Scenario>) -> (bool, bool) {
        let attempt = Attempt::new(scenario.clone(), seed, self.usual);
        let tried = observe(self.shared, attempt);
        let seen = (tried.differs, tried.hung);
        self.tried.push(tried);
        seen
    }

    fn is_new_path(&mut self, paths: (u64, u64)) -> bool {
        let is_new = !self.shared.paths.at(self.moment, &paths) && self.own_paths.insert(paths);
        if is_new {
            self.counts.paths.push(paths);
        }
        is_new
    }

    /// Looks closer at an input, and keeps what it shows.
    pub fn judge(
        &mut self,
        scenario: &Scenario,
        seed: &Arc<Scenario>,
        differs: bool,
        place: Option<Place>,
        parted: bool,
        phase: Phase,
    ) -> Result<(), SearchError> {
        let origin = place.map(|place| self.versions.origin(&place));
        let verdict = judge(self.shared, self.moment, scenario, differs, origin)?;
        let scenario = Arc::new(scenario.clone());
        self.judged.push(Judged {
            entry: None,
            input: Arc::clone(&scenario),
            scenario,
            seed: Arc::clone(seed),
            verdict,
            place,
            parted,
            phase,
            seen: None,
        });
        Ok(())
    }

    /// One turn of the second phase.
    fn explore(&mut self, at: usize) -> Result<(), SearchError> {
        let before = self.counts.runs;
        let in_memory = self.points[at].bytes();
        self.recall(at)?;
        let sites = self.versions.sites.new;
        let (turns, undecided) = self.points[at].turn(sites, &self.solver, &mut self.components);
        self.counts.undecided += undecided;
        for turn in turns {
            let scenario = changed(&turn.scenario, &turn.model, &self.components);
            let scenario = scenario.filter(|one| self.options.explore.shape.accepts(one));
            let Some(scenario) = scenario.filter(|one| self.is_new(one)) else {
                continue;
            };
            let point = &self.points[at];
            let (place, seed) = (point.place, Arc::clone(&point.seed));
            let (differs, hung) = self.observe(&scenario, &seed);
            if hung {
                continue;
            }
            let (_, traced) = self.workers.new.trace(&scenario)?;
            let traced = Arc::new(traced);
            self.counts.runs += 1;
            let scenario = with_objects(scenario, &traced.trace);
            self.judge(&scenario, &seed, differs, Some(place), true, Phase::Bounded)?;
            if self.is_new_path((0, traced.exact_path())) {
                self.points[at].add(scenario, traced, turn.from);
            }
            if self.is_over() {
                break;
            }
        }
        let runs = self.counts.runs - before;
        self.points[at].runs += runs.max(1);
        self.loaded = self.loaded + self.points[at].bytes() - in_memory;
        if self.loaded > self.options.explore.trace_memory || !self.points[at].is_open() {
            self.loaded -= self.points[at].bytes();
            self.points[at].forget();
        }
        Ok(())
    }

    /// Brings what a point needs for its turn back into memory.
    fn recall(&mut self, at: usize) -> Result<(), SearchError> {
        if !self.points[at].is_held() {
            let (origin, parted) = (Arc::clone(&self.points[at].origin), self.points[at].parted);
            let pair = self.trace((*origin).clone(), None)?;
            let lockstep = Lockstep::new(&pair, &self.versions, &mut self.components);
            self.points[at].hold(lockstep.held(parted, Version::Old));
            if self.points[at].absent() == Some(origin) {
                self.points[at].recall(pair.runs.new);
            }
        }
        if let Some(scenario) = self.points[at].absent() {
            let (_, traced) = self.workers.new.trace(&scenario)?;
            self.counts.runs += 1;
            self.points[at].recall(Arc::new(traced));
        }
        Ok(())
    }

    /// Where the versions part on an input, or put out different values, if they do.
    pub fn locate(&mut self, scenario: &Scenario) -> Option<(Place, bool)> {
        let pair = self.trace(scenario.clone(), None).ok()?;
        let (lockstep, walk) = self.compare(&pair);
        match walk.parting {
            Some(parting) => Some((parting.place, true)),
            None => lockstep.differing(&walk).map(|place| (place, false)),
        }
    }
}
