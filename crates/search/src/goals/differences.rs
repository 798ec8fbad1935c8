//! Other paths of both versions: where they did not part on one path they may on the next.
//!
//! That versions behave differently is seen by the search itself, whatever made the input. What this goal adds are alternatives: sides of
//! branches that were tried least, those in functions that the patch changes before others; and operations that could fail.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::core::alternative::{Alternative, Change};
use crate::core::corpus::Corpus;
use crate::core::frontier::Frontier;
use crate::core::goal::{Goal, Observation, Path, Work, Worth};
use crate::core::limits::Limits;

/// Attempts at one operation that could fail, on all paths.
const MOST_FAILURES: u32 = 2;

/// Whether it is in a function that is the same in both versions, and steps from a given input.
type Merit = (bool, u32);

/// See the module's description.
#[derive(Default)]
pub struct Differences {
    frontier: Frontier<Merit, (u32, bool, u32), Alternative>,
    /// Sides that were tried, and how often.
    attempts: FxHashMap<u64, u32>,
    offered: FxHashSet<u64>,
}

impl Goal for Differences {
    fn name(&self) -> &'static str {
        "differences"
    }

    fn observe(&mut self, _run: &Observation<'_>) -> Worth {
        Worth::default()
    }

    fn take_path(&mut self, path: &Path<'_>, _corpus: &Corpus, limits: &mut Limits) -> Worth {
        for alternative in path.alternatives {
            let is_failure = matches!(alternative.change, Change::Fail { .. });
            let side = alternative.levels[0];
            let tried = self.attempts.get(&side).copied().unwrap_or(0);
            let is_known = !self.offered.insert(alternative.path);
            if is_known || is_failure && tried >= MOST_FAILURES {
                continue;
            }
            let view = path.sites.get(alternative.site);
            let is_unchanged = !view.is_some_and(|view| path.changed.contains(view.function));
            let merit = (is_unchanged, path.generation);
            let attempts = &self.attempts;
            let rank = |key, merit: &Merit| rank(attempts, key, merit);
            self.frontier.offer(side, merit, *alternative, rank, limits);
        }
        Worth::default()
    }

    fn is_ready(&self) -> bool {
        !self.frontier.is_empty()
    }

    fn choose(&mut self, most: usize, _corpus: &Corpus) -> Option<Work> {
        let mut alternatives = Vec::new();
        while alternatives.len() < most {
            let attempts = &self.attempts;
            let Some(taken) = self.frontier.take(|key, merit| rank(attempts, key, merit)) else {
                break;
            };
            *self.attempts.entry(taken.levels[0]).or_default() += 1;
            alternatives.push(taken);
        }
        (!alternatives.is_empty()).then_some(Work::Turn {
            alternatives,
            regenerate: false,
        })
    }

    fn open(&self) -> u64 {
        self.frontier.len() as u64
    }
}

fn rank(attempts: &FxHashMap<u64, u32>, side: u64, merit: &Merit) -> (u32, bool, u32) {
    (attempts.get(&side).copied().unwrap_or(0), merit.0, merit.1)
}
