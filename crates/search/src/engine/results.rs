//! What becomes of the results of a search's tasks: entries of the corpus, paths for the goals, suspects, findings, counts.

use std::sync::Arc;
use std::time::Duration;

use parallax_exec::finding::{Finding, Problem};
use parallax_exec::replay::Confirmed;
use parallax_exec::run::End;
use parallax_scenario::Scenario;

use super::SLOTS;
use super::director::{MOST_FAILED, USUAL};
use super::interface::{Excess, Prepared, SearchError};
use super::native::{Attempt, Judged, Tried, Verdict};
use super::state::Searching;
use super::task::{Seen, Suspect};
use crate::core::corpus::{Entry, EntryId, InputId};
use crate::core::goal::{Examined, Observation, Worth};
use crate::core::limits::Limit;
use crate::diverge::clusters::{Cluster, distance, key, size};
use crate::diverge::comparer::Counts;
use crate::diverge::given::Given;
use crate::diverge::triage::{Class, Shown};
use crate::diverge::walk::Place;
use crate::explore::ExploreError;

/// What came of an input that was run natively.
pub(super) struct Taken {
    /// Things that were never seen before.
    pub gain: f64,
    /// What it became, if it is worth going on from.
    pub entry: Option<EntryId>,
}

impl Searching<'_, '_, '_, '_> {
    /// Takes in an input that was run natively. One that is traced already needs no turn for that.
    pub(super) fn take_tried(&mut self, tried: Tried, lane: usize, is_traced: bool) -> Taken {
        let Tried {
            attempt,
            differs,
            hung,
            time,
            spent,
            counters,
            end,
            ends,
            difference,
            runs,
            error,
        } = tried;
        let nothing = Taken {
            gain: 0.0,
            entry: None,
        };
        self.counts.natives += runs;
        if let Some(error) = error {
            self.counts.inputs += 1;
            self.fail(error, attempt.given);
            if attempt.given.is_some() {
                self.heard();
            }
            return nothing;
        }
        self.failed = 0;
        // Without a clock nothing may depend on how fast the machine is.
        let (time, spent) = match (self.shared.budget.is_timed(), hung) {
            (true, _) => (time, spent),
            (false, true) => {
                let limit = self.shared.limit(attempt.usual);
                (limit, limit)
            }
            (false, false) => (USUAL, USUAL),
        };
        let is_given = attempt.given.is_some();
        if runs > 0 {
            self.counts.inputs += 1;
            self.hangs
                .note(&attempt.scenario, attempt.kind, spent, hung);
            if is_given && !hung {
                self.slowest = self.slowest.max(time);
            }
        }
        let mut is_new = self.corpus.cover(0, &counters.old);
        is_new |= self.corpus.cover(1, &counters.new);
        is_new |= self.corpus.end(ends);
        let mut worth = Worth::default();
        let observation = Observation {
            scenario: &attempt.scenario,
            maker: self.maker(lane, is_given),
            parent: attempt.parent,
            ran: &counters.new,
            end,
            differs,
            hung,
        };
        for goal in self.goals.iter_mut() {
            worth.add(goal.observe(&observation));
        }
        self.counts.covered = self.corpus.covered();
        if worth.test {
            self.keep_test(&attempt.scenario);
        }
        let mut suspect = None;
        if differs {
            let size = size(&attempt.scenario);
            let (seen, smallest) = self.differences.entry(difference).or_insert((0, size));
            let rank = *seen;
            *seen += 1;
            is_new |= rank == 0;
            // Of many that look alike some are looked at, and those that are smaller.
            let is_smaller = size < *smallest;
            *smallest = size.min(*smallest);
            match u64::from(rank) < Limit::Alike.value() || is_smaller {
                true => suspect = Some(rank),
                false => self.limits.hit(Limit::Alike),
            }
        } else if self.is_abnormal(end, hung) {
            suspect = Some(0);
        } else if (is_new || worth.look) && self.has_sanitizers() && !hung {
            suspect = Some(u32::from(!worth.soon));
        }
        // An input that does not end is no start for others.
        let is_base = is_given || (is_new || worth.keep) && !hung;
        let is_kept = is_base || worth.enter && !hung;
        let entry = is_kept.then(|| self.add(&attempt, time, differs, is_base));
        if let Some(rank) = suspect {
            self.suspect(rank, &attempt, entry, lane, differs, (end, 0));
        }
        self.given.extend(entry.filter(|_| is_given));
        if let Some(entry) = entry.filter(|_| is_base) {
            self.feed(entry, attempt.given, differs);
            if !is_traced {
                self.trace_later(entry, is_given);
            }
        }
        Taken {
            gain: worth.gain + f64::from(u8::from(is_new)),
            entry,
        }
    }

