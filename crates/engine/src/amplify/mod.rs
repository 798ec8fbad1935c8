//! Amplification: every test checks all inputs of its path, and the paths beside it.
//!
//! After Marinescu and Cadar, "make test-zesti: a symbolic execution solution for improving regression testing", ICSE
//! 2012. At distance 0 every sensitive operation on a test's path is checked against all inputs that follow the same path.
//! At distance D ≥ 1 the path is left at the points (branches whose other side some input takes) that lie D points before a
//! sensitive operation, and what comes then is followed over f(D) = 2D points; D grows over all tests together, the
//! deepest operations come first, and nothing that was done at D is repeated at D + 1. Every violation is run
//! on the plain and the checked program, and only what is seen there is reported.
//!
//! Where this differs from the paper:
//! 1. A path is followed by running the program to its end on a new input, not by forking states. So what a native run
//!    shows behind the depth bound is reported, too.
//! 2. The program's memory is that of the run: a write through a symbolic address goes to one place. Questions are
//!    asked without what was so fixed, and the run shows whether the answer is right ([`Rigour`](crate::worker::Rigour)).
//! 3. A `switch` is one point, however many cases it has; a pointer from memory that could point elsewhere is one, too.
//! 4. An access at a concrete address is sensitive where the code could have computed it from input: nothing else
//!    can become symbolic on a path nearby.
//! 5. More kinds of operations: see [`sensitive`](crate::sensitive).
//! 6. When D is larger than any distance there is and neither it nor the time is limited, the bound grows on for all points.

mod distance;
mod interface;
mod order;
mod probe;
mod reduce;
pub mod sample;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::explore::{Ended, ExploreError, Programs, Shape, join};
use crate::finding::{Finding, Key};
use crate::parallel::in_parallel;
use crate::replay::Confirmed;
use crate::scenario::Scenario;
use crate::sites::SiteMap;
use crate::worker::{Means, Worker};

use distance::Landscape;
pub use interface::{
    Amplified, Checks, Divergence, Observer, Options, Progress, Seed, Summary, Undecided,
};
use parallax_abi::SiteId;
use parallax_solver::Statistics;
use probe::{Aim, Natively, Place, Probed, Report, Task};

/// Workers: things done at a time, whatever the number of threads.
const WORKERS: usize = 4;
/// Points of one path at which it is left together.
const GROUP: usize = 16;
/// Decisions of a path that are looked at: points further from its start are not left.
const MOST_DECISIONS: usize = 20_000;
/// Divergences that are kept for the report.
const MOST_DIVERGENCES: usize = 1000;
/// What bringing inputs nearer to their tests may take of the time that was given, in addition.
const EXTRA_SHARE: u32 = 10;
const LEAST_EXTRA: Duration = Duration::from_secs(10);

/// Amplifies tests of a program.
pub fn amplify(
    programs: &Programs,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Summary, ExploreError> {
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let means = Means {
        limits: options.limits,
        symbolic: &options.symbolic,
        settings: &options.settings,
        solver: &options.solver,
    };
    let mut workers = vec![Worker::new(programs, means, &sites)?];
    while workers.len() < WORKERS {
        workers.push(workers[0].beside());
    }
    let mut amplifier = Amplifier::new(options, &sites, observer);
    let ended = amplifier.run(&mut workers)?;
    if ended != Ended::Stopped {
        let extra = options
            .time
            .map(|time| (time / EXTRA_SHARE).max(LEAST_EXTRA));
        let until = extra.map(|extra| Instant::now() + extra);
        reduce::reduce(&mut amplifier.findings, &mut workers, options, until)?;
    }
    Ok(amplifier.summary(ended, &workers))
}

/// A test, with what is known of its path.
struct Trunk {
    /// Index into the seeds.
    seed: usize,
    scenario: Scenario,
    shape: Shape,
    probed: Option<Arc<Probed>>,
    /// Errors that it shows itself.
    baseline: HashSet<Key>,
    points: Vec<usize>,
    landscape: Landscape,
    /// Runs that left at each point, by point.
    left: BTreeMap<usize, Vec<usize>>,
}

/// A run beside a test's path.
struct Side {
    trunk: usize,
    point: usize,
    scenario: Scenario,
    probed: Option<Arc<Probed>>,
    /// Decisions that have been looked at.
    cursor: usize,
    /// Points passed since the test's path was left.
    passed: usize,
    is_done: bool,
}

/// Who holds a trace.
#[derive(Clone, Copy)]
enum Holder {
    Trunk(usize),
    Side(usize),
}

struct Amplifier<'a> {
    options: &'a Options,
    sites: &'a SiteMap,
    observer: &'a mut dyn Observer,
    started: Instant,
    deadline: Option<Instant>,
    trunks: Vec<Trunk>,
    sides: Vec<Side>,
    /// Traces that are kept, oldest first, and what they hold.
    kept: VecDeque<(Holder, u64)>,
    kept_bytes: u64,
    known: HashSet<Scenario>,
    paths: HashSet<u64>,
    failed: HashSet<Place>,
    findings: Vec<Amplified>,
    checks: Checks,
    checked_sites: BTreeMap<Place, u64>,
    concrete_sites: HashSet<SiteId>,
    undecided: BTreeMap<Undecided, u64>,
    losses: BTreeMap<String, u64>,
    divergences: Vec<Divergence>,
    missed: u64,
    flaky: u64,
    runs: u64,
    distance: usize,
    open: u64,
}

