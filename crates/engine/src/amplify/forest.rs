//! The runs of an amplification: the tests' own, and those beside them.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::Arc;

use parallax_abi::SiteId;

use super::WORKERS;
use super::distance::Landscape;
use super::run::Probed;
use crate::explore::Shape;
use crate::finding::Key;
use crate::scenario::Scenario;

/// A test, with what is known of its path.
pub struct Trunk {
    /// Index into the seeds.
    pub seed: usize,
    pub scenario: Scenario,
    pub shape: Shape,
    pub probed: Option<Arc<Probed>>,
    /// Errors that it shows itself.
    pub baseline: HashSet<Key>,
    pub points: Vec<usize>,
    pub landscape: Landscape,
    /// Runs that left at each point, by point.
    pub left: BTreeMap<usize, Vec<usize>>,
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

/// Who holds a trace.
#[derive(Clone, Copy)]
pub enum Holder {
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

    /// Takes over the tests, in order.
    pub fn plant(&mut self, trunks: Vec<Trunk>) {
        self.trunks = trunks;
        for index in 0..self.trunks.len() {
            if let Some(probed) = self.trunks[index].probed.clone() {
                self.keep(Holder::Trunk(index), probed);
            }
        }
    }

    /// Adds a run beside a test's path; its number.
    pub fn add(&mut self, side: Side, probed: Arc<Probed>) -> usize {
        let index = self.sides.len();
        let left = &mut self.trunks[side.trunk].left;
        left.entry(side.point).or_default().push(index);
        self.sides.push(side);
        self.keep(Holder::Side(index), probed);
        index
    }

    /// The test that a run belongs to, its input, and its trace if it is there.
    pub fn run(&self, holder: Holder) -> (&Trunk, &Scenario, Option<Arc<Probed>>) {
        match holder {
            Holder::Trunk(index) => {
                let trunk = &self.trunks[index];
                (trunk, &trunk.scenario, trunk.probed.clone())
            }
            Holder::Side(index) => {
                let side = &self.sides[index];
                let trunk = &self.trunks[side.trunk];
                (trunk, &side.scenario, side.probed.clone())
            }
        }
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
        self.kept.push_back((holder, bytes));
        self.kept_bytes += bytes;
        *self.place(holder) = Some(probed);
        while self.kept_bytes > self.memory && self.kept.len() > WORKERS {
            if let Some((oldest, bytes)) = self.kept.pop_front() {
                *self.place(oldest) = None;
                self.kept_bytes -= bytes;
            }
        }
    }

    fn place(&mut self, holder: Holder) -> &mut Option<Arc<Probed>> {
        match holder {
            Holder::Trunk(index) => &mut self.trunks[index].probed,
            Holder::Side(index) => &mut self.sides[index].probed,
        }
    }
}

impl Trunk {
    /// The sensitive sites of the run.
    pub fn sites(&self) -> BTreeSet<SiteId> {
        let probed = self.probed.iter();
        let operations = probed.clone().flat_map(|probed| &probed.operations);
        let accesses = probed.flat_map(|probed| &probed.accesses);
        let operations = operations.map(|operation| operation.site);
        operations.chain(accesses.map(|(site, _)| *site)).collect()
    }
}