    /// Whether a single version ended as no program should, and it is worth looking at that.
    pub(super) fn is_abnormal(&mut self, end: Option<End>, hung: bool) -> bool {
        if self.shared.courts.is_some() {
            return false;
        }
        // That some input does not come to an end is said once; to see it takes the full time.
        if hung {
            return self.options.explore.hangs
                && !std::mem::replace(&mut self.counts.has_hang, true);
        }
        matches!(end, Some(end) if !matches!(end, End::Exit(_)))
    }

    pub(super) fn keep_test(&mut self, scenario: &Scenario) {
        self.counts.tests += 1;
        self.observer.test(scenario);
    }

    pub(super) fn has_sanitizers(&self) -> bool {
        self.prepared
            .is_some_and(|prepared| prepared.new.checked.is_some())
    }

    /// An input is to be looked at closer. Also said: how a run of it ended, and after how many decisions.
    pub(super) fn suspect(
        &mut self,
        rank: u32,
        attempt: &Attempt,
        entry: Option<EntryId>,
        lane: usize,
        differs: bool,
        (end, depth): (Option<End>, usize),
    ) {
        // Nothing is looked at twice, unless sanitizers have come since or it has become urgent.
        let id = InputId::of(&attempt.scenario);
        if !self
            .suspected
            .insert((id, self.has_sanitizers(), rank == 0))
        {
            return;
        }
        let number = self.counts.inputs + self.counts.runs;
        let suspect = Suspect {
            scenario: Arc::clone(&attempt.scenario),
            entry,
            seed: Arc::clone(&attempt.seed),
            phase: self.phase_of(lane, attempt.generation),
            differs,
            end,
            depth,
        };
        let key = (rank, !differs, size(&suspect.scenario), number);
        // The same input is looked at once.
        if let Some(known) = self.suspects.get_mut(&(0, key.1, key.2, number)) {
            known.entry = known.entry.or(entry);
            known.depth = known.depth.max(depth);
            return;
        }
        self.suspects.insert(key, suspect);
        if self.suspects.len() as u64 > Limit::Suspects.value() {
            self.suspects.pop_last();
            self.limits.hit(Limit::Suspects);
        }
    }

    fn lose(&mut self, what: &str) {
        *self.counts.losses.entry(what.to_owned()).or_default() += 1;
    }

    /// Makes an input an entry of the corpus.
    pub(super) fn add(
        &mut self,
        attempt: &Attempt,
        time: Duration,
        differs: bool,
        is_new: bool,
    ) -> EntryId {
        if let Some(parent) = attempt.parent.filter(|_| is_new) {
            self.corpus.entries[parent].children += 1;
        }
        let most = self.options.explore.generations;
        let is_last = most.is_some_and(|most| attempt.generation >= most);
        let entry = Entry {
            scenario: Arc::clone(&attempt.scenario),
            parent: attempt.parent,
            seed: Arc::clone(&attempt.seed),
            generation: attempt.generation,
            time,
            differs,
            is_traced: false,
            turns: 0,
            children: 0,
        };
        let id = InputId::of(&attempt.scenario);
        self.shared.entries.insert(self.issued, id);
        let entry = self.corpus.add(entry, is_new && !is_last);
        for goal in self.goals.iter_mut() {
            goal.entered(entry, &self.corpus);
        }
        entry
    }

