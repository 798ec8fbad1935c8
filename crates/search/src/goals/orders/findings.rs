//! What inputs that execute changes were confirmed to show: inputs that show the same are one finding.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use parallax_exec::replay::ReplayError;
use parallax_scenario::{Golden, Scenario};

use super::sequences::{Critical, Row, Sequence, Test, Tests};
use crate::core::corpus::InputId;
use crate::core::minimise::Minimiser;
use crate::diverge::clusters::{is_seen_in_part, seen_whole, size};
use crate::diverge::triage::{Class, Shown};
use crate::engine;

/// Inputs that nobody has judged and that are judged for one finding at the end.
const MOST_JUDGED: usize = 64;

/// What a difference is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The old version was right, or has no error, and the new one is wrong.
    Regression,
    /// All three differ: the new version does something else than the old one, and not what it should.
    IncompleteFix,
    /// Nobody says which version is right.
    Difference,
    /// The new version is right, or the old one alone has an error.
    Progression,
}

impl Kind {
    /// Of what an input shows; `None` if the versions do not differ.
    pub fn of(shown: &Shown) -> Option<Kind> {
        match (shown.golden, shown.class) {
            (_, Class::Silent | Class::Both) => None,
            (Some(Golden::Regression), _) => Some(Kind::Regression),
            (Some(Golden::Unclear), _) => Some(Kind::IncompleteFix),
            (Some(Golden::Intended), _) => Some(Kind::Progression),
            (None, Class::Regression) => Some(Kind::Regression),
            (None, Class::Difference) => Some(Kind::Difference),
            (None, Class::Fixed) => Some(Kind::Progression),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Regression => "regression",
            Kind::IncompleteFix => "incomplete-fix",
            Kind::Difference => "difference",
            Kind::Progression => "progression",
        }
    }

    /// Whether the new version is wrong for certain.
    pub fn is_error(self) -> bool {
        matches!(self, Kind::Regression | Kind::IncompleteFix)
    }
}

/// What several inputs show.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: Kind,
    /// The same for the same thing, also in other searches.
    pub key: String,
    /// A small input that shows it, of those with the fewest changes.
    pub scenario: Arc<Scenario>,
    pub shown: Shown,
    /// What that input executes.
    pub sequence: Sequence,
    pub critical: Critical,
    /// Inputs that show it.
    pub count: u64,
    /// Seconds after which the first of them was found.
    pub seconds: f64,
}

impl Finding {
    /// An error that only shows when several changes are executed together.
    pub fn is_interaction(&self) -> bool {
        self.critical.is_critical && self.kind != Kind::Progression
    }

