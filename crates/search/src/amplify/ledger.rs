//! What an amplification has found out so far about one program.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::interface::{Amplified, Checks, Divergence, Place};
use super::run::{Branched, Digest, Natively, Report};
use super::{MOST_DECISIONS, MOST_DIVERGENCES, OFTEN};
use parallax_exec::finding::{Finding, Kind, Location};
use parallax_exec::replay::Confirmed;
use parallax_scenario::Scenario;

/// Counts and findings.
#[derive(Default)]
pub struct Ledger {
    /// Fingerprints of scenarios that have been run.
    pub known: HashSet<u64>,
    pub paths: HashSet<u64>,
    /// Places whose failure was shown, and on how many paths.
    failed: HashMap<Place, u64>,
    pub findings: Vec<Amplified>,
    pub checks: Checks,
    pub checked_sites: BTreeMap<Place, u64>,
    /// Numbers of sites.
    pub concrete_sites: BTreeSet<u64>,
    pub undecided: BTreeMap<Place, u64>,
    pub unconfirmed: BTreeMap<Place, u64>,
    pub losses: BTreeMap<String, u64>,
    pub divergences: Vec<Divergence>,
    pub missed: u64,
    pub flaky: u64,
    /// Traced runs.
    pub runs: u64,
}

impl Ledger {
    /// Notes what a run came by.
    pub fn take_in(&mut self, digest: &Digest) {
        self.paths.insert(digest.path);
        self.concrete_sites.extend(&digest.accesses);
        for place in &digest.places {
            self.checked_sites.entry(*place).or_default();
        }
        for (name, count) in &digest.losses {
            *self.losses.entry(name.clone()).or_default() += count;
        }
        if digest.decisions > MOST_DECISIONS {
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

    /// Places whose failure has been shown at all.
    pub fn failed(&self) -> HashSet<Place> {
        self.failed.keys().copied().collect()
    }

    /// Places whose failure has been shown, or tried to be shown in vain, so often that further tests have nothing to add.
    pub fn settled(&self) -> HashSet<Place> {
        let tried = self.failed.iter().chain(&self.unconfirmed);
        let often = tried.filter(|(_, times)| **times >= OFTEN);
        often.map(|(place, _)| *place).collect()
    }

    /// Takes in what a worker brought back, but for the runs and errors, which are given back.
    pub fn merge(&mut self, report: Report) -> (Vec<Branched>, Vec<Natively>) {
        self.runs += report.runs;
        self.checks.add(report.checks);
        for (place, count) in report.checked_sites {
            *self.checked_sites.entry(place).or_default() += count;
        }
        for (place, count) in report.undecided {
            *self.undecided.entry(place).or_default() += count;
        }
        for place in report.unconfirmed {
            *self.unconfirmed.entry(place).or_default() += 1;
        }
        for place in report.failed {
            *self.failed.entry(place).or_default() += 1;
        }
        self.missed += report.missed;
        self.flaky += report.flaky;
        (report.branched, report.errors)
    }

    /// One finding for each place and the functions that led there: the nearest, of equally near ones the least deep, of
    /// those the smallest. The findings that were not known yet.
    pub fn report(
        &mut self,
        seed: usize,
        distance: usize,
        depth: usize,
        scenario: &Scenario,
        confirmed: &Confirmed,
    ) -> Vec<Amplified> {
        let mut news = Vec::new();
        let mut counted: HashSet<usize> = HashSet::new();
        for problem in &confirmed.problems {
            let found = Amplified {
                finding: Finding {
                    problem: problem.clone(),
                    scenario: scenario.clone(),
                    ending: confirmed.ending.clone(),
                    depth,
                },
                distance,
                seed,
                also: Vec::new(),
                tests: 1,
            };
            let same = Same::of(&found.finding);
            let mut known = self.findings.iter();
            match known.position(|known| Same::of(&known.finding) == same) {
                Some(index) => {
                    let known = &mut self.findings[index];
                    let is_another = known.seed != seed && counted.insert(index);
                    known.tests += u64::from(is_another);
                    merge(known, found);
                }
                None => {
                    counted.insert(self.findings.len());
                    news.push(found.clone());
                    self.findings.push(found);
                }
            }
        }
        news
    }
}

/// What makes two findings one: the place and the functions that led there, whatever went wrong. Without a place, what
/// went wrong.
#[derive(PartialEq, Eq)]
struct Same {
    location: Option<Location>,
    kind: Option<Kind>,
    functions: Vec<String>,
}

impl Same {
    fn of(finding: &Finding) -> Same {
        let problem = &finding.problem;
        Same {
            location: problem.location.clone(),
            kind: problem.location.is_none().then_some(problem.kind),
            functions: problem.functions.clone(),
        }
    }
}

/// How telling a kind of error is: that of the finding if a place shows several.
fn weight(kind: Kind) -> u32 {
    match kind {
        Kind::OutOfBounds | Kind::UseAfterFree => 0,
        Kind::NullDereference => 1,
        Kind::DivisionByZero => 2,
        Kind::Assertion | Kind::Abort | Kind::ReachedError => 3,
        Kind::Crash => 4,
        Kind::Overflow | Kind::Shift => 5,
        Kind::Undefined => 6,
        Kind::Timeout => 7,
    }
}

/// Makes one finding of two about the same place.
fn merge(known: &mut Amplified, found: Amplified) {
    let rank = |found: &Amplified| {
        let finding = &found.finding;
        let weight = weight(finding.problem.kind);
        let size = finding.scenario.size();
        (weight, found.distance, finding.depth, size)
    };
    let kinds = [known.finding.problem.kind, found.finding.problem.kind];
    let mut also: BTreeSet<Kind> = known.also.iter().copied().chain(kinds).collect();
    let tests = known.tests;
    if rank(&found) < rank(known) {
        *known = found;
    }
    also.remove(&known.finding.problem.kind);
    known.also = also.into_iter().collect();
    known.tests = tests;
}

#[cfg(test)]
mod tests {
    use super::*;
    use parallax_exec::finding::Problem;
    use parallax_scenario::Ending;

    fn seen(kind: Kind, line: Option<u32>) -> Confirmed {
        let location = line.map(|line| Location {
            file: "a.c".into(),
            line,
        });
        Confirmed {
            problems: vec![Problem::new(kind, "it fails".into(), location)],
            flaky: Vec::new(),
            ending: Ending::default(),
        }
    }

    fn ledger(seen: &[(usize, usize, Confirmed)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (seed, depth, confirmed) in seen {
            ledger.report(*seed, 0, *depth, &Scenario::default(), confirmed);
        }
        ledger
    }

    #[test]
    fn a_place_that_fails_in_several_ways_is_one_finding() {
        let ledger = ledger(&[
            (0, 3, seen(Kind::Overflow, Some(7))),
            (1, 5, seen(Kind::OutOfBounds, Some(7))),
            (1, 2, seen(Kind::Undefined, Some(7))),
            (2, 2, seen(Kind::OutOfBounds, Some(8))),
        ]);
        assert_eq!(ledger.findings.len(), 2);
        let first = &ledger.findings[0];
        assert_eq!(first.finding.problem.kind, Kind::OutOfBounds);
        assert_eq!(first.also, [Kind::Overflow, Kind::Undefined]);
        assert_eq!((first.finding.depth, first.seed), (5, 1));
    }

    #[test]
    fn the_least_deep_test_is_the_one_that_is_shown() {
        let ledger = ledger(&[
            (0, 9, seen(Kind::OutOfBounds, Some(7))),
            (1, 4, seen(Kind::OutOfBounds, Some(7))),
            (2, 6, seen(Kind::OutOfBounds, Some(7))),
        ]);
        let found = &ledger.findings[0];
        assert_eq!((found.finding.depth, found.seed, found.tests), (4, 1, 3));
    }

    #[test]
    fn errors_without_a_place_are_told_apart_by_what_they_are() {
        let ledger = ledger(&[
            (0, 1, seen(Kind::Crash, None)),
            (0, 1, seen(Kind::Timeout, None)),
            (0, 1, seen(Kind::Crash, None)),
        ]);
        assert_eq!(ledger.findings.len(), 2);
    }
}
