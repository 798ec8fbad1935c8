//! What a search along a change sequence graph is given, and what it gives back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use parallax_analysis::Analysis;
use parallax_analysis::dependence::Dependences;
use parallax_analysis::sequence::ChangeGraph;

use super::sequences::{Critical, Row, Sequence};
use crate::diverge::triage::{Builds, Class, Shown};
use crate::explore::{self, Ended};
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::{Golden, Scenario};

pub use crate::diverge::DivergeError as InteractError;

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from.
    pub seeds: Vec<Scenario>,
    /// Everything that an exploration is given, too.
    pub explore: explore::Options,
    /// Whether changes are taken one by one, without the graph: to see what the graph is good for.
    pub isolated: bool,
}

/// What is compared.
#[derive(Clone, Debug)]
pub struct Subjects {
    pub old: Builds,
    pub new: explore::Programs,
    /// The new version with counters.
    pub covered: PathBuf,
    /// A version that is known to be right.
    pub golden: Option<Builds>,
}

/// What is known of the new version without running it.
#[derive(Clone, Copy)]
pub struct Code<'c> {
    pub analysis: &'c Analysis,
    pub dependences: &'c Dependences,
    pub graph: &'c ChangeGraph,
    /// Of the traced program.
    pub sites: &'c SiteMap,
    /// Of the covered program.
    pub tables: &'c [ModuleSites],
}

/// Who watches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress);
    /// Something that no input before has shown.
    fn found(&mut self, finding: &Finding);
    /// One of the scenarios that were given cannot be run.
    fn left_out(&mut self, _seed: usize, _error: &InteractError) {}
    /// Whether to end now.
    fn stop(&self) -> bool;
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Traced runs.
    pub runs: u64,
    /// Inputs that executed a change and were run on both versions.
    pub tests: u64,
    /// Different sequences of changes that they executed.
    pub sequences: u64,
    /// Those on which the versions differ.
    pub differences: u64,
    /// Different things that these show.
    pub findings: u64,
    /// Ways that are not tried yet.
    pub open: u64,
}

/// What a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The old version was right, or has no error, and the new one is wrong.
    Regression,
    /// All three differ: the new version does something else than the old one, and not what it should.
    IncompleteFix,
    /// Nobody says which version is right.
    Difference,
    /// The new version is right, or the old one alone has an error.
    Progression,
}

impl Kind {
    /// Of what an input shows; `None` if the versions do not differ.
    pub fn of(shown: &Shown) -> Option<Kind> {
        match (shown.golden, shown.class) {
            (_, Class::Silent | Class::Both) => None,
            (Some(Golden::Regression), _) => Some(Kind::Regression),
            (Some(Golden::Unclear), _) => Some(Kind::IncompleteFix),
            (Some(Golden::Intended), _) => Some(Kind::Progression),
            (None, Class::Regression) => Some(Kind::Regression),
            (None, Class::Difference) => Some(Kind::Difference),
            (None, Class::Fixed) => Some(Kind::Progression),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Regression => "regression",
            Kind::IncompleteFix => "incomplete-fix",
            Kind::Difference => "difference",
            Kind::Progression => "progression",
        }
    }

    /// Whether the new version is wrong for certain.
    pub fn is_error(self) -> bool {
        matches!(self, Kind::Regression | Kind::IncompleteFix)
    }
}

/// What several inputs show.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: Kind,
    /// The same for the same thing, also in other searches.
    pub key: String,
    /// A small input that shows it, of those with the fewest changes.
    pub scenario: Scenario,
    pub shown: Shown,
    /// What that input executes.
    pub sequence: Sequence,
    pub critical: Critical,
    /// Inputs that show it.
    pub count: u64,
    /// Seconds after which the first of them was found.
    pub seconds: f64,
}

impl Finding {
    /// An error that only shows when several changes are executed together.
    pub fn is_interaction(&self) -> bool {
        self.critical.is_critical && self.kind != Kind::Progression
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub ended: Ended,
    /// The worst first.
    pub findings: Vec<Finding>,
    pub rows: Vec<Row>,
    /// Inputs that executed a change and were run on both versions; those on which the versions differ; those that show an error.
    pub tests: u64,
    pub differences: u64,
    pub errors: u64,
    /// Nodes of the graph that were come to, and edges that were gone along.
    pub nodes: (u64, u64),
    pub edges: (u64, u64),
    /// Scenarios that were given.
    pub scenarios: u64,
    pub paths: u64,
    /// Traced runs.
    pub runs: u64,
    /// Runs of any build.
    pub executions: u64,
    pub queries: u64,
    /// What was seen but not each time.
    pub flaky: u64,
    /// Runs that went on for longer than could be followed.
    pub cut: u64,
    pub losses: BTreeMap<String, u64>,
    pub time: Duration,
}
