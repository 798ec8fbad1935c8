//! The loop: the best ways are tried, and what became of them is taken in.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::course::Course;
use super::follow::{Follower, Walked};
use super::interface::{Code, InteractError, Observer, Options, Progress, Subjects, Summary};
use super::judge::{Group, Known as Groups};
use super::marks::Marks;
use super::queue::{Queue, Way};
use super::sequences::Tests;
use super::ways::{Guides, MOST_WAYS};
use crate::diverge::triage::Court;
use crate::diverge::walk::Both;
use crate::explore::batch;
use crate::explore::frontier::RunId;
use crate::explore::kept::Kept;
use crate::explore::slot::{Attempt, Child, Common, Slot, Tried};
use crate::explore::{Bounds, Ended, ExploreError, Run, Shape, loss_names};
use crate::question::Known;
use crate::worker::Traced;
use parallax_scenario::Scenario;

/// Slots: work done at a time, whatever the number of threads.
const SLOTS: usize = 4;
/// Ways that are tried before the next ones are chosen.
const BATCH: usize = 8;

/// Searches along a change sequence graph.
pub struct Interactor<'i> {
    pub(super) options: &'i Options,
    pub(super) code: Code<'i>,
    pub(super) marks: Marks<'i>,
    pub(super) course: Course<'i>,
    pub(super) guides: Guides<'i>,
    pub(super) queue: Queue,
    pub(super) follower: Follower,
    pub(super) court: Court,
    slots: Vec<Slot<'i>>,
    /// Inputs that may be made.
    pub(super) shape: Shape,
    pub(super) runs: Vec<Run>,
    kept: Kept,
    pub(super) known: HashSet<Scenario>,
    pub(super) paths: HashSet<u64>,
    pub(super) fixed: Known,
    pub(super) tests: Tests,
    /// The input of each test.
    pub(super) inputs: Vec<Scenario>,
    pub(super) groups: Groups,
    losses: BTreeMap<String, u64>,
    traced_runs: u64,
    pub(super) flaky: u64,
    cut: u64,
    pub(super) started: Instant,
}

