//! Watches the search for the targets of a program, keeps inputs that reach one at once, and enters what became of each.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use parallax_exec::coverage::Counter;
use parallax_exec::sites::SiteMap;
use parallax_report::results::search::ranked;
use parallax_scenario::{Bytes, Scenario};
use parallax_search::core::counts::Counts;
use parallax_search::core::guide::Target;
use parallax_search::cover::{Aims, Inbox, Outcome, Reached, Step, Verdict};
use parallax_search::engine::{self, Ended};
use parallax_store::ledger::{Entry, Status};
use parallax_store::scenario_id;

use super::campaign::Campaign;
use super::candidates::Candidate;
use super::checkpoint::Histories;
use super::keeper::Keeper;
use super::search::Shared;
use super::spots::Spots;
use crate::failure::Failure;

/// See the module's description.
pub struct Looking<'l, 'c> {
    pub means: &'l Shared<'l>,
    pub campaign: &'l mut Campaign<'c>,
    pub keeper: Keeper<'l>,
    pub spots: Spots<'l>,
    pub inbox: &'l Inbox,
    /// The program.
    pub name: String,
    pub path: PathBuf,
    pub program: Bytes,
    pub subject: usize,
    /// By the numbers that they have in the search: the campaign's number, and the counters that say that it was reached.
    pub targets: Vec<usize>,
    pub wanted: Vec<BTreeSet<Counter>>,
    pub started: Instant,
    /// What went wrong while something was kept.
    pub error: Option<Failure>,
    /// Of inputs to start from that are not tests.
    pub histories: Histories,
    /// Scenarios that cannot be run.
    pub left_out: usize,
    /// Targets that were reached without looking at a path.
    pub surveyed: usize,
}

impl<'l, 'c> Looking<'l, 'c> {
    /// Of a program, whose traced variant has these sites. It looks for nothing yet.
    pub fn open(
        means: &'l Shared<'l>,
        campaign: &'l mut Campaign<'c>,
        subject: usize,
        sites: &'l SiteMap,
        inbox: &'l Inbox,
    ) -> Result<Looking<'l, 'c>, Failure> {
        let of = &campaign.found.subjects[subject];
        let (name, path) = (of.name.clone(), of.path.clone());
        let (folders, setup) = (means.scope.folders(), &means.options.setup);
        Ok(Looking {
            means,
            keeper: Keeper::new(means.store, &name, &path, &folders, setup, means.tests)?,
            spots: Spots::new(sites, means.scope.source.as_deref()),
            campaign,
            inbox,
            program: name.as_bytes().into(),
            name,
            path,
            subject,
            targets: Vec::new(),
            wanted: Vec::new(),
            started: Instant::now(),
            error: None,
            histories: Histories::default(),
            left_out: 0,
            surveyed: 0,
        })
    }