    /// Whether only the builds with sanitizers can show it.
    fn needs_checks(&self) -> bool {
        self.shown.differences.is_empty()
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Summary {
    pub search: engine::Summary,
    /// The worst first.
    pub findings: Vec<Finding>,
    pub rows: Vec<Row>,
    /// Inputs that executed a change and were run on both versions; those on which the versions differ; those that show an error.
    pub tests: u64,
    pub differences: u64,
    pub errors: u64,
    /// Nodes of the graph that were come to, and edges that were gone along, each with how many there are.
    pub nodes: (u64, u64),
    pub edges: (u64, u64),
}

/// All inputs that executed a change, and what they show.
#[derive(Debug, Default)]
pub struct Findings {
    pub tests: Tests,
    numbers: HashMap<InputId, usize>,
    /// By number; each with the best of the inputs that show it.
    list: Vec<Finding>,
    by_key: HashMap<String, usize>,
}

impl Findings {
    /// The number of the test that an input is, if it is known.
    pub fn number(&self, scenario: &Scenario) -> Option<usize> {
        self.numbers.get(&InputId::of(scenario)).copied()
    }

    /// Adds a test; gives its number.
    pub fn add(&mut self, test: Test) -> usize {
        let number = self.tests.list.len();
        self.numbers.insert(InputId::of(&test.scenario), number);
        self.tests.add(test);
        number
    }

    /// Takes in what a test was confirmed to show, so many seconds after the beginning.
    pub fn judge(&mut self, number: usize, shown: Option<&Shown>, seconds: f64) {
        let shows = shown.and_then(|shown| Some((Kind::of(shown)?, shown)));
        let test = &mut self.tests.list[number];
        test.is_judged = true;
        test.differs = shows.is_some();
        let Some((kind, shown)) = shows else {
            test.shows = None;
            return;
        };
        let finding = Finding {
            kind,
            key: shown.key(),
            scenario: Arc::clone(&test.scenario),
            shown: shown.clone(),
            sequence: test.sequence.clone(),
            critical: Critical::default(),
            count: 0,
            seconds,
        };
        let next = self.list.len();
        let known = *self.by_key.entry(finding.key.clone()).or_insert(next);
        test.shows = Some(known);
        match self.list.get_mut(known) {
            Some(known) if weight(&finding) < weight(known) => {
                let seconds = known.seconds;
                *known = Finding { seconds, ..finding };
            }
            Some(_) => {}
            None => self.list.push(finding),
        }
    }

    /// Makes inputs small, and judges others on which it depends whether changes interact, as long as there is time. `changes` says
    /// which changes an input executes. Gives the keys of all findings.
    pub fn make_small(
        &mut self,
        minimiser: &Minimiser<'_>,
        changes: &dyn Fn(&Scenario) -> Option<Sequence>,
    ) -> Result<Vec<String>, ReplayError> {
        let mut order: Vec<usize> = (0..self.list.len()).collect();
        order.sort_by_key(|number| self.list[*number].kind);
        for number in order {
            if !minimiser.is_over() && !self.join_with_whole(number, minimiser)? {
                self.make_one_small(number, minimiser, changes)?;
                self.judge_others(number, minimiser)?;
            }
        }
        Ok(self
            .list
            .iter()
            .map(|finding| finding.key.clone())
            .collect())
    }

    /// What becomes of the output (closed, full) changes what can be seen of a finding, not the finding: joins it with the one that it
    /// is if the output is read. Whether there is one.
    fn join_with_whole(
        &mut self,
        number: usize,
        minimiser: &Minimiser<'_>,
    ) -> Result<bool, ReplayError> {
        let scenario = &self.list[number].scenario;
        if !is_seen_in_part(scenario) {
            return Ok(false);
        }
        let key = minimiser.judge(&seen_whole(scenario))?.key();
        let whole = self.by_key.get(&key).copied();
        let Some(whole) = whole.filter(|whole| *whole != number) else {
            return Ok(false);
        };
        for test in &mut self.tests.list {
            if test.shows == Some(number) {
                test.shows = Some(whole);
            }
        }
        let seconds = self.list[number].seconds;
        let first = &mut self.list[whole].seconds;
        *first = first.min(seconds);
        Ok(true)
    }

    /// Looks for a smaller input that shows the same and executes no other changes.
    fn make_one_small(
        &mut self,
        number: usize,
        minimiser: &Minimiser<'_>,
        changes: &dyn Fn(&Scenario) -> Option<Sequence>,
    ) -> Result<(), ReplayError> {
        let finding = &self.list[number];
        let allowed: BTreeSet<usize> = finding.sequence.iter().copied().collect();
        let executed = |smaller: &Scenario| {
            let executed = changes(smaller)?;
            let is_good = executed.iter().all(|change| allowed.contains(change));
            (is_good && !executed.is_empty()).then_some(executed)
        };
        let good = |smaller: &Scenario| executed(smaller).is_some();
        let made = minimiser.smaller(&finding.scenario, &finding.shown, &good)?;
        if let Some((smaller, shown)) = made
            && let Some(executed) = executed(&smaller)
        {
            let smaller = Arc::new(smaller);
            if self.number(&smaller).is_none() {
                self.add(Test {
                    scenario: Arc::clone(&smaller),
                    sequence: executed.clone(),
                    differs: true,
                    is_judged: true,
                    shows: Some(number),
                });
            }
            let finding = &mut self.list[number];
            finding.scenario = smaller;
            finding.sequence = executed;
            finding.shown = shown;
        }
        Ok(())
    }

    /// Inputs that skip a change and were not judged may show the same.
    fn judge_others(
        &mut self,
        number: usize,
        minimiser: &Minimiser<'_>,
    ) -> Result<(), ReplayError> {
        let needs_checks = self.list[number].needs_checks();
        let critical = self.tests.critical(number, needs_checks);
        let others = self.tests.unjudged(&critical.sequence, needs_checks);
        for other in others.into_iter().take(MOST_JUDGED) {
            if minimiser.is_over() {
                break;
            }
            let shown = minimiser.judge(&self.tests.list[other].scenario)?;
            if minimiser.is_over() {
                break;
            }
            let known = self.by_key.get(&shown.key()).copied();
            let test = &mut self.tests.list[other];
            test.is_judged = true;
            test.shows = known.filter(|_| Kind::of(&shown).is_some());
        }
        Ok(())
    }

    /// All findings, the worst first, and what became of all sequences.
    pub fn finish(&mut self) -> (Vec<Finding>, Vec<Row>) {
        let mut list = std::mem::take(&mut self.list);
        for (number, finding) in list.iter_mut().enumerate() {
            let showing = self.tests.list.iter();
            let showing = showing.filter(|test| test.shows == Some(number));
            finding.count = showing.count() as u64;
            finding.critical = self.tests.critical(number, finding.needs_checks());
        }
        let critical: Vec<&Sequence> = list
            .iter()
            .filter(|finding| finding.is_interaction() && finding.kind.is_error())
            .map(|finding| &finding.critical.sequence)
            .collect();
        let rows = self
            .tests
            .rows(|number| list[number].kind.is_error(), &critical);
        // Those that are others, seen in part.
        list.retain(|finding| finding.count > 0);
        list.sort_by_key(|finding| (finding.kind, !finding.critical.is_critical));
        (list, rows)
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