impl<'i> Interactor<'i> {
    pub fn new(
        subjects: &Subjects,
        code: Code<'i>,
        options: &'i Options,
    ) -> Result<Interactor<'i>, InteractError> {
        let settings = &options.explore.settings;
        let marks = Marks::new(code.analysis, code.dependences, code.graph, code.tables);
        let follower = Follower::new(&subjects.covered, code.tables, &marks, settings)?;
        let mut slots = vec![Slot::new(&subjects.new, &options.explore, code.sites)?];
        while slots.len() < SLOTS {
            slots.push(slots[0].beside());
        }
        let versions = Both {
            old: subjects.old.clone(),
            new: (subjects.new.plain.clone(), subjects.new.checked.clone()),
        };
        Ok(Interactor {
            course: match options.isolated {
                true => Course::isolated(code.graph, code.dependences),
                false => Course::along(code.graph),
            },
            guides: Guides::new(code.analysis, &marks, code.graph.nodes.len()),
            queue: Queue::new(options.explore.seed),
            court: Court::of(&versions, subjects.golden.as_ref(), settings)?,
            shape: match &options.explore.shape {
                Shape::Described(described) => Shape::Described(described.clone()),
                _ => Shape::Bounded(Bounds::around(&options.seeds)),
            },
            runs: Vec::new(),
            kept: Kept::default(),
            known: HashSet::new(),
            paths: HashSet::new(),
            fixed: Known::new(),
            tests: Tests::default(),
            inputs: Vec::new(),
            groups: Groups::default(),
            losses: BTreeMap::new(),
            traced_runs: 0,
            flaky: 0,
            cut: 0,
            started: Instant::now(),
            options,
            code,
            marks,
            follower,
            slots,
        })
    }

    /// Searches until the budget is used up or nothing is left to try.
    pub fn run(mut self, observer: &mut dyn Observer) -> Result<Summary, InteractError> {
        let ended = self.search(observer)?;
        self.finish(ended, observer)
    }

    fn search(&mut self, observer: &mut dyn Observer) -> Result<Ended, InteractError> {
        let until = self.searching().map(|time| self.started + time);
        for slot in &mut self.slots {
            slot.end_by(until);
        }
        self.follower.end_by(until);
        self.begin(observer)?;
        loop {
            self.tell(observer);
            if let Some(ended) = self.is_over(observer) {
                return Ok(ended);
            }
            let left = self.options.explore.runs.map_or(BATCH, |runs| {
                usize::try_from(runs.saturating_sub(self.traced_runs)).unwrap_or(BATCH)
            });
            let ways = self.queue.take(BATCH.min(left), &self.course);
            if ways.is_empty() {
                return Ok(Ended::Exhausted);
            }
            for (way, attempt) in self.try_all(ways)? {
                if let Tried::Ran(child) = attempt.result
                    && self.is_over(observer).is_none()
                {
                    self.traced_runs += 1;
                    self.take_in(*child, way.generation + 1, observer)?;
                }
            }
        }
    }

    /// Runs the scenarios that were given.
    fn begin(&mut self, observer: &mut dyn Observer) -> Result<(), InteractError> {
        let options = self.options;
        let mut is_traced = true;
        for (number, seed) in options.seeds.iter().enumerate() {
            if self.is_over(observer).is_some() {
                break;
            }
            self.traced_runs += 1;
            let result = match self.slots[0].start(seed.clone()) {
                Ok(child) => {
                    is_traced = child.traced.trace.attached();
                    self.take_in(child, 0, observer)
                }
                Err(error) => Err(error.into()),
            };
            match result {
                // One of many that cannot be laid out here is no reason to do without the others.
                Err(error) if options.seeds.len() > 1 => observer.left_out(number, &error),
                result => result?,
            }
            self.tell(observer);
        }
        match is_traced {
            true => Ok(()),
            false => Err(ExploreError::Untraced.into()),
        }
    }

    /// Time since the beginning.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn is_over(&self, observer: &dyn Observer) -> Option<Ended> {
        let budget = &self.options.explore;
        if observer.stop() {
            Some(Ended::Stopped)
        } else if budget.runs.is_some_and(|runs| self.traced_runs >= runs) {
            Some(Ended::Runs)
        } else if self.searching().is_some_and(|time| self.elapsed() >= time) {
            Some(Ended::Time)
        } else {
            None
        }
    }

    fn tell(&self, observer: &mut dyn Observer) {
        observer.progress(&Progress {
            runs: self.traced_runs,
            tests: self.tests.list.len() as u64,
            sequences: self.tests.sequences(),
            differences: self.groups.list.iter().map(|group| group.count).sum(),
            findings: self.groups.list.len() as u64,
            open: self.queue.len() as u64,
        });
    }

    /// Tries ways, and keeps the traces that had to be made again for it.
    fn try_all(&mut self, ways: Vec<Way>) -> Result<Vec<(Way, Attempt)>, InteractError> {
        let common = Common {
            runs: &self.runs,
            known: &self.known,
            fixed: &self.fixed,
            edits: &[],
            shape: &self.shape,
            regenerate: true,
        };
        let jobs = self.options.explore.jobs;
        let batch = batch::try_all(&mut self.slots, ways, |way| way.candidate, common, jobs)?;
        for (run, traced) in batch.repeated {
            self.traced_runs += 1;
            self.keep(run, traced);
        }
        Ok(batch.attempts)
    }

    /// Takes in a run: what it came to, what it shows, and how it could have gone otherwise.
    fn take_in(
        &mut self,
        child: Child,
        generation: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), InteractError> {
        let Child {
            scenario, traced, ..
        } = child;
        if !self.known.insert(scenario.clone()) {
            return Ok(());
        }
        for (name, count) in loss_names(&traced, MOST_WAYS) {
            *self.losses.entry(name).or_default() += count;
        }
        let Code {
            analysis, sites, ..
        } = self.code;
        let walked = self
            .follower
            .follow(analysis, sites, &self.marks, &scenario, &traced)?;
        self.cut += u64::from(walked.is_cut);
        self.course.walk(&walked.nodes);
        self.look_at(&scenario, &walked, observer)?;
        let run = self.runs.len() as RunId;
        self.runs.push(Run {
            scenario,
            generation,
            traced: None,
        });
        if self.paths.insert(traced.exact_path()) {
            self.offer(run, &traced, &walked);
            self.keep(run, traced);
        }
        Ok(())
    }

    fn keep(&mut self, run: RunId, traced: Arc<Traced>) {
        let room = self.options.explore.trace_memory;
        self.kept.keep(&mut self.runs, run, traced, room);
    }

    /// The changes that a run executed, in order.
    pub(super) fn changes(&self, walked: &Walked) -> Vec<usize> {
        let nodes = walked.nodes.iter();
        let changes = nodes.filter(|node| self.code.graph.is_change(**node));
        super::sequences::sequence(changes.map(|node| self.marks.same(*node)))
    }

    /// What it came to, with these groups of inputs as findings.
    pub(super) fn summary(self, ended: Ended, groups: Vec<Group>) -> Summary {
        let critical: Vec<_> = groups
            .iter()
            .filter(|group| group.finding.is_interaction() && group.finding.kind.is_error())
            .map(|group| &group.finding.critical.sequence)
            .collect();
        let is_error = |number: usize| {
            let group = groups.iter().find(|group| group.number == number);
            group.is_some_and(|group| group.finding.kind.is_error())
        };
        let rows = self.tests.rows(is_error, &critical);
        let slots = self.slots.iter();
        let executions: u64 = slots.clone().map(Slot::runs).sum();
        Summary {
            ended,
            tests: rows.iter().map(|row| row.tests).sum(),
            differences: rows.iter().map(|row| row.differences).sum(),
            errors: rows.iter().map(|row| row.errors).sum(),
            rows,
            nodes: (
                self.course.nodes_reached() as u64,
                self.code.graph.nodes.len() as u64,
            ),
            edges: self.course.edges(),
            scenarios: self.options.seeds.len() as u64,
            paths: self.paths.len() as u64,
            runs: self.traced_runs,
            executions: executions + self.follower.runs + self.court.runs,
            queries: slots.map(|slot| slot.statistics().queries).sum(),
            flaky: self.flaky,
            cut: self.cut,
            losses: self.losses,
            time: self.started.elapsed(),
            findings: groups.into_iter().map(|group| group.finding).collect(),
        }
    }
}
