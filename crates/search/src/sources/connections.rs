//! The connections of a server's input, each by itself.
//!
//! A test of a server often starts it once and then asks it a hundred things. Whoever goes on from such an input plays all of it for
//! every change, and traces all of it. Mostly one request shows as much as the whole conversation, in a hundredth of the time. So each
//! connection is run alone: the first ones of all inputs, then the second ones, and so on.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use parallax_scenario::Scenario;

use super::{Context, Proposal, Source};
use crate::core::corpus::{Corpus, EntryId};
use crate::core::random::Random;

/// See the module's description.
#[derive(Default)]
pub struct Connections {
    /// Bases before this one are in `waiting`, if they have several connections.
    next: usize,
    /// Inputs whose connections are not all proposed, each with those that are left.
    waiting: VecDeque<(EntryId, VecDeque<Scenario>)>,
}

impl Source for Connections {
    fn name(&self) -> &'static str {
        "connections"
    }

    fn is_ready(&self, corpus: &Corpus) -> bool {
        let several = |entry: &EntryId| has_several(&corpus.entries[*entry].scenario);
        !self.waiting.is_empty() || corpus.bases[self.next..].iter().any(several)
    }

    fn propose(
        &mut self,
        corpus: &mut Corpus,
        _context: &Context<'_>,
        _random: &mut Random,
        count: usize,
    ) -> Vec<Proposal> {
        for entry in &corpus.bases[self.next..] {
            let scenario = &corpus.entries[*entry].scenario;
            if has_several(scenario) {
                self.waiting.push_back((*entry, apart(scenario).into()));
            }
        }
        self.next = corpus.bases.len();
        let mut made = Vec::new();
        while made.len() < count
            && let Some((parent, mut parts)) = self.waiting.pop_front()
        {
            if let Some(scenario) = parts.pop_front() {
                made.push(Proposal {
                    kind: kind(&scenario),
                    scenario,
                    parent,
                });
                self.waiting.push_back((parent, parts));
            }
        }
        made
    }
}

fn has_several(scenario: &Scenario) -> bool {
    scenario.listening.is_some() && scenario.streams.len() > 1
}

/// The same request is the same change.
fn kind(scenario: &Scenario) -> u64 {
    let mut hasher = DefaultHasher::new();
    scenario.streams.hash(&mut hasher);
    hasher.finish()
}

/// What each connection of a server's input is without the others.
fn apart(scenario: &Scenario) -> Vec<Scenario> {
    let Some(listening) = &scenario.listening else {
        return Vec::new();
    };
    let mut known = HashSet::new();
    let mut alone = Vec::new();
    for (number, bytes) in scenario.streams.iter().enumerate() {
        let pauses = listening.pauses.get(number);
        if known.insert((bytes, pauses)) {
            let mut one = scenario.clone();
            one.streams = vec![bytes.clone()];
            if let Some(listening) = &mut one.listening {
                listening.pauses = pauses.cloned().into_iter().collect();
            }
            alone.push(one);
        }
    }
    alone
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_scenario::Listening;

    #[test]
    fn each_connection_that_differs_is_an_input_with_its_own_pauses() {
        let all = Scenario {
            streams: vec![b"one".into(), b"two".into(), b"one".into(), b"one".into()],
            listening: Some(Listening {
                pauses: vec![vec![], vec![2], vec![], vec![1]],
                ..Listening::default()
            }),
            ..Scenario::default()
        };
        assert!(has_several(&all));
        let parts: Vec<_> = apart(&all)
            .into_iter()
            .map(|one| (one.streams, one.listening.unwrap().pauses))
            .collect();
        let one = |bytes: &[u8], pauses: Vec<u64>| (vec![bytes.into()], vec![pauses]);
        assert_eq!(
            parts,
            [
                one(b"one", vec![]),
                one(b"two", vec![2]),
                one(b"one", vec![1])
            ]
        );
    }
}
