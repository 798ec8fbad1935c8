//! Who has the next turn in a comparison, and what becomes of what comes back.
//!
//! Given inputs are run natively first, before anything is traced. Then kinds of work take turns by what they yielded for their
//! cost ([`crate::core::schedule`]): sources that need no trace, looking closer at inputs that differ or ran something new, and the
//! turns of the traced comparison ([`super::comparer`]). Every input that anybody made is run on the native builds; if it executed
//! something new in either version, or the versions end in a new combination of ways, it becomes an entry of the corpus that all
//! sources change further, and a start for the traced comparison.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_scenario::Scenario;

use super::clusters::Clusters;
use super::given::Given;
use super::interface::{Cost, DivergeError, Ended, Observer, Options, Phase, Progress};
use super::native::{Attempt, Shared};
use super::task::{Done, State, Suspect, Task, What};
use super::walk::Place;
use super::{Preparation, Prepared, SLOTS};
use crate::core::corpus::{Corpus, InputId};
use crate::core::hangs::Hangs;
use crate::core::pipeline::{Director, Next};
use crate::core::random::Random;
use crate::core::schedule::Schedule;
use crate::sources::edits::{Edits, Of};
use crate::sources::mutate::Mutate;
use crate::sources::numbers::Numbers;
use crate::sources::vocabulary::Vocabulary;
use crate::sources::{Context, Source};

/// Inputs of a source that are run in one turn.
const BATCH: usize = 16;
/// What a finding is worth, in inputs that ran something new.
const FINDING: f64 = 20.0;
/// Inputs in a row that show nothing new after which mutation has had its chance, if nothing else is left.
const QUIET: u64 = 512;
/// Inputs that wait to be looked at closer, and to be traced by one slot.
pub(super) const MOST_SUSPECTS: usize = 4096;
pub(super) const MOST_FED: usize = 64;
/// Inputs whose differences look alike that are looked at closer, whatever their size.
pub(super) const MOST_ALIKE: u32 = 24;
/// Runs in a row that failed for our own reasons after which it is no use to go on.
pub(super) const MOST_FAILED: u64 = 32;

/// What a run is taken to cost where time does not count.
pub(super) const USUAL: Duration = Duration::from_millis(1);

/// Kinds of work beside the sources, by their numbers in the schedule.
const SOURCES: [Phase; 5] = [
    Phase::Words,
    Phase::World,
    Phase::Data,
    Phase::Numbers,
    Phase::Mutate,
];
pub(super) const TRACED: [Phase; 4] =
    [Phase::Given, Phase::Concolic, Phase::Bounded, Phase::Common];
/// Looking closer.
const JUDGE: usize = SOURCES.len();
const LANES: usize = JUDGE + 1 + TRACED.len();
const MUTATE: usize = 4;

/// Order among suspects: how often the like of it was seen, whether it only ran something new, its size, its number.
pub(super) type Rank = (u32, bool, usize, u64);

/// A comparison under way.
pub(super) struct Searching<'d, 'v, 'o> {
    pub options: &'d Options,
    pub shared: &'d Shared,
    pub(super) preparation: &'d Preparation<'v>,
    pub(super) prepared: Option<&'d Prepared<'d>>,
    pub observer: &'o mut dyn Observer,
    pub started: Instant,
    pub(super) nothing: Vocabulary,
    pub(super) corpus: Corpus,
    pub(super) sources: [Box<dyn Source>; SOURCES.len()],
    pub(super) schedule: Schedule,
    pub(super) random: Random,
    pub(super) hangs: Hangs,
    /// The longest run of a given input.
    pub(super) slowest: Duration,
    /// Given inputs that have not been run, and all of them.
    pub(super) waiting: VecDeque<usize>,
    pub(super) seeds: Vec<Arc<Scenario>>,
    pub(super) suspects: BTreeMap<Rank, Suspect>,
    /// How often differences were seen, and the size of the smallest input.
    pub(super) differences: HashMap<u64, (u32, usize)>,
    /// Inputs to be traced, by slot, and what is left to do there.
    pub(super) feed: Vec<VecDeque<Given>>,
    pub(super) states: Vec<State>,
    pub(super) issued: u64,
    /// Inputs in a row that showed nothing new.
    pub(super) quiet: u64,
    pub(super) failed: u64,
    pub clusters: Clusters,
    pub counts: Totals,
    pub(super) settled: HashSet<usize>,
    pub(super) error: Option<DivergeError>,
    pub(super) ended: Option<Ended>,
    pub(super) lane: usize,
    pub found: [(u64, u64); LANES],
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub divergences: BTreeMap<Phase, u64>,
    pub silent: u64,
    pub silent_places: HashMap<Place, u64>,
    pub replayed: u64,
    pub together: u64,
    pub inputs: u64,
    pub runs: u64,
    pub undecided: u64,
    pub left_out: u64,
    pub cut: u64,
    pub flaky: u64,
    pub losses: BTreeMap<String, u64>,
    pub cost: Cost,
    pub paths: u64,
}

