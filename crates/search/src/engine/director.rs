//! Who has the next turn in a search.
//!
//! Given inputs are run natively first, before anything is traced. Then kinds of work take turns by what they yielded for their
//! cost ([`crate::core::schedule`]). What becomes of the results is in [`super::results`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::checkpoint::Chapters;
use super::interface::{Ended, Phase, SearchError};
use super::native::Attempt;
use super::state::{Lane, MUTATE, SOURCES, Searching};
use super::task::{Done, Task, Turns, What};
use super::{COMPARED, SLOTS};
use crate::core::alternative::{Alternative, Change, fixed_key};
use crate::core::corpus::{EntryId, InputId};
use crate::core::goal::Work;
use crate::core::pipeline::{Director, Next};
use crate::core::schedule::Schedule;
use crate::diverge::given::Given;
use crate::sources::{Context, Proposal};
use crate::worker::Rigour;

/// Inputs of a source that are run in one turn, and alternatives that are tried in one.
const BATCH: usize = 16;
/// Entries that are traced in one turn.
const TRACED: usize = 4;
/// What a finding is worth, in inputs that ran something new.
const FINDING: f64 = 20.0;
/// Inputs in a row that show nothing new after which mutation has had its chance, if nothing else is left.
const QUIET: u64 = 512;
/// Runs in a row that failed for our own reasons after which it is no use to go on.
pub(super) const MOST_FAILED: u64 = 32;
/// Inputs that are run natively at most where traced runs are limited: so many, and so many for each of these.
const FREE: u64 = 2000;
const NATIVE_SHARE: u64 = 100;
/// What a run is taken to cost where time does not count.
pub(super) const USUAL: Duration = Duration::from_millis(1);
/// Time that is kept for making each finding small, and for all of them a share of the time at most.
const SMALLER: Duration = Duration::from_secs(2);
const SMALLER_SHARE: u32 = 5;
const MOST_SMALLER: Duration = Duration::from_secs(20);

