//! What is known about the targets of a patch: from the store, from the suite, from this run.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use parallax_exec::finding::Finding;
use parallax_report::results::cover::project as report;
use parallax_store::ledger::{Entry, Settled, Status};
use parallax_store::{Store, hash};

use super::Options;
use crate::budget::Budget;
use crate::failure::Failure;
use crate::keeper::kept_finding;
use crate::patch::{Found, Scope, Suite, Target};

/// Entries of other versions of the search are searched for again.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " cover 4");

/// All targets, and what became of each so far.
pub struct Campaign<'c> {
    store: &'c Store,
    pub found: &'c Found,
    revision: String,
    /// Where its source is.
    top: Option<String>,
    conditions: String,
    /// Of each target; `None` if it has not been searched for.
    pub entries: Vec<Option<Entry>>,
    /// Of each target: whether a search would come to nothing else.
    settled: Vec<bool>,
    /// Of each target: whether an earlier run searched for it, with less time.
    searched: Vec<bool>,
    /// Programs that were searched in.
    begun: HashSet<usize>,
    /// How many were settled by an earlier run.
    pub earlier: usize,
    /// Errors that were met on the way, each with its program.
    pub findings: Vec<(PathBuf, Finding)>,
}

impl<'c> Campaign<'c> {
    /// Takes over what earlier runs came to, unless it is to be done again.
    pub fn new(
        options: &Options,
        budget: Budget,
        store: &'c Store,
        scope: &Scope,
        found: &'c Found,
    ) -> Result<Campaign<'c>, Failure> {
        let mut conditions = format!("{VERSION}\n{:?}\n{:?}", options.without, options.symbolic);
        for subject in &found.subjects {
            let suite = Suite::read(store, &subject.path)?;
            for test in suite.tests.iter().filter(|test| test.is_given) {
                let _ = write!(conditions, "\n{}", test.id);
            }
        }
        let mut campaign = Campaign {
            store,
            found,
            revision: scope
                .revision
                .as_ref()
                .map_or("", |revision| &revision.id)
                .to_owned(),
            top: scope
                .source
                .as_ref()
                .map(|top| top.to_string_lossy().into_owned()),
            conditions: hash(conditions.as_bytes()),
            entries: vec![None; found.targets.len()],
            settled: vec![false; found.targets.len()],
            searched: vec![false; found.targets.len()],
            begun: HashSet::new(),
            earlier: 0,
            findings: Vec::new(),
        };
        if !options.again {
            campaign.take_over(budget)?;
        }
        campaign.enter_suite()?;
        Ok(campaign)
    }

    fn take_over(&mut self, budget: Budget) -> Result<(), Failure> {
        for (index, target) in self.found.targets.iter().enumerate() {
            if target.covered_by.is_some() {
                continue;
            }
            let Some(known) = self.store.settled(&self.revision, &key(target))? else {
                continue;
            };
            let entry = known.entry;
            let is_settled = match (entry.status, &entry.scenario) {
                (Status::Covered, Some(scenario)) => self.store.find(scenario).is_ok(),
                (Status::Covered | Status::Suite, _) => false,
                _ => known.conditions == self.conditions && !would_go_on(&entry, budget),
            };
            self.searched[index] = known.conditions == self.conditions;
            if is_settled {
                self.entries[index] = Some(entry);
                self.settled[index] = true;
                self.earlier += 1;
            }
        }
        Ok(())
    }

    /// Prepares another search with this budget for each target: what would come to nothing else is settled, the rest is open.
    pub fn reopen(&mut self, budget: Budget) {
        for (entry, settled) in self.entries.iter().zip(&mut self.settled) {
            if let Some(entry) = entry.as_ref().filter(|entry| !entry.status.is_covered()) {
                *settled = !would_go_on(entry, budget);
            }
        }
    }

    /// Whether the search for a target has had its time and runs.
    pub fn is_used_up(&self, index: usize, budget: Budget) -> bool {
        let entry = self.entries[index].as_ref();
        entry.is_some_and(|entry| {
            let is_limited = entry.time_limit.is_some() || entry.run_limit.is_some();
            is_limited && !would_go_on(entry, budget)
        })
    }

    /// Enters what tests cover.
    fn enter_suite(&mut self) -> Result<(), Failure> {
        let mut list = Vec::new();
        for (index, target) in self.found.targets.iter().enumerate() {
            let Some(scenario) = &target.covered_by else {
                continue;
            };
            let entry = Entry {
                status: Status::Suite,
                scenario: Some(scenario.clone()),
                ..self.blank(index)
            };
            list.push(self.as_settled(index, &entry));
            self.entries[index] = Some(entry);
            self.settled[index] = true;
        }
        Ok(self.store.settle(&list)?)
    }

    /// An entry about a target that nothing is known about.
    pub fn blank(&self, index: usize) -> Entry {
        let target = &self.found.targets[index];
        let programs = target.programs(&self.found.subjects).into_iter();
        Entry {
            file: target.file.clone(),
            top: self.top.clone(),
            lines: target.lines.clone(),
            function: target.function.clone(),
            programs: programs.map(str::to_owned).collect(),
            status: Status::Missed,
            program: None,
            scenario: None,
            seed: None,
            steps: Vec::new(),
            obstacle: None,
            losses: Vec::new(),
            seeds: Vec::new(),
            distance: None,
            runs: 0,
            paths: 0,
            queries: 0,
            seconds: 0.0,
            time_limit: None,
            run_limit: None,
            notes: Vec::new(),
        }
    }

    fn as_settled(&self, index: usize, entry: &Entry) -> Settled {
        Settled {
            revision: self.revision.clone(),
            key: key(&self.found.targets[index]),
            conditions: self.conditions.clone(),
            entry: entry.clone(),
        }
    }

    /// Keeps what became of a target.
    pub fn enter(&mut self, index: usize, entry: Entry) -> Result<(), Failure> {
        self.store.settle(&[self.as_settled(index, &entry)])?;
        self.settled[index] |= entry.status.is_covered();
        self.entries[index] = Some(entry);
        Ok(())
    }

    /// Keeps errors that were met on the way, each once.
    pub fn add_findings(
        &mut self,
        name: &str,
        path: &Path,
        findings: Vec<Finding>,
    ) -> Result<(), Failure> {
        for finding in findings {
            let is_same =
                |(other, known): &(PathBuf, Finding)| other == path && known.id() == finding.id();
            if !self.findings.iter().any(is_same) {
                let kept = kept_finding(name.as_bytes().into(), "cover", &finding, None);
                self.store.put_finding(&kept)?;
                self.findings.push((path.to_owned(), finding));
            }
        }
        Ok(())
    }

    /// All that decides what searches come to, but for their budget.
    pub fn all_conditions(&self) -> String {
        format!("{}\n{}", self.revision, self.conditions)
    }

    /// Takes note of a search in a program; whether it is the first of this run.
    pub fn begin_anew(&mut self, subject: usize) -> bool {
        self.begun.insert(subject)
    }

    /// Whether an earlier run searched for a target.
    pub fn was_searched(&self, index: usize) -> bool {
        self.searched[index]
    }

    /// Whether a target is still to be searched for.
    pub fn is_open(&self, index: usize) -> bool {
        !self.settled[index]
    }

    /// Targets that are still to be searched for.
    pub fn open(&self) -> Vec<usize> {
        let all = 0..self.settled.len();
        all.filter(|index| self.is_open(*index)).collect()
    }

    /// What became of each target, ready to be shown.
    pub fn shown(&self) -> Vec<report::Target> {
        let shown = |(index, entry): (usize, &Option<Entry>)| {
            let known = entry.as_ref().filter(|entry| entry.status.is_covered());
            let id = known.and_then(|entry| entry.scenario.as_ref());
            let kept = id.filter(|id| !id.is_empty()).map(|id| self.store.get(id));
            report::Target {
                is_searched: entry.is_some(),
                entry: entry.clone().unwrap_or_else(|| self.blank(index)),
                scenario: kept.and_then(Result::ok).map(|kept| kept.recorded.scenario),
            }
        };
        self.entries.iter().enumerate().map(shown).collect()
    }

    /// Inputs that were made to reach targets: program, and name in the store.
    pub fn made(&self) -> BTreeSet<(String, String)> {
        let known = self.entries.iter().flatten();
        let made = known.filter(|entry| entry.status == Status::Covered);
        made.filter_map(|entry| entry.program.clone().zip(entry.scenario.clone()))
            .collect()
    }

    /// How many targets inputs reach by now.
    pub fn covered(&self) -> usize {
        let known = self.entries.iter().flatten();
        known.filter(|entry| entry.status.is_covered()).count()
    }
}

/// Names lines that run together within a revision.
fn key(target: &Target) -> String {
    let mut text = target.file.clone();
    for block in &target.blocks {
        let _ = write!(text, "\n{block:016x}");
    }
    hash(text.as_bytes())
}

/// Whether a search that ended so would do more now.
fn would_go_on(entry: &Entry, budget: Budget) -> bool {
    let by_time = entry.time_limit.is_some_and(|limit| {
        let now = budget.time;
        now.is_none_or(|now| now.as_secs_f64() > limit)
    });
    let by_runs = entry.run_limit.is_some_and(|limit| {
        let now = budget.runs;
        now.is_none_or(|now| now > limit)
    });
    by_time || by_runs
}
