//! A search under way: everything that the director knows.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parallax_exec::finding::Finding;
use parallax_scenario::Scenario;
use rustc_hash::{FxHashMap, FxHashSet};

use super::checkpoint::Chapters;
use super::interface::{
    Cost, Ended, Excess, Flips, Miss, Observer, Options, Phase, Preparation, Prepared, Progress,
    SearchError,
};
use super::native::Shared;
use super::task::{State, Suspect};
use super::{COMPARED, SLOTS};
use crate::core::alternative::FixedValues;
use crate::core::corpus::{Corpus, EntryId, InputId};
use crate::core::goal::{Goal, Maker};
use crate::core::hangs::Hangs;
use crate::core::limits::Limits;
use crate::core::random::Random;
use crate::core::schedule::Schedule;
use crate::diverge::clusters::Clusters;
use crate::diverge::given::Given;
use crate::diverge::walk::Place;
use crate::sources::Source;
use crate::sources::connections::Connections;
use crate::sources::edits::{Edits, Of};
use crate::sources::mutate::Mutate;
use crate::sources::numbers::Numbers;
use crate::sources::splice::Splice;
use crate::sources::vocabulary::Vocabulary;

/// Sources, by their numbers in the schedule.
pub(super) const SOURCES: [Phase; 7] = [
    Phase::Connections,
    Phase::Words,
    Phase::World,
    Phase::Data,
    Phase::Numbers,
    Phase::Splice,
    Phase::Mutate,
];
pub(super) const MUTATE: usize = 6;

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Source(usize),
    /// Looking closer.
    Look,
    Trace,
    /// The alternatives of the goal with this number.
    Goal(usize),
    /// The comparison of both versions' traces.
    Compare(usize),
}

impl Lane {
    /// What it is expected to yield. Where the patch changed a condition is the first place to look.
    fn expected(&self, goals: &[&mut dyn Goal]) -> f64 {
        match self {
            Lane::Goal(goal) => goals[*goal].expected(),
            Lane::Compare(_) => 4.0,
            _ => 1.0,
        }
    }
}

/// Order among suspects: how often the like of it was seen, whether it only ran something new, its size, its number.
pub(super) type Rank = (u32, bool, usize, u64);

/// A search under way.
pub(super) struct Searching<'d, 'v, 'o, 'g> {
    pub options: &'d Options,
    pub shared: &'d Shared,
    pub preparation: &'d Preparation<'v>,
    pub prepared: Option<&'d Prepared<'d>>,
    pub goals: &'o mut [&'g mut dyn Goal],
    pub chapters: Chapters<'o>,
    pub observer: &'o mut dyn Observer,
    pub nothing: Vocabulary,
    pub corpus: Corpus,
    pub fixed: FixedValues,
    pub sources: [Box<dyn Source>; SOURCES.len()],
    pub lanes: Vec<Lane>,
    pub schedule: Schedule,
    pub random: Random,
    pub hangs: Hangs,
    /// The longest run of a given input.
    pub slowest: Duration,
    /// How many given inputs have not been traced, and the entries among them.
    pub given_left: usize,
    pub given: FxHashSet<EntryId>,
    /// Given inputs that have not been run, and all of them.
    pub waiting: VecDeque<usize>,
    pub seeds: Vec<Arc<Scenario>>,
    pub suspects: BTreeMap<Rank, Suspect>,
    /// All that ever were, each with whether there were sanitizers then and whether it was urgent.
    pub suspected: FxHashSet<(InputId, bool, bool)>,
    /// How often differences were seen, and the size of the smallest input.
    pub differences: HashMap<u64, (u32, usize)>,
    /// Entries that are to be traced.
    pub untraced: VecDeque<EntryId>,
    /// Inputs to be compared, by slot, and what is left to do there.
    pub feed: Vec<VecDeque<Given>>,
    pub states: Vec<State>,
    pub issued: u64,
    /// Traced runs that tasks under way make at most, each.
    pub planned: VecDeque<u64>,
    /// Inputs in a row that showed nothing new.
    pub quiet: u64,
    pub failed: u64,
    pub clusters: Clusters,
    pub findings: Vec<Finding>,
    /// Paths of the new version, and those with all addresses and sizes.
    pub paths: FxHashSet<u64>,
    pub exact_paths: FxHashMap<u64, EntryId>,
    pub counts: Totals,
    pub limits: Limits,
    pub settled: HashSet<usize>,
    /// Functions that are not the same in both versions, and whether sites are in one.
    pub changed: FxHashSet<String>,
    pub touched: FxHashMap<u64, bool>,
    pub error: Option<SearchError>,
    pub ended: Option<Ended>,
    pub lane: usize,
    /// Of each kind of work: inputs that showed something new, and findings.
    pub found: Vec<(u64, u64)>,
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Totals {
    pub divergences: BTreeMap<Phase, u64>,
    pub silent: u64,
    pub silent_places: HashMap<Place, u64>,
    pub replayed: u64,
    pub together: u64,
    /// Inputs that were run natively, and native runs that this took.
    pub inputs: u64,
    pub natives: u64,
    /// Traced runs.
    pub runs: u64,
    pub undecided: u64,
    pub left_out: u64,
    pub flaky: u64,
    pub unconfirmed: u64,
    pub tests: u64,
    pub covered: u64,
    pub queries: u64,
    pub losses: BTreeMap<String, u64>,
    pub limited: BTreeMap<Excess, u64>,
    pub cost: Cost,
    pub pairs: u64,
    pub flips: Flips,
    pub misses: Vec<Miss>,
    /// Whether an input that does not end was looked at.
    pub has_hang: bool,
}