impl<'d, 'v, 'o> Searching<'d, 'v, 'o> {
    pub fn new(
        options: &'d Options,
        shared: &'d Shared,
        preparation: &'d Preparation<'v>,
        observer: &'o mut dyn Observer,
    ) -> Searching<'d, 'v, 'o> {
        let seeds: Vec<Arc<Scenario>> = options.seeds.iter().cloned().map(Arc::new).collect();
        Searching {
            options,
            shared,
            preparation,
            prepared: None,
            observer,
            started: Instant::now(),
            nothing: Vocabulary::default(),
            corpus: Corpus::default(),
            sources: [
                Box::new(Edits::new(Of::Words)),
                Box::new(Edits::new(Of::World)),
                Box::new(Edits::new(Of::Data)),
                Box::new(Numbers::default()),
                Box::new(Mutate),
            ],
            schedule: Schedule::new(LANES),
            random: Random::new(options.explore.seed),
            hangs: Hangs::default(),
            slowest: Duration::ZERO,
            waiting: (0..seeds.len()).collect(),
            seeds,
            suspects: BTreeMap::new(),
            differences: HashMap::new(),
            feed: (0..SLOTS).map(|_| VecDeque::new()).collect(),
            states: vec![State::default(); SLOTS],
            issued: 0,
            quiet: 0,
            failed: 0,
            clusters: Clusters::default(),
            counts: Totals::default(),
            settled: HashSet::new(),
            error: None,
            ended: None,
            lane: 0,
            found: [(0, 0); LANES],
        }
    }

    /// Why it has to end now, if it has.
    fn is_over(&mut self) -> Option<Ended> {
        if self.observer.stop() {
            self.shared.budget.stop.request();
            return Some(Ended::Stopped);
        }
        let budget = &self.shared.budget;
        if budget.runs.is_some_and(|runs| self.counts.runs >= runs) {
            return Some(Ended::Runs);
        }
        budget.is_late().then_some(Ended::Time)
    }

    /// Takes in what was prepared, as soon as it is there.
    fn look_for_preparation(&mut self) {
        if self.prepared.is_some() {
            return;
        }
        match self.preparation.get() {
            Some(Some(prepared)) => {
                self.prepared = Some(prepared);
                if let Err(error) = self.shared.prepared(prepared, self.options) {
                    self.error.get_or_insert(error);
                }
                self.shared.budget.begin();
            }
            Some(None) => self.shared.budget.begin(),
            None => {}
        }
    }

    fn is_preparing(&self) -> bool {
        self.preparation.get().is_none()
    }

    fn task(&mut self, lane: usize, what: What) -> Task<'d> {
        let task = Task {
            lane,
            moment: self.issued,
            shared: self.shared,
            options: self.options,
            prepared: self.prepared,
            limit: Attempt::limit(self.slowest, self.options.explore.settings.timeout),
            what,
        };
        self.issued += 1;
        task
    }

    /// Given inputs that have not been run.
    fn given(&mut self) -> Option<What> {
        let mut attempts = Vec::new();
        while attempts.len() < BATCH
            && let Some(index) = self.waiting.pop_front()
        {
            let seed = Arc::clone(&self.seeds[index]);
            if !self
                .shared
                .inputs
                .insert(self.issued + 1, InputId::of(&seed))
            {
                self.settle(index);
                continue;
            }
            let limit = self.options.explore.settings.timeout;
            attempts.push(Attempt {
                generation: 0,
                kind: index as u64,
                ..Attempt::new((*seed).clone(), &seed, limit)
            });
        }
        (!attempts.is_empty()).then_some(What::Try(attempts))
    }

    /// What a source proposes that has not been run.
    fn propose(&mut self, lane: usize) -> What {
        let options = self.options;
        let context = Context {
            vocabulary: match self.prepared {
                Some(prepared) => &prepared.vocabulary,
                None => &self.nothing,
            },
            shape: &options.explore.shape,
        };
        let source = &mut self.sources[lane];
        let proposals = source.propose(&mut self.corpus, &context, &mut self.random, BATCH);
        let most = options.explore.settings.timeout;
        let mut attempts = Vec::new();
        for proposal in proposals {
            let id = InputId::of(&proposal.scenario);
            if !self.shared.inputs.insert(self.issued + 1, id)
                || self.hangs.avoids(&proposal.scenario, proposal.kind)
            {
                self.quiet += u64::from(lane == MUTATE);
                continue;
            }
            let parent = &self.corpus.entries[proposal.parent];
            attempts.push(Attempt {
                generation: parent.generation + 1,
                parent: Some(proposal.parent),
                kind: proposal.kind,
                ..Attempt::new(
                    proposal.scenario,
                    &parent.seed,
                    Attempt::limit(parent.time, most),
                )
            });
        }
        What::Try(attempts)
    }

    fn is_ready(&self, lane: usize, slot: usize) -> bool {
        if lane != JUDGE && self.options.without.contains(&phase_of(lane, 1)) {
            return false;
        }
        if lane < JUDGE {
            return self.sources[lane].is_ready(&self.corpus);
        }
        if lane == JUDGE {
            return !self.suspects.is_empty();
        }
        let traced = lane - JUDGE - 1;
        let has_feed = TRACED[traced] == Phase::Given && !self.feed[slot].is_empty();
        self.prepared.is_some() && (self.states[slot].has[traced] || has_feed)
    }

    /// Whether nothing is left but random changes, which had their chance.
    fn is_exhausted(&self) -> bool {
        let others = (0..LANES).filter(|lane| *lane != MUTATE);
        let mut ready = others.filter(|lane| (0..SLOTS).any(|slot| self.is_ready(*lane, slot)));
        let is_quiet = self.quiet >= QUIET || !(0..SLOTS).any(|slot| self.is_ready(MUTATE, slot));
        ready.next().is_none() && is_quiet
    }

    /// The next input that is to be looked at closer.
    fn look_closer(&mut self) -> Next<Task<'d>> {
        match self.suspects.pop_first() {
            Some((_, suspect)) => Next::Task(self.task(JUDGE, What::Judge(Box::new(suspect)))),
            None => Next::Wait,
        }
    }

    pub(super) fn settle(&mut self, index: usize) {
        if self.settled.insert(index) {
            self.observer.settled(index);
        }
    }

    pub fn error(&mut self) -> Option<DivergeError> {
        self.error.take()
    }

    pub fn ended(&self) -> Ended {
        self.ended.unwrap_or(Ended::Exhausted)
    }

    /// Functions whose code is not the same.
    pub fn changed(&self) -> Vec<String> {
        self.prepared.map_or(Vec::new(), |prepared| {
            prepared.versions.correspondence.changed.clone()
        })
    }

    /// Inputs that were left out because they would not end, and the time of those that did not.
    pub fn hangs(&self) -> (u64, Duration) {
        (self.hangs.avoided, self.hangs.time())
    }

    pub fn spent(&self, lane: usize) -> (f64, u64) {
        let spent = self.schedule.spent(lane);
        (spent.cost, spent.turns)
    }

    fn tell(&mut self) {
        let progress = Progress {
            phase: phase_of(self.lane, 1),
            inputs: self.counts.inputs,
            runs: self.counts.runs,
            divergences: self.counts.divergences.values().sum(),
            clusters: self.clusters.list.len() as u64,
            open: self.states.iter().map(|state| state.open).sum(),
        };
        self.observer.progress(&progress);
    }
}

