//! What is found out: checks and what became of them, where tests' paths were left, and which test shows an error.

use std::collections::{BTreeMap, BTreeSet};

use parallax_abi::SiteId;
use parallax_exec::finding::{Finding, Key, Kind, Location, Problem};
use parallax_trace::sensitive;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::outline::{Outline, Place};
use crate::core::corpus::EntryId;
use crate::core::goal::Path;
use crate::core::limits::{Limit, Limits};

/// A finding, with how far it is from the test that it was made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amplified {
    pub finding: Finding,
    /// Points between where its path left the test's and the operation that it was looked for; 0 on the test's own path.
    pub distance: usize,
    /// Index into the given inputs.
    pub seed: usize,
    /// Other kinds of errors that the same place showed: one defect is often noticed in several ways.
    pub also: Vec<Kind>,
    /// How many tests showed it.
    pub tests: u64,
}

/// A point at which a test's path was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Index into the given inputs.
    pub seed: usize,
    pub distance: usize,
    pub depth: usize,
    pub site: SiteId,
}

/// What became of the checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Asked of the solver.
    pub made: u64,
    /// Nothing on the path makes the operation fail.
    pub safe: u64,
    /// An input that makes it fail was found, and did fail natively.
    pub confirmed: u64,
    /// Such an input was found, but did not fail natively.
    pub unconfirmed: u64,
    /// The solver could not tell.
    pub undecided: u64,
    /// Not asked: the failure is known, or the time was over.
    pub skipped: u64,
}

impl Checks {
    pub fn add(&mut self, more: Checks) {
        self.made += more.made;
        self.safe += more.safe;
        self.confirmed += more.confirmed;
        self.unconfirmed += more.unconfirmed;
        self.undecided += more.undecided;
        self.skipped += more.skipped;
    }
}

/// What was found out about one program.
#[derive(Clone, Debug, Default)]
pub struct Record {
    pub findings: Vec<Amplified>,
    /// The largest distance that was explored.
    pub distance: usize,
    pub checks: Checks,
    /// Sensitive sites that any run came by, with the number of checks there.
    pub sites: BTreeMap<Place, u64>,
    /// Sites that only accessed memory at concrete addresses.
    pub concrete_sites: u64,
    /// Where checks could not be decided, and how many.
    pub undecided: BTreeMap<Place, u64>,
    /// Where failing inputs were made that did not fail natively, and how many.
    pub unconfirmed: BTreeMap<Place, u64>,
    /// Indices of the given inputs that were run, in the order of what they add to each other.
    pub order: Vec<usize>,
    /// Tests that did not end by themselves.
    pub hanging: u64,
    /// Where the tests' paths were left, in order; the first of them if they are many.
    pub divergences: Vec<Divergence>,
    pub limits: Limits,
}

/// Where an entry comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub test: usize,
    pub distance: usize,
    /// The run beside the test's path on which it was made; `None` on the path itself.
    pub side: Option<usize>,
    /// Decisions before what it was made for.
    pub position: usize,
}

/// What is known of a place.
#[derive(Default)]
struct Spot {
    checks: u64,
    /// How often it failed, and how often it should have.
    failed: u64,
    unconfirmed: u64,
    undecided: u64,
    /// File and line.
    line: Option<(String, u32)>,
}

/// See the module's description.
#[derive(Default)]
pub(super) struct Ledger {
    pub origins: FxHashMap<EntryId, Origin>,
    pub checks: Checks,
    pub limits: Limits,
    pub hanging: u64,
    /// Places that failed for inputs of an entry's path.
    pub failed_on: FxHashSet<(EntryId, Place)>,
    spots: BTreeMap<Place, Spot>,
    concrete: BTreeSet<SiteId>,
    divergences: Vec<Divergence>,
    /// Errors, where each is nearest to a test, and the tests that show it.
    noted: FxHashMap<Key, (Origin, BTreeSet<usize>)>,
}

impl Ledger {
    /// Notes what a path comes by.
    pub fn come_by(&mut self, path: &Path<'_>, outline: &Outline) {
        for place in outline.places() {
            self.spots.entry(place).or_insert_with(|| Spot {
                line: path
                    .sites
                    .get(place.site)
                    .map(|view| (view.file.to_owned(), view.line)),
                ..Spot::default()
            });
        }
        let accesses = sensitive::accesses(&path.traced.trace, &path.traced.decisions);
        self.concrete.extend(accesses.iter().map(|(site, _)| *site));
    }

    fn spot(&mut self, place: &Place) -> &mut Spot {
        self.spots.entry(*place).or_default()
    }

    pub fn line(&self, place: &Place) -> Option<&(String, u32)> {
        self.spots.get(place)?.line.as_ref()
    }

    /// How often a place was seen to fail.
    pub fn failed(&self, place: &Place) -> u64 {
        self.spots.get(place).map_or(0, |spot| spot.failed)
    }

    /// How often it should have failed and did not.
    pub fn unshown(&self, place: &Place) -> u64 {
        self.spots.get(place).map_or(0, |spot| spot.unconfirmed)
    }

    pub fn made(&mut self, place: &Place) {
        self.checks.made += 1;
        self.spot(place).checks += 1;
    }

    /// There was no time for a check that was counted.
    pub fn cut(&mut self, place: &Place) {
        self.checks.made -= 1;
        self.checks.skipped += 1;
        self.spot(place).checks -= 1;
    }

    pub fn undecided(&mut self, place: &Place) {
        self.checks.undecided += 1;
        self.spot(place).undecided += 1;
    }

    pub fn unconfirmed(&mut self, place: &Place) {
        self.checks.unconfirmed += 1;
        self.spot(place).unconfirmed += 1;
    }

