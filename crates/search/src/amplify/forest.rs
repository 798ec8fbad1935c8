//! The runs of an amplification: the tests' own, and those beside them.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use super::distance::Landscape;
use super::run::{CpuTime, Digest, Probed};
use parallax_exec::finding::Key;
use parallax_scenario::Scenario;

/// A test, with what is known of its path.
#[derive(Default)]
pub struct Trunk {
    /// Index into the seeds.
    pub seed: usize,
    /// Its input, where that is not the seed's: with objects that the program declared.
    pub completed: Option<Scenario>,
    pub digest: Digest,
    pub probed: Option<Arc<Probed>>,
    /// What its own path cost, and a plain run.
    pub cpu: CpuTime,
    /// Errors that it shows itself.
    pub baseline: HashSet<Key>,
    pub points: Vec<usize>,
    pub landscape: Landscape,
    /// Runs that left at each point, by point.
    pub left: BTreeMap<usize, Vec<usize>>,
}

impl Trunk {
    /// Takes in the points that were found on its path.
    pub fn survey(&mut self, points: Vec<usize>) {
        let operations = self.digest.positions.iter().copied();
        self.landscape = Landscape::new(points.clone(), operations);
        self.points = points;
    }
}

/// A run beside a test's path.
pub struct Side {
    pub trunk: usize,
    pub point: usize,
    pub scenario: Scenario,
    pub probed: Option<Arc<Probed>>,
    /// Decisions that have been looked at.
    pub cursor: usize,
    /// Points passed since the test's path was left.
    pub passed: usize,
    pub is_done: bool,
}

/// What is worked on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// A test that has not been run yet, by its index among the seeds.
    Seed(usize),
    Trunk(usize),
    Side(usize),
}

/// All runs, with as many traces as there is memory for.
pub struct Forest {
    pub trunks: Vec<Trunk>,
    pub sides: Vec<Side>,
    /// Traces that are kept, oldest first, and what they hold.
    kept: VecDeque<(Holder, u64)>,
    kept_bytes: u64,
    memory: u64,
}

impl Forest {
    pub fn new(memory: u64) -> Forest {
        Forest {
            trunks: Vec::new(),
            sides: Vec::new(),
            kept: VecDeque::new(),
            kept_bytes: 0,
            memory,
        }
    }

    /// Brings the tests into this order.
    pub fn arrange(&mut self, order: Vec<usize>) {
        let mut trunks: Vec<Option<Trunk>> = self.trunks.drain(..).map(Some).collect();
        let in_order = order.into_iter().filter_map(|index| trunks[index].take());
        self.trunks = in_order.collect();
        self.kept.clear();
        self.kept_bytes = 0;
        for index in 0..self.trunks.len() {
            if let Some(probed) = self.trunks[index].probed.take() {
                self.keep(Holder::Trunk(index), probed);
            }
        }
    }

    /// Adds a test that was run.
    pub fn plant(&mut self, trunk: Trunk, probed: Option<Arc<Probed>>) {
        let index = self.trunks.len();
        self.trunks.push(trunk);
        if let Some(probed) = probed {
            self.keep(Holder::Trunk(index), probed);
        }
    }

    /// Adds a run beside a test's path; its number.
    pub fn add(&mut self, side: Side, probed: Option<Arc<Probed>>) -> usize {
        let index = self.sides.len();
        let left = &mut self.trunks[side.trunk].left;
        left.entry(side.point).or_default().push(index);
        self.sides.push(side);
        if let Some(probed) = probed {
            self.keep(Holder::Side(index), probed);
        }
        index
    }

    /// Lets all traces go: the program is not worked on for a while.
    pub fn forget(&mut self) {
        while let Some((oldest, _)) = self.kept.pop_front() {
            self.drop_trace(oldest);
        }
        self.kept_bytes = 0;
    }

    /// Whether runs are left that a larger bound would let us follow.
    pub fn is_open(&self) -> bool {
        self.sides.iter().any(|side| !side.is_done)
    }

    /// Whether any operation is that far from a point.
    pub fn reaches(&self, distance: usize) -> bool {
        let mut trunks = self.trunks.iter();
        trunks.any(|trunk| trunk.landscape.reaches(distance))
    }

    /// The points of a test whose sides are followed at a distance. When no operation is that far from a point, all
    /// of them are: the bound still grows, and there is time.
    pub fn points(&self, trunk: &Trunk, distance: usize) -> Vec<usize> {
        if self.reaches(distance) {
            trunk.landscape.at_distance(distance)
        } else {
            trunk.landscape.before_operations()
        }
    }

    /// Keeps a trace; the oldest ones go when there are too many.
    pub fn keep(&mut self, holder: Holder, probed: Arc<Probed>) {
        let bytes = probed.bytes();
        match holder {
            Holder::Seed(_) => return,
            Holder::Trunk(index) => self.trunks[index].probed = Some(probed),
            Holder::Side(index) => self.sides[index].probed = Some(probed),
        }
        self.kept.push_back((holder, bytes));
        self.kept_bytes += bytes;
        while self.kept_bytes > self.memory && self.kept.len() > 1 {
            if let Some((oldest, bytes)) = self.kept.pop_front() {
                self.drop_trace(oldest);
                self.kept_bytes -= bytes;
            }
        }
    }

    fn drop_trace(&mut self, holder: Holder) {
        match holder {
            Holder::Seed(_) => {}
            Holder::Trunk(index) => self.trunks[index].probed = None,
            Holder::Side(index) => self.sides[index].probed = None,
        }
    }
}