    fn trace_later(&mut self, entry: EntryId, is_given: bool) {
        let room = Limit::Untraced.value() * SLOTS as u64;
        match is_given || (self.untraced.len() as u64) < room {
            true => self.untraced.push_back(entry),
            false => self.limits.hit(Limit::Untraced),
        }
    }

    /// Gives an entry to the comparison of both versions' traces.
    pub(super) fn feed(&mut self, entry: EntryId, given: Option<usize>, differs: bool) {
        let is_compared = |prepared: &Prepared<'_>| prepared.versions.is_some();
        if self.shared.courts.is_none() || !self.prepared.is_none_or(is_compared) {
            return;
        }
        if let Some(given) = given.filter(|given| !self.options.patch.is_run_by(*given)) {
            self.settle(given);
            return;
        }
        let slot = given.unwrap_or(entry) % SLOTS;
        if given.is_none() && self.feed[slot].len() as u64 >= Limit::Untraced.value() {
            self.limits.hit(Limit::Untraced);
            return;
        }
        let Entry {
            scenario,
            seed,
            generation,
            ..
        } = &self.corpus.entries[entry];
        self.feed[slot].push_back(Given {
            index: given,
            scenario: Arc::clone(scenario),
            seed: Arc::clone(seed),
            generation: *generation,
            entry: Some(entry),
            differs,
            traced: None,
        });
    }

    /// A run that fails ends that run, unless they all do.
    pub(super) fn fail(&mut self, error: SearchError, given: Option<usize>) {
        // What was cut short says nothing about the program.
        if self.shared.budget.is_over() && !matches!(error, SearchError::Journal(_)) {
            return;
        }
        if let Some(given) = given {
            if self.seeds.len() > 1 {
                self.observer.left_out(given, &error);
                self.settle(given);
            } else {
                self.error.get_or_insert(error);
            }
            return;
        }
        if error.is_about_the_input() {
            return;
        }
        if matches!(
            error,
            SearchError::Journal(_) | SearchError::Explore(ExploreError::Untraced)
        ) {
            self.error.get_or_insert(error);
            return;
        }
        self.failed += 1;
        self.lose("(inputs that could not be run)");
        if self.failed >= MOST_FAILED {
            self.error.get_or_insert(error);
        }
    }

    /// Takes in what an input showed on the builds of a single version; how many new findings that is.
    pub(super) fn take_seen(&mut self, seen: Seen, lane: usize) -> usize {
        let Seen { suspect, confirmed } = seen;
        self.show(&suspect, confirmed.as_ref());
        let Some(confirmed) = confirmed else {
            let is_error = suspect.end.is_some_and(|end| !matches!(end, End::Exit(_)));
            let is_limited = suspect.end.is_some_and(|end| Excess::of(end).is_some());
            self.counts.unconfirmed += u64::from(is_error && !is_limited);
            return 0;
        };
        self.counts.flaky += confirmed.flaky.len() as u64;
        let mut new = 0;
        for problem in confirmed.problems {
            if !self.shared.errors.insert(self.issued, problem.key()) {
                continue;
            }
            let finding = Finding {
                problem,
                scenario: (*suspect.scenario).clone(),
                ending: confirmed.ending.clone(),
                depth: suspect.depth,
            };
            self.observer.error(&finding);
            self.findings.push(finding);
            self.found[lane].1 += 1;
            new += 1;
        }
        new
    }

    /// Shows goals what was seen of an entry. What was found before gets a better input, if there now is one.
    fn show(&mut self, suspect: &Suspect, confirmed: Option<&Confirmed>) {
        let Some(entry) = suspect.entry else {
            return;
        };
        let seen = confirmed
            .iter()
            .flat_map(|all| all.problems.iter().chain(&all.known));
        let seen: Vec<Problem> = seen.cloned().collect();
        for goal in self.goals.iter_mut() {
            for key in goal.looked(entry, &seen) {
                let known = self.findings.iter_mut().find(|known| known.key() == key);
                if let (Some(known), Some(confirmed)) = (known, confirmed) {
                    known.scenario = (*suspect.scenario).clone();
                    known.ending = confirmed.ending.clone();
                }
            }
        }
    }

