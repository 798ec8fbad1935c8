//! Searching for all targets of a project, each in the programs where that promises most, until the time is over; and again with more time.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use parallax_store::Store;

use super::Options;
use super::campaign::Campaign;
use super::search::{Shared, search};
use crate::budget::Budget;
use crate::failure::Failure;
use crate::patch::{Found, Scope, Suite};
use crate::testfile::Format;
use crate::watch::Watcher;

/// Programs that a target is searched for in, at most: the code of libraries can be in a hundred.
const PROGRAMS: usize = 3;

/// The search for a project's targets.
pub struct Covering<'c> {
    pub options: &'c Options,
    pub store: &'c Store,
    pub scope: &'c Scope,
    pub campaign: Campaign<'c>,
    /// Environment variables that are input.
    pub variables: Vec<Vec<u8>>,
    /// What test files are, and where.
    pub tests: Option<(Format, PathBuf)>,
}

impl Covering<'_> {
    /// Searches for what is open, with this budget for each target, until everything ends.
    pub fn search(
        &mut self,
        budget: Budget,
        end: Option<Instant>,
        watcher: &mut Watcher,
    ) -> Result<(), Failure> {
        let context = &self.options.setup.context;
        let folder = self.tests.as_ref();
        let campaign = &mut self.campaign;
        let sizes = sizes(campaign.found, self.store)?;
        for round in 0..PROGRAMS {
            let parts = assigned(campaign, &sizes, round, budget);
            let mut waiting: usize = parts.values().map(Vec::len).sum();
            for (subject, targets) in parts {
                let left = end.map(|end| end.saturating_duration_since(Instant::now()));
                if context.is_cancelled() || left.is_some_and(|left| left.is_zero()) {
                    break;
                }
                // Programs have time by the number of their targets.
                let share = targets.len() as f64 / waiting.max(1) as f64;
                waiting -= targets.len();
                let means = Shared {
                    options: self.options,
                    budget,
                    store: self.store,
                    scope: self.scope,
                    variables: &self.variables,
                    tests: folder.map(|(format, folder)| (format, folder.as_path())),
                    end: left.map(|left| Instant::now() + left.mul_f64(share)),
                };
                if let Err(failure) = search(&means, campaign, subject, &targets, watcher) {
                    let name = &campaign.found.subjects[subject].name;
                    context.trouble(&failure, &format!("{name} is left out"));
                }
            }
        }
        Ok(())
    }
}

/// How many scenarios there are of each program.
fn sizes(found: &Found, store: &Store) -> Result<Vec<usize>, Failure> {
    let size = |subject: &crate::patch::Subject| {
        Suite::read(store, &subject.path).map(|suite| suite.tests.len())
    };
    found.subjects.iter().map(size).collect()
}

impl Covering<'_> {
    /// The open targets that are searched for in this program, if each has this budget: those that are in no other program whose tests
    /// come nearer, unless it has been searched for there.
    pub fn assigned(
        &self,
        subject: usize,
        round: usize,
        budget: Budget,
    ) -> Result<Vec<usize>, Failure> {
        let sizes = sizes(self.campaign.found, self.store)?;
        let mut all = assigned(&self.campaign, &sizes, round % PROGRAMS, budget);
        Ok(all.remove(&subject).unwrap_or_default())
    }
}

/// The open targets of each program in this round: in the first, each target in the program whose tests come nearest to it.
fn assigned(
    campaign: &Campaign<'_>,
    tests: &[usize],
    round: usize,
    budget: Budget,
) -> BTreeMap<usize, Vec<usize>> {
    let mut assigned: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in campaign.open() {
        let mut places: Vec<_> = campaign.found.targets[index].places.iter().collect();
        places.sort_by_key(|place| {
            let tests = tests.get(place.subject).copied().unwrap_or(0);
            (std::cmp::Reverse((place.nearby, tests)), place.subject)
        });
        let is_done = campaign.is_used_up(index, budget);
        if let Some(place) = places.get(round).filter(|_| !is_done) {
            assigned.entry(place.subject).or_default().push(index);
        }
    }
    assigned
}
