//! What a search looks for.
//!
//! A goal says what a run is worth ([`Goal::observe`]) and which alternatives to try next ([`Goal::choose`]). It proposes nothing that
//! only it could use: every input, whoever made it, is run natively and shown to all goals, and every trace is offered to all of
//! them. Goals do not know each other.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_abi::SiteId;
use parallax_exec::coverage::Counter;
use parallax_exec::finding::{Key, Problem};
use parallax_exec::replay::ReplayError;
use parallax_exec::run::End;
use parallax_exec::sites::SiteMap;
use parallax_scenario::Scenario;
use rustc_hash::FxHashSet;

use super::alternative::Alternative;
use super::corpus::{Corpus, EntryId};
use super::limits::Limits;
use super::minimise::Minimiser;
use crate::diverge::triage::Shown;
use crate::engine::Phase;
use crate::sources::Proposal;
use crate::worker::{Rigour, Traced};

/// Who made an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// It was given.
    User,
    /// A source with this name.
    Source(&'static str),
    /// A goal chose it, or an alternative that it takes.
    Goal,
}

/// An input that was run natively.
pub struct Observation<'o> {
    pub scenario: &'o Arc<Scenario>,
    pub maker: Maker,
    /// The entry that it was made from; `None` if it was given.
    pub parent: Option<EntryId>,
    /// What the new version executed, and how often; nothing if no build counts.
    pub ran: &'o [(Counter, u32)],
    /// How the new version ended; `None` if it was not run natively.
    pub end: Option<End>,
    /// Whether the versions behaved differently.
    pub differs: bool,
    /// Whether a version had to be ended because it took too long.
    pub hung: bool,
}

/// What a run is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Worth {
    /// In things that were never seen before.
    pub gain: f64,
    /// Whether sources should change it further, and it should be traced.
    pub keep: bool,
    /// Whether it should be an entry, though sources need not change it, and it is only traced if a goal asks for that.
    pub enter: bool,
    /// Whether it should be run on all builds, to see if something is wrong with it.
    pub look: bool,
    /// Whether that should be done before anything else, and before the search ends.
    pub soon: bool,
    /// Whether it is worth keeping for the user.
    pub test: bool,
}

impl Worth {
    pub fn add(&mut self, other: Worth) {
        self.gain += other.gain;
        self.keep |= other.keep;
        self.enter |= other.enter;
        self.look |= other.look;
        self.soon |= other.soon;
        self.test |= other.test;
    }
}

/// An entry that was traced.
pub struct Path<'p> {
    pub entry: EntryId,
    pub scenario: &'p Arc<Scenario>,
    pub traced: &'p Arc<Traced>,
    pub sites: &'p SiteMap,
    pub end: End,
    /// Whether no run before decided the same.
    pub is_new: bool,
    /// Whether nothing may be made from it, because it is too far from what was given.
    pub is_last: bool,
    /// At its branches and operations, in the order of the path.
    pub alternatives: &'p [Alternative],
    /// Steps from a given input.
    pub generation: u32,
    /// Functions that are not the same in both versions.
    pub changed: &'p FxHashSet<String>,
}

/// What to do next.
pub enum Work {
    /// Make inputs that take these alternatives, of any entries.
    Turn {
        alternatives: Vec<Alternative>,
        /// See [`super::turn::Turn::regenerate`].
        regenerate: bool,
    },
    /// The same without regeneration, for inputs that have no more in common with the entry's run than this says.
    Solve {
        alternatives: Vec<Alternative>,
        rigour: Rigour,
        /// Otherwise it is only asked whether there are such inputs.
        is_run: bool,
    },
    /// Run inputs that need no solver.
    Try(Vec<Proposal>),
    /// Trace an entry that was not, or whose trace was let go.
    Trace(EntryId),
}

