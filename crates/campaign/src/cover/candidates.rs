//! Which scenarios searches in a program start from: of those that run the same, the smallest.

use std::collections::{BTreeSet, HashMap};

use parallax_scenario::Scenario;
use parallax_store::Store;

use crate::failure::Failure;
use crate::patch::{Suite, Test};

/// A scenario with what it runs.
pub struct Candidate {
    pub test: Test,
    pub scenario: Scenario,
}

impl Candidate {
    /// How much there is to run: connections, which are waited for one after the other, count more than bytes.
    fn weight(&self) -> (usize, usize) {
        (self.scenario.streams.len(), self.scenario.size())
    }

    /// For programs that nothing was recorded of: no arguments, no input.
    pub fn nothing() -> Candidate {
        Candidate {
            test: Test {
                id: String::new(),
                ran: BTreeSet::new(),
                is_given: true,
            },
            scenario: Scenario::default(),
        }
    }
}

/// The scenarios of a suite, without those that run the same as a smaller one.
pub fn read(store: &Store, suite: Suite) -> Result<Vec<Candidate>, Failure> {
    let mut distinct: Vec<Candidate> = Vec::new();
    let mut known: HashMap<Vec<(u64, u32)>, usize> = HashMap::new();
    for test in suite.tests {
        let scenario = store.get(&test.id)?.recorded.scenario;
        let ran = test.ran.iter();
        let ran: Vec<_> = ran.map(|one| (one.module, one.index)).collect();
        let candidate = Candidate { scenario, test };
        match known.entry(ran) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(distinct.len());
                distinct.push(candidate);
            }
            std::collections::hash_map::Entry::Occupied(entry) => {
                let same = &mut distinct[*entry.get()];
                if candidate.weight() < same.weight() {
                    *same = candidate;
                }
            }
        }
    }
    Ok(distinct)
}
