//! How inputs came about.

use std::sync::Arc;

use parallax_abi::SiteId;
use parallax_scenario::Scenario;

use super::focus::Known;
use super::queue::{Way, What};
use super::ran::Ran;
use super::ways::UNKNOWN;
use super::{Discovery, Lines, Means, Reached, Step, Verdict};
use crate::core::corpus::EntryId;
use crate::core::goal::Maker;

/// How an input was made from another.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    means: Means,
    site: Option<SiteId>,
    distance: Option<u32>,
    /// Whether nobody looked at a path to make it.
    is_surveyed: bool,
}

impl Origin {
    /// Of an input that a source made.
    pub fn of(maker: Maker) -> Origin {
        let is_spliced = maker == Maker::Source("splice");
        Origin {
            means: if is_spliced {
                Means::Splice
            } else {
                Means::Structure
            },
            site: None,
            distance: None,
            is_surveyed: matches!(maker, Maker::Source(_)),
        }
    }

    /// How an input was made that a way led to.
    pub fn by(way: &Way, gave_up: bool) -> Origin {
        let site = match &way.what {
            What::Turn(alternative) if alternative.change.has_place() => Some(way.site),
            _ => None,
        };
        Origin {
            means: match way.what {
                _ if way.aim > 0 => Means::Switch,
                What::Edit(_, means) => means,
                What::Take { .. } => Means::Splice,
                What::Turn(_) if gave_up => Means::Regenerate,
                What::Turn(_) => Means::Greedy,
            },
            site,
            distance: (way.distance < UNKNOWN).then_some(way.distance),
            is_surveyed: false,
        }
    }
}

/// How an input came about.
struct History {
    seed: Arc<Scenario>,
    steps: Vec<Step>,
    is_surveyed: bool,
}

impl Lines<'_> {
    /// How an input was made that comes from this entry, if it was not given.
    fn history(
        &self,
        parent: Option<EntryId>,
        mut scenario: Arc<Scenario>,
        mut origin: Origin,
    ) -> History {
        let mut steps = Vec::new();
        let mut is_surveyed = true;
        let mut parent = parent;
        while let Some(entry) = parent {
            is_surveyed &= origin.is_surveyed;
            steps.push(Step {
                means: origin.means,
                site: origin.site,
                scenario: (*scenario).clone(),
                distance: origin.distance,
            });
            let before = &self.known[entry];
            (scenario, origin, parent) =
                (Arc::clone(&before.scenario), before.origin, before.parent);
        }
        steps.reverse();
        History {
            seed: scenario,
            steps,
            is_surveyed,
        }
    }

    /// Inputs that together ran everything that inputs ran which were not given.
    pub(super) fn discoveries(&self) -> Vec<Discovery> {
        let mut all = Ran::default();
        for known in self.known.iter().filter(|known| known.parent.is_none()) {
            all.add(&known.ran);
        }
        let made = self.known.iter().filter(|known| known.parent.is_some());
        let new = made.filter(|known| all.add(&known.ran));
        let discovery = |known: &Known| {
            let scenario = Arc::clone(&known.scenario);
            let history = self.history(known.parent, Arc::clone(&scenario), known.origin);
            Discovery {
                scenario,
                seed: history.seed,
                steps: history.steps,
            }
        };
        new.map(discovery).collect()
    }

    /// Tells that an input has reached a target.
    pub(super) fn say(
        &mut self,
        target: usize,
        parent: Option<EntryId>,
        scenario: Arc<Scenario>,
        origin: Origin,
    ) {
        let History {
            seed,
            steps,
            is_surveyed,
        } = self.history(parent, Arc::clone(&scenario), origin);
        let verdict = match steps.is_empty() {
            true => Verdict::Suite((*scenario).clone()),
            false => Verdict::Covered {
                scenario: (*scenario).clone(),
                steps: steps.clone(),
            },
        };
        self.targets.reached(target, verdict);
        self.inbox.borrow_mut().push(Reached {
            target,
            seed,
            scenario,
            is_surveyed: is_surveyed && !steps.is_empty(),
            steps,
            focus: self.focus(),
        });
    }
}
