//! The inputs that a comparison starts from: many tests, one budget.
//!
//! Each is traced on both versions; then they take turns, a few questions each: those first that come to changed conditions that
//! no test before them came to. So a long test does not use up what the others are to have, and which tests come first
//! matters little.
//!
//! An input that was made to go another way at a changed condition, and after which the versions are still together, is asked about
//! like a test if it comes to changed conditions that nothing came to before: of several that are connected by `&&`, each
//! needs the one before it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::comparer::Comparer;
use super::walk::Walk;
use crate::core::corpus::EntryId;
use crate::engine::SearchError;
use crate::worker::Traced;
use parallax_scenario::Scenario;

/// Questions of one input that are asked in one turn.
const TURN: usize = 16;
/// Steps from a test that are asked about like it.
const DEEPEST: u32 = 8;

/// An input that is to be traced.
#[derive(Debug)]
pub(crate) struct Given {
    /// Which of those that were given; `None` for one that a source made.
    pub index: Option<usize>,
    pub scenario: Arc<Scenario>,
    /// What it was made from, and in how many steps.
    pub seed: Arc<Scenario>,
    pub generation: u32,
    /// Its entry in the corpus, if it has one.
    pub entry: Option<EntryId>,
    /// Whether the versions were seen to differ.
    pub differs: bool,
    /// The new version's trace, if it is at hand.
    pub traced: Option<Arc<Traced>>,
}

/// An input of which there is something left to ask.
#[derive(Debug)]
pub(super) struct Pending {
    given: Given,
    /// Questions that were asked.
    cursor: usize,
    /// What its questions are about.
    places: HashSet<u64>,
    /// Whether the versions part on it: code that one version only has is run.
    parts: bool,
}

impl Comparer<'_> {
    /// Traces the next input; what there is to ask about it waits.
    pub(super) fn begin_next(&mut self) -> Result<(), SearchError> {
        let Some(mut given) = self.given.pop_front() else {
            return Ok(());
        };
        let met = self.meet_given(&mut given);
        let walk = match (met, given.index) {
            (Ok(Some((_, _, walk))), _) => walk,
            (Ok(None), index) => {
                self.counts.settled.extend(index);
                return Ok(());
            }
            // One of many that cannot be laid out here is no reason to do without the others.
            (Err(error), Some(index)) if self.options.seeds.len() > 1 => {
                self.counts.left.push((index, error.to_string()));
                self.counts.settled.push(index);
                return Ok(());
            }
            (Err(error), _) => return Err(error),
        };
        let places = places(&walk);
        // One that a source made is worth asking about if it comes to something new.
        let is_new = places.iter().any(|place| !self.places.contains(place));
        if given.index.is_none() && !is_new {
            return Ok(());
        }
        self.places.extend(places.iter().copied());
        self.pending.push_back(Pending {
            given,
            cursor: 0,
            places,
            parts: walk.parting.is_some(),
        });
        if self.given.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            self.pending = in_order(pending.into());
        }
        Ok(())
    }

    /// One turn of the input that has waited longest.
    pub(super) fn take_turn(&mut self) -> Result<(), SearchError> {
        let Some(mut pending) = self.pending.pop_front() else {
            return Ok(());
        };
        let seed = Arc::clone(&pending.given.seed);
        let generation = pending.given.generation;
        let pair = self.trace((*pending.given.scenario).clone(), None)?;
        let (lockstep, walk) = self.compare(&pair);
        let from = pending.cursor.min(walk.questions.len());
        let until = (from + TURN).min(walk.questions.len());
        let questions = &walk.questions[from..until];
        self.pursue(&pair, &lockstep, questions, generation, &seed)?;
        pending.cursor = until;
        if until < walk.questions.len() {
            self.pending.push_back(pending);
        } else if let Some(index) = pending.given.index
            && !self.is_over()
        {
            self.counts.settled.push(index);
        }
        Ok(())
    }

    /// Keeps an input that was made, if it comes to changed conditions that nothing came to before.
    pub(super) fn derive(
        &mut self,
        scenario: Scenario,
        seed: &Arc<Scenario>,
        walk: &Walk,
        generation: u32,
    ) {
        let mut places = places(walk);
        places.retain(|place| self.places.insert(*place));
        if generation <= DEEPEST && !places.is_empty() && walk.parting.is_none() {
            self.pending.push_front(Pending {
                given: Given {
                    index: None,
                    scenario: Arc::new(scenario),
                    seed: Arc::clone(seed),
                    generation,
                    entry: None,
                    differs: false,
                    traced: None,
                },
                cursor: 0,
                places,
                parts: false,
            });
        }
    }
}

/// What a walk's questions are about.
fn places(walk: &Walk) -> HashSet<u64> {
    let questions = walk.questions.iter();
    questions.map(|question| question.place.name).collect()
}

/// Those first that ask about most that nobody before them asks about.
fn in_order(mut pending: Vec<Pending>) -> VecDeque<Pending> {
    let mut seen: HashSet<u64> = HashSet::new();
    let mut order = VecDeque::new();
    while !pending.is_empty() {
        let new = |one: &Pending| one.places.difference(&seen).count();
        let rank = |one: &Pending| (new(one), one.parts, !one.places.is_empty());
        let best = (0..pending.len())
            .rev()
            .max_by_key(|at| rank(&pending[*at]));
        let best = pending.remove(best.unwrap_or(0));
        seen.extend(best.places.iter().copied());
        order.push_back(best);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(name: &str, places: &[u64], parts: bool) -> Pending {
        let scenario = Scenario {
            argv: vec![name.as_bytes().into()],
            ..Scenario::default()
        };
        let scenario = Arc::new(scenario);
        Pending {
            given: Given {
                index: None,
                seed: Arc::clone(&scenario),
                scenario,
                generation: 0,
                entry: None,
                differs: false,
                traced: None,
            },
            cursor: 0,
            places: places.iter().copied().collect(),
            parts,
        }
    }

    #[test]
    fn tests_that_come_to_other_changes_are_asked_first() {
        let order = in_order(vec![
            pending("none", &[], false),
            pending("one", &[1], false),
            pending("three", &[1, 2, 3], false),
            pending("again", &[2, 3], false),
            pending("parts", &[3], true),
            pending("other", &[4], false),
        ]);
        let names: Vec<String> = order
            .iter()
            .map(|one| String::from_utf8_lossy(&one.given.scenario.argv[0]).into_owned())
            .collect();
        assert_eq!(names, ["three", "other", "parts", "one", "again", "none"]);
    }
}
