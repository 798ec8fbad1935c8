//! The search for one target: what it goes for, and which entries it starts from.
//!
//! A focus begins with the entries that came nearest to its target, of all that were run: their paths are looked at for what could
//! have gone otherwise ([`super::ways`]), and those whose traces are not there are traced. It lasts as long as the target's turn.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use parallax_abi::SiteId;
use parallax_analysis::effects::Effects;
use parallax_analysis::{Analysis, BlockId};
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use rustc_hash::FxHashSet;

use super::aims::{Aim, State, Waiting};
use super::history::Origin;
use super::ran::{Counters, Ran, Seen};
use super::remedies::Adviser;
use super::starts;
use super::{Aims, Heuristic};
use crate::core::alternative::FixedValues;
use crate::core::corpus::{Corpus, EntryId};
use crate::core::guide::{Guide, Target};
use crate::core::limits::Limits;
use crate::explore::Shape;
use crate::worker::Traced;

/// What all focuses work with.
pub struct Around<'c> {
    pub analysis: &'c Analysis,
    pub effects: &'c Effects<'c>,
    pub sites: &'c SiteMap,
    pub adviser: Adviser<'c>,
    pub counters: Counters,
    /// Inputs that may be made.
    pub shape: &'c Shape,
    pub aims: Aims,
}

impl Around<'_> {
    pub fn has(&self, heuristic: Heuristic) -> bool {
        self.aims.has(heuristic)
    }
}

/// An entry of the corpus, as this goal knows it.
pub struct Known {
    pub scenario: Arc<Scenario>,
    pub parent: Option<EntryId>,
    /// What it executed; the same for entries that executed the same.
    pub ran: Rc<Ran>,
    /// How it was made from its parent.
    pub origin: Origin,
}

/// What all focuses remember.
#[derive(Default)]
pub struct Memory {
    pub fixed: FixedValues,
    pub limits: Limits,
    /// Places in the program's own code at which input decided.
    pub decided: FxHashSet<SiteId>,
}

/// Everything that was run so far.
#[derive(Clone, Copy)]
pub struct View<'v, 'c> {
    pub around: &'v Around<'c>,
    pub corpus: &'v Corpus,
    pub known: &'v [Known],
    /// Entries that were traced, in order.
    pub traced: &'v [EntryId],
}

impl<'v> View<'v, '_> {
    pub fn scenario(&self, entry: EntryId) -> &'v Arc<Scenario> {
        &self.corpus.entries[entry].scenario
    }

    pub fn seen(&self, entry: EntryId) -> Seen<'v> {
        Seen {
            analysis: self.around.analysis,
            counters: &self.around.counters,
            ran: &self.known[entry].ran,
        }
    }

    /// An entry that ran a block.
    pub fn running(&self, block: BlockId) -> Option<EntryId> {
        self.known.iter().position(|known| known.ran.has(block))
    }
}

/// See the module's description.
pub struct Focus<'c> {
    /// Number of the target.
    pub target: usize,
    /// The first one is the target.
    pub aims: Vec<Aim<'c>>,
    pub(super) waiting: Vec<Waiting>,
    /// Blocks that are or were aims.
    pub(super) wanted: HashSet<BlockId>,
    /// Entries in which every option was tried.
    pub(super) swept: HashSet<EntryId>,
    /// How many ways of each kind were taken, so that aims take turns.
    pub(super) taken: [usize; 3],
    /// Changes that come before the next turn.
    pub(super) due: u32,
    /// Attempts that are left of its turn.
    pub left: u32,
    /// Entries before this one have been looked at, and so many that were traced.
    seen: usize,
    shown: usize,
    /// Paths that have been looked at, and entries whose paths have, or were to be.
    paths: FxHashSet<u64>,
    traced: FxHashSet<EntryId>,
    /// Entries whose paths are worth looking at, the nearest first.
    untraced: BTreeSet<(u32, EntryId)>,
}

