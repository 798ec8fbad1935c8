//! What to try next: every alternative of any run.
//!
//! Nearest to its targets first, where a target counts as farther if somebody went there from the same node; then those of whose targets a
//! greater share was reached by nobody. Each attempt at the same branch, in the same context and at the same place of the graph, counts
//! as one more decision, so that the search does not stay where it cannot get on. Now and then one is taken at random.

use std::cmp::Reverse;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::course::{Course, StepId};
use crate::core::alternative::Alternative;
use crate::core::frontier::Frontier;
use crate::core::limits::Limits;
use crate::core::random::mix;

/// Stands for the distance of what no way to a target is known from.
const UNKNOWN: u32 = 1000;
/// A target that somebody came to from the same node counts as so many decisions farther.
const REACHED: u32 = 4;
/// So many decisions farther counts an alternative whose targets were all reached.
const SHARE: u32 = 6;
/// One in so many is taken at random.
const RANDOM: u64 = 8;

/// Targets with how far they are.
pub type Targets = Rc<[(StepId, u32)]>;

/// Generation, and depth: late decisions keep most of what leads there.
type Merit = (u32, Reverse<u32>);

/// An alternative, with its targets.
#[derive(Clone, Debug)]
pub struct Choice {
    pub alternative: Alternative,
    /// Steps from a given input.
    pub generation: u32,
    /// What attempts are counted for, roughly and exactly.
    pub place: [u64; 2],
    /// Only those that a way is known to.
    pub targets: Targets,
    /// How many there are in all; of none, nothing is known of how far it is to anything.
    pub wanted: u32,
    /// Decisions that count besides.
    pub more: u32,
}

/// See the module's description.
pub struct Choices {
    /// Each alternative is in both frontiers; one that was taken from the other is skipped.
    all: Vec<Alternative>,
    is_taken: Vec<bool>,
    by_cost: Frontier<Merit, (u32, Merit), u32>,
    by_chance: Frontier<u64, u64, u32>,
    known: Knowledge,
    /// The group of each alternative.
    groups: Vec<u64>,
    offered: FxHashSet<u64>,
    open: usize,
    taken: u64,
    seed: u64,
}

/// What costs are made of.
#[derive(Default)]
struct Knowledge {
    groups: FxHashMap<u64, Group>,
    attempts: FxHashMap<u64, u32>,
}

/// Alternatives whose cost is the same.
struct Group {
    place: [u64; 2],
    targets: Targets,
    wanted: u32,
    more: u32,
}

impl Knowledge {
    /// Only ever grows.
    fn cost(&self, group: u64, course: &Course<'_>) -> u32 {
        let Some(group) = self.groups.get(&group) else {
            return UNKNOWN;
        };
        let attempts = |place: u64| self.attempts.get(&place).copied().unwrap_or(0);
        let reached = |step: StepId| course.is_reached(step);
        let near = group.targets.iter();
        let near = near.map(|(step, distance)| match reached(*step) {
            true => distance + REACHED,
            false => *distance,
        });
        let near = match group.wanted {
            0 => 0,
            _ => near.min().unwrap_or(UNKNOWN),
        };
        let known = group.targets.iter().filter(|(step, _)| reached(*step));
        let share = SHARE * known.count() as u32 / group.wanted.max(1);
        let [here, again] = group.place;
        near + share + group.more + attempts(again) + attempts(here) / 4
    }
}

impl Choices {
    pub fn new(seed: u64) -> Choices {
        Choices {
            all: Vec::new(),
            is_taken: Vec::new(),
            by_cost: Frontier::default(),
            by_chance: Frontier::default(),
            known: Knowledge::default(),
            groups: Vec::new(),
            offered: FxHashSet::default(),
            open: 0,
            taken: 0,
            seed: mix(seed ^ 0x7261_6e64),
        }
    }

    pub fn len(&self) -> usize {
        self.open
    }

    /// Adds an alternative, unless the same change of the same path was added before.
    pub fn offer(&mut self, choice: Choice, course: &Course<'_>, limits: &mut Limits) {
        let Choice {
            alternative,
            generation,
            place,
            targets,
            wanted,
            more,
        } = choice;
        if !self.offered.insert(alternative.path) {
            return;
        }
        let near = targets
            .iter()
            .fold(u64::from(more), |sum, (step, distance)| {
                mix(sum ^ u64::from(*step) << 32 ^ u64::from(*distance))
            });
        let group = mix(place[1] ^ mix(near));
        self.known.groups.entry(group).or_insert(Group {
            place,
            targets,
            wanted,
            more,
        });
        let number = self.all.len() as u32;
        self.all.push(alternative);
        self.is_taken.push(false);
        self.groups.push(group);
        self.open += 1;
        let merit = (generation, Reverse(alternative.depth));
        let known = &self.known;
        let rank = |group, merit: &Merit| (known.cost(group, course), *merit);
        self.by_cost.offer(group, merit, number, rank, limits);
        let chance = mix(self.seed ^ alternative.path);
        self.by_chance
            .offer(0, chance, number, |_, chance| *chance, limits);
    }

