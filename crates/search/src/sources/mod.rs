//! Where inputs come from.
//!
//! A source proposes inputs made from entries of the corpus. It knows nothing about goals: every input is run natively and
//! judged by all of them, and what it showed comes back as [`Source::learn`]. One file per idea; what they share (the words of a
//! program, the ways to spell an option) stands beside them.

pub mod connections;
pub mod edits;
pub mod mutate;
pub mod numbers;
pub mod spelling;
pub mod splice;
pub mod tokens;
pub mod variations;
pub mod vocabulary;

use parallax_scenario::Scenario;

use crate::core::corpus::{Corpus, EntryId};
use crate::core::random::Random;
use crate::explore::Shape;
use vocabulary::Vocabulary;

/// An input that is to be run.
#[derive(Clone, Debug)]
pub struct Proposal {
    pub scenario: Scenario,
    /// What it was made from.
    pub parent: EntryId,
    /// What kind of change it is: the same for changes of different inputs that are alike.
    pub kind: u64,
}

/// What sources work with.
#[derive(Clone, Copy)]
pub struct Context<'c> {
    pub vocabulary: &'c Vocabulary,
    /// Inputs that may be made.
    pub shape: &'c Shape,
}

/// See the module's description.
pub trait Source: Send {
    fn name(&self) -> &'static str;

    /// Whether there is anything to propose.
    fn is_ready(&self, corpus: &Corpus) -> bool;

    /// At most so many inputs.
    fn propose(
        &mut self,
        corpus: &mut Corpus,
        context: &Context<'_>,
        random: &mut Random,
        count: usize,
    ) -> Vec<Proposal>;

    /// A change of this kind was tried, and showed something new or not.
    fn learn(&mut self, _kind: u64, _was_new: bool) {}
}
