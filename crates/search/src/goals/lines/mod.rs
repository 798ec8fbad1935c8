//! Lines: inputs that reach given places in the program.
//!
//! Every decision of a run could have gone otherwise; the static analysis says how many decisions then lie between there
//! and the target. The nearest way is tried first, from any run so far ([`queue`]): this is KATCH's greedy step, with the
//! whole tree of paths kept. A way that contradicts what was decided before it is tried again without the
//! last decision that it contradicts, and so on (informed path regeneration). Where a condition does not depend on input bytes, what
//! defines its variables becomes an aim of its own ([`aims`], [`remedies`]: definition switching). Where branches do not
//! help, the input gets another structure.
//!
//! All targets are searched for at once: whatever makes an input, every run is checked for all of them, and a target counts as reached
//! when a run of the covered program says so. Alternatives are chosen for one target at a time ([`focus`]); targets take turns that
//! grow, so that one that cannot be reached does not use up everything.

/// What focuses see of everything. A macro, because it borrows some fields only.
macro_rules! view {
    ($lines:ident, $corpus:expr) => {
        View {
            around: &$lines.around,
            corpus: $corpus,
            known: &$lines.known,
            traced: &$lines.traced,
        }
    };
}

mod aims;
mod choosing;
mod compared;
mod focus;
mod history;
mod interface;
mod queue;
mod ran;
mod remedies;
mod shape;
mod starts;
mod structure;
mod targets;
mod ways;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use parallax_abi::SiteId;
use parallax_analysis::Analysis;
use parallax_analysis::effects::Effects;
use parallax_exec::coverage::Counter;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::core::alternative::{Alternative, original};
use crate::core::corpus::{Corpus, Entry, EntryId, InputId};
use crate::core::goal::{Came, Goal, Maker, Observation, Path, Work, Worth};
use crate::core::guide::Standings;
use crate::core::limits::Limits;
use crate::engine::Phase;
use crate::explore::Shape;
use crate::worker::Traced;
use focus::{Around, Focus, Known, Memory, View};
use history::Origin;
pub use interface::{
    Aims, Discovery, Heuristic, Inbox, Means, Obstacle, Outcome, Reached, Step, Verdict,
};
use queue::Way;
use ran::{Counters, Ran};
use remedies::{Adviser, Facts};
use targets::Targets;

/// What is not reached by trying what there is needs most of the time.
const EXPECTED: f64 = 6.0;
/// What it is worth to reach a target, in inputs that ran something new.
const REACHED: f64 = 3.0;

/// An input that was observed last.
#[derive(Default)]
struct Last {
    counters: Vec<Counter>,
    origin: Option<Origin>,
    is_own: bool,
}

/// See the module's description.
pub struct Lines<'c> {
    around: Around<'c>,
    targets: Targets,
    memory: Memory,
    /// Entries of the corpus, and what they executed.
    known: Vec<Known>,
    distinct: FxHashSet<Rc<Ran>>,
    /// Hashes of what runs executed, and how often.
    profiles: FxHashSet<u64>,
    focus: Option<Focus<'c>>,
    /// The one that rests longest first.
    resting: VecDeque<Focus<'c>>,
    /// Ways that were tried, by the path that they make; if that is infeasible, what it contradicts.
    tried: FxHashMap<u64, Option<Rc<[SiteId]>>>,
    /// What was chosen and has not come back: alternatives, each with the number of its target and of the choice; proposals; entries to be
    /// traced.
    turning: FxHashMap<u64, (usize, u64, Way)>,
    proposed: FxHashMap<InputId, Origin>,
    tracing: FxHashMap<EntryId, u64>,
    choices: u64,
    /// Alternatives that were chosen since an entry was.
    credit: usize,
    /// Entries that were traced, in order.
    traced: Vec<EntryId>,
    /// Counts entries and traces.
    news: u64,
    /// Chosen already.
    chosen: VecDeque<Work>,
    last: Last,
    /// Inputs that reached targets and were made by an alternative: which one is said later.
    unsaid: Vec<(usize, Option<EntryId>, Arc<Scenario>)>,
    inbox: Inbox,
    /// Nothing could be chosen, and nothing has happened since.
    is_dry: bool,
}

