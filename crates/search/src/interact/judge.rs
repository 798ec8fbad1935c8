//! What inputs show on both versions, and which of them show the same.

use std::collections::{BTreeSet, HashMap};

use super::follow::Walked;
use super::interface::{Finding, InteractError, Kind, Observer};
use super::search::Interactor;
use super::sequences::{Critical, Test};
use crate::diverge::clusters::size;
use crate::diverge::triage::Shown;
use parallax_scenario::Scenario;

/// Inputs of one sequence that are run on the builds with sanitizers whatever the plain ones do.
const CHECKED: u64 = 8;
/// How often something must be seen, without a miss.
const TIMES: usize = 3;

/// Inputs that show the same.
#[derive(Clone, Debug)]
pub struct Group {
    pub number: usize,
    /// Inputs that show it.
    pub count: u64,
    /// With the best of them.
    pub finding: Finding,
}

impl Group {
    /// Whether only the builds with sanitizers can show it.
    pub fn needs_checks(&self) -> bool {
        self.finding.shown.differences.is_empty()
    }
}

/// All groups.
#[derive(Debug, Default)]
pub struct Known {
    by_key: HashMap<String, usize>,
    pub list: Vec<Group>,
}

impl Interactor<'_> {
    /// Runs an input on both versions, if it executed a change.
    pub(super) fn look_at(
        &mut self,
        scenario: &Scenario,
        walked: &Walked,
        observer: &mut dyn Observer,
    ) -> Result<(), InteractError> {
        let sequence = self.changes(walked);
        if sequence.is_empty() {
            return Ok(());
        }
        let is_checked = self.tests.of(&sequence) < CHECKED || self.court.differ(scenario)?;
        let mut shows = None;
        if is_checked {
            let shown = self.court.judge(scenario)?;
            shows = self.sort(scenario, &sequence, shown, observer)?;
        }
        self.inputs.push(scenario.clone());
        self.tests.add(Test {
            sequence,
            shows,
            is_checked,
        });
        Ok(())
    }

    /// Takes in what an input shows; the number of its group.
    pub(super) fn sort(
        &mut self,
        scenario: &Scenario,
        sequence: &[usize],
        shown: Shown,
        observer: &mut dyn Observer,
    ) -> Result<Option<usize>, InteractError> {
        let Some(kind) = Kind::of(&shown) else {
            return Ok(None);
        };
        let key = shown.key();
        let finding = Finding {
            kind,
            key: key.clone(),
            scenario: scenario.clone(),
            shown,
            sequence: sequence.to_vec(),
            critical: Critical::default(),
            count: 1,
            seconds: self.elapsed().as_secs_f64(),
        };
        if let Some(number) = self.groups.by_key.get(&key) {
            let group = &mut self.groups.list[*number];
            group.count += 1;
            if weight(&finding) < weight(&group.finding) {
                let seconds = group.finding.seconds;
                group.finding = Finding { seconds, ..finding };
            }
            return Ok(Some(*number));
        }
        if !self.is_steady(scenario, &key)? {
            self.flaky += 1;
            return Ok(None);
        }
        let number = self.groups.list.len();
        observer.found(&finding);
        self.groups.by_key.insert(key, number);
        self.groups.list.push(Group {
            number,
            count: 1,
            finding,
        });
        Ok(Some(number))
    }

    /// Whether an input shows the same each time.
    pub(super) fn is_steady(
        &mut self,
        scenario: &Scenario,
        key: &str,
    ) -> Result<bool, InteractError> {
        for _ in 1..TIMES {
            if self.court.judge(scenario)?.key() != key {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Of inputs that show the same, the one with the fewest changes says most; then the shortest.
fn weight(finding: &Finding) -> (usize, usize, usize, &Scenario) {
    let changes: BTreeSet<&usize> = finding.sequence.iter().collect();
    (
        changes.len(),
        finding.sequence.len(),
        size(&finding.scenario),
        &finding.scenario,
    )
}
