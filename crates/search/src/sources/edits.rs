//! Entries with one thing changed: an option or a word, what the program finds around it, its data.
//!
//! Every change is tried with the most different entries before any is tried with all of them. Changes that showed something new
//! with one entry come earlier with the others.

use std::collections::{HashMap, VecDeque};

use parallax_scenario::Component;

use super::variations::{kind, tiered};
use super::{Context, Proposal, Source};
use crate::core::corpus::{Corpus, EntryId};
use crate::core::random::Random;
use crate::edit::Edit;

/// Which changes a source makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Options, arguments, their order.
    Words,
    /// Files, streams, permissions, environment.
    World,
    /// Contents of what is read.
    Data,
}

impl Of {
    fn is_about(self, edit: &Edit) -> bool {
        let of = match edit {
            Edit::Words { .. }
            | Edit::Instead { .. }
            | Edit::Without { .. }
            | Edit::Move { .. }
            | Edit::Rename { .. } => Of::Words,
            Edit::Bytes {
                component: Component::Argument(_),
                ..
            } => Of::Words,
            Edit::Bytes { .. } => Of::Data,
            Edit::File { .. }
            | Edit::Alias { .. }
            | Edit::Copy { .. }
            | Edit::Nested { .. }
            | Edit::Mode { .. }
            | Edit::Output { .. }
            | Edit::Messages { .. }
            | Edit::ClosedInput
            | Edit::PipedInput
            | Edit::Variable { .. } => Of::World,
        };
        of == self
    }
}

/// Entries whose changes are in memory at a time.
const ACTIVE: usize = 32;
/// Changes on top of each other.
const DEEPEST: u32 = 4;
/// A likely change is tried with so many entries before a less likely one is tried at all.
const TIER: i64 = 8;
/// What a change that showed something new is worth.
const WORTH: i64 = 4;

/// See the module's description.
pub struct Edits {
    of: Of,
    /// Bases before this one have had a turn.
    next: usize,
    active: VecDeque<Base>,
    tries: HashMap<u64, i64>,
}

struct Base {
    entry: EntryId,
    edits: Vec<(i64, Edit)>,
}

impl Edits {
    pub fn new(of: Of) -> Edits {
        Edits {
            of,
            next: 0,
            active: VecDeque::new(),
            tries: HashMap::new(),
        }
    }

    /// Brings entries in that have not had a turn.
    fn fill(&mut self, corpus: &Corpus, context: &Context<'_>) {
        while self.active.len() < ACTIVE && self.next < corpus.bases.len() {
            let id = corpus.bases[self.next];
            let entry = &corpus.entries[id];
            if entry.generation <= DEEPEST {
                let edits = tiered(&entry.scenario, context.vocabulary).into_iter();
                let edits: Vec<(i64, Edit)> = edits
                    .filter(|(_, edit)| self.of.is_about(edit))
                    .map(|(tier, edit)| (i64::from(tier) * TIER, edit))
                    .collect();
                let base = Base { entry: id, edits };
                // What is new is changed next.
                match entry.generation {
                    0 => self.active.push_back(base),
                    _ => self.active.push_front(base),
                }
            }
            self.next += 1;
        }
    }
}

impl Source for Edits {
    fn name(&self) -> &'static str {
        match self.of {
            Of::Words => "options and words",
            Of::World => "world",
            Of::Data => "data",
        }
    }

    fn is_ready(&self, corpus: &Corpus) -> bool {
        !self.active.is_empty() || self.next < corpus.bases.len()
    }

    fn propose(
        &mut self,
        corpus: &mut Corpus,
        context: &Context<'_>,
        _random: &mut Random,
        count: usize,
    ) -> Vec<Proposal> {
        self.fill(corpus, context);
        let Some(mut base) = self.active.pop_front() else {
            return Vec::new();
        };
        let tries = &self.tries;
        let rank = |(tier, edit): &(i64, Edit)| tier + tries.get(&kind(edit)).copied().unwrap_or(0);
        base.edits.sort_by_cached_key(rank);
        let taken: Vec<(i64, Edit)> = base.edits.drain(..count.min(base.edits.len())).collect();
        let entry = &mut corpus.entries[base.entry];
        entry.turns += 1;
        let mut made = Vec::new();
        for (_, edit) in taken {
            let kind = kind(&edit);
            *self.tries.entry(kind).or_default() += 1;
            if let Some(scenario) = edit.apply(&entry.scenario)
                && context.shape.accepts(&scenario)
            {
                made.push(Proposal {
                    scenario,
                    parent: base.entry,
                    kind,
                });
            }
        }
        if !base.edits.is_empty() {
            self.active.push_back(base);
        }
        made
    }

    fn learn(&mut self, kind: u64, was_new: bool) {
        if was_new {
            *self.tries.entry(kind).or_default() -= WORTH;
        }
    }
}
