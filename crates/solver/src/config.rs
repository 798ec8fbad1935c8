//! How much work a solver may do, and with what.

use std::path::PathBuf;
use std::time::Duration;

/// Bounds on one query. Everything but `time` is deterministic; `time` is only a safety net.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Conflicts that the SAT solver may run into.
    pub conflicts: u32,
    /// Gates that may be added to a circuit for one query.
    pub gates: usize,
    /// Time that each back end may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            conflicts: 20_000,
            gates: 1_000_000,
            time: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Whether nothing is allowed that the others do not allow.
    pub(crate) fn within(&self, other: &Limits) -> bool {
        self.conflicts <= other.conflicts && self.gates <= other.gates && self.time <= other.time
    }
}

/// Which program speaks SMT-LIB for us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmtProgram {
    /// The first of `bitwuzla`, `cvc5`, `z3` that is on the `PATH`.
    Find,
    /// This one, with arguments.
    Command(Vec<String>),
    /// None.
    Off,
}

/// A solver's configuration.
#[derive(Clone, Debug)]
pub struct Config {
    pub limits: Limits,
    pub smt: SmtProgram,
    /// Address space of the SMT program in bytes.
    pub smt_memory: u64,
    /// After so many failures in a row the SMT program is not asked any more.
    pub smt_failures: u32,
    /// Share of a solver's time, since it was made, that the SMT program may take; 1: all of it.
    pub smt_share: f64,
    /// Whether answers of earlier queries are used.
    pub cache: bool,
    /// Whether inversion and search are tried before the SAT solver.
    pub cheap: bool,
    /// Whether each layer's answer is checked against those of the layers below. Slow.
    pub oracle: bool,
    /// Where each query is appended as text, with its answer.
    pub log: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            limits: Limits::default(),
            smt: SmtProgram::Find,
            smt_memory: 2 << 30,
            smt_failures: 5,
            smt_share: 1.0,
            cache: true,
            cheap: true,
            oracle: false,
            log: None,
        }
    }
}
