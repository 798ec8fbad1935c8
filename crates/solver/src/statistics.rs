//! What a solver did, for reports and benchmarks.

use crate::layer::Layer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// Counts over all paths of a solver.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub queries: u64,
    /// What each layer answered and how long it took, without the layers below.
    pub layers: BTreeMap<Layer, LayerStatistics>,
    pub unknown: u64,
    /// Unknown because a limit on conflicts, time or size was reached.
    pub limits: u64,
    /// Models that did not satisfy their query and were thrown away.
    pub wrong_models: u64,
    /// Failures of the SMT program, by reason.
    pub failures: BTreeMap<String, u64>,
    /// Set when a back end was switched off: its name and why.
    pub switched_off: Option<String>,
    /// Why the log of queries could not be written.
    pub log_error: Option<String>,
    /// Oracle mode only: contradictions between layers.
    pub disagreements: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayerStatistics {
    pub sat: u64,
    pub unsat: u64,
    pub time: Duration,
}

impl LayerStatistics {
    /// Queries that the layer decided.
    pub fn answers(&self) -> u64 {
        self.sat + self.unsat
    }
}

impl Statistics {
    /// Adds what another solver did.
    pub fn absorb(&mut self, other: Statistics) {
        self.queries += other.queries;
        self.unknown += other.unknown;
        self.limits += other.limits;
        self.wrong_models += other.wrong_models;
        for (layer, more) in other.layers {
            let layer = self.layers.entry(layer).or_default();
            layer.sat += more.sat;
            layer.unsat += more.unsat;
            layer.time += more.time;
        }
        for (reason, count) in other.failures {
            *self.failures.entry(reason).or_default() += count;
        }
        self.switched_off = self.switched_off.take().or(other.switched_off);
        self.log_error = self.log_error.take().or(other.log_error);
        self.disagreements.extend(other.disagreements);
    }

    /// Time spent in all layers.
    pub fn time(&self) -> Duration {
        self.layers.values().map(|layer| layer.time).sum()
    }
}