impl<'d, 'v, 'o, 'g> Searching<'d, 'v, 'o, 'g> {
    pub fn new(
        options: &'d Options,
        shared: &'d Shared,
        preparation: &'d Preparation<'v>,
        goals: &'o mut [&'g mut dyn Goal],
        chapters: Chapters<'o>,
        observer: &'o mut dyn Observer,
    ) -> Searching<'d, 'v, 'o, 'g> {
        let seeds: Vec<Arc<Scenario>> = options.seeds.iter().cloned().map(Arc::new).collect();
        let mut lanes: Vec<Lane> = (0..SOURCES.len()).map(Lane::Source).collect();
        lanes.extend([Lane::Look, Lane::Trace]);
        lanes.extend((0..goals.len()).map(Lane::Goal));
        lanes.extend((0..COMPARED.len()).map(Lane::Compare));
        let expected = lanes.iter().map(|lane| lane.expected(goals));
        let expected: Vec<f64> = expected.collect();
        Searching {
            options,
            shared,
            preparation,
            prepared: None,
            goals,
            chapters,
            observer,
            nothing: Vocabulary::default(),
            corpus: Corpus::new(options.explore.trace_memory),
            fixed: FixedValues::default(),
            sources: [
                Box::new(Connections::default()),
                Box::new(Edits::new(Of::Words)),
                Box::new(Edits::new(Of::World)),
                Box::new(Edits::new(Of::Data)),
                Box::new(Numbers::default()),
                Box::new(Splice::default()),
                Box::new(Mutate),
            ],
            schedule: Schedule::new(&expected),
            random: Random::new(options.explore.seed),
            hangs: Hangs::default(),
            slowest: Duration::ZERO,
            given_left: seeds.len(),
            given: FxHashSet::default(),
            waiting: (0..seeds.len()).collect(),
            seeds,
            suspects: BTreeMap::new(),
            suspected: FxHashSet::default(),
            differences: HashMap::new(),
            untraced: VecDeque::new(),
            feed: (0..SLOTS).map(|_| VecDeque::new()).collect(),
            states: vec![State::default(); SLOTS],
            issued: 0,
            planned: VecDeque::new(),
            quiet: 0,
            failed: 0,
            clusters: Clusters::default(),
            findings: Vec::new(),
            paths: FxHashSet::default(),
            exact_paths: FxHashMap::default(),
            counts: Totals::default(),
            limits: Limits::default(),
            settled: HashSet::new(),
            changed: FxHashSet::default(),
            touched: FxHashMap::default(),
            error: None,
            ended: None,
            lane: 0,
            found: vec![(0, 0); lanes.len()],
            lanes,
        }
    }

    pub(super) fn settle(&mut self, index: usize) {
        if self.settled.insert(index) {
            self.observer.settled(index);
        }
    }

    pub fn ended(&self) -> Ended {
        self.ended.unwrap_or(Ended::Exhausted)
    }

    pub fn progress(&self) -> Progress {
        Progress {
            phase: self.phase_of(self.lane, 1),
            inputs: self.counts.inputs,
            runs: self.counts.runs,
            paths: self.paths.len() as u64,
            queries: self.counts.queries,
            covered: self.counts.covered,
            divergences: self.counts.divergences.values().sum(),
            findings: (self.clusters.list.len() + self.findings.len()) as u64,
            open: self.states.iter().map(|state| state.open).sum::<u64>()
                + self.goals.iter().map(|goal| goal.open()).sum::<u64>(),
        }
    }

    /// The names of kinds of work, by number.
    pub fn lane_names(&self) -> Vec<&'static str> {
        let name = |lane: &Lane| match *lane {
            Lane::Source(source) => SOURCES[source].name(),
            Lane::Look => "look closer",
            Lane::Trace => "trace",
            Lane::Goal(goal) => self.goals[goal].name(),
            Lane::Compare(phase) => match COMPARED[phase] {
                Phase::Given => "trace both versions",
                phase => phase.name(),
            },
        };
        self.lanes.iter().map(name).collect()
    }

    pub(super) fn phase_of(&self, lane: usize, generation: u32) -> Phase {
        match (generation, self.lanes[lane]) {
            (0, _) => Phase::Given,
            (_, Lane::Source(source)) => SOURCES[source],
            (_, Lane::Goal(goal)) => self.goals[goal].phase(),
            (_, Lane::Compare(phase)) => COMPARED[phase],
            (_, Lane::Look | Lane::Trace) => Phase::Given,
        }
    }

    /// Who made an input in a turn of this kind of work.
    pub(super) fn maker(&self, lane: usize, is_given: bool) -> Maker {
        match self.lanes[lane] {
            _ if is_given => Maker::User,
            Lane::Source(source) => Maker::Source(self.sources[source].name()),
            _ => Maker::Goal,
        }
    }

    /// The goal whose alternatives a kind of work tries.
    pub(super) fn goal_of(&self, lane: usize) -> Option<usize> {
        match self.lanes[lane] {
            Lane::Goal(goal) => Some(goal),
            _ => None,
        }
    }
}
