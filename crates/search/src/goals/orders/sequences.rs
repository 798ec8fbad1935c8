//! Sequences of changes that inputs executed, and what the inputs showed: which sequences are critical for an error.
//!
//! The paper's definition 3: an error is a change interaction error if some input executes a sequence of at least two changes and shows it,
//! and no input that skips one of these changes does. Nobody can run all inputs, so this rests on those that were seen, and their number is said.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parallax_scenario::Scenario;

use crate::core::limits::Limit;

/// Changed statements in the order in which they were executed, as nodes of the graph. What is repeated more than twice in a row, be it one change or
/// several, is there twice.
pub type Sequence = Vec<usize>;

/// Longest part of a sequence whose repetitions are left out.
const LONGEST_PART: usize = 8;

/// The sequence of all changes that were executed, and whether there were more.
pub fn sequence(changes: impl Iterator<Item = usize>) -> (Sequence, bool) {
    let mut sequence: Sequence = Vec::new();
    for change in changes {
        sequence.push(change);
        for part in 1..=LONGEST_PART.min(sequence.len() / 3) {
            let (before, last) = sequence.split_at(sequence.len() - part);
            if before.ends_with(last) && before[..before.len() - part].ends_with(last) {
                sequence.truncate(sequence.len() - part);
                break;
            }
        }
        if sequence.len() as u64 >= Limit::Sequence.value() {
            return (sequence, true);
        }
    }
    (sequence, false)
}

/// Whether one sequence has all of another, in order.
pub fn exercises(sequence: &[usize], wanted: &[usize]) -> bool {
    let mut rest = sequence.iter();
    wanted
        .iter()
        .all(|change| rest.any(|other| other == change))
}

/// An input that was run on both versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub scenario: Arc<Scenario>,
    pub sequence: Sequence,
    /// Whether the plain builds differ.
    pub differs: bool,
    /// Whether it was run on all builds, those with sanitizers too.
    pub is_judged: bool,
    /// What it was confirmed to show: number of a finding.
    pub shows: Option<usize>,
}

impl Test {
    /// Whether it is known to show something or not. If only sanitizers can show it, they must have been asked.
    fn counts(&self, needs_checks: bool) -> bool {
        self.is_judged || !needs_checks && !self.differs
    }

    fn skips(&self, changes: &BTreeSet<usize>) -> bool {
        !changes.iter().all(|change| self.sequence.contains(change))
    }
}

/// Whether a sequence is critical for what some inputs show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Critical {
    /// The shortest sequence of those that show it: of the fewest different changes.
    pub sequence: Sequence,
    /// No input that skips one of its changes shows the same, and there are such inputs; it has two changes or more.
    pub is_critical: bool,
    /// Inputs that skip one of its changes.
    pub skipping: u64,
    /// Those of them that show the same all the same.
    pub despite: u64,
}

/// All inputs that were run on both versions and executed a change.
#[derive(Debug, Default)]
pub struct Tests {
    pub list: Vec<Test>,
    /// Per sequence: tests.
    counts: HashMap<Sequence, u64>,
}

/// What became of one sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub sequence: Sequence,
    pub tests: u64,
    /// Tests on which the versions differ.
    pub differences: u64,
    /// Tests that show an error.
    pub errors: u64,
    /// It exercises the sequence of a change interaction error.
    pub is_critical: bool,
}

impl Tests {
    pub fn add(&mut self, test: Test) {
        *self.counts.entry(test.sequence.clone()).or_default() += 1;
        self.list.push(test);
    }

    /// How many tests executed a sequence.
    pub fn of(&self, sequence: &[usize]) -> u64 {
        self.counts.get(sequence).copied().unwrap_or(0)
    }

    /// How many different sequences there are.
    pub fn sequences(&self) -> u64 {
        self.counts.len() as u64
    }

    /// The critical sequence of a finding. If only the builds with sanitizers can show it, only inputs that were run on them
    /// count.
    pub fn critical(&self, finding: usize, needs_checks: bool) -> Critical {
        let showing = self.list.iter().filter(|test| test.shows == Some(finding));
        let sequences: BTreeSet<&Sequence> = showing.map(|test| &test.sequence).collect();
        let distinct = |sequence: &Sequence| sequence.iter().copied().collect::<BTreeSet<usize>>();
        let shortest = sequences
            .into_iter()
            .min_by_key(|sequence| (distinct(sequence).len(), sequence.len()));
        let Some(sequence) = shortest.cloned() else {
            return Critical::default();
        };
        let changes = distinct(&sequence);
        let skipping: Vec<&Test> = self
            .list
            .iter()
            .filter(|test| test.counts(needs_checks) && test.skips(&changes))
            .collect();
        let despite = skipping
            .iter()
            .filter(|test| test.shows == Some(finding))
            .count();
        Critical {
            is_critical: changes.len() >= 2 && despite == 0 && !skipping.is_empty(),
            skipping: skipping.len() as u64,
            despite: despite as u64,
            sequence,
        }
    }

    /// Numbers of tests that skip one of a sequence's changes and would count if they were judged.
    pub fn unjudged(&self, sequence: &[usize], needs_checks: bool) -> Vec<usize> {
        let changes: BTreeSet<usize> = sequence.iter().copied().collect();
        let tests = self.list.iter().enumerate();
        tests
            .filter(|(_, test)| !test.counts(needs_checks) && test.skips(&changes))
            .map(|(number, _)| number)
            .collect()
    }