    fn target(&self, index: usize) -> Target {
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

    /// Looks for these targets, as far as they are open, and with an eye on all others of the program that are; how many are searched
    /// for. Inputs that were made for other targets may reach some.
    pub fn look_for(
        &mut self,
        targets: &[usize],
        counts: &Counts<'_>,
        candidates: &[Candidate],
    ) -> Result<usize, Failure> {
        let open = self.campaign.open().into_iter();
        let here = open.filter(|index| self.campaign.found.targets[*index].is_in(self.subject));
        for index in here.collect::<Vec<_>>() {
            let wanted: BTreeSet<Counter> =
                counts.of(&self.target(index).blocks).into_iter().collect();
            let mut made = candidates.iter().filter(|one| !one.test.is_given);
            match made.find(|one| !one.test.ran.is_disjoint(&wanted)) {
                Some(known) => {
                    let entry = Entry {
                        status: Status::Covered,
                        program: Some(self.name.clone()),
                        scenario: Some(known.test.id.clone()),
                        notes: vec!["an input that was made before reaches it".to_owned()],
                        ..self.campaign.blank(index)
                    };
                    self.campaign.enter(index, entry)?;
                }
                None => {
                    self.targets.push(index);
                    self.wanted.push(wanted);
                }
            }
        }
        // Those that were never searched for come first.
        let campaign = &self.campaign;
        let mut both: Vec<_> = self.targets.drain(..).zip(self.wanted.drain(..)).collect();
        both.sort_by_key(|(index, _)| {
            let is_searched = targets.contains(index);
            (!is_searched, campaign.was_searched(*index), *index)
        });
        (self.targets, self.wanted) = both.into_iter().unzip();
        let searched = self.targets.iter().filter(|index| targets.contains(index));
        Ok(searched.count())
    }

    /// The targets, as a search knows them.
    fn named(&self) -> Vec<Target> {
        let targets = self.targets.iter();
        targets.map(|index| self.target(*index)).collect()
    }

    /// What a search is to look for, the first so many above all.
    pub fn aims(&self, searched: usize) -> Aims {
        Aims {
            targets: self.named(),
            searched,
            before: self.before(searched),
            runs: self.means.budget.runs,
            time: self.means.budget.time,
            without: self.means.options.without.clone(),
        }
    }

    /// What was spent on the first targets, in other programs, too.
    fn before(&self, searched: usize) -> Vec<Duration> {
        let spent = |index: &usize| {
            let entry = self.campaign.entries[*index].as_ref();
            Duration::from_secs_f64(entry.map_or(0.0, |entry| entry.seconds))
        };
        self.targets[..searched].iter().map(spent).collect()
    }

    /// Keeps what has reached targets since the last time.
    pub fn keep_all(&mut self) -> Result<(), Failure> {
        let reached = std::mem::take(&mut *self.inbox.borrow_mut());
        for reached in reached {
            self.keep(&reached)?;
        }
        self.error.take().map_or(Ok(()), Err)
    }

    fn keep(&mut self, reached: &Reached) -> Result<(), Failure> {
        let index = self.targets[reached.target];
        let (seed, before) = self.root(&reached.seed);
        let id = scenario_id(&self.program, seed);
        // Where there is no test, what is given is no test either: a run without arguments.
        let is_test = || self.means.store.find(&id).is_ok();
        if before.is_empty() && reached.steps.is_empty() && is_test() {
            let entry = Entry {
                status: Status::Suite,
                program: Some(self.name.clone()),
                scenario: Some(id),
                ..self.campaign.blank(index)
            };
            return self.campaign.enter(index, entry);
        }
        let (seed, before) = (id, before.to_vec());
        let target = &self.campaign.found.targets[index];
        let wanted = &self.wanted[reached.target];
        let Some(kept) = self.keeper.keep(&reached.scenario, target, wanted)? else {
            return Ok(());
        };
        let steps = before.iter().chain(&reached.steps);
        let steps = steps.map(|step| self.spots.step(step)).collect();
        let mut notes = kept.notes;
        if reached.is_surveyed {
            notes.push("found by changing one thing of a scenario".to_owned());
            self.surveyed += 1;
        } else if let Some(focus) = reached.focus.filter(|focus| *focus != reached.target) {
            let name = self.campaign.found.targets[self.targets[focus]].name();
            notes.push(format!("found on the way to {name}"));
        }
        let entry = Entry {
            status: Status::Covered,
            program: Some(self.name.clone()),
            scenario: Some(kept.id),
            seed: Some(seed),
            steps,
            seconds: self.started.elapsed().as_secs_f64(),
            notes,
            ..self.campaign.blank(index)
        };
        self.campaign.enter(index, entry)
    }

    /// Enters what the search came to. It is cut if the end of everything came before targets had their time.
    pub fn finish(
        &mut self,
        outcomes: Vec<Outcome>,
        search: &engine::Summary,
        is_cut: bool,
    ) -> Result<(), Failure> {
        let is_stopped = search.ended == Ended::Stopped;
        let losses = ranked(&search.losses);
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let index = self.targets[number];
            // Those that were reached are entered already.
            let reached = self.campaign.entries[index].clone();
            let reached = reached.filter(|entry| entry.status.is_covered());
            let is_over = outcome.is_out_of_time || outcome.is_out_of_runs;
            if reached.is_none() && (!outcome.is_searched || is_stopped && !is_over) {
                // Nothing can be said about it yet.
                continue;
            }
            let mut entry = match reached {
                Some(entry) => entry,
                None => {
                    let now = Entry {
                        losses: losses.clone(),
                        ..self.not_covered(index, &outcome.verdict)
                    };
                    let mut entry = nearer(self.campaign.entries[index].clone(), now);
                    entry.seconds += outcome.time.as_secs_f64();
                    entry
                }
            };
            let seeds = outcome.seeds.iter().map(|seed| self.root(seed).0);
            entry.seeds = seeds
                .map(|scenario| scenario_id(&self.program, scenario))
                .collect();
            entry.seeds.dedup();
            entry.distance = outcome.distance;
            entry.runs += outcome.runs;
            entry.paths += outcome.paths;
            entry.queries += outcome.queries;
            if self.left_out > 0 {
                let note = format!("{} scenarios could not be run", self.left_out);
                entry.notes.push(note);
            }
            if !entry.status.is_covered() {
                let budget = self.means.budget;
                let is_out = outcome.is_out_of_runs || search.ended == Ended::Runs;
                entry.run_limit = budget.runs.filter(|_| is_out);
                let is_late = outcome.is_out_of_time || search.ended == Ended::Time;
                // What is cut short goes on when there is as much time again.
                let had = match is_cut && !outcome.is_out_of_time {
                    true => Some(entry.seconds),
                    false => budget.time.map(|time| time.as_secs_f64()),
                };
                entry.time_limit = had.filter(|_| is_late);
            }
            self.campaign.enter(index, entry)?;
        }
        Ok(())
    }

    /// What there is to say about a target that was not reached.
    fn not_covered(&mut self, index: usize, verdict: &Verdict) -> Entry {
        let mut entry = Entry {
            program: Some(self.name.clone()),
            ..self.campaign.blank(index)
        };
        let (status, obstacle) = match verdict {
            Verdict::Suite(_) | Verdict::Covered { .. } => {
                let note = "an input reached it once, but not when it was run again";
                entry.notes.push(note.to_owned());
                (Status::Blocked, None)
            }
            Verdict::Infeasible(obstacle) => (Status::Infeasible, obstacle.as_ref()),
            Verdict::Blocked(obstacle) => (Status::Blocked, obstacle.as_ref()),
            Verdict::Missed => (Status::Missed, None),
        };
        entry.status = status;
        entry.obstacle = obstacle.map(|obstacle| self.spots.obstacle(obstacle));
        entry
    }

    /// The scenario of the suite that an input to start from comes from, and the steps in between.
    fn root<'r>(&'r self, start: &'r Scenario) -> (&'r Scenario, &'r [Step]) {
        match self.histories.get(start) {
            Some((seed, steps)) => (seed, steps),
            None => (start, &[]),
        }
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
