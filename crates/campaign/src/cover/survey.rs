//! Before the searches for single targets: what one change of a scenario reaches.

use std::time::{Duration, Instant};

use parallax_analysis::Analysis;
use parallax_exec::coverage::Counter;
use parallax_report::words::counted;
use parallax_scenario::Scenario;
use parallax_search::cover::{Counts, Coverer, Extent, Surveyed, Vocabulary};
use parallax_search::explore::ExploreError;

use super::looking::Looking;
use super::ranking::Candidate;
use crate::budget::Budget;
use crate::failure::Failure;

/// This share of the time and runs of each target is for the survey.
const SHARE: u32 = 8;

/// What the survey takes of the budget of one target.
fn share(budget: Budget) -> Budget {
    Budget {
        time: budget.time.map(|time| time / SHARE),
        runs: budget.runs.map(|runs| runs / u64::from(SHARE)),
    }
}

/// What it leaves.
pub fn rest(budget: Budget) -> Budget {
    let share = share(budget);
    Budget {
        time: budget.time.zip(share.time).map(|(all, part)| all - part),
        runs: budget.runs.zip(share.runs).map(|(all, part)| all - part),
    }
}

impl Looking<'_, '_> {
    /// At most half of what is left of all time: searches are to come, too.
    fn most(&self, time: Option<Duration>) -> Option<Duration> {
        let left = self.means.end;
        let left = left.map(|end| end.saturating_duration_since(Instant::now()) / 2);
        [time, left].into_iter().flatten().min()
    }

    /// Runs what the scenarios become by single changes; adds inputs that ran something new to the candidates.
    pub(super) fn survey(
        &mut self,
        coverer: &mut Coverer<'_>,
        analysis: &Analysis,
        counts: &Counts<'_>,
        targets: &[usize],
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), Failure> {
        let open = self.open_of(targets);
        if open.is_empty() {
            return Ok(());
        }
        let words = Vocabulary::new(
            &analysis.program,
            candidates.iter().map(|one| &one.scenario),
        );
        let extent = self.extent(open.len());
        let starts = self.promising(counts, &open, candidates);
        let ran: Vec<Counter> = candidates
            .iter()
            .flat_map(|one| one.test.ran.iter().copied())
            .collect();
        let surveyed = self.watch_all(&open, |looking| {
            coverer.survey(&starts, ran, &words, extent, looking)
        })?;
        let reached = open.iter().filter(|index| !self.campaign.is_open(**index));
        let note = format!(
            "{}: {} with one change reached {} of {} in {:.0} s",
            self.name,
            counted(surveyed.runs, "input"),
            reached.count(),
            counted(open.len() as u64, "target"),
            self.started.elapsed().as_secs_f64(),
        );
        match self.context().in_check {
            true => self.watcher.tell(&note),
            false => self.context().note(&note),
        }
        self.add_candidates(&starts, surveyed, candidates);
        Ok(())
    }

    /// Searches can start from what was found.
    fn add_candidates(
        &mut self,
        starts: &[Scenario],
        surveyed: Surveyed,
        candidates: &mut Vec<Candidate>,
    ) {
        for mut discovery in surveyed.discoveries {
            let (seed, before) = self.root(&starts[discovery.seed]);
            let (seed, mut steps) = (seed.clone(), before.to_vec());
            steps.append(&mut discovery.steps);
            self.histories
                .insert(discovery.scenario.clone(), (seed, steps));
            candidates.push(Candidate::made(discovery.scenario, discovery.ran));
        }
    }

    /// Adds what the connections of servers' tests run, each alone, to the candidates.
    pub(super) fn take_apart(
        &mut self,
        coverer: &mut Coverer<'_>,
        counts: &Counts<'_>,
        targets: &[usize],
        candidates: &mut Vec<Candidate>,
    ) -> Result<(), Failure> {
        let several =
            |one: &Candidate| one.scenario.listening.is_some() && one.scenario.streams.len() > 1;
        if !candidates.iter().any(several) {
            return Ok(());
        }
        let open = self.open_of(targets);
        if open.is_empty() {
            return Ok(());
        }
        let starts = self.promising(counts, &open, candidates);
        let extent = self.extent(open.len());
        let surveyed = self.watch_all(&open, |looking| {
            coverer.take_apart(&starts, extent, looking)
        })?;
        self.add_candidates(&starts, surveyed, candidates);
        Ok(())
    }

    pub(super) fn open_of(&self, targets: &[usize]) -> Vec<usize> {
        let open = targets
            .iter()
            .filter(|index| self.campaign.is_open(**index));
        open.copied().collect()
    }

    /// What so many targets give to what is done for all of them.
    pub(super) fn extent(&self, targets: usize) -> Extent {
        let share = share(self.means.budget);
        Extent {
            time: self.most(share.time.map(|time| time * targets as u32)),
            runs: share.runs.map(|runs| runs * targets as u64),
        }
    }

    /// Does something for all of some targets. What it came to; nothing if it ended early, which is said.
    fn watch_all(
        &mut self,
        open: &[usize],
        work: impl FnOnce(&mut Self) -> Result<Surveyed, ExploreError>,
    ) -> Result<Surveyed, Failure> {
        self.current = open.first().copied().unwrap_or(self.current);
        self.started = Instant::now();
        self.end = None;
        self.surveying = Some(open.len());
        let surveyed = work(self);
        self.surveying = None;
        if let Some(failure) = self.error.take() {
            return Err(failure);
        }
        Ok(surveyed.unwrap_or_else(|error| {
            self.context()
                .note(&format!("{}: the survey ended early: {error}", self.name));
            Surveyed::default()
        }))
    }

    /// The scenarios that run the most functions with open targets come first, of these the smallest.
    fn promising(
        &self,
        counts: &Counts<'_>,
        open: &[usize],
        candidates: &[Candidate],
    ) -> Vec<Scenario> {
        let around: Vec<_> = open
            .iter()
            .map(|index| counts.around(&self.target(*index).blocks))
            .collect();
        let score = |candidate: &Candidate| {
            let runs = |counters: &&std::collections::HashSet<Counter>| {
                counters.iter().any(|one| candidate.test.ran.contains(one))
            };
            around.iter().filter(runs).count()
        };
        let mut order: Vec<_> = candidates
            .iter()
            .enumerate()
            .map(|(index, one)| (std::cmp::Reverse(score(one)), one.weight(), index))
            .collect();
        order.sort_unstable();
        let order = order.into_iter();
        order
            .map(|(.., index)| candidates[index].scenario.clone())
            .collect()
    }
}