impl<'d> Searching<'d, '_, '_, '_> {
    /// Why it has to end now, if it has.
    fn is_over(&mut self) -> Option<Ended> {
        if self.observer.stop() {
            self.shared.budget.stop.request();
            return Some(Ended::Stopped);
        }
        let budget = &self.shared.budget;
        // Native inputs are cheap, but not free: who limits traced runs does not want any number of them.
        let is_enough = |runs: u64| {
            self.counts.runs >= runs || self.counts.inputs >= FREE + runs * NATIVE_SHARE
        };
        if budget.runs.is_some_and(is_enough) {
            return Some(Ended::Runs);
        }
        let end = budget.deadline()?;
        (Instant::now() + self.reserve() >= end).then_some(Ended::Time)
    }

    /// Time that is needed in the end, to make what was found small.
    fn reserve(&self) -> Duration {
        let found = (self.clusters.list.len() + self.findings.len()) as u32;
        let time = self.options.explore.time.unwrap_or(MOST_SMALLER);
        (SMALLER * found)
            .min(time / SMALLER_SHARE)
            .min(MOST_SMALLER)
    }

    /// Takes in what was prepared, as soon as it is there.
    fn look_for_preparation(&mut self) {
        if self.prepared.is_none()
            && let Some(Some(prepared)) = self.preparation.get()
        {
            self.prepared = Some(prepared);
            if let Some(versions) = &prepared.versions {
                self.changed = versions.correspondence.changed.iter().cloned().collect();
            }
            if let Err(error) = self.shared.prepared(prepared, self.options) {
                self.error.get_or_insert(error);
            }
        }
        if self.preparation.get().is_some() && !self.chapters.is_known() {
            self.shared.budget.begin();
        }
    }

    fn is_preparing(&self) -> bool {
        self.preparation.get().is_none()
    }

    fn task(&mut self, lane: usize, what: What) -> Task<'d> {
        if self.runs_left() < (SLOTS * BATCH) as u64 {
            self.chapters.close(self.issued);
        }
        let was_known = self.chapters.is_known();
        let notes = self.chapters.begin();
        if was_known && !self.chapters.is_known() {
            let progress = self.progress();
            self.observer.caught_up(&progress);
        }
        self.planned.push_back(what.most_traced());
        let task = Task {
            lane,
            number: self.issued,
            chapter: Chapters::chapter(self.issued),
            shared: self.shared,
            options: self.options,
            prepared: self.prepared,
            usual: self.slowest,
            risky: self.hangs.risky(),
            notes,
            what,
        };
        self.issued += 1;
        task
    }

    /// A given input is traced, or cannot be.
    pub(super) fn heard(&mut self) {
        self.given_left = self.given_left.saturating_sub(1);
        for goal in self.goals.iter_mut() {
            goal.given_left(self.given_left);
        }
    }

    /// Given inputs that have not been run.
    fn given(&mut self) -> Option<What> {
        let mut attempts = Vec::new();
        while attempts.len() < BATCH
            && let Some(index) = self.waiting.pop_front()
        {
            let seed = Arc::clone(&self.seeds[index]);
            let id = InputId::of(&seed);
            if !self.shared.inputs.insert(self.issued + 1, id) {
                self.settle(index);
                self.heard();
                continue;
            }
            attempts.push(Attempt {
                scenario: Arc::clone(&seed),
                seed,
                generation: 0,
                parent: None,
                given: Some(index),
                kind: index as u64,
                usual: None,
            });
        }
        (!attempts.is_empty()).then_some(What::Try(attempts))
    }

    /// What a source proposes.
    fn propose(&mut self, source: usize) -> What {
        let context = Context {
            vocabulary: match self.prepared {
                Some(prepared) => &prepared.vocabulary,
                None => &self.nothing,
            },
            shape: &self.options.explore.shape,
        };
        let proposals =
            self.sources[source].propose(&mut self.corpus, &context, &mut self.random, BATCH);
        self.attempts(proposals, source == MUTATE)
    }

    /// Those of the proposals that were not run.
    fn attempts(&mut self, proposals: Vec<Proposal>, is_random: bool) -> What {
        let mut attempts = Vec::new();
        for proposal in proposals {
            let id = InputId::of(&proposal.scenario);
            if !self.shared.inputs.insert(self.issued + 1, id)
                || self.hangs.avoids(&proposal.scenario, proposal.kind)
            {
                self.quiet += u64::from(is_random);
                continue;
            }
            let parent = &self.corpus.entries[proposal.parent];
            attempts.push(Attempt {
                generation: parent.generation + 1,
                parent: Some(proposal.parent),
                kind: proposal.kind,
                ..Attempt::new(proposal.scenario, &parent.seed, parent.time)
            });
        }
        What::Try(attempts)
    }

    /// What a goal wants to try next.
    fn pursue(&mut self, goal: usize) -> What {
        // Where there are two versions, others want their turn soon.
        let batch = match self.shared.courts {
            Some(_) => BATCH / 4,
            None => BATCH,
        };
        let most = batch.min(usize::try_from(self.runs_left()).unwrap_or(batch));
        match self.goals[goal].choose(most, &self.corpus) {
            Some(Work::Turn {
                alternatives,
                regenerate,
            }) => self.turns(alternatives, regenerate, Rigour::Exact, true),
            Some(Work::Solve {
                alternatives,
                rigour,
                is_run,
            }) => self.turns(alternatives, false, rigour, is_run),
            Some(Work::Try(proposals)) => self.attempts(proposals, false),
            Some(Work::Trace(entry)) => {
                self.untraced.retain(|waiting| *waiting != entry);
                self.trace(&[entry])
            }
            None => What::Try(Vec::new()),
        }
    }

    /// Alternatives by entry, so that each path is built once, in path order, so that each query can build on the last.
    fn turns(
        &self,
        alternatives: Vec<Alternative>,
        regenerate: bool,
        rigour: Rigour,
        is_run: bool,
    ) -> What {
        let mut by_entry: BTreeMap<EntryId, Vec<Alternative>> = BTreeMap::new();
        for alternative in alternatives {
            by_entry
                .entry(alternative.entry)
                .or_default()
                .push(alternative);
        }
        let turns = by_entry.into_iter().map(|(entry, mut alternatives)| {
            alternatives.sort_by_key(|alternative| (alternative.depth, alternative.change));
            let base = &self.corpus.entries[entry];
            let traced = self.corpus.traces.get(entry);
            let known = |change: Change| match (change, &traced) {
                (Change::Otherwise { decision }, Some(traced)) => {
                    let key = fixed_key(&traced.decisions, decision as usize);
                    self.fixed.get(&key).cloned().unwrap_or_default()
                }
                _ => Vec::new(),
            };
            let alternatives = alternatives.into_iter();
            Turns {
                entry,
                scenario: Arc::clone(&base.scenario),
                seed: Arc::clone(&base.seed),
                generation: base.generation,
                usual: base.time,
                alternatives: alternatives
                    .map(|alternative| (alternative, known(alternative.change)))
                    .collect(),
                regenerate,
                rigour,
                is_run,
                traced,
            }
        });
        What::Turn(turns.collect())
    }

    fn trace(&mut self, entries: &[EntryId]) -> What {
        for entry in entries {
            self.corpus.entries[*entry].is_traced = true;
        }
        let scenario = |entry: &EntryId| Arc::clone(&self.corpus.entries[*entry].scenario);
        What::Trace(
            entries
                .iter()
                .map(|entry| (*entry, scenario(entry)))
                .collect(),
        )
    }

    fn is_ready(&self, lane: usize, slot: usize) -> bool {
        let is_left_out = |phase: Phase| self.options.without.contains(&phase);
        match self.lanes[lane] {
            // Without counters nothing tells what is new, but that versions differ does.
            Lane::Source(source) => {
                let is_told = self.shared.counts() || self.shared.courts.is_some();
                is_told
                    && !is_left_out(SOURCES[source])
                    && self.sources[source].is_ready(&self.corpus)
            }
            Lane::Look => !self.suspects.is_empty(),
            Lane::Trace => self.prepared.is_some() && !self.untraced.is_empty(),
            Lane::Goal(goal) => {
                self.prepared.is_some()
                    && !is_left_out(Phase::Branches)
                    && self.goals[goal].is_ready()
            }
            Lane::Compare(phase) => {
                let phases = COMPARED[phase];
                let has_feed = phases == Phase::Given && !self.feed[slot].is_empty();
                let is_comparing = self
                    .prepared
                    .is_some_and(|prepared| prepared.versions.is_some());
                is_comparing && !is_left_out(phases) && (self.states[slot].has[phase] || has_feed)
            }
        }
    }

    /// Whether nothing is left but random changes, which had their chance.
    fn is_exhausted(&self) -> bool {
        let is_anywhere = |lane: usize| (0..SLOTS).any(|slot| self.is_ready(lane, slot));
        let others = (0..self.lanes.len()).filter(|lane| *lane != MUTATE);
        let is_quiet = self.quiet >= QUIET || !is_anywhere(MUTATE);
        is_quiet && !others.into_iter().any(is_anywhere)
    }

    /// The next input that is to be looked at closer.
    fn look_closer(&mut self) -> What {
        match self.suspects.pop_first() {
            Some((_, suspect)) => What::Look(Box::new(suspect)),
            None => What::Try(Vec::new()),
        }
    }

    /// Traced runs that are left, of which tasks under way may take some.
    fn runs_left(&self) -> u64 {
        let under_way: u64 = self.planned.iter().sum();
        let runs = self.shared.budget.runs.unwrap_or(u64::MAX);
        runs.saturating_sub(self.counts.runs + under_way)
    }

    /// Work of this kind.
    fn plan(&mut self, lane: usize, slot: usize) -> What {
        match self.lanes[lane] {
            Lane::Source(source) => self.propose(source),
            Lane::Look => self.look_closer(),
            Lane::Trace => {
                let left = usize::try_from(self.runs_left()).unwrap_or(TRACED);
                let mut entries = Vec::new();
                while entries.len() < TRACED.min(left)
                    && let Some(entry) = self.untraced.pop_front()
                {
                    // The comparison of both versions may have traced it meanwhile.
                    if self.corpus.traces.get(entry).is_none() {
                        entries.push(entry);
                    }
                }
                self.trace(&entries)
            }
            Lane::Goal(goal) => self.pursue(goal),
            Lane::Compare(phase) => {
                let mut feed: Vec<Given> = self.feed[slot].drain(..).collect();
                // Traces that many wait with would use up the memory.
                for given in feed.iter_mut().take(TRACED) {
                    given.traced = given.entry.and_then(|entry| self.corpus.traces.get(entry));
                }
                What::Compare {
                    phase: COMPARED[phase],
                    feed,
                }
            }
        }
    }

    /// The kind of work that has the next turn.
    fn choose(&mut self, slot: usize) -> Option<usize> {
        if let Some(lane) = self.chapters.lane() {
            if let Some(lane) = self.schedule.choose(|one| one == lane) {
                return Some(lane);
            }
            self.error = self.chapters.stray().err().map(SearchError::from);
        }
        let mut schedule = std::mem::replace(&mut self.schedule, Schedule::new(&[]));
        let lane = schedule.choose(|lane| self.is_ready(lane, slot));
        self.schedule = schedule;
        lane
    }
}

