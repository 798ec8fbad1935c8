//! What to try next: every way in which any run could have gone otherwise.
//!
//! Nearest to its targets first, where a target counts as farther if somebody went there from the same node; then those of whose targets a
//! greater share was reached by nobody. Each attempt at the same branch, in the same context and at the same place of the graph, counts as one more
//! decision, so that the search does not stay where it cannot get on. Now and then one is taken at random.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::course::{Course, StepId};
use crate::explore::frontier::{Candidate, mix};

/// Stands for the distance of what no way to a target is known from.
pub const UNKNOWN: u32 = 1000;
/// A target that somebody came to from the same node counts as so many decisions farther.
const REACHED: u32 = 4;
/// So many decisions farther counts a way whose targets were all reached.
const SHARE: u32 = 6;
/// One in so many is taken at random.
const RANDOM: u64 = 8;

/// Cost, generation, depth (late decisions keep most of what leads there), and number of a way: lowest first.
type Rank = (u32, u32, Reverse<u32>, usize);

/// Targets with how far they are.
pub type Targets = Rc<[(StepId, u32)]>;

/// A way, with its targets.
#[derive(Clone, Debug)]
pub struct Way {
    pub candidate: Candidate,
    /// Steps from a seed.
    pub generation: u32,
    /// Only those that a way is known to.
    pub targets: Targets,
    /// How many there are in all; of none, nothing is known of how far it is to anything.
    pub wanted: u32,
    /// Decisions that count besides.
    pub more: u32,
}

/// See the module's description.
#[derive(Debug)]
pub struct Queue {
    ways: Vec<Option<Way>>,
    order: BinaryHeap<Reverse<Rank>>,
    offered: FxHashSet<u64>,
    attempts: FxHashMap<u64, u32>,
    open: usize,
    taken: u64,
    random: u64,
}

impl Queue {
    pub fn new(seed: u64) -> Queue {
        Queue {
            ways: Vec::new(),
            order: BinaryHeap::new(),
            offered: FxHashSet::default(),
            attempts: FxHashMap::default(),
            open: 0,
            taken: 0,
            random: mix(seed ^ 0x7261_6e64),
        }
    }

    pub fn len(&self) -> usize {
        self.open
    }

    /// Adds a way, unless the same change of the same path was added before.
    pub fn offer(&mut self, way: Way, course: &Course<'_>) {
        if self.offered.insert(way.candidate.path) {
            let number = self.ways.len();
            self.push(&way, number, course);
            self.ways.push(Some(way));
            self.open += 1;
        }
    }

    fn push(&mut self, way: &Way, number: usize, course: &Course<'_>) {
        let cost = self.cost(way, course);
        let depth = Reverse(way.candidate.depth);
        self.order
            .push(Reverse((cost, way.generation, depth, number)));
    }

    /// Only ever grows.
    fn cost(&self, way: &Way, course: &Course<'_>) -> u32 {
        let attempts = |level: usize| {
            let level = way.candidate.levels[level];
            self.attempts.get(&level).copied().unwrap_or(0)
        };
        let reached = |step: StepId| course.is_reached(step);
        let near = way
            .targets
            .iter()
            .map(|(step, distance)| match reached(*step) {
                true => distance + REACHED,
                false => *distance,
            });
        let known = way.targets.iter().filter(|(step, _)| reached(*step));
        let share = SHARE * known.count() as u32 / way.wanted.max(1);
        let near = match way.wanted {
            0 => 0,
            _ => near.min().unwrap_or(UNKNOWN),
        };
        near + share + way.more + attempts(2) + attempts(1) / 4
    }

    /// The best ways, at most so many.
    pub fn take(&mut self, most: usize, course: &Course<'_>) -> Vec<Way> {
        let mut taken = Vec::new();
        while taken.len() < most && self.open > 0 {
            self.taken += 1;
            let way = match self.taken % RANDOM {
                0 => self.any(),
                _ => self.best(course),
            };
            let Some(way) = way else {
                continue;
            };
            self.open -= 1;
            for level in &way.candidate.levels[1..] {
                *self.attempts.entry(*level).or_default() += 1;
            }
            taken.push(way);
        }
        taken
    }

    fn best(&mut self, course: &Course<'_>) -> Option<Way> {
        while let Some(Reverse((cost, _, _, number))) = self.order.pop() {
            let Some(way) = self.ways[number].take() else {
                continue;
            };
            // It may have become worse since it was added.
            if self.cost(&way, course) > cost {
                self.push(&way, number, course);
                self.ways[number] = Some(way);
                continue;
            }
            return Some(way);
        }
        None
    }

    fn any(&mut self) -> Option<Way> {
        /// Ways that were taken are still in the list.
        const TRIES: usize = 64;
        for _ in 0..TRIES {
            self.random = mix(self.random.wrapping_add(1));
            let number = (self.random % self.ways.len().max(1) as u64) as usize;
            if let Some(way) = self.ways.get_mut(number).and_then(Option::take) {
                return Some(way);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interact::course::Station;
    use crate::question::Goal;
    use parallax_abi::SiteId;
    use parallax_analysis::sequence::ChangeGraph;

    const START: Station = Station { node: None, set: 0 };

    fn way(path: u64, targets: &[(StepId, u32)]) -> Way {
        Way {
            candidate: Candidate {
                run: 0,
                goal: Goal::Side { decision: 0 },
                site: SiteId(path),
                levels: [path; 3],
                path,
                depth: 0,
                calls: 0,
            },
            generation: 0,
            targets: targets.into(),
            wanted: targets.len() as u32,
            more: 0,
        }
    }

    fn paths(ways: Vec<Way>) -> Vec<u64> {
        ways.iter().map(|way| way.candidate.path).collect()
    }

    #[test]
    fn the_nearest_comes_first_but_not_to_what_was_reached() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let (near, far) = (course.step(START, 0), course.step(START, 1));
        let mut queue = Queue::new(0);
        for (path, step, distance) in [(1, near, 2), (2, far, 3), (3, near, 1)] {
            queue.offer(way(path, &[(step, distance)]), &course);
        }
        assert_eq!(paths(queue.take(1, &course)), [3]);
        let mut other = Course::along(&graph);
        let near = other.step(START, 0);
        other.step(START, 1);
        assert_eq!(near, 0);
        other.reach(near);
        assert_eq!(paths(queue.take(2, &other)), [2, 1]);
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn a_greater_share_of_unreached_targets_comes_first() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let steps: Vec<StepId> = (0..3).map(|to| course.step(START, to)).collect();
        course.reach(steps[0]);
        let mut queue = Queue::new(0);
        let unreached = [(steps[1], 2), (steps[2], 2)];
        queue.offer(way(1, &[(steps[0], 1), (steps[1], 2)]), &course);
        queue.offer(way(2, &unreached), &course);
        assert_eq!(paths(queue.take(2, &course)), [2, 1]);
    }

    #[test]
    fn ways_are_taken_at_random_now_and_then_and_each_once() {
        let graph = ChangeGraph::default();
        let mut course = Course::along(&graph);
        let step = course.step(START, 0);
        let taken = |seed: u64| {
            let mut queue = Queue::new(seed);
            for path in 0..64 {
                queue.offer(way(path, &[(step, path as u32)]), &course);
            }
            paths(queue.take(64, &course))
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
