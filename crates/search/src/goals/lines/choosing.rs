//! What is tried next: whose turn it is, and what is best for that target.

use super::focus::{Focus, View};
use super::history::Origin;
use super::queue::What;
use super::{Heuristic, Lines};
use crate::core::alternative::Alternative;
use crate::core::corpus::{Corpus, EntryId, InputId};
use crate::core::goal::Work;
use crate::sources::Proposal;
use crate::sources::splice::with_part;

/// Alternatives and proposals that are chosen at a time: few, because the next ones depend on what becomes of them.
const TURNS: usize = 2;
const PROPOSALS: usize = 8;
/// Alternatives, and entries to be traced, that are under way at a time.
const MOST_TURNING: usize = 8;
const MOST_TRACING: usize = 2;
/// Choices after which what has not come back will not.
const LOST: u64 = 1024;
/// Focuses that are kept while others have their turns; of more, the ones that rest longest begin anew.
const RESTING: usize = 8;
impl Lines<'_> {
    /// What to try next.
    pub(super) fn next_work(&mut self, most: usize, corpus: &Corpus) -> Option<Work> {
        self.choices += 1;
        let is_lost = |at: u64| at + LOST < self.choices;
        self.turning.retain(|_, (_, at, _)| !is_lost(*at));
        self.tracing.retain(|_, at| !is_lost(*at));
        while self.chosen.is_empty() && self.turn_to_target(corpus) {
            // Of few runs that are left, each should know what became of those before.
            let turning = MOST_TURNING.min(most.div_ceil(2));
            let turns = TURNS.min(turning.saturating_sub(self.turning.len()));
            let (alternatives, proposals) = self.draw(turns, corpus);
            let drawn = alternatives.len();
            if !alternatives.is_empty() {
                self.chosen.push_back(Work::Turn {
                    alternatives,
                    regenerate: self.around.has(Heuristic::Regenerate),
                });
            }
            if !proposals.is_empty() {
                self.chosen.push_back(Work::Try(proposals));
            }
            self.credit += drawn;
            // Alternatives of what is traced come first.
            let may_trace = self.credit >= TURNS || drawn == 0 && self.turning.is_empty();
            if may_trace
                && self.tracing.len() < MOST_TRACING
                && let Some(entry) = self.untraced(corpus)
            {
                self.credit = 0;
                self.chosen.push_back(Work::Trace(entry));
            }
            if self.chosen.is_empty() {
                if !self.turning.is_empty() || !self.tracing.is_empty() {
                    break;
                }
                self.targets.dry(self.focus(), self.news);
            }
        }
        self.chosen.pop_front()
    }

    /// Ends the turn of the target that is searched for.
    pub(super) fn rest(&mut self) {
        let Some(focus) = self.focus.take() else {
            return;
        };
        self.targets.rest(&focus, &self.around, &self.known);
        if self.targets.is_open(focus.target) {
            self.resting.push_back(focus);
        }
        if self.resting.len() > RESTING {
            self.resting.pop_front();
        }
    }

    /// Sees to it that there is a target to search for; whether there is.
    fn turn_to_target(&mut self, corpus: &Corpus) -> bool {
        let current = self.focus.as_ref();
        if current.is_some_and(|focus| self.targets.may_go_on(focus, self.news)) {
            return true;
        }
        let Some((target, attempts)) = self.targets.next(&self.known, self.news) else {
            return false;
        };
        self.rest();
        let known = self.resting.iter().position(|focus| focus.target == target);
        let known = known.and_then(|at| self.resting.remove(at));
        let named = &self.around.aims.targets[target];
        let mut focus = known.unwrap_or_else(|| Focus::new(&self.around, target, named));
        focus.left = attempts;
        focus.catch_up(view!(self, corpus), &mut self.memory);
        self.targets.begin(&focus, &self.known);
        self.focus = Some(focus);
        true
    }

    /// Takes what is best to try now for the target that is searched for, with at most so many alternatives.
    fn draw(&mut self, turns: usize, corpus: &Corpus) -> (Vec<Alternative>, Vec<Proposal>) {
        let (mut alternatives, mut proposals) = (Vec::new(), Vec::new());
        let Some(mut focus) = self.focus.take() else {
            return (alternatives, proposals);
        };
        let view = view!(self, corpus);
        focus.look_around(view, &mut self.memory);
        while proposals.len() < PROPOSALS
            && let Some(way) = focus.take(alternatives.len() < turns)
        {
            // The same way can lead to several aims.
            if let Some(known) = self.tried.get(&way.path) {
                if let Some(against) = known.clone() {
                    self.targets
                        .failed(focus.target, &way, Some(&against), &self.known);
                }
                continue;
            }
            self.tried.insert(way.path, None);
            focus.left = focus.left.saturating_sub(1);
            let scenario = view.scenario(way.entry);
            let made = match &way.what {
                What::Turn(alternative) => {
                    let alternative = *alternative;
                    alternatives.push(alternative);
                    let turning = (focus.target, self.choices, way);
                    self.turning.insert(alternative.path, turning);
                    continue;
                }
                What::Edit(edit, _) => edit.apply(scenario),
                What::Take { from, part } => with_part(scenario, view.scenario(*from), *part),
            };
            if let Some(scenario) = made.filter(|made| self.around.shape.accepts(made)) {
                let origin = Origin::by(&way, false);
                self.proposed.insert(InputId::of(&scenario), origin);
                proposals.push(Proposal {
                    scenario,
                    parent: way.entry,
                    kind: way.here,
                });
            }
        }
        self.focus = Some(focus);
        (alternatives, proposals)
    }

    /// The next entry that should be traced.
    fn untraced(&mut self, corpus: &Corpus) -> Option<EntryId> {
        let focus = self.focus.as_mut()?;
        let entry = focus.take_untraced(view!(self, corpus), &mut self.memory)?;
        // What was given is traced besides.
        if corpus.entries[entry].generation > 0 {
            self.targets.traced(focus.target);
        }
        self.tracing.insert(entry, self.choices);
        Some(entry)
    }
}