    /// Takes in what an input showed on all builds of both versions; whether it is a new finding.
    pub(super) fn take_judged(&mut self, judged: Judged, lane: usize) -> bool {
        let Judged {
            input,
            scenario,
            entry,
            seed,
            verdict,
            place,
            parted,
            phase,
            seen,
        } = judged;
        if parted && !matches!(verdict, Verdict::Unknown) {
            *self.counts.divergences.entry(phase).or_default() += 1;
        }
        if let Some(entry) = entry {
            let problems = match &verdict {
                Verdict::Shown { shown, .. } => &shown.problems[..],
                Verdict::Unknown | Verdict::Silent => &[],
            };
            for goal in self.goals.iter_mut() {
                goal.looked(entry, problems);
            }
        }
        let (shown, is_steady) = match verdict {
            Verdict::Unknown => return false,
            Verdict::Silent => {
                self.take_silent(place, parted);
                self.confirmed(&input, None, seen.as_ref());
                return false;
            }
            Verdict::Shown { shown, is_steady } => (*shown, is_steady),
        };
        self.counts.replayed += 1;
        let versions = self.prepared.and_then(|prepared| prepared.versions);
        let origin = place.and_then(|place| Some(versions?.origin(&place)));
        let name = key(&shown, origin);
        let is_new = self.clusters.is_new(&name);
        let is_certain = is_steady || !is_new;
        let certain = is_certain.then_some(&shown);
        self.confirmed(&input, certain, seen.as_ref());
        // An error that both have and that nothing of the patch leads to is not what is looked for.
        let patch = &self.options.patch;
        let is_in_patch = shown.problems.iter().any(|problem| patch.has(problem));
        if shown.class == Class::Both && !parted && !is_in_patch {
            return false;
        }
        if !is_certain {
            self.counts.flaky += 1;
            return false;
        }
        self.shared.findings.insert(self.issued, name.clone());
        let at = self.clusters.add(Cluster {
            key: name,
            distance: distance(&seed, &scenario),
            scenario: (*scenario).clone(),
            shown,
            place,
            phase,
            count: 1,
            seconds: self.chapters.elapsed().as_secs_f64(),
        });
        if is_new {
            self.observer.found(&self.clusters.list[at]);
            self.found[lane].1 += 1;
        }
        is_new
    }

    fn confirmed(
        &mut self,
        scenario: &Arc<Scenario>,
        shown: Option<&Shown>,
        seen: Option<&Examined>,
    ) {
        for goal in self.goals.iter_mut() {
            goal.confirmed(scenario, shown, seen);
        }
    }

    fn take_silent(&mut self, place: Option<Place>, parted: bool) {
        self.counts.replayed += 1;
        match (parted, place) {
            (true, Some(place)) => {
                self.counts.silent += 1;
                *self.counts.silent_places.entry(place).or_default() += 1;
            }
            (true, None) => self.counts.silent += 1,
            (false, Some(_)) => self.counts.together += 1,
            (false, None) => {}
        }
    }

    pub(super) fn take_counts(&mut self, counts: Counts) {
        let totals = &mut self.counts;
        totals.runs += counts.runs;
        totals.undecided += counts.undecided;
        totals.left_out += counts.left_out;
        totals.cost.one += counts.cost.one;
        totals.cost.both += counts.cost.both;
        for (name, count) in counts.losses {
            *totals.losses.entry(name).or_default() += count;
        }
        for paths in counts.paths {
            totals.pairs += u64::from(self.shared.paths.insert(self.issued, paths));
        }
        self.limits.hit_by(Limit::Decisions, counts.cut);
        for index in counts.settled {
            self.settle(index);
        }
        for (index, error) in counts.left {
            self.observer.left_out(index, &error);
        }
    }
}