impl<'c> Focus<'c> {
    pub fn new(around: &Around<'c>, number: usize, target: &Target) -> Focus<'c> {
        let blocks = target.blocks.clone();
        let guide = match around.has(Heuristic::Preconditions) {
            true => Guide::with_preconditions(around.analysis, around.effects, &blocks),
            false => Guide::plain(around.analysis, &blocks),
        };
        Focus {
            target: number,
            wanted: blocks.iter().copied().collect(),
            aims: vec![Aim::new(guide, blocks, 0)],
            waiting: Vec::new(),
            swept: HashSet::new(),
            taken: [0; 3],
            due: 0,
            left: 0,
            seen: 0,
            shown: 0,
            paths: FxHashSet::default(),
            traced: FxHashSet::default(),
            untraced: BTreeSet::new(),
        }
    }

    /// Looks at the entries that have come or were traced since its last turn, the nearest first.
    pub fn catch_up(&mut self, view: View<'_, 'c>, memory: &mut Memory) {
        for entry in self.seen..view.known.len() {
            self.note(view, entry);
        }
        let traced = view.traced[self.shown..].iter().copied();
        let new: BTreeSet<EntryId> = (self.seen..view.known.len()).chain(traced).collect();
        let new: Vec<EntryId> = new.into_iter().collect();
        (self.seen, self.shown) = (view.known.len(), view.traced.len());
        let guide = &self.aims[0].guide;
        let closest = new.iter().map(|entry| guide.closest(&view.seen(*entry)));
        let closest: Vec<_> = closest.collect();
        let weights = new.iter().map(|entry| weight(view.scenario(*entry)));
        let weights: Vec<_> = weights.collect();
        for (rank, index) in (0..).zip(starts::order(&closest, &weights)) {
            let entry = new[index];
            match view.corpus.traces.get(entry) {
                Some(traced) => self.take_path(view, memory, entry, &traced),
                None => {
                    self.untraced.insert((rank, entry));
                }
            }
        }
    }

    /// Takes note of an entry that has come; `is_own` says that it was made for this focus.
    pub fn enter(&mut self, view: View<'_, 'c>, entry: EntryId, is_own: bool) {
        self.seen = entry + 1;
        let distance = self.note(view, entry);
        let is_near = self.aims.iter().any(|aim| {
            let mut nearest = aim.nearest.iter();
            aim.state == State::Open && nearest.any(|(_, near)| *near == entry)
        });
        if is_own || is_near {
            let distance = distance.unwrap_or(super::ways::UNKNOWN);
            self.untraced.insert((distance, entry));
        }
    }

    /// Offers all ways in which an entry could have gone otherwise.
    pub fn take_path(
        &mut self,
        view: View<'_, 'c>,
        memory: &mut Memory,
        entry: EntryId,
        traced: &Traced,
    ) {
        self.traced.insert(entry);
        self.shown = view.traced.len();
        if self.paths.insert(traced.exact_path()) {
            self.offer_to(0..self.aims.len(), view, memory, entry, traced);
        }
    }

    /// The nearest entry whose trace is missing and nobody is making.
    pub fn take_untraced(&mut self, view: View<'_, 'c>, memory: &mut Memory) -> Option<EntryId> {
        while let Some((rank, entry)) = self.untraced.pop_first() {
            if self.traced.contains(&entry) {
                continue;
            }
            let known = &view.corpus.entries[entry];
            let is_coming = known.is_traced && !view.traced.contains(&entry);
            // What was made waits for the paths of what was given.
            if self.paths.is_empty() && known.generation > 0 && view.traced.is_empty() {
                self.untraced.insert((rank, entry));
                return None;
            }
            match view.corpus.traces.get(entry) {
                Some(traced) => self.take_path(view, memory, entry, &traced),
                None if is_coming => {}
                None => return Some(entry),
            }
        }
        None
    }

    pub fn open(&self) -> u64 {
        let queued = self.aims.iter().map(|aim| aim.queue.len() as u64);
        queued.sum::<u64>() + self.untraced.len() as u64
    }
}

/// How much there is to run: connections, which are waited for one after the other, count more than bytes.
fn weight(scenario: &Scenario) -> (usize, usize) {
    (scenario.streams.len(), scenario.size())
}
