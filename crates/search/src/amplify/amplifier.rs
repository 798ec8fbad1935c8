//! The amplification of one program: which step comes next, and what is done with what comes back.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use parallax_solver::Statistics;

use super::WORKERS;
use super::crew::Crew;
use super::forest::{Forest, Holder};
use super::interface::{Amplification, Observer, Options, Place, Progress, Target};
use super::ledger::Ledger;
use super::probe;
use super::run::{Aim, Branched, CpuTime, Natively, Report, Task};
use super::tape::{Cost, Tape};
use crate::explore::{Ended, ExploreError};
use crate::parallel::in_parallel;
use parallax_exec::replay::Confirmed;
use parallax_scenario::Scenario;

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
    pub(super) distance: usize,
    pub(super) open: u64,
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
