//! What the scenarios of one program run in one build of it.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;

use parallax_exec::coverage::Counter;
use parallax_store::Store;

use crate::failure::Failure;
use crate::stored::SEEDS;
use crate::variants;

/// A scenario, and what it runs.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name in the store.
    pub id: String,
    pub ran: BTreeSet<Counter>,
    /// The project's own, or one that the user gave; else Parallax made it to cover something.
    pub is_given: bool,
}

/// All that were measured.
#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub tests: Vec<Test>,
}

impl Suite {
    /// What is known about the program with this path.
    pub fn read(store: &Store, program: &Path) -> Result<Suite, Failure> {
        let identity = variants::identity(program)?;
        let measured = store.coverages(&identity)?.into_iter();
        let tests = measured.map(|one| Test {
            id: one.scenario,
            is_given: SEEDS.contains(&one.origin),
            ran: one
                .counters
                .iter()
                .map(|counter| Counter {
                    module: counter.module,
                    index: counter.index,
                })
                .collect(),
        });
        Ok(Suite {
            tests: tests.collect(),
        })
    }

    /// Everything that the given scenarios run.
    pub fn ran(&self) -> BTreeSet<Counter> {
        let given = self.tests.iter().filter(|test| test.is_given);
        given.flat_map(|test| test.ran.iter().copied()).collect()
    }

    /// The given scenarios that run something of this, in the order in which they came.
    pub fn all_to_run<'s>(&'s self, counters: &HashSet<Counter>) -> impl Iterator<Item = &'s Test> {
        let given = self.tests.iter().filter(|test| test.is_given);
        given.filter(|test| counters.iter().any(|counter| test.ran.contains(counter)))
    }
}