    pub fn confirmed(&mut self, entry: EntryId, place: &Place) {
        self.checks.confirmed += 1;
        self.spot(place).failed += 1;
        self.failed_on.insert((entry, *place));
    }

    /// Notes where a test's path was left.
    pub fn left(&mut self, divergence: Divergence) {
        match (self.divergences.len() as u64) < Limit::Divergences.value() {
            true => self.divergences.push(divergence),
            false => self.limits.hit(Limit::Divergences),
        }
    }

    /// Notes what an input shows; which of that is nearer to a test than it was. Of equally near ones the least deep counts.
    pub fn note(&mut self, origin: Origin, problems: &[Problem]) -> Vec<Key> {
        let mut nearer = Vec::new();
        for problem in problems {
            let key = problem.key();
            let new = (origin, BTreeSet::from([origin.test]));
            let Some((known, tests)) = self.noted.get_mut(&key) else {
                self.noted.insert(key, new);
                continue;
            };
            tests.insert(origin.test);
            let rank = |one: &Origin| (one.distance, one.position);
            if rank(&origin) < rank(known) {
                *known = origin;
                nearer.push(key);
            }
        }
        nearer
    }

    /// Findings with where they come from, the nearest first. `place` gives the given input and the depth, `alike` how many tests take
    /// the path of one.
    pub fn found(
        &self,
        findings: Vec<Finding>,
        place: impl Fn(&Origin) -> (usize, usize),
        alike: impl Fn(usize) -> u64,
    ) -> Vec<Amplified> {
        let mut found: Vec<Amplified> = Vec::new();
        for mut finding in findings {
            let Some((origin, tests)) = self.noted.get(&finding.key()) else {
                continue;
            };
            let (seed, depth) = place(origin);
            finding.depth = depth;
            let one = Amplified {
                finding,
                distance: origin.distance,
                seed,
                also: Vec::new(),
                tests: tests.iter().map(|test| alike(*test)).sum(),
            };
            let same = Same::of(&one.finding);
            match found
                .iter_mut()
                .find(|known| Same::of(&known.finding) == same)
            {
                Some(known) => merge(known, one),
                None => found.push(one),
            }
        }
        found.sort_by_key(|found| (found.distance, found.finding.depth));
        found
    }

    pub fn record(self, findings: Vec<Amplified>, order: Vec<usize>, distance: usize) -> Record {
        let counted = |count: fn(&Spot) -> u64| {
            let each = self.spots.iter().map(|(place, spot)| (*place, count(spot)));
            each.filter(|(_, count)| *count > 0).collect()
        };
        let spots = self.spots.iter();
        Record {
            findings,
            distance,
            checks: self.checks,
            sites: spots.map(|(place, spot)| (*place, spot.checks)).collect(),
            concrete_sites: self.concrete.len() as u64,
            undecided: counted(|spot| spot.undecided),
            unconfirmed: counted(|spot| spot.unconfirmed),
            order,
            hanging: self.hanging,
            divergences: self.divergences,
            limits: self.limits,
        }
    }
}

/// What makes two findings one defect: the place and the functions that led there, whatever went wrong. Without a place, what
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
    let tests = known.tests.max(found.tests);
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
    use parallax_scenario::{Ending, Scenario};

    fn problem(kind: Kind, line: Option<u32>) -> Problem {
        let location = line.map(|line| Location {
            file: "a.c".into(),
            line,
        });
        Problem::new(kind, "it fails".into(), location)
    }

    /// What comes of errors that tests show on their own paths, after so many decisions.
    fn found(seen: &[(usize, usize, Problem)]) -> Vec<Amplified> {
        let mut ledger = Ledger::default();
        let mut findings: Vec<Finding> = Vec::new();
        for (test, position, problem) in seen {
            let origin = Origin {
                test: *test,
                distance: 0,
                side: None,
                position: *position,
            };
            ledger.note(origin, std::slice::from_ref(problem));
            if !findings.iter().any(|known| known.key() == problem.key()) {
                findings.push(Finding {
                    problem: problem.clone(),
                    scenario: Scenario::default(),
                    ending: Ending::default(),
                    depth: 0,
                });
            }
        }
        ledger.found(findings, |origin| (origin.test, origin.position), |_| 1)
    }

    #[test]
    fn a_place_that_fails_in_several_ways_is_one_finding() {
        let found = found(&[
            (0, 3, problem(Kind::Overflow, Some(7))),
            (1, 5, problem(Kind::OutOfBounds, Some(7))),
            (1, 2, problem(Kind::Undefined, Some(7))),
            (2, 9, problem(Kind::OutOfBounds, Some(8))),
        ]);
        assert_eq!(found.len(), 2);
        let first = &found[0];
        assert_eq!(first.finding.problem.kind, Kind::OutOfBounds);
        assert_eq!(first.also, [Kind::Overflow, Kind::Undefined]);
        assert_eq!((first.finding.depth, first.seed), (5, 1));
    }

    #[test]
    fn the_least_deep_test_is_the_one_that_is_shown() {
        let found = found(&[
            (0, 9, problem(Kind::OutOfBounds, Some(7))),
            (1, 4, problem(Kind::OutOfBounds, Some(7))),
            (2, 6, problem(Kind::OutOfBounds, Some(7))),
        ]);
        let first = &found[0];
        assert_eq!((first.finding.depth, first.seed, first.tests), (4, 1, 3));
    }

    #[test]
    fn errors_without_a_place_are_told_apart_by_what_they_are() {
        let found = found(&[
            (0, 1, problem(Kind::Crash, None)),
            (0, 1, problem(Kind::Timeout, None)),
            (0, 1, problem(Kind::Crash, None)),
        ]);
        assert_eq!(found.len(), 2);
    }
}