impl<'c> Lines<'c> {
    /// The tables are those of the covered program; what is reached comes to the inbox.
    pub fn new(
        analysis: &'c Analysis,
        effects: &'c Effects<'c>,
        sites: &'c SiteMap,
        tables: &[ModuleSites],
        shape: &'c Shape,
        aims: Aims,
        inbox: Inbox,
    ) -> Lines<'c> {
        let counters = Counters::new(tables, analysis);
        Lines {
            targets: Targets::new(&analysis.program, &counters, &aims),
            around: Around {
                adviser: Adviser::new(analysis, effects, Facts::of(analysis)),
                analysis,
                effects,
                sites,
                counters,
                shape,
                aims,
            },
            memory: Memory::default(),
            known: Vec::new(),
            distinct: FxHashSet::default(),
            profiles: FxHashSet::default(),
            focus: None,
            resting: VecDeque::new(),
            tried: FxHashMap::default(),
            turning: FxHashMap::default(),
            proposed: FxHashMap::default(),
            tracing: FxHashMap::default(),
            choices: 0,
            credit: 0,
            traced: Vec::new(),
            news: 0,
            chosen: VecDeque::new(),
            last: Last::default(),
            unsaid: Vec::new(),
            inbox,
            is_dry: false,
        }
    }

    /// What became of each target, and what else is worth starting from.
    pub fn finish(mut self) -> (Vec<Outcome>, Vec<Discovery>) {
        self.rest();
        let discoveries = self.discoveries();
        (self.targets.outcomes(&self.memory.decided), discoveries)
    }

    /// The target that is searched for.
    pub fn focus(&self) -> Option<usize> {
        self.focus.as_ref().map(|focus| focus.target)
    }

    /// Shows the path of an entry to the focus.
    fn show(&mut self, entry: EntryId, traced: &Traced, corpus: &Corpus) {
        self.is_dry = false;
        self.news += 1;
        self.traced.push(entry);
        self.tracing.remove(&entry);
        let view = view!(self, corpus);
        if let Some(focus) = &mut self.focus {
            focus.take_path(view, &mut self.memory, entry, traced);
        }
    }
}

