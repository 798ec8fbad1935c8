//! A run as workers see it: what they are given, and what they bring back.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use parallax_abi::SiteId;

use super::interface::{Checks, Undecided};
use crate::explore::{ExploreError, Shape};
use crate::finding::Key;
use crate::replay::Confirmed;
use crate::run::End;
use crate::scenario::Scenario;
use crate::sensitive::{self, Failure, Sensitive};
use crate::sites::SiteMap;
use crate::worker::{Traced, Worker, with_objects};

/// A traced run, with everything that could fail on its path.
#[derive(Debug)]
pub struct Probed {
    pub traced: Traced,
    pub end: End,
    /// Operations that can be asked about, in order.
    pub operations: Vec<Sensitive>,
    /// Sites of memory accesses at concrete addresses, and how many decisions come before each.
    pub accesses: Vec<(SiteId, usize)>,
}

impl Probed {
    fn new(traced: Traced, end: End, sites: &SiteMap) -> Probed {
        let mut operations = traced.operations.clone();
        operations.extend(sensitive::assertions(&traced.trace, sites));
        operations.sort_by_key(|operation| operation.position);
        let accesses = sensitive::accesses(&traced.trace, sites);
        Probed {
            traced,
            end,
            operations,
            accesses,
        }
    }

    /// Memory that it holds, roughly.
    pub fn bytes(&self) -> u64 {
        let operations = self.operations.len() * size_of::<Sensitive>();
        self.traced.bytes() + (operations + self.accesses.len() * 16) as u64
    }
}

/// A run that left its parent's path.
#[derive(Debug)]
pub struct Branched {
    pub scenario: Scenario,
    pub probed: Arc<Probed>,
    /// The decision that it made otherwise.
    pub at: usize,
    /// Points passed since its parent began to be followed, the one it left at included.
    pub passed: usize,
    pub native: Option<Natively>,
}

/// Errors that an input showed natively.
#[derive(Debug)]
pub struct Natively {
    pub scenario: Scenario,
    pub confirmed: Confirmed,
    /// Decisions of the path that come before.
    pub position: usize,
    /// Points among those that were looked at.
    pub passed: usize,
}

/// What a worker brings back from one run.
#[derive(Debug, Default)]
pub struct Report {
    /// If the run had to be traced again.
    pub probed: Option<Arc<Probed>>,
    pub branched: Vec<Branched>,
    pub errors: Vec<Natively>,
    pub checks: Checks,
    pub checked_sites: HashMap<Place, u64>,
    /// Places that failed.
    pub failed: HashSet<Place>,
    /// Traced runs.
    pub runs: u64,
    pub undecided: HashMap<Undecided, u64>,
    /// Decisions at which the path was to be left, and their sites.
    pub left_at: HashMap<usize, SiteId>,
    /// Inputs that did not leave where they should have.
    pub missed: u64,
    /// Decisions of the run, how many of them have been looked at, and points among those.
    pub decisions: usize,
    pub cursor: usize,
    pub passed: usize,
    /// Problems that were not seen every time.
    pub flaky: u64,
}

/// A site and what can go wrong there.
pub type Place = (SiteId, Failure);

/// What is to be done with a run.
#[derive(Clone, Debug)]
pub enum Aim {
    /// All its operations are checked.
    Check,
    /// Its path is left at these decisions.
    Leave(Vec<usize>),
    /// From this decision on it is followed over so many points: its operations are checked and its path is left.
    Follow { from: usize, points: usize },
}

/// What a worker must know.
pub struct Task<'t> {
    pub scenario: &'t Scenario,
    pub probed: Option<Arc<Probed>>,
    pub aim: Aim,
    pub shape: &'t Shape,
    /// Scenarios and paths that have been run.
    pub known: &'t HashSet<Scenario>,
    pub paths: &'t HashSet<u64>,
    /// Places whose failure is known and need not be shown again.
    pub settled: &'t HashSet<Place>,
    /// Errors that the seed itself shows.
    pub baseline: &'t HashSet<Key>,
    pub deadline: Option<Instant>,
}

impl Task<'_> {
    pub fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Traces a scenario.
pub fn trace(
    worker: &mut Worker<'_>,
    scenario: &Scenario,
    sites: &SiteMap,
) -> Result<(Scenario, Probed), ExploreError> {
    let (outcome, traced) = worker.trace(scenario)?;
    let scenario = with_objects(scenario.clone(), &traced.trace);
    Ok((scenario, Probed::new(traced, outcome.end, sites)))
}