impl<'d> Director for Searching<'d, '_, '_, '_> {
    type Task = Task<'d>;
    type Outcome = Done;

    fn next(&mut self, slot: usize, under_way: usize) -> Next<Task<'d>> {
        if self.error.is_some() {
            return Next::Done;
        }
        self.look_for_preparation();
        if let Some(ended) = self.is_over() {
            self.ended = Some(ended);
            return Next::Done;
        }
        // Tasks under way may use up what is left.
        if self.runs_left() == 0 {
            return Next::Wait;
        }
        // Without a clock, what comes when must not depend on how fast variants are made.
        if self.is_preparing() && !self.shared.budget.is_timed() {
            return Next::Wait;
        }
        if let Some(given) = self.given() {
            return Next::Task(self.task(MUTATE, given));
        }
        // A difference of a kind that nobody has looked at comes before everything else.
        let first = self.suspects.first_key_value();
        let is_urgent = first.is_some_and(|(rank, _)| rank.0 == 0);
        let is_reached = self.goals.iter().all(|goal| goal.is_reached());
        if !is_urgent && !self.goals.is_empty() && is_reached {
            return Next::Done;
        }
        // Nothing comes that could make more of them.
        let is_last = matches!(self.preparation.get(), Some(None));
        if is_urgent || is_last {
            if self.suspects.is_empty() {
                return match under_way > 0 {
                    true => Next::Wait,
                    false => Next::Done,
                };
            }
            let look = self.look_closer();
            return Next::Task(self.task(SOURCES.len(), look));
        }
        if self.is_exhausted() {
            return match under_way > 0 || self.is_preparing() {
                true => Next::Wait,
                false => Next::Done,
            };
        }
        let Some(lane) = self.choose(slot) else {
            // This slot has nothing to do, but others may.
            return match under_way > 0 {
                true => Next::Wait,
                false => Next::Task(self.task(MUTATE, What::Try(Vec::new()))),
            };
        };
        self.lane = lane;
        let what = self.plan(lane, slot);
        Next::Task(self.task(lane, what))
    }

    fn take(&mut self, done: Done) {
        let Done {
            lane,
            slot,
            seconds,
            traced,
            avoided,
            tried,
            turned,
            retraced,
            judged,
            seen,
            counts,
            state,
            notes,
            strayed,
            error,
        } = done;
        self.planned.pop_front();
        let inputs = tried.len() + turned.len();
        let runs = counts.runs + traced;
        let looks = judged.len() + usize::from(seen.is_some());
        if let Some(state) = state {
            self.states[slot] = state;
        }
        self.counts.runs += traced;
        self.hangs.avoided += avoided;
        self.take_counts(counts);
        let mut gain = 0.0;
        for tried in tried {
            let kind = tried.attempt.kind;
            let taken = self.take_tried(tried, lane, false);
            gain += taken.gain;
            let is_new = taken.gain > 0.0;
            self.found[lane].0 += u64::from(is_new);
            if let Some(source) = self.sources.get_mut(lane) {
                source.learn(kind, is_new);
            }
            self.quiet = match is_new {
                true => 0,
                false => self.quiet + u64::from(lane == MUTATE),
            };
        }
        for one in retraced {
            gain += self.take_retraced(one);
        }
        for (alternative, turned) in turned {
            let taken = self.take_turned(&alternative, turned, lane);
            self.found[lane].0 += u64::from(taken > 0.0);
            gain += taken;
        }
        for judged in judged {
            let id = InputId::of(&judged.scenario);
            self.shared.inputs.insert(self.issued, id);
            if self.take_judged(judged, lane) {
                gain += FINDING;
                self.quiet = 0;
            }
        }
        if let Some(seen) = seen {
            gain += FINDING * self.take_seen(seen, lane) as f64;
        }
        let cost = match self.shared.budget.is_timed() {
            true => seconds,
            false => (2 * inputs + 4 * runs as usize + 40 * looks) as f64 / 1000.0,
        };
        self.counts.queries += notes.iter().filter(|note| note.is_of_solver()).count() as u64;
        let was_known = self.chapters.is_known();
        let is_timed = self.shared.budget.is_timed();
        let took = self.chapters.took(lane, cost, notes, strayed, is_timed);
        if was_known && !self.chapters.is_known() {
            let progress = self.progress();
            self.observer.caught_up(&progress);
        }
        match took {
            Ok(cost) => self.schedule.charge(lane, cost, gain),
            Err(error) => {
                self.error.get_or_insert(error.into());
            }
        }
        if let Some(error) = error {
            self.fail(error, None);
        }
        let progress = self.progress();
        self.observer.progress(&progress);
    }

    fn idle(&mut self) {
        self.look_for_preparation();
        if self.observer.stop() {
            self.shared.budget.stop.request();
        }
    }
}
