//! A run as workers see it: what they are given, and what they bring back.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parallax_abi::SiteId;
use serde::{Deserialize, Serialize};

use super::interface::{Checks, Place, site_number};
use crate::answers::fingerprint;
use crate::explore::{ExploreError, is_near};
use crate::worker::{Traced, Worker, with_objects};
use parallax_exec::finding::Key;
use parallax_exec::replay::Confirmed;
use parallax_exec::run::End;
use parallax_exec::sites::SiteMap;
use parallax_scenario::{Object, Scenario};
use parallax_trace::sensitive::{self, Sensitive};

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
        operations.extend(sensitive::assertions(
            &traced.trace,
            &traced.decisions,
            sites,
        ));
        operations.sort_by_key(|operation| operation.position);
        let accesses = sensitive::accesses(&traced.trace, &traced.decisions);
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

    /// What of it is remembered when the trace is gone.
    pub fn digest(&self) -> Digest {
        let operations = self.operations.iter();
        let places = operations.clone().map(|operation| Place {
            site: operation.site,
            failure: operation.failure,
        });
        let accesses = self.accesses.iter();
        let positions: BTreeSet<usize> = operations
            .map(|operation| operation.position)
            .chain(accesses.clone().map(|(_, position)| *position))
            .collect();
        let trace = &self.traced.trace;
        let mut losses: BTreeMap<String, u64> = BTreeMap::new();
        for loss in trace.losses() {
            let name = loss.name();
            let name = if name.is_empty() {
                "(memory)".into()
            } else {
                name
            };
            *losses.entry(name.into_owned()).or_default() += u64::from(loss.count);
        }
        if let Some(stop) = trace.stop() {
            let name = format!("(trace cut short: {})", format!("{stop:?}").to_lowercase());
            *losses.entry(name).or_default() += 1;
        }
        Digest {
            path: self.traced.path(),
            is_traced: trace.attached(),
            decisions: self.traced.decisions.len(),
            places: places.collect(),
            accesses: accesses.map(|(site, _)| site.0).collect(),
            positions: positions.into_iter().collect(),
            losses,
        }
    }
}

/// What is remembered of a traced run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Identifies the path.
    pub path: u64,
    /// Whether there was a trace at all.
    pub is_traced: bool,
    pub decisions: usize,
    /// Sensitive operations on input.
    pub places: BTreeSet<Place>,
    /// Numbers of the sites of memory accesses at concrete addresses.
    pub accesses: BTreeSet<u64>,
    /// How many decisions come before sensitive operations of either sort; ascending.
    pub positions: Vec<usize>,
    /// Function or instruction → how often labels were lost there.
    pub losses: BTreeMap<String, u64>,
}

impl Digest {
    /// The sites of all sensitive operations.
    pub fn sites(&self) -> BTreeSet<SiteId> {
        let places = self.places.iter().map(|place| place.site);
        let accesses = self.accesses.iter().map(|number| SiteId(*number));
        places.chain(accesses).collect()
    }
}

/// A run that left its parent's path.
#[derive(Debug, Serialize, Deserialize)]
pub struct Branched {
    pub scenario: Scenario,
    pub digest: Digest,
    #[serde(skip)]
    pub probed: Option<Arc<Probed>>,
    /// The decision that it made otherwise.
    pub at: usize,
    /// Points passed since its parent began to be followed, the one it left at included.
    pub passed: usize,
    pub native: Option<Natively>,
}

/// Errors that an input showed natively.
#[derive(Debug, Serialize, Deserialize)]
pub struct Natively {
    pub scenario: Scenario,
    pub confirmed: Confirmed,
    /// Decisions of the path that come before.
    pub position: usize,
    /// Points among those that were looked at.
    pub passed: usize,
}

/// A decision at which a path was to be left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Left {
    pub at: usize,
    #[serde(with = "site_number")]
    pub site: SiteId,
}

/// What a worker brings back from one run.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// If the run had to be traced.
    #[serde(skip)]
    pub probed: Option<Arc<Probed>>,
    /// What a test's first run showed.
    pub planted: Option<Planted>,
    /// Errors that the test itself shows.
    pub own: Option<Confirmed>,
    /// The points that were asked for.
    pub points: Option<Vec<usize>>,
    pub branched: Vec<Branched>,
    pub errors: Vec<Natively>,
    pub checks: Checks,
    pub checked_sites: HashMap<Place, u64>,
    /// Places that failed.
    pub failed: HashSet<Place>,
    /// Traced runs of new inputs.
    pub runs: u64,
    pub undecided: HashMap<Place, u64>,
    pub unconfirmed: HashSet<Place>,
    pub left_at: Vec<Left>,
    /// Inputs that did not leave where they should have.
    pub missed: u64,
    /// Decisions of the run, how many of them have been looked at, and points among those.
    pub decisions: usize,
    pub cursor: usize,
    pub passed: usize,
    /// Problems that were not seen every time.
    pub flaky: u64,
    /// There was no time for all of it.
    pub is_cut: bool,
    pub cpu: CpuTime,
}

/// What a test costs.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct CpuTime {
    /// Of all that was done for it.
    pub spent: Duration,
    /// Of a plain run of it alone, if there was one.
    pub plain: Duration,
}

/// What a test's first run showed.
#[derive(Debug, Serialize, Deserialize)]
pub enum Planted {
    Ran {
        /// It did not end by itself.
        hangs: bool,
        digest: Digest,
        /// Objects that the program declared, where the test has none.
        objects: Option<Vec<Object>>,
    },
    /// It cannot be run, for this reason.
    Unusable(String),
}

/// What is to be done with a run.
#[derive(Clone, Debug, Hash)]
pub enum Aim {
    /// It is traced.
    Plant,
    /// All its operations are checked.
    Check,
    /// The points among its first decisions are found.
    Survey(usize),
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
    /// The test, which new inputs must be near to.
    pub seed: &'t Scenario,
    /// Fingerprints of scenarios that have been run, and paths.
    pub known: &'t HashSet<u64>,
    pub paths: &'t HashSet<u64>,
    /// Places whose failure is known and need not be shown again.
    pub settled: &'t HashSet<Place>,
    /// Errors that the seed itself shows.
    pub baseline: &'t HashSet<Key>,
    pub deadline: Option<Instant>,
    /// Says whether somebody wants an end.
    pub halt: Option<fn() -> bool>,
}

impl Task<'_> {
    pub fn is_over(&self) -> bool {
        self.halt.is_some_and(|halt| halt())
            || self
                .deadline
                .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The same for the same thing to do.
    pub fn fingerprint(&self) -> u64 {
        fingerprint((self.scenario, &self.aim))
    }

    /// Whether a new input may be run: it is near the test, and has not been run.
    pub fn accepts(&self, scenario: &Scenario) -> bool {
        is_near(self.seed, scenario) && !self.known.contains(&fingerprint(scenario))
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