    /// The best alternatives, at most so many.
    pub fn take(&mut self, most: usize, course: &Course<'_>) -> Vec<Alternative> {
        let mut list = Vec::new();
        while list.len() < most {
            let Some(number) = self.next(course) else {
                // What there was no room for is not open any more.
                self.open = 0;
                break;
            };
            self.taken += 1;
            self.open = self.open.saturating_sub(1);
            self.is_taken[number] = true;
            if let Some(group) = self.known.groups.get(&self.groups[number]) {
                for place in group.place {
                    *self.known.attempts.entry(place).or_default() += 1;
                }
            }
            list.push(self.all[number]);
        }
        list
    }

    fn next(&mut self, course: &Course<'_>) -> Option<usize> {
        let known = &self.known;
        let rank = |group, merit: &Merit| (known.cost(group, course), *merit);
        loop {
            let number = match (self.taken + 1).is_multiple_of(RANDOM) {
                true => self.by_chance.take(|_, chance| *chance),
                false => self.by_cost.take(rank),
            };
            // Either may have had less room.
            let number = number
                .or_else(|| self.by_cost.take(rank))
                .or_else(|| self.by_chance.take(|_, chance| *chance))?;
            if !self.is_taken[number as usize] {
                return Some(number as usize);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::alternative::Change;
    use crate::goals::orders::course::Station;
    use parallax_abi::SiteId;
    use parallax_analysis::sequence::ChangeGraph;

    const START: Station = Station { node: None, set: 0 };

    fn choice(path: u64, targets: &[(StepId, u32)]) -> Choice {
        Choice {
            alternative: Alternative {
                entry: 0,
                change: Change::Side { decision: 0 },
                site: SiteId(path),
                levels: [path; 3],
                path,
                depth: 0,
                calls: 0,
            },
            generation: 0,
            place: [path; 2],
            targets: targets.into(),
            wanted: targets.len() as u32,
            more: 0,
        }
    }

    fn offer(choices: &mut Choices, choice: Choice, course: &Course<'_>) {
        choices.offer(choice, course, &mut Limits::default());
    }

    fn paths(list: Vec<Alternative>) -> Vec<u64> {
        list.iter().map(|alternative| alternative.path).collect()
    }

    #[test]
    fn the_nearest_comes_first_but_not_to_what_was_reached() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let (near, far) = (course.step(START, 0), course.step(START, 1));
        let mut choices = Choices::new(0);
        for (path, step, distance) in [(1, near, 2), (2, far, 3), (3, near, 1)] {
            offer(&mut choices, choice(path, &[(step, distance)]), &course);
        }
        assert_eq!(paths(choices.take(1, &course)), [3]);
        let mut other = Course::along(&graph);
        let near = other.step(START, 0);
        other.step(START, 1);
        assert_eq!(near, 0);
        other.reach(near);
        assert_eq!(paths(choices.take(2, &other)), [2, 1]);
        assert_eq!(choices.len(), 0);
    }

    #[test]
    fn a_greater_share_of_unreached_targets_comes_first() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let steps: Vec<StepId> = (0..3).map(|to| course.step(START, to)).collect();
        course.reach(steps[0]);
        let mut choices = Choices::new(0);
        let unreached = [(steps[1], 2), (steps[2], 2)];
        offer(
            &mut choices,
            choice(1, &[(steps[0], 1), (steps[1], 2)]),
            &course,
        );
        offer(&mut choices, choice(2, &unreached), &course);
        assert_eq!(paths(choices.take(2, &course)), [2, 1]);
    }

    #[test]
    fn alternatives_are_taken_at_random_now_and_then_and_each_once() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let step = course.step(START, 0);
        let taken = |seed: u64| {
            let mut choices = Choices::new(seed);
            for path in 0..64 {
                offer(&mut choices, choice(path, &[(step, path as u32)]), &course);
            }
            paths(choices.take(64, &course))
        };
        let (one, other) = (taken(1), taken(2));
        assert_ne!(one, other);
        assert_eq!(one, taken(1));
        let mut sorted = one.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).collect::<Vec<u64>>());
        assert_eq!(one[..7], [0, 1, 2, 3, 4, 5, 6]);
    }
}
