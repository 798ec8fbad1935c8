//! The search for one target of a program, with an eye on the others: what reaches any of them is kept.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::coverage::Counter;
use parallax_report::results::search::ranked;
use parallax_scenario::{Bytes, Scenario};
use parallax_search::cover::map::Target;
use parallax_search::cover::{
    self, Counts, Coverer, Observer, Progress, Reached, Summary, Verdict,
};
use parallax_store::ledger::{Entry, Status, Step};
use parallax_store::scenario_id;

use super::campaign::Campaign;
use super::checkpoint::Histories;
use super::keeper::Keeper;
use super::ranking::{Candidate, Seed};
use super::search::Shared;
use super::single::nearness;
use super::spots::Spots;
use crate::budget::Budget;
use crate::context::Context;
use crate::failure::Failure;
use crate::watch::Watcher;

/// At most one part in so many of the time for a target is spent on running what its search starts from.
const STARTING: u32 = 6;

/// Watches the search for one target, with an eye on the others.
pub(super) struct Looking<'l, 'c> {
    pub(super) means: &'l Shared<'l>,
    pub(super) campaign: &'l mut Campaign<'c>,
    pub(super) keeper: Keeper<'l>,
    pub(super) spots: Spots<'l>,
    pub(super) watcher: &'l mut Watcher,
    /// The program.
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) program: Bytes,
    pub(super) subject: usize,
    /// The target that is searched for, since when and until when.
    pub(super) current: usize,
    pub(super) started: Instant,
    pub(super) end: Option<Instant>,
    /// Of each target: the counters that say that it was reached.
    pub(super) wanted: HashMap<usize, BTreeSet<Counter>>,
    pub(super) by_counter: HashMap<Counter, Vec<usize>>,
    /// What went wrong while something was kept.
    pub(super) error: Option<Failure>,
    /// While the survey is made: how many targets it is for.
    pub(super) surveying: Option<usize>,
    /// Of inputs that the survey found.
    pub(super) histories: Histories,
}

impl Looking<'_, '_> {
    pub(super) fn context(&self) -> &Context {
        &self.means.options.setup.context
    }

    pub(super) fn target(&self, index: usize) -> Target {
        let target = &self.campaign.found.targets[index];
        let place = target
            .places
            .iter()
            .find(|place| place.subject == self.subject);
        Target {
            file: place.map_or_else(String::new, |place| place.file.clone()),
            line: target.lines.first().copied().unwrap_or(0),
            function: target.function.clone(),
            blocks: place.map_or_else(Vec::new, |place| place.blocks.clone()),
        }
    }

    /// `src/diff src/io.c:235`.
    pub(super) fn label(&self, index: usize) -> String {
        format!(
            "{} {}",
            self.name,
            self.campaign.found.targets[index].name()
        )
    }

    pub(super) fn look_for(&mut self, targets: &[usize], counts: &Counts<'_>) {
        for index in targets {
            let counters = counts.of(&self.target(*index).blocks);
            for counter in &counters {
                self.by_counter.entry(*counter).or_default().push(*index);
            }
            self.wanted.insert(*index, counters.into_iter().collect());
        }
    }

    /// Inputs that were made for other targets may reach these.
    pub(super) fn take_known(&mut self, candidates: &[Candidate]) -> Result<(), Failure> {
        let made = candidates.iter().filter(|one| !one.test.is_given);
        for candidate in made {
            let counters: Vec<Counter> = candidate.test.ran.iter().copied().collect();
            for index in self.reached(&counters) {
                let entry = Entry {
                    status: Status::Covered,
                    program: Some(self.name.clone()),
                    scenario: Some(candidate.test.id.clone()),
                    notes: vec!["an input that was made before reaches it".to_owned()],
                    ..self.campaign.blank(index)
                };
                self.campaign.enter(index, entry)?;
            }
        }
        Ok(())
    }

    /// Open targets that a run with these counters has reached.
    fn reached(&self, counters: &[Counter]) -> BTreeSet<usize> {
        let targets = counters.iter().filter_map(|one| self.by_counter.get(one));
        let open = targets
            .flatten()
            .filter(|index| self.campaign.is_open(**index));
        open.copied().collect()
    }

