//! What becomes of traces: paths for the goals, and what came of the alternatives that they chose.

use std::sync::Arc;
use std::time::Duration;

use parallax_exec::run::End;
use parallax_scenario::Scenario;

use super::interface::{Excess, Miss};
use super::native::{Attempt, Tried};
use super::results::Taken;
use super::state::Searching;
use super::task::{Child, ChildPath, Retraced, Turned};
use crate::core::alternative::{Alternative, Change, alternatives};
use crate::core::corpus::{EntryId, InputId};
use crate::core::goal::{Came, Examined, Path, Worth};
use crate::core::random::mix;
use crate::explore::ExploreError;
use crate::worker::Traced;

/// Misses that are kept for the report.
const MOST_MISSES: usize = 20;

impl Searching<'_, '_, '_, '_> {
    /// Takes in the trace of an entry; what it is worth.
    pub(super) fn take_retraced(&mut self, retraced: Retraced) -> f64 {
        let Retraced {
            entry,
            result,
            seen,
        } = retraced;
        let is_given = self.given.remove(&entry);
        let worth = match result {
            Ok((end, scenario, traced)) => {
                self.corpus.entries[entry].scenario = scenario;
                self.take_path(entry, end, traced, seen)
            }
            Err(error) => {
                for goal in self.goals.iter_mut() {
                    goal.take_trace(entry, None, &self.corpus);
                }
                let seeds = &self.seeds;
                let seed = &self.corpus.entries[entry].scenario;
                let given = seeds.iter().position(|given| given == seed);
                self.fail(error, given);
                0.0
            }
        };
        if is_given {
            self.heard();
        }
        worth
    }

    /// Shows the path of an entry to all goals, if it is new; what it is worth.
    fn take_path(
        &mut self,
        entry: EntryId,
        end: End,
        traced: Arc<Traced>,
        seen: Option<Examined>,
    ) -> f64 {
        let Some(prepared) = self.prepared else {
            return 0.0;
        };
        self.corpus.entries[entry].is_traced = true;
        if self.exact_paths.is_empty() && !traced.trace.attached() {
            // A run that was cut short may not have come to it.
            if !self.shared.budget.is_over() {
                self.error.get_or_insert(ExploreError::Untraced.into());
            }
            return 0.0;
        }
        let is_new = self.paths.insert(traced.path() ^ mix(end_class(end)));
        let depth = traced.decisions.len();
        let gain = seen.map_or(0.0, |seen| self.take_examined(entry, &seen, end, depth));
        let scenario = Arc::clone(&self.corpus.entries[entry].scenario);
        if let Some(shown) = self.exact_paths.get(&traced.exact_path()).copied() {
            for goal in self.goals.iter_mut() {
                if shown != entry {
                    goal.same_path(entry, shown);
                }
                goal.take_trace(entry, Some(&traced), &self.corpus);
            }
            self.corpus.traces.keep(entry, traced);
            return gain;
        }
        self.exact_paths.insert(traced.exact_path(), entry);
        for (name, count) in loss_names(&traced) {
            *self.counts.losses.entry(name).or_default() += count;
        }
        if let Some(excess) = Excess::of(end) {
            *self.counts.limited.entry(excess).or_default() += 1;
        }
        if is_new && self.options.explore.keep_paths {
            self.keep_test(&scenario);
        }
        let generation = self.corpus.entries[entry].generation;
        let most = self.options.explore.generations;
        let mut worth = Worth::default();
        let list = match most.is_some_and(|most| generation >= most) {
            true => Vec::new(),
            false => alternatives(
                prepared.sites,
                entry,
                &traced,
                &mut self.fixed,
                &mut self.limits,
            ),
        };
        let path = Path {
            entry,
            scenario: &scenario,
            traced: &traced,
            sites: prepared.sites,
            end,
            is_new,
            alternatives: &list,
            generation,
            is_last: most.is_some_and(|most| generation >= most),
            changed: &self.changed,
        };
        for goal in self.goals.iter_mut() {
            worth.add(goal.take_path(&path, &self.corpus, &mut self.limits));
        }
        if worth.look && self.has_sanitizers() || self.is_abnormal(Some(end), false) {
            let rank = u32::from(matches!(end, End::Exit(_)));
            self.suspect_entry(rank, entry, false, end, depth);
        }
        self.corpus.traces.keep(entry, traced);
        gain + worth.gain
    }

    /// Shows what the examiner saw of an entry to all goals; what it is worth.
    fn take_examined(&mut self, entry: EntryId, seen: &Examined, end: End, depth: usize) -> f64 {
        let mut worth = Worth::default();
        for goal in self.goals.iter_mut() {
            worth.add(goal.examined(entry, seen, &self.corpus));
        }
        let differs = self.corpus.entries[entry].differs;
        if worth.look && (differs || self.has_sanitizers()) {
            self.suspect_entry(0, entry, differs, end, depth);
        }
        worth.gain
    }

    fn suspect_entry(&mut self, rank: u32, entry: EntryId, differs: bool, end: End, depth: usize) {
        let base = &self.corpus.entries[entry];
        let attempt = Attempt {
            scenario: Arc::clone(&base.scenario),
            generation: base.generation,
            ..Attempt::new(Scenario::default(), &base.seed, Duration::ZERO)
        };
        self.suspect(rank, &attempt, Some(entry), 0, differs, (Some(end), depth));
    }

