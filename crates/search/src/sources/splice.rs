//! Parts of one input in another.
//!
//! What an option does often shows only beside another one, or with other data, and no branch of a run that lacks the option
//! says so. So what entries have in their inputs is tried in the inputs of others: arguments at their place, and all that is read.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_scenario::Scenario;

use super::{Context, Proposal, Source};
use crate::core::corpus::{Corpus, EntryId};
use crate::core::random::Random;

/// So many of the latest bases exchange parts with the next one.
const PARTNERS: usize = 24;

/// What is taken over from another input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Part {
    /// The argument with this index, in place of the one that is there.
    Instead(u32),
    /// The argument with this index, before the one that is there.
    Before(u32),
    /// Standard input and files.
    Data,
}

/// All parts of a scenario.
pub fn parts(scenario: &Scenario) -> impl Iterator<Item = Part> + use<> {
    let arguments = 0..scenario.argv.len() as u32;
    let parts = arguments.flat_map(|index| [Part::Instead(index), Part::Before(index)]);
    parts.chain([Part::Data])
}

/// See the module's description.
#[derive(Default)]
pub struct Splice {
    /// Bases before this one have had a turn.
    next: usize,
    /// Who takes what from whom.
    waiting: VecDeque<(EntryId, EntryId, Part)>,
}

impl Source for Splice {
    fn name(&self) -> &'static str {
        "splice"
    }

    fn is_ready(&self, corpus: &Corpus) -> bool {
        !self.waiting.is_empty() || self.next < corpus.bases.len() && corpus.bases.len() > 1
    }

    fn propose(
        &mut self,
        corpus: &mut Corpus,
        context: &Context<'_>,
        _random: &mut Random,
        count: usize,
    ) -> Vec<Proposal> {
        if self.waiting.is_empty() && self.next < corpus.bases.len() {
            let new = corpus.bases[self.next];
            let first = self.next.saturating_sub(PARTNERS);
            for old in &corpus.bases[first..self.next] {
                for (taker, giver) in [(new, *old), (*old, new)] {
                    let parts = parts(&corpus.entries[giver].scenario);
                    self.waiting.extend(parts.map(|part| (taker, giver, part)));
                }
            }
            self.next += 1;
        }
        let mut made = Vec::new();
        while made.len() < count
            && let Some((taker, giver, part)) = self.waiting.pop_front()
        {
            let [base, from] = [taker, giver].map(|entry| &corpus.entries[entry].scenario);
            if let Some(scenario) = with_part(base, from, part)
                && context.shape.accepts(&scenario)
            {
                made.push(Proposal {
                    scenario,
                    parent: taker,
                    kind: kind(from, part),
                });
            }
        }
        made
    }
}

/// The same argument of another input is the same part.
fn kind(from: &Scenario, part: Part) -> u64 {
    let mut hasher = DefaultHasher::new();
    match part {
        Part::Instead(index) => (1, &from.argv[index as usize]).hash(&mut hasher),
        Part::Before(index) => (2, &from.argv[index as usize]).hash(&mut hasher),
        Part::Data => (3, &from.stdin).hash(&mut hasher),
    }
    hasher.finish()
}

/// The scenario with a part of another one; `None` if that changes nothing or has no place.
pub fn with_part(scenario: &Scenario, from: &Scenario, part: Part) -> Option<Scenario> {
    let mut changed = scenario.clone();
    match part {
        Part::Instead(index) => {
            let index = index as usize;
            *changed.argv.get_mut(index)? = from.argv.get(index)?.clone();
        }
        Part::Before(index) => {
            let index = index as usize;
            let argument = from.argv.get(index)?.clone();
            if index > changed.argv.len() {
                return None;
            }
            changed.argv.insert(index, argument);
        }
        Part::Data => {
            changed.stdin = from.stdin.clone();
            changed.files = from.files.clone();
            changed.streams = from.streams.clone();
            changed.directories = from.directories.clone();
            changed.pipes = from.pipes.clone();
            changed.links = from.links.clone();
            changed.hard_links = from.hard_links.clone();
            changed.modes = from.modes.clone();
            changed.sizes = from.sizes.clone();
            changed.times = from.times.clone();
            changed.listings = from.listings.clone();
        }
    }
    (changed != *scenario).then_some(changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Bytes;

    fn scenario(arguments: &[&str], stdin: &str) -> Scenario {
        let bytes = |text: &&str| Bytes(text.as_bytes().to_vec());
        Scenario {
            argv: arguments.iter().map(bytes).collect(),
            stdin: bytes(&stdin),
            ..Scenario::default()
        }
    }

    #[test]
    fn an_argument_replaces_the_one_at_its_place_or_comes_before_it() {
        let (old, from) = (scenario(&["-", "-f", "1"], ""), scenario(&["--co"], ""));
        assert_eq!(
            with_part(&old, &from, Part::Instead(0)),
            Some(scenario(&["--co", "-f", "1"], ""))
        );
        assert_eq!(
            with_part(&old, &from, Part::Before(0)),
            Some(scenario(&["--co", "-", "-f", "1"], ""))
        );
        assert_eq!(
            with_part(&from, &old, Part::Before(1)),
            Some(scenario(&["--co", "-f"], ""))
        );
    }

    #[test]
    fn what_changes_nothing_or_has_no_place_is_nothing() {
        let (old, from) = (
            scenario(&["-x"], "data"),
            scenario(&["-x", "2", "3"], "data"),
        );
        assert_eq!(with_part(&old, &from, Part::Instead(0)), None);
        assert_eq!(with_part(&old, &from, Part::Instead(1)), None);
        assert_eq!(with_part(&old, &from, Part::Before(2)), None);
        assert_eq!(with_part(&old, &from, Part::Data), None);
    }

    #[test]
    fn data_comes_without_arguments() {
        let (old, from) = (scenario(&["-x"], "a"), scenario(&["-y"], "b"));
        assert_eq!(
            with_part(&old, &from, Part::Data),
            Some(scenario(&["-x"], "b"))
        );
    }
}