    pub(super) fn search(
        &mut self,
        coverer: &mut Coverer<'_>,
        index: usize,
        target: &Target,
        seeds: &[Seed<'_>],
    ) -> Result<(), Failure> {
        self.current = index;
        self.started = Instant::now();
        // What was spent on it in other programs counts.
        let spent = self.campaign.entries[index].as_ref();
        let spent = Duration::from_secs_f64(spent.map_or(0.0, |entry| entry.seconds));
        let time = self.means.for_searching().time;
        self.end = time.map(|time| self.started + time.saturating_sub(spent));
        let scenarios = seeds.iter().map(|seed| seed.candidate.scenario.clone());
        // Most of the time is for the search itself.
        let share = time.map(|time| time / STARTING);
        let left_out = match coverer.start_from(scenarios.collect(), share) {
            Ok(left_out) => left_out.len(),
            Err(error) => {
                self.leave_out(index, &error);
                return Ok(());
            }
        };
        let summary = match coverer.cover(target, self) {
            Ok(summary) => summary,
            Err(error) => {
                self.leave_out(index, &error);
                return Ok(());
            }
        };
        if let Some(failure) = self.error.take() {
            return Err(failure);
        }
        let starts: Vec<Scenario> = coverer.seeds().cloned().collect();
        let is_late = self.end.is_some_and(|end| Instant::now() >= end);
        self.finish(index, summary, seeds, &starts, left_out, is_late)
    }

    fn leave_out(&self, index: usize, error: &dyn std::error::Error) {
        let note = format!("{} is left out: {error}", self.label(index));
        self.context().note(&note);
    }

    /// Enters what a search came to.
    fn finish(
        &mut self,
        index: usize,
        mut summary: Summary,
        seeds: &[Seed<'_>],
        starts: &[Scenario],
        left_out: usize,
        is_late: bool,
    ) -> Result<(), Failure> {
        let findings = std::mem::take(&mut summary.findings);
        self.campaign
            .add_findings(&self.name, &self.path, findings)?;
        let before = self.campaign.entries[index].clone();
        // Those that were reached are entered already.
        let is_reached = before
            .as_ref()
            .is_some_and(|entry| entry.status == Status::Covered);
        if summary.stopped && !is_late && !is_reached {
            // Nothing can be said about it yet.
            return Ok(());
        }
        let mut entry = match before.filter(|_| is_reached) {
            Some(entry) => entry,
            None => {
                let now = self.not_covered(index, &summary, starts)?;
                nearer(self.campaign.entries[index].clone(), now)
            }
        };
        let starts = starts.iter().map(|scenario| self.root(scenario).0);
        entry.seeds = starts
            .map(|scenario| scenario_id(&self.program, scenario))
            .collect();
        entry.seeds.dedup();
        entry.distance = seeds.first().and_then(|seed| seed.distance);
        entry.runs += summary.runs;
        entry.paths += summary.paths;
        entry.queries += summary.queries;
        entry.seconds += self.started.elapsed().as_secs_f64();
        if left_out > 0 {
            entry
                .notes
                .push(format!("{left_out} scenarios could not be run"));
        }
        if !entry.status.is_covered() {
            let Budget { runs, time } = self.means.budget;
            let most = self.means.for_searching().runs;
            entry.run_limit = runs.filter(|_| most.is_some_and(|most| entry.runs >= most));
            entry.time_limit = time.filter(|_| is_late).map(|time| time.as_secs_f64());
        }
        self.campaign.enter(index, entry)
    }

    /// What there is to say about a target that was not reached.
    fn not_covered(
        &mut self,
        index: usize,
        summary: &Summary,
        starts: &[Scenario],
    ) -> Result<Entry, Failure> {
        let mut entry = Entry {
            program: Some(self.name.clone()),
            losses: ranked(&summary.losses),
            ..self.campaign.blank(index)
        };
        let obstacle = match &summary.verdict {
            Verdict::Suite(seed) => {
                entry.status = Status::Suite;
                let scenario = starts.get(*seed);
                entry.scenario = scenario.map(|scenario| scenario_id(&self.program, scenario));
                None
            }
            Verdict::Covered { .. } => {
                entry.status = Status::Blocked;
                let note = "an input reached it once, but not when it was run again";
                entry.notes.push(note.to_owned());
                None
            }
            Verdict::Infeasible(obstacle) => {
                entry.status = Status::Infeasible;
                obstacle.as_ref()
            }
            Verdict::Blocked(obstacle) => {
                entry.status = Status::Blocked;
                obstacle.as_ref()
            }
            Verdict::Missed => None,
        };
        entry.obstacle = obstacle.map(|obstacle| self.spots.obstacle(obstacle));
        Ok(entry)
    }

    /// The scenario of the suite that an input to start from comes from, and the steps in between.
    pub(super) fn root<'r>(&'r self, start: &'r Scenario) -> (&'r Scenario, &'r [cover::Step]) {
        match self.histories.get(start) {
            Some((seed, steps)) => (seed, steps),
            None => (start, &[]),
        }
    }

    fn keep(&mut self, reached: &Reached<'_>) -> Result<(), Failure> {
        for index in self.reached(reached.counters) {
            let target = &self.campaign.found.targets[index];
            let wanted = &self.wanted[&index];
            let Some(kept) = self.keeper.keep(reached.scenario, target, wanted)? else {
                continue;
            };
            let own = (reached.steps)();
            let (seed, before) = self.root(reached.seed);
            let (seed, before) = (scenario_id(&self.program, seed), before.to_vec());
            let steps: Vec<Step> = before
                .iter()
                .chain(&own)
                .map(|step| self.spots.step(step))
                .collect();
            let mut notes = kept.notes.clone();
            let mut seconds = 0.0;
            if let Some(count) = self.surveying {
                notes.push("found by changing one thing of a scenario".to_owned());
                // Its share: the survey is for all of them alike.
                seconds = self.started.elapsed().as_secs_f64() / count.max(1) as f64;
            } else if index != self.current {
                let name = self.campaign.found.targets[self.current].name();
                notes.push(format!("found on the way to {name}"));
                seconds = self.started.elapsed().as_secs_f64();
            }
            let entry = Entry {
                status: Status::Covered,
                program: Some(self.name.clone()),
                scenario: Some(kept.id),
                seed: Some(seed),
                steps,
                seconds,
                notes,
                ..self.campaign.blank(index)
            };
            self.campaign.enter(index, entry)?;
        }
        Ok(())
    }
}

/// Of what two programs came to, what came nearer; effort adds up.
fn nearer(before: Option<Entry>, now: Entry) -> Entry {
    let Some(before) = before else {
        return now;
    };
    let distance = |entry: &Entry| match entry.status {
        Status::Suite | Status::Covered => (0, 0),
        _ => match &entry.obstacle {
            Some(obstacle) => (1, obstacle.distance),
            None => (2, 0),
        },
    };
    let effort = (before.runs, before.paths, before.queries, before.seconds);
    let mut entry = match distance(&now) <= distance(&before) {
        true => now,
        false => before,
    };
    (entry.runs, entry.paths, entry.queries, entry.seconds) = effort;
    entry
}

impl Observer for Looking<'_, '_> {
    fn progress(&mut self, progress: &Progress) {
        let all = self.campaign.found.targets.len();
        let (covered, seconds) = (
            self.campaign.covered(),
            self.started.elapsed().as_secs_f64(),
        );
        let (what, near) = match self.surveying {
            Some(_) => (format!("{} one change", self.name), String::new()),
            None => (self.label(self.current), nearness(progress)),
        };
        let runs = progress.runs;
        self.watcher.count_runs(runs);
        let line =
            format!("{covered} of {all} covered  {what}  {seconds:.0} s  {runs} runs  {near}");
        self.watcher.tell(&line);
    }

    fn stop(&self) -> bool {
        let is_late = self.end.is_some_and(|end| Instant::now() >= end);
        is_late || self.error.is_some() || self.means.is_over() || self.watcher.is_over()
    }

    fn end(&self) -> Option<Instant> {
        [self.end, self.means.end].into_iter().flatten().min()
    }

    fn ran(&mut self, reached: &Reached<'_>) {
        if self.error.is_none()
            && let Err(failure) = self.keep(reached)
        {
            self.error = Some(failure);
        }
    }
}