/// What became of an alternative.
#[derive(Clone, Debug)]
pub enum Came {
    /// It contradicts what was decided at these sites.
    Infeasible {
        against: Vec<SiteId>,
    },
    Undecided,
    /// There is an input that takes it; no more was asked.
    Feasible,
    /// The input that would take it may not be made, or was run before, or cannot be run.
    Rejected,
    /// An input was run.
    Ran {
        entry: EntryId,
        /// Whether it went where it should; `None` if nothing was said.
        went: Option<bool>,
        /// What had been decided before and was given up for it.
        gave_up: Option<Vec<SiteId>>,
    },
}

/// Looks at inputs with means of its own, in the slots and so in parallel; goals hear what it saw.
pub trait Examiner: Sync {
    /// Looks at an input, with its trace if it was traced. No run may take longer than `limit`, nor go on after `until`.
    fn examine(
        &self,
        scenario: &Scenario,
        traced: Option<&Traced>,
        limit: Duration,
        until: Option<Instant>,
    ) -> Option<Examined>;
}

/// What an [`Examiner`] saw. A goal knows what its own examiner's type is.
pub type Examined = Arc<dyn Any + Send + Sync>;

/// See the module's description.
pub trait Goal {
    fn name(&self) -> &'static str;

    /// What inputs that it chooses are made by.
    fn phase(&self) -> Phase {
        Phase::Branches
    }

    /// Looks at an input that was run natively.
    fn observe(&mut self, run: &Observation<'_>) -> Worth;

    /// An input that was observed last has become this entry.
    fn entered(&mut self, _entry: EntryId, _corpus: &Corpus) {}

    /// What the examiner saw of an entry that was traced. Called for every trace, also of a path that is known, before
    /// [`Goal::take_path`]. If it should be looked at, that is done at once.
    fn examined(&mut self, _entry: EntryId, _seen: &Examined, _corpus: &Corpus) -> Worth {
        Worth::default()
    }

    /// Takes those alternatives of a path that it may want to try. The path is new to the search.
    fn take_path(&mut self, path: &Path<'_>, corpus: &Corpus, limits: &mut Limits) -> Worth;

    /// An entry takes the same path as another, which was shown: nothing about it is new.
    fn same_path(&mut self, _entry: EntryId, _shown: EntryId) {}

    /// An entry was traced, and its path is not new to the search; or it could not be traced.
    fn take_trace(&mut self, _entry: EntryId, _traced: Option<&Arc<Traced>>, _corpus: &Corpus) {}

    /// Whether there is anything to try.
    fn is_ready(&self) -> bool;

    /// What to try next, at most so much.
    fn choose(&mut self, most: usize, corpus: &Corpus) -> Option<Work>;

    /// What became of an alternative that it chose.
    fn tried(&mut self, _alternative: &Alternative, _came: &Came, _corpus: &Corpus) {}

    /// What an input was confirmed to show on all builds of both versions, if anything, and what the examiner saw of it.
    fn confirmed(
        &mut self,
        _scenario: &Arc<Scenario>,
        _shown: Option<&Shown>,
        _seen: Option<&Examined>,
    ) {
    }

    /// The search of two versions is over. Makes inputs small that the goal reports by itself; gives the keys of what they show, so
    /// that it is not done once more.
    fn finish(&mut self, _minimiser: &Minimiser<'_>) -> Result<Vec<String>, ReplayError> {
        Ok(Vec::new())
    }

    /// A given input has been traced, or cannot be; so many have not.
    fn given_left(&mut self, _left: usize) {}

    /// What is wrong with an entry has been looked at on all builds; which of that it shows better than what was found before.
    fn looked(&mut self, _entry: EntryId, _problems: &[Problem]) -> Vec<Key> {
        Vec::new()
    }

    /// What its choices are expected to yield, in comparison with other kinds of work.
    fn expected(&self) -> f64 {
        1.0
    }

    /// Alternatives that wait to be tried.
    fn open(&self) -> u64;

    /// Whether nothing more is wanted.
    fn is_reached(&self) -> bool {
        false
    }
}