impl Goal for Lines<'_> {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn phase(&self) -> Phase {
        Phase::Lines
    }

    fn observe(&mut self, run: &Observation<'_>) -> Worth {
        let own = match run.maker {
            Maker::Goal => self.proposed.remove(&InputId::of(run.scenario)),
            _ => None,
        };
        let origin = match (&own, run.maker) {
            (Some(origin), _) => Some(*origin),
            // Which alternative it takes is said later.
            (None, Maker::Goal) => None,
            (None, maker) => Some(Origin::of(maker)),
        };
        let reached = self.targets.reached_by(run.ran);
        for target in &reached {
            match origin {
                Some(origin) => self.say(*target, run.parent, Arc::clone(run.scenario), origin),
                None => {
                    let input = (*target, run.parent, Arc::clone(run.scenario));
                    self.unsaid.push(input);
                }
            }
        }
        let counters = &mut self.last.counters;
        counters.clear();
        counters.extend(run.ran.iter().map(|(counter, _)| *counter));
        self.last.origin = origin;
        self.last.is_own = own.is_some();
        // A structure that is run otherwise, if only more often, may lead on.
        let is_told_apart = own.is_some() || run.maker == Maker::Source("connections");
        let is_reached = !reached.is_empty();
        Worth {
            gain: REACHED * reached.len() as f64,
            keep: is_reached,
            enter: is_told_apart && self.profiles.insert(profile(run.ran)),
            look: is_reached,
            soon: is_reached,
            test: is_reached && run.maker != Maker::User,
        }
    }

    fn entered(&mut self, entry: EntryId, corpus: &Corpus) {
        self.is_dry = false;
        self.news += 1;
        let ran = Rc::new(self.around.counters.ran(&self.last.counters));
        let ran = match self.distinct.get(&ran) {
            Some(known) => Rc::clone(known),
            None => {
                self.distinct.insert(Rc::clone(&ran));
                ran
            }
        };
        let Entry {
            scenario, parent, ..
        } = &corpus.entries[entry];
        self.known.push(Known {
            scenario: Arc::clone(scenario),
            parent: *parent,
            ran,
            origin: self.last.origin.unwrap_or(Origin::of(Maker::Goal)),
        });
        let view = view!(self, corpus);
        if let Some(focus) = &mut self.focus {
            focus.enter(view, entry, self.last.is_own);
        }
    }

    fn take_path(&mut self, path: &Path<'_>, corpus: &Corpus, limits: &mut Limits) -> Worth {
        let (analysis, sites) = (self.around.analysis, self.around.sites);
        let mut standings = Standings::new(analysis, sites, path.traced);
        let mut known = FxHashSet::default();
        for decision in &path.traced.decisions {
            if known.insert((decision.site, decision.context)) {
                let place = standings.of(decision).place;
                self.memory.decided.insert(original(sites, place));
            }
        }
        self.show(path.entry, path.traced, corpus);
        limits.absorb(&std::mem::take(&mut self.memory.limits));
        Worth::default()
    }

    fn take_trace(&mut self, entry: EntryId, traced: Option<&Arc<Traced>>, corpus: &Corpus) {
        match traced {
            Some(traced) => self.show(entry, traced, corpus),
            None => {
                self.tracing.remove(&entry);
            }
        }
    }

    fn is_ready(&self) -> bool {
        !self.chosen.is_empty() || !self.is_dry && self.targets.has_open(self.news)
    }

    fn choose(&mut self, most: usize, corpus: &Corpus) -> Option<Work> {
        let work = self.next_work(most, corpus);
        self.is_dry = work.is_none();
        work
    }

    fn tried(&mut self, alternative: &Alternative, came: &Came, _corpus: &Corpus) {
        self.is_dry = false;
        let Some((target, _, way)) = self.turning.remove(&alternative.path) else {
            return;
        };
        self.targets.asked(target, matches!(came, Came::Ran { .. }));
        let is_place = alternative.change.has_place();
        let mut gave_up = false;
        match came {
            Came::Infeasible { against } => {
                let against: Rc<[SiteId]> = against.as_slice().into();
                if is_place {
                    self.targets
                        .failed(target, &way, Some(&against), &self.known);
                }
                self.tried.insert(way.path, Some(against));
            }
            // Nothing is asked here without running it.
            Came::Feasible => {}
            Came::Undecided => self.targets.failed(target, &way, None, &self.known),
            // An input would go there, but it may not be made, or it has been run and did not.
            Came::Rejected => {
                if is_place {
                    self.targets.failed(target, &way, None, &self.known);
                }
            }
            Came::Ran {
                entry,
                went,
                gave_up: against,
            } => {
                gave_up = against.is_some();
                if let Some(known) = self.known.get_mut(*entry) {
                    known.origin = Origin::by(&way, gave_up);
                }
                if let Some(against) = against {
                    self.targets
                        .failed(target, &way, Some(against), &self.known);
                } else if *went == Some(false) {
                    self.targets.failed(target, &way, None, &self.known);
                }
            }
        }
        let origin = Origin::by(&way, gave_up);
        for (target, parent, scenario) in std::mem::take(&mut self.unsaid) {
            self.say(target, parent, scenario, origin);
        }
    }

    fn expected(&self) -> f64 {
        EXPECTED
    }

    fn open(&self) -> u64 {
        self.focus.as_ref().map_or(0, Focus::open)
    }

    fn is_reached(&self) -> bool {
        self.targets.are_done()
    }
}

/// Names what a run executed, and how often.
fn profile(ran: &[(Counter, u32)]) -> u64 {
    let mut hasher = FxHasher::default();
    ran.hash(&mut hasher);
    hasher.finish()
}
