//! The amplification of one program: which step comes next, and what is done with what comes back.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use parallax_solver::Statistics;

use super::crew::Crew;
use super::forest::{Forest, Holder, Side};
use super::interface::{Amplification, Divergence, Observer, Options, Place, Progress, Target};
use super::ledger::Ledger;
use super::probe;
use super::run::{Aim, Branched, CpuTime, Natively, Report, Task};
use super::tape::{Cost, Tape};
use super::{GROUP, MOST_DECISIONS, WORKERS};
use crate::answers::fingerprint;
use crate::explore::{Ended, ExploreError};
use crate::parallel::in_parallel;
use crate::replay::Confirmed;
use crate::scenario::Scenario;

/// What an amplification of one program needs to go on for a while.
pub struct Turn<'t, 'a> {
    pub crew: &'t mut Crew<'a>,
    pub tape: &'t mut Tape<'a>,
    pub observer: &'t mut dyn Observer,
    /// How far other programs are.
    pub others: Progress,
    /// Then it is another program's turn.
    pub until: Option<Instant>,
    /// Then there is no more time at all.
    pub deadline: Option<Instant>,
}

/// Why an amplification does not go on at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It is another program's turn.
    Turn,
    /// What was done is to be kept.
    Chapter,
    /// The distance has been explored.
    Level,
    Ended(Ended),
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Plant,
    Check,
    Survey,
    Leave,
    Follow,
    Done,
}

pub struct Amplifier<'a> {
    pub(super) index: usize,
    pub(super) options: &'a Options,
    pub(super) target: &'a Target,
    /// Seeds that are used.
    pub(super) chosen: Vec<usize>,
    pub(super) forest: Forest,
    pub(super) ledger: Ledger,
    phase: Phase,
    /// The first thing of this phase that has not been done.
    pub(super) next: usize,
    distance: usize,
    open: u64,
    pub(super) unusable: Vec<(usize, String)>,
    pub(super) hanging: u64,
    solver: Statistics,
    executions: u64,
}