    /// All sequences: the critical ones first, then those with most errors, differences and tests.
    pub fn rows(&self, is_error: impl Fn(usize) -> bool, critical: &[&Sequence]) -> Vec<Row> {
        let mut rows: BTreeMap<&Sequence, Row> = BTreeMap::new();
        for test in &self.list {
            let row = rows.entry(&test.sequence).or_insert_with(|| Row {
                sequence: test.sequence.clone(),
                is_critical: critical
                    .iter()
                    .any(|wanted| exercises(&test.sequence, wanted)),
                ..Row::default()
            });
            row.tests += 1;
            row.differences += u64::from(test.differs);
            row.errors += u64::from(test.shows.is_some_and(&is_error));
        }
        let mut rows: Vec<Row> = rows.into_values().collect();
        rows.sort_by(|one, other| {
            let rank = |row: &Row| (row.is_critical, row.errors, row.differences, row.tests);
            rank(other).cmp(&rank(one)).then_with(|| {
                let order = |row: &Row| (row.sequence.len(), row.sequence.clone());
                order(one).cmp(&order(other))
            })
        });
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(sequence: &[usize], shows: Option<usize>) -> Test {
        Test {
            scenario: Arc::default(),
            sequence: sequence.to_vec(),
            differs: shows.is_some(),
            is_judged: true,
            shows,
        }
    }

    fn all(list: Vec<Test>) -> Tests {
        let mut tests = Tests::default();
        for test in list {
            tests.add(test);
        }
        tests
    }

    #[test]
    fn what_is_repeated_more_than_twice_is_there_twice() {
        let of = |list: &[usize]| sequence(list.iter().copied()).0;
        assert_eq!(of(&[1, 7, 7]), [1, 7, 7]);
        assert_eq!(of(&[1, 7, 7, 7, 7, 5]), [1, 7, 7, 5]);
        assert_eq!(of(&[1, 5, 7, 5, 7, 5, 7, 5, 7]), [1, 5, 7, 5, 7]);
        assert_eq!(of(&[1, 5, 7, 5, 7, 5]), [1, 5, 7, 5, 7, 5]);
        assert!(of(&[]).is_empty());
    }

    #[test]
    fn an_error_that_no_input_shows_which_skips_a_change_is_an_interaction() {
        // The running example of the paper.
        let tests = all(vec![
            test(&[1, 7], None),
            test(&[1, 7, 7], None),
            test(&[1, 7, 5], None),
            test(&[1, 5], None),
            test(&[1, 7, 5, 7], Some(0)),
            test(&[1, 5, 7], Some(0)),
            test(&[1, 5, 7], None),
        ]);
        let critical = tests.critical(0, false);
        assert!(critical.is_critical);
        assert_eq!(critical.sequence, [1, 5, 7]);
        // The one with 1, 7, 5 executes all of them.
        assert_eq!((critical.skipping, critical.despite), (3, 0));
        let rows = tests.rows(|_| true, &[&critical.sequence]);
        let is_critical = |sequence: &[usize]| {
            let row = rows.iter().find(|row| row.sequence == sequence);
            row.map(|row| row.is_critical)
        };
        assert_eq!(is_critical(&[1, 5, 7]), Some(true));
        assert_eq!(is_critical(&[1, 7, 5, 7]), Some(true));
        assert_eq!(is_critical(&[1, 7, 7]), Some(false));
        assert_eq!(is_critical(&[1, 7, 5]), Some(false));
    }

    #[test]
    fn an_input_that_skips_a_change_and_shows_the_same_speaks_against_it() {
        let mut tests = all(vec![
            test(&[1, 5], Some(0)),
            test(&[1, 7], Some(0)),
            test(&[1], None),
        ]);
        let critical = tests.critical(0, false);
        assert_eq!((critical.is_critical, critical.despite), (false, 1));
        tests.add(test(&[3, 4], Some(1)));
        assert!(tests.critical(1, false).is_critical);
    }

    #[test]
    fn one_change_does_not_interact_and_nothing_rests_on_no_input() {
        let tests = all(vec![test(&[4], Some(0)), test(&[5], None)]);
        assert!(!tests.critical(0, false).is_critical);
        let tests = all(vec![test(&[4, 5], Some(0)), test(&[4, 5], None)]);
        assert!(!tests.critical(0, false).is_critical);
    }

    #[test]
    fn what_only_sanitizers_show_rests_on_inputs_that_they_saw() {
        let mut tests = all(vec![test(&[4, 5], Some(0))]);
        tests.add(Test {
            is_judged: false,
            ..test(&[4], None)
        });
        assert!(tests.critical(0, false).is_critical);
        assert!(!tests.critical(0, true).is_critical);
        assert_eq!(tests.unjudged(&[4, 5], true), [1]);
        assert!(tests.unjudged(&[4, 5], false).is_empty());
    }

    #[test]
    fn what_differs_in_a_way_that_nobody_looked_at_says_nothing() {
        let mut tests = all(vec![test(&[4, 5], Some(0))]);
        tests.add(Test {
            differs: true,
            is_judged: false,
            ..test(&[4], None)
        });
        assert!(!tests.critical(0, false).is_critical);
        assert_eq!(tests.unjudged(&[4, 5], false), [1]);
    }
}
