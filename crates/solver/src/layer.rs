//! What layers hand to each other.

use crate::config::Limits;
use crate::constraint::{Constraint, Why};
use crate::sets::VarId;
use crate::terms::Terms;
use parallax_expr::Store;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Layer {
    /// Nothing that the goal depends on can change it, or the seed satisfies it.
    Slicing,
    /// Earlier answers.
    Cache,
    /// Inversion and search.
    Cheap,
    /// Bit-blasting.
    Sat,
    /// The SMT-LIB program.
    Smt,
}

impl Layer {
    pub const ALL: [Layer; 5] = [
        Layer::Slicing,
        Layer::Cache,
        Layer::Cheap,
        Layer::Sat,
        Layer::Smt,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Layer::Slicing => "slicing",
            Layer::Cache => "cache",
            Layer::Cheap => "cheap",
            Layer::Sat => "sat",
            Layer::Smt => "smt",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A sliced query: constraints without repetition, those of the goal last.
#[derive(Clone, Copy)]
pub(crate) struct Query<'q> {
    pub facts: &'q [Constraint],
    /// Where the goal begins.
    pub goal: usize,
    pub limits: Limits,
}

impl<'q> Query<'q> {
    pub fn goal(&self) -> &'q [Constraint] {
        &self.facts[self.goal..]
    }
}

/// Bytes that differ from the seed.
pub(crate) type Changes = Vec<(VarId, u8)>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Sat(Changes),
    /// Indices into the query's constraints.
    Unsat(Vec<usize>),
    Unknown(Why),
}

/// An outcome and who it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub outcome: Outcome,
    pub layer: Layer,
}

impl Reply {
    pub fn new(layer: Layer, outcome: Outcome) -> Reply {
        Reply { outcome, layer }
    }
}

/// Whether all constraints hold on the seed with these changes. The goal fails most often, so it comes first.
pub(crate) fn satisfies<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    changes: &[(VarId, u8)],
) -> bool {
    terms.assign(changes);
    query.facts.iter().rev().all(|&fact| terms.holds(fact))
}

/// Values that are tried in place of one that cannot be typed.
const READABLE: &[u8] = b"0a Ax9_-Z\n";

/// Gives changed bytes readable values, where the seed's are readable and others will do as well.
pub(crate) fn tidy<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    changes: Changes,
) -> Changes {
    /// Longer lists of changes are nothing to read anyway.
    const MOST: usize = 8;
    let readable = |value: u8| value.is_ascii_graphic() || b" \n\t".contains(&value);
    let mut changes = changes;
    if changes.len() > MOST {
        return changes;
    }
    for at in 0..changes.len() {
        let (byte, value) = changes[at];
        if readable(value) || !readable(terms.seed(byte)) {
            continue;
        }
        for &better in READABLE {
            changes[at].1 = better;
            if satisfies(terms, query, &changes) {
                break;
            }
            changes[at].1 = value;
        }
    }
    changes
}

/// How many smaller sets of changes are tried.
const ATTEMPTS: usize = 64;

/// Takes back changes that are not needed: halves first, then smaller parts, then single bytes.
pub(crate) fn take_back<S: Store>(
    terms: &mut Terms<'_, S>,
    query: &Query<'_>,
    changes: Changes,
) -> Changes {
    let mut changes = changes;
    changes.retain(|&(byte, value)| terms.seed(byte) != value);
    changes.sort_unstable();
    let mut attempts = 0;
    let mut part = changes.len().div_ceil(2);
    while part > 0 && changes.len() > 1 {
        let mut start = 0;
        while start < changes.len() && attempts < ATTEMPTS {
            let end = (start + part).min(changes.len());
            let fewer: Changes = [&changes[..start], &changes[end..]].concat();
            attempts += 1;
            if satisfies(terms, query, &fewer) {
                changes = fewer;
            } else {
                start = end;
            }
        }
        part = if part == 1 { 0 } else { part.div_ceil(2) };
    }
    changes
}