impl<'a> Amplifier<'a> {
    pub fn new(
        index: usize,
        target: &'a Target,
        options: &'a Options,
        chosen: Vec<usize>,
    ) -> Amplifier<'a> {
        Amplifier {
            index,
            options,
            target,
            chosen,
            forest: Forest::new(options.trace_memory),
            ledger: Ledger::default(),
            phase: Phase::Plant,
            next: 0,
            distance: 0,
            open: 0,
            unusable: Vec::new(),
            hanging: 0,
            solver: Statistics::default(),
            executions: 0,
        }
    }

    /// The distance that it is at; `None` if there is nothing left to do.
    pub fn level(&self) -> Option<usize> {
        (self.phase != Phase::Done).then_some(self.distance)
    }

    /// Goes on until the distance has been explored, or something else is to be done.
    pub fn advance(&mut self, turn: &mut Turn<'_, 'a>) -> Result<Pause, ExploreError> {
        loop {
            let pause = match self.phase {
                Phase::Plant => self.plant(turn)?,
                Phase::Check => self.check_trunks(turn)?,
                Phase::Survey => self.survey_trunks(turn)?,
                Phase::Leave => self.leave_trunks(turn)?,
                Phase::Follow => self.follow_sides(turn)?,
                Phase::Done => Some(Pause::Level),
            };
            if let Some(pause) = pause {
                return Ok(pause);
            }
            self.next = 0;
            match self.phase {
                Phase::Plant => self.phase = Phase::Check,
                Phase::Check => {
                    self.distance = 1;
                    self.phase = match self.options.max_distance {
                        Some(0) => Phase::Done,
                        _ => Phase::Survey,
                    };
                    return Ok(Pause::Level);
                }
                Phase::Survey => self.begin(1),
                Phase::Leave => self.phase = Phase::Follow,
                Phase::Follow => {
                    self.begin(self.distance + 1);
                    return Ok(Pause::Level);
                }
                Phase::Done => {}
            }
        }
    }

    /// Begins to explore at a distance, if there is anything.
    fn begin(&mut self, distance: usize) {
        let most = self.options.max_distance;
        let is_beyond = most.is_some_and(|most| distance > most);
        let is_reached = self.forest.reaches(distance) || most.is_none() && self.forest.is_open();
        self.phase = Phase::Done;
        if !is_beyond && is_reached {
            self.distance = distance;
            self.phase = Phase::Leave;
        }
    }

    /// Why to end now, if so.
    pub(super) fn pause(&self, turn: &mut Turn<'_, 'a>) -> Option<Pause> {
        let mut progress = self.progress();
        let runs = turn.others.runs + progress.runs;
        progress.add(&turn.others);
        turn.observer.progress(&progress);
        if turn.observer.stop() {
            return Some(Pause::Ended(Ended::Stopped));
        }
        if turn.tape.is_known() {
            return turn.tape.is_full().then_some(Pause::Chapter);
        }
        let is_past = |moment: Option<Instant>| moment.is_some_and(|end| Instant::now() >= end);
        if is_past(turn.deadline) {
            Some(Pause::Ended(Ended::Time))
        } else if self.options.runs.is_some_and(|most| runs >= most) {
            Some(Pause::Ended(Ended::Runs))
        } else if is_past(turn.until) {
            Some(Pause::Turn)
        } else {
            turn.tape.is_full().then_some(Pause::Chapter)
        }
    }

    /// Leaves the tests' paths at all points at a distance, those before the deepest operations first.
    fn leave_trunks(&mut self, turn: &mut Turn<'_, 'a>) -> Result<Option<Pause>, ExploreError> {
        let distance = self.distance;
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
            let failed = self.ledger.failed();
            let reports = self.deal(turn, work.collect(), &failed)?;
            for ((index, points), report) in round.into_iter().zip(reports) {
                for point in points {
                    let trunk = &mut self.forest.trunks[index];
                    trunk.left.entry(point).or_default();
                    let at = trunk.points[point];
                    if let Some(left) = report.left_at.iter().find(|left| left.at == at) {
                        let (seed, site) = (trunk.seed, left.site);
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
                    self.add(turn, index, point, 0, run);
                }
            }
            self.open = aims.len() as u64;
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Follows the runs that left at the points of this distance, as far as the depth bound allows.
    fn follow_sides(&mut self, turn: &mut Turn<'_, 'a>) -> Result<Option<Pause>, ExploreError> {
        let distance = self.distance;
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
            let failed = self.ledger.failed();
            let reports = self.deal(turn, work.collect(), &failed)?;
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
                    self.show(turn, trunk, (distance, depth), &error);
                }
                for run in branched {
                    let index = self.add(turn, trunk, point, before, run);
                    heap.extend(rank(&self.forest.sides, index));
                }
            }
            self.open = heap.len() as u64;
            if let Some(pause) = self.pause(turn) {
                return Ok(Some(pause));
            }
        }
        Ok(None)
    }

    /// Takes in a run that left a path `before` points after the test's own was left; its number.
    fn add(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        trunk: usize,
        point: usize,
        before: usize,
        run: Branched,
    ) -> usize {
        self.ledger.take_in(&run.digest);
        // The point at which the test's path was left is none that was passed since.
        let points = &self.forest.trunks[trunk].points;
        let is_direct = points.get(point) == Some(&run.at) && before == 0;
        let passed = if is_direct { 0 } else { before + run.passed };
        let is_new = self.ledger.known.insert(fingerprint(&run.scenario));
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
            self.show(turn, trunk, (self.distance, depth), &error);
        }
        index
    }

    /// The input of what is worked on.
    pub(super) fn scenario(&self, holder: Holder) -> &Scenario {
        let seeds = &self.target.seeds;
        match holder {
            Holder::Seed(index) => &seeds[index].scenario,
            Holder::Trunk(index) => {
                let trunk = &self.forest.trunks[index];
                let given = &seeds[trunk.seed].scenario;
                trunk.completed.as_ref().unwrap_or(given)
            }
            Holder::Side(index) => &self.forest.sides[index].scenario,
        }
    }

    /// Has all of it done, unless it is known what came back.
    pub(super) fn deal(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        work: Vec<(Holder, Aim)>,
        settled: &HashSet<Place>,
    ) -> Result<Vec<Report>, ExploreError> {
        let nothing = HashSet::new();
        let tasks = work.into_iter().map(|(holder, aim)| {
            let trunk = match holder {
                Holder::Seed(_) => None,
                Holder::Trunk(index) => Some(index),
                Holder::Side(index) => Some(self.forest.sides[index].trunk),
            };
            let seed = trunk.map_or(holder, Holder::Trunk);
            Task {
                scenario: self.scenario(holder),
                probed: match holder {
                    Holder::Seed(_) => None,
                    Holder::Trunk(index) => self.forest.trunks[index].probed.clone(),
                    Holder::Side(index) => self.forest.sides[index].probed.clone(),
                },
                aim,
                seed: self.scenario(seed),
                known: &self.ledger.known,
                paths: &self.ledger.paths,
                settled,
                baseline: trunk.map_or(&nothing, |index| &self.forest.trunks[index].baseline),
                deadline: turn.deadline,
                halt: self.options.halt,
            }
        });
        let tasks: Vec<Task<'_>> = tasks.collect();
        let prints: Vec<u64> = tasks.iter().map(Task::fingerprint).collect();
        let was_known = turn.tape.is_known();
        if let Some(reports) = turn.tape.recall(&prints)? {
            return Ok(reports);
        }
        if was_known {
            turn.observer.caught_up(&self.progress());
        }
        let (workers, sites) = turn.crew.of(self.index)?;
        // Each worker does the same whatever the number of threads.
        let mut queues: Vec<_> = workers
            .iter_mut()
            .map(|worker| (worker, Vec::new()))
            .collect();
        for (number, task) in tasks.into_iter().enumerate() {
            queues[number % WORKERS].1.push((number, task));
        }
        queues.retain(|(_, tasks)| !tasks.is_empty());
        let done = in_parallel(self.options.jobs, queues, |(worker, tasks)| {
            let look = |(number, task)| Ok((number, probe::look(worker, sites, task)?));
            tasks
                .into_iter()
                .map(look)
                .collect::<Result<Vec<_>, ExploreError>>()
        });
        let mut reports = Vec::new();
        for result in done {
            reports.extend(result?);
        }
        reports.sort_by_key(|(number, _)| *number);
        let reports: Vec<Report> = reports.into_iter().map(|(_, report)| report).collect();
        turn.tape.note(&prints, &reports)?;
        Ok(reports)
    }

    /// Takes in what a worker brought back from a run, but for the runs and errors, which are given back.
    pub(super) fn merge(
        &mut self,
        holder: Holder,
        report: Report,
    ) -> (Vec<Branched>, Vec<Natively>) {
        if let Some(probed) = &report.probed {
            self.forest.keep(holder, Arc::clone(probed));
        }
        self.ledger.merge(report)
    }

    /// Notes errors at a distance and depth from a test.
    pub(super) fn show(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        trunk: usize,
        at: (usize, usize),
        error: &Natively,
    ) {
        let seed = self.forest.trunks[trunk].seed;
        self.report(turn, seed, at, &error.scenario, &error.confirmed);
    }

    pub(super) fn report(
        &mut self,
        turn: &mut Turn<'_, 'a>,
        seed: usize,
        (distance, depth): (usize, usize),
        scenario: &Scenario,
        confirmed: &Confirmed,
    ) {
        let news = self
            .ledger
            .report(seed, distance, depth, scenario, confirmed);
        for found in news {
            turn.observer.finding(self.index, &found);
        }
    }

    /// Counts what it cost.
    pub fn spend(&mut self, cost: Cost) {
        self.solver.absorb(cost.solver);
        self.executions += cost.executions;
    }

    pub fn progress(&self) -> Progress {
        let tests = self.forest.trunks.len() as u64;
        Progress {
            distance: self
                .distance
                .min(self.options.max_distance.unwrap_or(usize::MAX)),
            tests,
            checked: match self.phase {
                Phase::Plant => 0,
                Phase::Check => self.next as u64,
                _ => tests,
            },
            runs: self.ledger.runs,
            paths: self.ledger.paths.len() as u64,
            checks: self.ledger.checks.made,
            findings: self.ledger.findings.len() as u64,
            open: self.open,
        }
    }

    pub fn finish(self) -> Amplification {
        let progress = self.progress();
        let ledger = self.ledger;
        let mut findings = ledger.findings;
        findings.sort_by_key(|found| (found.distance, found.finding.depth));
        let trunks = self.forest.trunks.iter();
        let order: Vec<usize> = trunks.clone().map(|trunk| trunk.seed).collect();
        let overheads = trunks.filter(|trunk| !trunk.cpu.plain.is_zero());
        let overheads = overheads.map(|trunk| {
            let CpuTime { spent, plain } = trunk.cpu;
            spent.as_secs_f64() / plain.as_secs_f64()
        });
        Amplification {
            progress,
            findings,
            checks: ledger.checks,
            sites: ledger.checked_sites,
            concrete_sites: ledger.concrete_sites.len() as u64,
            undecided: ledger.undecided,
            unconfirmed: ledger.unconfirmed,
            is_untraced: order.is_empty() && ledger.runs > self.unusable.len() as u64,
            order,
            given: self.target.seeds.len(),
            planned: self.chosen.len(),
            unusable: self.unusable,
            hanging: self.hanging,
            overheads: overheads.collect(),
            divergences: ledger.divergences,
            missed: ledger.missed,
            losses: ledger.losses,
            solver: self.solver,
            executions: self.executions,
            flaky: ledger.flaky,
        }
    }
}