/// The names of kinds of work, by number.
pub(super) fn lane_names() -> [&'static str; LANES] {
    let mut names = ["look closer"; LANES];
    for (name, phase) in names.iter_mut().zip(SOURCES) {
        *name = phase.name();
    }
    for (name, phase) in names[JUDGE + 1..].iter_mut().zip(TRACED) {
        *name = match phase {
            Phase::Given => "trace",
            phase => phase.name(),
        };
    }
    names
}

pub(super) fn phase_of(lane: usize, generation: u32) -> Phase {
    match (generation, lane) {
        (0, _) => Phase::Given,
        (_, lane) if lane < JUDGE => SOURCES[lane],
        (_, lane) if lane > JUDGE => TRACED[lane - JUDGE - 1],
        _ => Phase::Given,
    }
}

impl<'d> Director for Searching<'d, '_, '_> {
    type Task = Task<'d>;
    type Outcome = Done;

    fn next(&mut self, slot: usize, under_way: usize) -> Next<Task<'d>> {
        if self.error.is_some() {
            return Next::Done;
        }
        if let Some(ended) = self.is_over() {
            self.ended = Some(ended);
            return Next::Done;
        }
        self.look_for_preparation();
        // Without a clock, what comes when must not depend on how fast variants are made.
        if self.is_preparing() && !self.shared.budget.is_timed() {
            return Next::Wait;
        }
        if let Some(given) = self.given() {
            return Next::Task(self.task(MUTATE, given));
        }
        // A difference of a kind that nobody has looked at comes before everything else.
        let is_urgent = |rank: &Rank| rank.0 == 0;
        let first = self.suspects.first_key_value();
        if first.is_some_and(|(rank, _)| is_urgent(rank)) {
            return self.look_closer();
        }
        // Nothing comes that could make more of them.
        if matches!(self.preparation.get(), Some(None)) {
            return match under_way > 0 || !self.suspects.is_empty() {
                true => self.look_closer(),
                false => Next::Done,
            };
        }
        if self.is_exhausted() {
            return match under_way > 0 || self.is_preparing() {
                true => Next::Wait,
                false => Next::Done,
            };
        }
        let mut schedule = std::mem::replace(&mut self.schedule, Schedule::new(0));
        let lane = schedule.choose(|lane| self.is_ready(lane, slot));
        self.schedule = schedule;
        let Some(lane) = lane else {
            // This slot has nothing to do, but others may.
            return match under_way > 0 {
                true => Next::Wait,
                false => Next::Task(self.task(MUTATE, What::Try(Vec::new()))),
            };
        };
        self.lane = lane;
        let what = match lane {
            lane if lane < JUDGE => self.propose(lane),
            JUDGE => match self.suspects.pop_first() {
                Some((_, suspect)) => What::Judge(Box::new(suspect)),
                None => What::Try(Vec::new()),
            },
            lane => {
                let phase = TRACED[lane - JUDGE - 1];
                let feed = self.feed[slot].drain(..).collect();
                What::Step { phase, feed }
            }
        };
        Next::Task(self.task(lane, what))
    }

    fn take(&mut self, done: Done) {
        let Done {
            lane,
            slot,
            seconds,
            tried,
            met,
            counts,
            state,
            error,
        } = done;
        let inputs = tried.len();
        let runs = counts.runs;
        let looks = met.len();
        if let Some(state) = state {
            self.states[slot] = state;
        }
        self.take_counts(counts);
        let mut gain = 0.0;
        for tried in tried {
            let kind = tried.attempt.kind;
            let is_new = self.take_tried(tried, lane);
            gain += f64::from(u8::from(is_new));
            self.found[lane].0 += u64::from(is_new);
            if let Some(source) = self.sources.get_mut(lane) {
                source.learn(kind, is_new);
            }
            self.quiet = match is_new {
                true => 0,
                false => self.quiet + u64::from(lane == MUTATE),
            };
        }
        for met in met {
            self.shared
                .inputs
                .insert(self.issued, InputId::of(&met.scenario));
            if self.take_met(met, lane) {
                gain += FINDING;
                self.quiet = 0;
            }
        }
        let cost = match self.shared.budget.is_timed() {
            true => seconds,
            false => (2 * inputs + 4 * runs as usize + 40 * looks) as f64 / 1000.0,
        };
        self.schedule.charge(lane, cost, gain);
        if let Some(error) = error {
            self.fail(error, None);
        }
        self.tell();
    }

    fn idle(&mut self) {
        self.look_for_preparation();
        if self.observer.stop() {
            self.shared.budget.stop.request();
        }
    }
}
