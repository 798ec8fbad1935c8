//! The scenarios that a comparison starts from: many tests, one budget.
//!
//! All of them are run on both versions before anything is asked, for a test that the patch breaks needs no question. Then
//! they take turns, a few questions each: those first that come to changed conditions that no test before them came
//! to. So a long test does not use up what the others are to have, and which tests come first matters little.
//!
//! An input that was made to go another way at a changed condition, and after which the versions are still together, is asked about
//! like a test if it comes to changed conditions that nothing came to before: of several that are connected by `&&`, each
//! needs the one before it.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::interface::Observer;
use super::walk::{Parting, Walk};
use super::{DivergeError, Diverger, Phase, numerals, visits::MOST_DECISIONS};
use parallax_scenario::Scenario;

/// Questions of one scenario that are asked in one turn.
const TURN: usize = 16;
/// Steps from a test that are asked about like it.
const DEEPEST: u32 = 8;
/// Numbers of one scenario that are tried in one turn.
const NUMBERS: usize = 16;

/// A scenario of which there is something left to ask.
#[derive(Debug)]
pub(super) struct Pending {
    /// Which of those that were given; `None` for an input that was made.
    index: Option<usize>,
    scenario: Arc<Scenario>,
    /// What it was made from, and in how many steps.
    seed: Arc<Scenario>,
    generation: u32,
    /// Questions that were asked.
    cursor: usize,
    /// What its questions are about.
    places: HashSet<u64>,
    /// Whether the versions part on it: code that one version only has is run.
    parts: bool,
}

/// A scenario of which other numbers are tried.
#[derive(Debug)]
pub(super) struct Numbers {
    seed: Arc<Scenario>,
    /// What is left of them, once it is known.
    variants: Option<VecDeque<Scenario>>,
}

impl Diverger<'_> {
    /// Runs all scenarios that were given; what there is to ask about them waits.
    pub(super) fn begin(&mut self, observer: &mut dyn Observer) -> Result<(), DivergeError> {
        let mut pending = Vec::new();
        for (index, seed) in self.options.seeds.iter().enumerate() {
            if self.is_over(observer).is_some() {
                break;
            }
            if !self.known.insert(seed.clone()) {
                observer.settled(index);
                continue;
            }
            let seed = Arc::new(seed.clone());
            let met = self.meet((*seed).clone(), &seed, Phase::Given, None, observer);
            let met = match met {
                // One of many that cannot be laid out here is no reason to do without the others.
                Err(error) if self.options.seeds.len() > 1 => {
                    observer.left_out(index, &error);
                    None
                }
                met => met?,
            };
            let Some((_, _, walk)) = met else {
                observer.settled(index);
                continue;
            };
            pending.push(Pending {
                index: Some(index),
                scenario: Arc::clone(&seed),
                seed,
                generation: 0,
                cursor: 0,
                places: places(&walk),
                parts: walk.parting.is_some(),
            });
        }
        let places = pending.iter().flat_map(|pending| &pending.places);
        self.places = places.copied().collect();
        self.pending = in_order(pending);
        let numbers = self.pending.iter().map(|pending| Numbers {
            seed: Arc::clone(&pending.scenario),
            variants: None,
        });
        self.numbers = numbers.collect();
        Ok(())
    }

    /// One turn of the scenario that has waited longest.
    pub(super) fn take_turn(&mut self, observer: &mut dyn Observer) -> Result<(), DivergeError> {
        let Some(mut pending) = self.pending.pop_front() else {
            return Ok(());
        };
        let before = self.counts.runs;
        let seed = Arc::clone(&pending.seed);
        let generation = pending.generation;
        let pair = self.trace((*pending.scenario).clone())?;
        let (lockstep, walk) = self.compare(&pair);
        let from = pending.cursor.min(walk.questions.len());
        let until = (from + TURN).min(walk.questions.len());
        let questions = &walk.questions[from..until];
        self.pursue(&pair, &lockstep, questions, generation, &seed, observer)?;
        if pending.cursor == 0 && self.is_over(observer).is_none() {
            self.go_beyond(&pair, together(&walk), generation, &seed, observer)?;
        }
        pending.cursor = until;
        if until < walk.questions.len() {
            self.pending.push_back(pending);
        } else if let Some(index) = pending.index
            && self.is_over(observer).is_none()
        {
            observer.settled(index);
        }
        self.counts.concolic += self.counts.runs - before;
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
                index: None,
                scenario: Arc::new(scenario),
                seed: Arc::clone(seed),
                generation,
                cursor: 0,
                places,
                parts: false,
            });
        }
    }

    /// Some other numbers of the scenario that has waited longest.
    pub(super) fn take_numbers(&mut self, observer: &mut dyn Observer) -> Result<(), DivergeError> {
        let Some(Numbers { seed, variants }) = self.numbers.pop_front() else {
            return Ok(());
        };
        let before = self.counts.runs;
        let mut variants = variants.unwrap_or_else(|| numerals::variants(&seed).into());
        for _ in 0..NUMBERS {
            let Some(variant) = variants.pop_front() else {
                break;
            };
            let is_new =
                self.options.explore.shape.accepts(&variant) && self.known.insert(variant.clone());
            if is_new && self.court.differ(&variant)? {
                self.meet(variant, &seed, Phase::Numbers, None, observer)?;
            }
            self.tell(Phase::Numbers, observer);
            if self.is_over(observer).is_some() {
                break;
            }
        }
        if !variants.is_empty() {
            let variants = Some(variants);
            self.numbers.push_back(Numbers { seed, variants });
        }
        // Runs that are not traced cost far less.
        self.counts.numbers += self.counts.runs - before + NUMBERS as u64 / 4;
        Ok(())
    }

    /// Runs an input on both versions, asks where they could part, and runs what comes of that. What else both could do together is
    /// kept for later.
    pub(super) fn follow(
        &mut self,
        scenario: Scenario,
        seed: &Arc<Scenario>,
        generation: u32,
        observer: &mut dyn Observer,
    ) -> Result<(), DivergeError> {
        let met = self.meet(scenario, seed, Phase::Common, None, observer)?;
        let Some((pair, lockstep, walk)) = met else {
            return Ok(());
        };
        let questions = &walk.questions;
        self.pursue(&pair, &lockstep, questions, generation, seed, observer)?;
        if self.is_over(observer).is_none() {
            self.go_beyond(&pair, together(&walk), generation, seed, observer)?;
        }
        Ok(())
    }
}

/// How many decisions of the new version are those of the old one, too, as far as they are looked at.
fn together(walk: &Walk) -> usize {
    match walk.parting {
        Some(Parting { decisions, .. }) => decisions.new.min(MOST_DECISIONS),
        None => MOST_DECISIONS,
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
            index: None,
            seed: Arc::clone(&scenario),
            scenario,
            generation: 0,
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
            .map(|one| String::from_utf8_lossy(&one.scenario.argv[0]).into_owned())
            .collect();
        assert_eq!(names, ["three", "other", "parts", "one", "again", "none"]);
    }
}