impl<'a> Amplifier<'a> {
    fn new(
        options: &'a Options,
        sites: &'a SiteMap,
        observer: &'a mut dyn Observer,
    ) -> Amplifier<'a> {
        let started = Instant::now();
        Amplifier {
            options,
            sites,
            observer,
            started,
            deadline: options.time.map(|time| started + time),
            trunks: Vec::new(),
            sides: Vec::new(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            known: HashSet::new(),
            paths: HashSet::new(),
            failed: HashSet::new(),
            findings: Vec::new(),
            checks: Checks::default(),
            checked_sites: BTreeMap::new(),
            concrete_sites: HashSet::new(),
            undecided: BTreeMap::new(),
            losses: BTreeMap::new(),
            divergences: Vec::new(),
            missed: 0,
            flaky: 0,
            runs: 0,
            distance: 0,
            open: 0,
        }
    }

    fn run(&mut self, workers: &mut [Worker<'a>]) -> Result<Ended, ExploreError> {
        if let Some(ended) = self.plant(workers)? {
            return Ok(ended);
        }
        if let Some(ended) = self.check_trunks(workers)? {
            return Ok(ended);
        }
        if self.options.max_distance == Some(0) {
            return Ok(Ended::Exhausted);
        }
        for trunk in 0..self.trunks.len() {
            self.survey(workers, trunk, MOST_DECISIONS)?;
            if let Some(ended) = self.ended() {
                return Ok(ended);
            }
        }
        for distance in 1..=self.options.max_distance.unwrap_or(usize::MAX) {
            let reaches = |trunk: &Trunk| trunk.landscape.reaches(distance);
            let is_beyond = !self.trunks.iter().any(reaches);
            if is_beyond && (self.options.max_distance.is_some() || !self.is_open()) {
                break;
            }
            self.distance = distance;
            if let Some(ended) = self.leave_trunks(workers, distance)? {
                return Ok(ended);
            }
            if let Some(ended) = self.follow_sides(workers, distance)? {
                return Ok(ended);
            }
        }
        Ok(Ended::Exhausted)
    }

    /// Whether runs are left that a larger bound would let us follow.
    fn is_open(&self) -> bool {
        self.sides.iter().any(|side| !side.is_done)
    }

    /// The points of a test whose sides are followed at a distance. When no operation is that far from a point, all
    /// of them are: the bound still grows, and there is time.
    fn points(&self, trunk: &Trunk, distance: usize) -> Vec<usize> {
        if self
            .trunks
            .iter()
            .any(|trunk| trunk.landscape.reaches(distance))
        {
            trunk.landscape.at_distance(distance)
        } else {
            trunk.landscape.before_operations()
        }
    }

    /// Why to end now, if so.
    fn ended(&mut self) -> Option<Ended> {
        let progress = self.progress();
        self.observer.progress(&progress);
        if self.observer.stop() {
            Some(Ended::Stopped)
        } else if self.deadline.is_some_and(|end| Instant::now() >= end) {
            Some(Ended::Time)
        } else if self.options.runs.is_some_and(|runs| self.runs >= runs) {
            Some(Ended::Runs)
        } else {
            None
        }
    }

    /// Traces the tests and brings them into order.
    fn plant(&mut self, workers: &mut [Worker<'a>]) -> Result<Option<Ended>, ExploreError> {
        let all = self.options.seeds.len();
        let chosen = match self.options.sample {
            Some(sample) => sample.choose(all, self.options.seed),
            None => (0..all).collect(),
        };
        let mut trunks: Vec<Trunk> = Vec::new();
        for group in chosen.chunks(WORKERS) {
            let tasks = workers.iter_mut().zip(group).collect();
            let results = in_parallel(
                self.options.jobs,
                tasks,
                |(worker, index): (&mut Worker<'_>, &usize)| {
                    let seed = &self.options.seeds[*index].scenario;
                    let (scenario, probed) = probe::trace(worker, seed, self.sites)?;
                    let natively = worker.native.confirm(&scenario)?;
                    Ok::<_, ExploreError>((scenario, probed, natively))
                },
            );
            for (seed, result) in group.iter().zip(results) {
                let (scenario, probed, natively) = result?;
                self.runs += 1;
                if trunks.is_empty() && !probed.traced.trace.attached() {
                    return Err(ExploreError::Untraced);
                }
                if !self.known.insert(scenario.clone()) {
                    continue;
                }
                self.take_in(&probed);
                let errors = natively.iter().flat_map(|confirmed| &confirmed.problems);
                let baseline = errors.map(|problem| problem.key());
                trunks.push(Trunk {
                    seed: *seed,
                    shape: Shape::Near(Box::new(scenario.clone())),
                    scenario,
                    baseline: baseline.collect(),
                    points: Vec::new(),
                    landscape: Landscape::default(),
                    left: BTreeMap::new(),
                    probed: Some(Arc::new(probed)),
                });
                if let Some(confirmed) = natively {
                    let scenario = trunks[trunks.len() - 1].scenario.clone();
                    self.report(*seed, 0, 0, scenario, confirmed);
                }
            }
            if let Some(ended) = self.ended() {
                self.trunks = trunks;
                return Ok(Some(ended));
            }
        }
        let sites: Vec<BTreeSet<SiteId>> = trunks.iter().map(Trunk::sites).collect();
        let mut trunks: Vec<Option<Trunk>> = trunks.into_iter().map(Some).collect();
        let in_order = order::by_novelty(&sites).into_iter();
        self.trunks = in_order.filter_map(|index| trunks[index].take()).collect();
        for index in 0..self.trunks.len() {
            if let Some(probed) = self.trunks[index].probed.clone() {
                self.keep(Holder::Trunk(index), probed);
            }
        }
        Ok(None)
    }

    /// Notes what a run came by.
    fn take_in(&mut self, probed: &Probed) {
        self.paths.insert(probed.traced.path());
        for (site, _) in &probed.accesses {
            self.concrete_sites.insert(*site);
        }
        for operation in &probed.operations {
            let place = (operation.site, operation.failure);
            self.checked_sites.entry(place).or_default();
        }
        for loss in probed.traced.trace.losses() {
            let name = loss.name();
            let name = if name.is_empty() {
                "(memory)".into()
            } else {
                name
            };
            *self.losses.entry(name.into_owned()).or_default() += u64::from(loss.count);
        }
        if let Some(stop) = probed.traced.trace.stop() {
            let name = format!("(trace cut short: {})", format!("{stop:?}").to_lowercase());
            *self.losses.entry(name).or_default() += 1;
        }
        if probed.traced.decisions.len() > MOST_DECISIONS {
            let name = "(points beyond the first of a long run)".to_owned();
            *self.losses.entry(name).or_default() += 1;
        }
    }

    /// Distance 0: all operations of all tests.
    fn check_trunks(&mut self, workers: &mut [Worker<'a>]) -> Result<Option<Ended>, ExploreError> {
        let all: Vec<usize> = (0..self.trunks.len()).collect();
        for group in all.chunks(WORKERS) {
            // Later tests may show the same at a smaller depth.
            let aims = group
                .iter()
                .map(|index| (Holder::Trunk(*index), Aim::Check));
            let reports = self.deal(workers, aims.collect(), &HashSet::new())?;
            for (index, report) in group.iter().zip(reports) {
                let errors = self.merge(Holder::Trunk(*index), report).1;
                if let Some(deepest) = errors.iter().map(|error| error.position).max() {
                    self.survey(workers, *index, deepest)?;
                }
                for error in errors {
                    let depth = self.trunks[*index].landscape.depth(error.position);
                    self.show(*index, 0, depth, error);
                }
            }
            if let Some(ended) = self.ended() {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Finds the points of a test's path, among its first decisions.
    fn survey(
        &mut self,
        workers: &mut [Worker<'a>],
        index: usize,
        limit: usize,
    ) -> Result<(), ExploreError> {
        let trunk = &self.trunks[index];
        let probed = match &trunk.probed {
            Some(probed) => Arc::clone(probed),
            None => Arc::new(probe::trace(&mut workers[0], &trunk.scenario, self.sites)?.1),
        };
        let points = probe::survey(&mut workers[0], self.sites, &probed, limit, self.deadline);
        let operations = probed.operations.iter().map(|operation| operation.position);
        let accesses = probed.accesses.iter().map(|(_, position)| *position);
        let trunk = &mut self.trunks[index];
        trunk.landscape = Landscape::new(points.clone(), operations.chain(accesses));
        trunk.points = points;
        Ok(())
    }

    /// Leaves the tests' paths at all points at a distance, those before the deepest operations first.
    fn leave_trunks(
        &mut self,
        workers: &mut [Worker<'a>],
        distance: usize,
    ) -> Result<Option<Ended>, ExploreError> {
        let mut aims: VecDeque<(usize, Vec<usize>)> = VecDeque::new();
        for (index, trunk) in self.trunks.iter().enumerate() {
            let points = self.points(trunk, distance);
            let fresh: Vec<usize> = points
                .into_iter()
                .filter(|point| !trunk.left.contains_key(point))
                .collect();
            aims.extend(fresh.chunks(GROUP).map(|group| (index, group.to_vec())));
        }
        while !aims.is_empty() {
            let round: Vec<(usize, Vec<usize>)> = aims.drain(..aims.len().min(WORKERS)).collect();
            let work = round.iter().map(|(index, points)| {
                let positions = &self.trunks[*index].points;
                let decisions = points.iter().map(|point| positions[*point]).collect();
                (Holder::Trunk(*index), Aim::Leave(decisions))
            });
            let failed = self.failed.clone();
            let reports = self.deal(workers, work.collect(), &failed)?;
            for ((index, points), report) in round.into_iter().zip(reports) {
                for point in points {
                    self.trunks[index].left.entry(point).or_default();
                    self.note_divergence(index, point, &report);
                }
                let (branched, _) = self.merge(Holder::Trunk(index), report);
                for run in branched {
                    let positions = &self.trunks[index].points;
                    let Ok(point) = positions.binary_search(&run.at) else {
                        continue;
                    };
                    self.add(index, point, 0, run);
                }
            }
            self.open = aims.len() as u64;
            if let Some(ended) = self.ended() {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    fn note_divergence(&mut self, trunk: usize, point: usize, report: &Report) {
        let Trunk { seed, points, .. } = &self.trunks[trunk];
        let at = points[point];
        if let Some(site) = report.left_at.get(&at)
            && self.divergences.len() < MOST_DIVERGENCES
        {
            self.divergences.push(Divergence {
                seed: *seed,
                distance: self.distance,
                depth: point,
                site: *site,
            });
        }
    }

    /// Follows the runs that left at the points of this distance, as far as the depth bound allows.
    fn follow_sides(
        &mut self,
        workers: &mut [Worker<'a>],
        distance: usize,
    ) -> Result<Option<Ended>, ExploreError> {
        let bound = self.options.depth_bound(distance);
        // By test, deepest operation, points passed, and age: the smallest comes first.
        type Rank = (usize, Reverse<usize>, usize, usize);
        let mut heap: BinaryHeap<Reverse<Rank>> = BinaryHeap::new();
        let rank = |sides: &[Side], index: usize| {
            let side = &sides[index];
            let is_open = !side.is_done && side.passed < bound;
            let rank = (side.trunk, Reverse(side.point), side.passed, index);
            is_open.then_some(Reverse(rank))
        };
        for trunk in &self.trunks {
            let points = self.points(trunk, distance);
            let sides = points.iter().filter_map(|point| trunk.left.get(point));
            heap.extend(
                sides
                    .flatten()
                    .filter_map(|index| rank(&self.sides, *index)),
            );
        }
        while !heap.is_empty() {
            let mut round = Vec::new();
            while round.len() < WORKERS
                && let Some(Reverse((.., index))) = heap.pop()
            {
                round.push(index);
            }
            let work = round.iter().map(|index| {
                let side = &self.sides[*index];
                let aim = Aim::Follow {
                    from: side.cursor,
                    points: bound - side.passed,
                };
                (Holder::Side(*index), aim)
            });
            let failed = self.failed.clone();
            let reports = self.deal(workers, work.collect(), &failed)?;
            for (index, report) in round.into_iter().zip(reports) {
                let (cursor, passed) = (report.cursor, report.passed);
                let decisions = report.decisions;
                let (branched, errors) = self.merge(Holder::Side(index), report);
                let (trunk, point, before) = {
                    let side = &mut self.sides[index];
                    let before = side.passed;
                    side.cursor = cursor;
                    side.passed += passed;
                    side.is_done = cursor >= decisions.min(MOST_DECISIONS);
                    (side.trunk, side.point, before)
                };
                for error in errors {
                    let depth = point + 1 + before + error.passed;
                    self.show(trunk, distance, depth, error);
                }
                for run in branched {
                    let index = self.add(trunk, point, before, run);
                    heap.extend(rank(&self.sides, index));
                }
            }
            self.open = heap.len() as u64;
            if let Some(ended) = self.ended() {
                return Ok(Some(ended));
            }
        }
        Ok(None)
    }

    /// Takes in a run that left a path `before` points after the test's own was left; its number.
    fn add(&mut self, trunk: usize, point: usize, before: usize, run: probe::Branched) -> usize {
        self.take_in(&run.probed);
        let index = self.sides.len();
        // The point at which the test's path was left is none that was passed since.
        let is_direct = self.trunks[trunk].points.get(point) == Some(&run.at) && before == 0;
        let passed = if is_direct { 0 } else { before + run.passed };
        let is_new = self.known.insert(run.scenario.clone());
        self.sides.push(Side {
            trunk,
            point,
            scenario: run.scenario,
            probed: None,
            cursor: run.at + 1,
            passed,
            is_done: !is_new,
        });
        self.trunks[trunk]
            .left
            .entry(point)
            .or_default()
            .push(index);
        self.keep(Holder::Side(index), run.probed);
        if let Some(error) = run.native {
            let depth = point + 1 + passed;
            self.show(trunk, self.distance, depth, error);
        }
        index
    }

    /// Gives each worker something to do.
    fn deal(
        &mut self,
        workers: &mut [Worker<'a>],
        work: Vec<(Holder, Aim)>,
        settled: &HashSet<Place>,
    ) -> Result<Vec<Report>, ExploreError> {
        let tasks = work.into_iter().map(|(holder, aim)| {
            let (trunk, scenario, probed) = match holder {
                Holder::Trunk(index) => {
                    let trunk = &self.trunks[index];
                    (trunk, &trunk.scenario, &trunk.probed)
                }
                Holder::Side(index) => {
                    let side = &self.sides[index];
                    (&self.trunks[side.trunk], &side.scenario, &side.probed)
                }
            };
            Task {
                scenario,
                probed: probed.clone(),
                aim,
                shape: &trunk.shape,
                known: &self.known,
                paths: &self.paths,
                settled,
                baseline: &trunk.baseline,
                deadline: self.deadline,
            }
        });
        let tasks = workers.iter_mut().zip(tasks).collect();
        let results = in_parallel(self.options.jobs, tasks, |(worker, task)| {
            probe::look(worker, self.sites, task)
        });
        results.into_iter().collect()
    }

    /// Takes in what a worker brought back, but for the runs and errors, which are given back.
    fn merge(&mut self, holder: Holder, report: Report) -> (Vec<probe::Branched>, Vec<Natively>) {
        if let Some(probed) = report.probed {
            self.keep(holder, probed);
        }
        self.runs += report.runs;
        self.checks.add(report.checks);
        for (place, count) in report.checked_sites {
            *self.checked_sites.entry(place).or_default() += count;
        }
        for (undecided, count) in report.undecided {
            *self.undecided.entry(undecided).or_default() += count;
        }
        self.failed.extend(report.failed);
        self.missed += report.missed;
        self.flaky += report.flaky;
        (report.branched, report.errors)
    }

    fn show(&mut self, trunk: usize, distance: usize, depth: usize, error: Natively) {
        let seed = self.trunks[trunk].seed;
        self.report(seed, distance, depth, error.scenario, error.confirmed);
    }

    /// One finding for each kind and place: the nearest, of equally near ones the least deep, of those the smallest.
    fn report(
        &mut self,
        seed: usize,
        distance: usize,
        depth: usize,
        scenario: Scenario,
        confirmed: Confirmed,
    ) {
        let rank = |found: &Amplified| {
            let Finding {
                depth, scenario, ..
            } = &found.finding;
            (found.distance, *depth, scenario.size())
        };
        for problem in confirmed.problems {
            let found = Amplified {
                finding: Finding {
                    problem,
                    scenario: scenario.clone(),
                    ending: confirmed.ending.clone(),
                    depth,
                },
                distance,
                seed,
            };
            let key = found.finding.key();
            let known = self
                .findings
                .iter_mut()
                .find(|known| known.finding.key() == key);
            match known {
                Some(known) if rank(&found) < rank(known) => *known = found,
                Some(_) => {}
                None => {
                    self.observer.finding(&found);
                    self.findings.push(found);
                }
            }
        }
    }

    fn keep(&mut self, holder: Holder, probed: Arc<Probed>) {
        let bytes = probed.bytes();
        self.kept.push_back((holder, bytes));
        self.kept_bytes += bytes;
        *self.place(holder) = Some(probed);
        while self.kept_bytes > self.options.trace_memory && self.kept.len() > WORKERS {
            if let Some((oldest, bytes)) = self.kept.pop_front() {
                *self.place(oldest) = None;
                self.kept_bytes -= bytes;
            }
        }
    }

    fn place(&mut self, holder: Holder) -> &mut Option<Arc<Probed>> {
        match holder {
            Holder::Trunk(index) => &mut self.trunks[index].probed,
            Holder::Side(index) => &mut self.sides[index].probed,
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            distance: self.distance,
            runs: self.runs,
            paths: self.paths.len() as u64,
            checks: self.checks.made,
            findings: self.findings.len() as u64,
            open: self.open,
        }
    }

    fn summary(self, ended: Ended, workers: &[Worker<'_>]) -> Summary {
        let mut solver = Statistics::default();
        for worker in workers {
            join(&mut solver, worker.solver.statistics());
        }
        let progress = self.progress();
        let mut findings = self.findings;
        findings.sort_by_key(|found| (found.distance, found.finding.depth));
        Summary {
            ended,
            progress,
            seconds: self.started.elapsed().as_secs_f64(),
            findings,
            checks: self.checks,
            sites: self.checked_sites,
            concrete_sites: self.concrete_sites.len() as u64,
            undecided: self.undecided,
            order: self.trunks.iter().map(|trunk| trunk.seed).collect(),
            given: self.options.seeds.len(),
            divergences: self.divergences,
            missed: self.missed,
            losses: self.losses,
            solver,
            executions: workers.iter().map(Worker::runs).sum(),
            flaky: self.flaky,
        }
    }
}

impl Trunk {
    /// The sensitive sites of the run.
    fn sites(&self) -> BTreeSet<SiteId> {
        let probed = self.probed.iter();
        let operations = probed.clone().flat_map(|probed| &probed.operations);
        let accesses = probed.flat_map(|probed| &probed.accesses);
        let operations = operations.map(|operation| operation.site);
        operations.chain(accesses.map(|(site, _)| *site)).collect()
    }
}

impl Checks {
    fn add(&mut self, more: Checks) {
        self.made += more.made;
        self.safe += more.safe;
        self.confirmed += more.confirmed;
        self.unconfirmed += more.unconfirmed;
        self.undecided += more.undecided;
        self.skipped += more.skipped;
    }
}
