//! What an amplification has found out so far.

use std::collections::{BTreeMap, HashSet};

use parallax_abi::SiteId;

use super::interface::{Amplified, Checks, Divergence, Undecided};
use super::run::{Branched, Natively, Place, Probed, Report};
use super::{MOST_DECISIONS, MOST_DIVERGENCES};
use crate::finding::Finding;
use crate::replay::Confirmed;
use crate::scenario::Scenario;

/// Counts and findings.
#[derive(Default)]
pub struct Ledger {
    /// Scenarios that have been run.
    pub known: HashSet<Scenario>,
    pub paths: HashSet<u64>,
    /// Places whose failure was shown.
    pub failed: HashSet<Place>,
    pub findings: Vec<Amplified>,
    pub checks: Checks,
    pub checked_sites: BTreeMap<Place, u64>,
    pub concrete_sites: HashSet<SiteId>,
    pub undecided: BTreeMap<Undecided, u64>,
    pub losses: BTreeMap<String, u64>,
    pub divergences: Vec<Divergence>,
    pub missed: u64,
    pub flaky: u64,
    /// Traced runs.
    pub runs: u64,
}

impl Ledger {
    /// Notes what a run came by.
    pub fn take_in(&mut self, probed: &Probed) {
        self.paths.insert(probed.traced.path());
        for (site, _) in &probed.accesses {
            self.concrete_sites.insert(*site);
        }
        for operation in &probed.operations {
            let place = (operation.site, operation.failure);
            self.checked_sites.entry(place).or_default();
        }
        for loss in probed.traced.trace.losses() {
            let name = loss.name();
            let name = if name.is_empty() {
                "(memory)".into()
            } else {
                name
            };
            *self.losses.entry(name.into_owned()).or_default() += u64::from(loss.count);
        }
        if let Some(stop) = probed.traced.trace.stop() {
            let name = format!("(trace cut short: {})", format!("{stop:?}").to_lowercase());
            *self.losses.entry(name).or_default() += 1;
        }
        if probed.traced.decisions.len() > MOST_DECISIONS {
            let name = "(points beyond the first of a long run)".to_owned();
            *self.losses.entry(name).or_default() += 1;
        }
    }

    /// Notes where a test's path was left.
    pub fn left(&mut self, divergence: Divergence) {
        if self.divergences.len() < MOST_DIVERGENCES {
            self.divergences.push(divergence);
        }
    }

    /// Takes in what a worker brought back, but for the runs and errors, which are given back.
    pub fn merge(&mut self, report: Report) -> (Vec<Branched>, Vec<Natively>) {
        self.runs += report.runs;
        self.checks.add(report.checks);
        for (place, count) in report.checked_sites {
            *self.checked_sites.entry(place).or_default() += count;
        }
        for (undecided, count) in report.undecided {
            *self.undecided.entry(undecided).or_default() += count;
        }
        self.failed.extend(report.failed);
        self.missed += report.missed;
        self.flaky += report.flaky;
        (report.branched, report.errors)
    }

    /// One finding for each kind and place: the nearest, of equally near ones the least deep, of those the smallest. The
    /// findings that were not known yet.
    pub fn report(
        &mut self,
        seed: usize,
        distance: usize,
        depth: usize,
        scenario: Scenario,
        confirmed: Confirmed,
    ) -> Vec<Amplified> {
        let mut news = Vec::new();
        let rank = |found: &Amplified| {
            let Finding {
                depth, scenario, ..
            } = &found.finding;
            (found.distance, *depth, scenario.size())
        };
        for problem in confirmed.problems {
            let found = Amplified {
                finding: Finding {
                    problem,
                    scenario: scenario.clone(),
                    ending: confirmed.ending.clone(),
                    depth,
                },
                distance,
                seed,
            };
            let key = found.finding.key();
            let known = self
                .findings
                .iter_mut()
                .find(|known| known.finding.key() == key);
            match known {
                Some(known) if rank(&found) < rank(known) => *known = found,
                Some(_) => {}
                None => {
                    news.push(found.clone());
                    self.findings.push(found);
                }
            }
        }
        news
    }
}

impl Checks {
    fn add(&mut self, more: Checks) {
        self.made += more.made;
        self.safe += more.safe;
        self.confirmed += more.confirmed;
        self.unconfirmed += more.unconfirmed;
        self.undecided += more.undecided;
        self.skipped += more.skipped;
    }
}
