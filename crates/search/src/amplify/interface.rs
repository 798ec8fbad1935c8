//! What an amplification is given, and what it gives back.

use std::collections::BTreeMap;

use parallax_solver::Statistics;

use crate::core::limits::Limits;
use crate::engine::Ended;
use crate::explore::{self, Programs};
use crate::goals::failures::{Reach, Record};
use parallax_exec::execute::Settings;
use parallax_scenario::Scenario;
use parallax_trace::region::Symbolic;

/// A test that is amplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seed {
    /// As the report calls it.
    pub name: String,
    pub scenario: Scenario,
}

/// A program with its tests.
#[derive(Clone, Debug)]
pub struct Target {
    /// As the report calls it.
    pub name: String,
    pub programs: Programs,
    pub seeds: Vec<Seed>,
    pub symbolic: Symbolic,
    pub settings: Settings,
}

/// How to amplify the tests of a program.
#[derive(Clone, Debug)]
pub struct Options {
    pub reach: Reach,
    pub search: explore::Options,
}

/// What came out for one program.
#[derive(Clone, Debug, Default)]
pub struct Amplification {
    /// `None` if it left no trace.
    pub ended: Option<Ended>,
    /// Seeds are numbered as they were given.
    pub record: Record,
    /// How many seeds were given, and how many of them were to be run.
    pub given: usize,
    pub planned: usize,
    /// Seeds that could not be run, and why.
    pub unusable: Vec<(usize, String)>,
    /// Traced runs, and different paths.
    pub runs: u64,
    pub paths: u64,
    pub seconds: f64,
    /// Inputs that went elsewhere than the solver said.
    pub missed: u64,
    /// Function or instruction → how often labels were lost there.
    pub losses: BTreeMap<String, u64>,
    pub queries: u64,
    pub solver: Statistics,
    /// Runs of all builds.
    pub executions: u64,
    /// Errors that were seen, but not every time: no findings.
    pub flaky: u64,
    pub limits: Limits,
}