    /// Takes in what became of an alternative; what it is worth.
    pub(super) fn take_turned(
        &mut self,
        alternative: &Alternative,
        turned: Turned,
        lane: usize,
    ) -> f64 {
        let (came, gain) = match turned {
            Turned::Infeasible { against } => {
                self.counts.flips.infeasible += 1;
                (Came::Infeasible { against }, 0.0)
            }
            Turned::Undecided => {
                self.counts.flips.undecided += 1;
                (Came::Undecided, 0.0)
            }
            Turned::Feasible => (Came::Feasible, 0.0),
            Turned::Rejected => {
                self.counts.flips.rejected += 1;
                (Came::Rejected, 0.0)
            }
            Turned::Ran(child) => self.take_child(alternative, *child, lane),
        };
        if let Some(goal) = self.goal_of(lane) {
            self.goals[goal].tried(alternative, &came, &self.corpus);
        }
        gain
    }

    fn take_child(&mut self, alternative: &Alternative, child: Child, lane: usize) -> (Came, f64) {
        let Child {
            mut tried,
            gave_up,
            path,
        } = child;
        let id = InputId::of(&tried.attempt.scenario);
        // Another slot may have made the same input.
        if !self.shared.entries.insert(self.issued, id) {
            self.counts.natives += tried.runs;
            return (Came::Rejected, 0.0);
        }
        self.shared.inputs.insert(self.issued, id);
        let went = path.as_ref().and_then(|path| path.went);
        match went {
            Some(true) => self.counts.flips.taken += 1,
            Some(false) => self.miss(alternative, &tried, path.as_ref()),
            None => {}
        }
        if let Some(path) = &path {
            tried.attempt.scenario = Arc::clone(&path.scenario);
        }
        let attempt = Attempt {
            scenario: Arc::clone(&tried.attempt.scenario),
            seed: Arc::clone(&tried.attempt.seed),
            ..tried.attempt
        };
        let (time, is_hung, differs) = (tried.time, tried.hung, tried.differs);
        let Taken { mut gain, entry } = self.take_tried(tried, lane, path.is_some());
        let Some(ChildPath {
            end, traced, seen, ..
        }) = path
        else {
            return (Came::Rejected, gain);
        };
        // What was made to fail is looked at, whatever the plain builds show.
        let is_failure = matches!(alternative.change, Change::Fail { .. });
        let is_touching = entry.is_none() && self.touches(&traced);
        let is_new = !self.exact_paths.contains_key(&traced.exact_path());
        let entry = entry.unwrap_or_else(|| self.add(&attempt, time, differs, false));
        if is_failure && !is_hung && !differs {
            let depth = traced.decisions.len();
            self.suspect(0, &attempt, Some(entry), lane, false, (Some(end), depth));
        }
        if is_touching && is_new {
            self.feed(entry, None, differs);
        }
        gain += self.take_path(entry, end, traced, seen);
        let came = Came::Ran {
            entry,
            went,
            gave_up,
        };
        (came, gain)
    }

    /// Whether a run decided something in a function that the patch changes.
    fn touches(&mut self, traced: &Traced) -> bool {
        let Some(prepared) = self.prepared.filter(|_| !self.changed.is_empty()) else {
            return false;
        };
        let (sites, changed) = (prepared.sites, &self.changed);
        traced.decisions.iter().any(|decision| {
            let touched = self.touched.entry(decision.site.0);
            *touched.or_insert_with(|| {
                let function = sites.get(decision.site).map(|view| view.function);
                function.is_some_and(|function| changed.contains(function))
            })
        })
    }

    fn miss(&mut self, alternative: &Alternative, tried: &Tried, path: Option<&ChildPath>) {
        let losses = path.map_or(Vec::new(), |path| path.losses.clone());
        self.counts.flips.missed += 1;
        self.counts.flips.unexplained += u64::from(losses.is_empty());
        if self.counts.misses.len() < MOST_MISSES {
            let from = &self.corpus.entries[alternative.entry].scenario;
            self.counts.misses.push(Miss {
                wanted: alternative.site,
                left_at: path.and_then(|path| path.left_at),
                from: (**from).clone(),
                scenario: (*tried.attempt.scenario).clone(),
                losses,
            });
        }
    }
}

/// Where a run lost track of the input, and how often.
pub(crate) fn loss_names(traced: &Traced) -> Vec<(String, u64)> {
    let trace = &traced.trace;
    let losses = trace.losses().map(|loss| {
        let name = match loss.name() {
            name if name.is_empty() => "(memory)".to_owned(),
            name => name.into_owned(),
        };
        (name, u64::from(loss.count))
    });
    let stop = trace.stop().map(|stop| {
        let what = format!("{stop:?}").to_lowercase();
        (format!("(trace cut short: {what})"), 1)
    });
    losses.chain(stop).collect()
}

/// Runs that end in different ways took different paths; the status is the program's own word.
fn end_class(end: End) -> u64 {
    match end {
        End::Exit(_) => 0,
        End::Signal(signal) => 1 + signal as u64,
        End::Timeout => 1000,
        End::OutOfMemory => 1001,
        End::TooManyProcesses => 1002,
        End::TooMuchOutput => 1003,
        End::Interrupted => 1004,
    }
}
