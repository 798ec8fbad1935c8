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
//! 6. When D is larger than any distance that there is, and is not limited, the bound grows on for all points.

mod distance;
mod forest;
mod interface;
mod ledger;
mod order;
mod points;
mod probe;
mod reduce;
mod run;
pub mod sample;
mod trunks;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::explore::{Ended, ExploreError, Programs};
use crate::parallel::in_parallel;
use crate::replay::Confirmed;
use crate::scenario::Scenario;
use crate::sites::SiteMap;
use crate::worker::{Means, Worker};

use forest::{Forest, Holder, Side};
pub use interface::{
    Amplified, Checks, Divergence, Observer, Options, Progress, Seed, Summary, Undecided,
};
use ledger::Ledger;
use parallax_solver::Statistics;
use run::{Aim, Branched, Natively, Place, Report, Task};

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
        let findings = &mut amplifier.ledger.findings;
        reduce::reduce(findings, &mut workers, options, until)?;
    }
    Ok(amplifier.summary(ended, &workers))
}

struct Amplifier<'a> {
    options: &'a Options,
    sites: &'a SiteMap,
    observer: &'a mut dyn Observer,
    started: Instant,
    deadline: Option<Instant>,
    forest: Forest,
    ledger: Ledger,
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
            forest: Forest::new(options.trace_memory),
            ledger: Ledger::default(),
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
        for trunk in 0..self.forest.trunks.len() {
            self.survey(workers, trunk, MOST_DECISIONS)?;
            if let Some(ended) = self.ended() {
                return Ok(ended);
            }
        }
        for distance in 1..=self.options.max_distance.unwrap_or(usize::MAX) {
            let is_limited = self.options.max_distance.is_some();
            if !self.forest.reaches(distance) && (is_limited || !self.forest.is_open()) {
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

    /// Why to end now, if so.
    fn ended(&mut self) -> Option<Ended> {
        let progress = self.progress();
        self.observer.progress(&progress);
        if self.observer.stop() {
            Some(Ended::Stopped)
        } else if self.deadline.is_some_and(|end| Instant::now() >= end) {
            Some(Ended::Time)
        } else if self
            .options
            .runs
            .is_some_and(|runs| self.ledger.runs >= runs)
        {
            Some(Ended::Runs)
        } else {
            None
        }
    }

    /// Leaves the tests' paths at all points at a distance, those before the deepest operations first.
    fn leave_trunks(
        &mut self,
        workers: &mut [Worker<'a>],
        distance: usize,
    ) -> Result<Option<Ended>, ExploreError> {
        let mut aims: VecDeque<(usize, Vec<usize>)> = VecDeque::new();
        for (index, trunk) in self.forest.trunks.iter().enumerate() {
            let points = self.forest.points(trunk, distance);
            let fresh: Vec<usize> = points
                .into_iter()
                .filter(|point| !trunk.left.contains_key(point))
                .collect();
            aims.extend(fresh.chunks(GROUP).map(|group| (index, group.to_vec())));
        }
        while !aims.is_empty() {
            let round: Vec<(usize, Vec<usize>)> = aims.drain(..aims.len().min(WORKERS)).collect();
            let work = round.iter().map(|(index, points)| {
                let positions = &self.forest.trunks[*index].points;
                let decisions = points.iter().map(|point| positions[*point]).collect();
                (Holder::Trunk(*index), Aim::Leave(decisions))
            });
            let failed = self.ledger.failed.clone();
            let reports = self.deal(workers, work.collect(), &failed)?;
            for ((index, points), report) in round.into_iter().zip(reports) {
                let distance = self.distance;
                for point in points {
                    let trunk = &mut self.forest.trunks[index];
                    trunk.left.entry(point).or_default();
                    if let Some(site) = report.left_at.get(&trunk.points[point]) {
                        let (seed, site) = (trunk.seed, *site);
                        self.ledger.left(Divergence {
                            seed,
                            distance,
                            depth: point,
                            site,
                        });
                    }
                }
                let (branched, _) = self.merge(Holder::Trunk(index), report);
                for run in branched {
                    let positions = &self.forest.trunks[index].points;
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
        for trunk in &self.forest.trunks {
            let points = self.forest.points(trunk, distance);
            let sides = points.iter().filter_map(|point| trunk.left.get(point));
            heap.extend(
                sides
                    .flatten()
                    .filter_map(|index| rank(&self.forest.sides, *index)),
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
                let side = &self.forest.sides[*index];
                let aim = Aim::Follow {
                    from: side.cursor,
                    points: bound - side.passed,
                };
                (Holder::Side(*index), aim)
            });
            let failed = self.ledger.failed.clone();
            let reports = self.deal(workers, work.collect(), &failed)?;
            for (index, report) in round.into_iter().zip(reports) {
                let (cursor, passed) = (report.cursor, report.passed);
                let decisions = report.decisions;
                let (branched, errors) = self.merge(Holder::Side(index), report);
                let (trunk, point, before) = {
                    let side = &mut self.forest.sides[index];
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
                    heap.extend(rank(&self.forest.sides, index));
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
    fn add(&mut self, trunk: usize, point: usize, before: usize, run: Branched) -> usize {
        self.ledger.take_in(&run.probed);
        // The point at which the test's path was left is none that was passed since.
        let points = &self.forest.trunks[trunk].points;
        let is_direct = points.get(point) == Some(&run.at) && before == 0;
        let passed = if is_direct { 0 } else { before + run.passed };
        let is_new = self.ledger.known.insert(run.scenario.clone());
        let side = Side {
            trunk,
            point,
            scenario: run.scenario,
            probed: None,
            cursor: run.at + 1,
            passed,
            is_done: !is_new,
        };
        let index = self.forest.add(side, run.probed);
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
            let (trunk, scenario, probed) = self.forest.run(holder);
            Task {
                scenario,
                probed,
                aim,
                shape: &trunk.shape,
                known: &self.ledger.known,
                paths: &self.ledger.paths,
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

    /// Takes in what a worker brought back from a run, but for the runs and errors, which are given back.
    fn merge(&mut self, holder: Holder, report: Report) -> (Vec<Branched>, Vec<Natively>) {
        if let Some(probed) = &report.probed {
            self.forest.keep(holder, Arc::clone(probed));
        }
        self.ledger.merge(report)
    }

    fn show(&mut self, trunk: usize, distance: usize, depth: usize, error: Natively) {
        let seed = self.forest.trunks[trunk].seed;
        self.report(seed, distance, depth, error.scenario, error.confirmed);
    }

    fn report(
        &mut self,
        seed: usize,
        distance: usize,
        depth: usize,
        scenario: Scenario,
        confirmed: Confirmed,
    ) {
        let news = self
            .ledger
            .report(seed, distance, depth, scenario, confirmed);
        for found in news {
            self.observer.finding(&found);
        }
    }

    fn progress(&self) -> Progress {
        Progress {
            distance: self.distance,
            runs: self.ledger.runs,
            paths: self.ledger.paths.len() as u64,
            checks: self.ledger.checks.made,
            findings: self.ledger.findings.len() as u64,
            open: self.open,
        }
    }

    fn summary(self, ended: Ended, workers: &[Worker<'_>]) -> Summary {
        let mut solver = Statistics::default();
        for worker in workers {
            solver.absorb(worker.statistics());
        }
        let progress = self.progress();
        let ledger = self.ledger;
        let mut findings = ledger.findings;
        findings.sort_by_key(|found| (found.distance, found.finding.depth));
        let trunks = self.forest.trunks.iter();
        Summary {
            ended,
            progress,
            seconds: self.started.elapsed().as_secs_f64(),
            findings,
            checks: ledger.checks,
            sites: ledger.checked_sites,
            concrete_sites: ledger.concrete_sites.len() as u64,
            undecided: ledger.undecided,
            order: trunks.map(|trunk| trunk.seed).collect(),
            given: self.options.seeds.len(),
            divergences: ledger.divergences,
            missed: ledger.missed,
            losses: ledger.losses,
            solver,
            executions: workers.iter().map(Worker::runs).sum(),
            flaky: ledger.flaky,
        }
    }
}
