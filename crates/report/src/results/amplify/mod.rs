//! What an amplification came to.

mod json;
mod table;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use parallax_abi::SiteId;
use parallax_exec::sites::SiteMap;
use parallax_search::amplify::sample::{miss_probability, share};
use parallax_search::amplify::{Amplification, Amplified, Checks, Target};
use parallax_search::core::limits::Limits;
use parallax_search::engine::Ended;
use parallax_solver::Statistics;

use super::search::ranked;

pub use json::render as render_json;
pub use text::render as render_text;

/// Everything that is reported.
pub struct AmplifyReport<'a> {
    pub ended: Ended,
    pub programs: Vec<Shown<'a>>,
    /// Columns of text.
    pub width: usize,
}

/// Everything about one program.
pub struct Shown<'a> {
    pub target: &'a Target,
    /// As the user would name it.
    pub path: &'a Path,
    pub result: &'a Amplification,
    pub sites: SiteMap,
    /// Finding → its directory.
    pub kept: &'a BTreeMap<String, PathBuf>,
}

/// Percentages of tests that expose a bug for which the risk of a sample is told: those of the paper.
const SHARES: [usize; 3] = [6, 10, 30];

impl Shown<'_> {
    /// Lines at which checks were made.
    fn checked_lines(&self) -> usize {
        let checked = self
            .result
            .record
            .sites
            .iter()
            .filter(|(_, count)| **count > 0);
        let lines: BTreeSet<(String, u32)> = checked
            .filter_map(|(place, _)| self.place(place.site))
            .collect();
        lines.len()
    }

    /// File and line of a site.
    fn place(&self, site: SiteId) -> Option<(String, u32)> {
        let view = self.sites.get(site)?;
        Some((view.file.to_owned(), view.line))
    }

    /// The test that a finding was made of.
    fn test(&self, found: &Amplified) -> &str {
        &self.target.seeds[found.seed].name
    }
}

impl AmplifyReport<'_> {
    /// Sum over all programs.
    fn sum(&self, count: impl Fn(&Amplification) -> u64) -> u64 {
        let results = self.programs.iter().map(|shown| shown.result);
        results.map(count).sum()
    }

    fn checks(&self) -> Checks {
        let mut checks = Checks::default();
        for shown in &self.programs {
            checks.add(shown.result.record.checks);
        }
        checks
    }

    fn solver(&self) -> Statistics {
        let mut solver = Statistics::default();
        for shown in &self.programs {
            solver.absorb(shown.result.solver.clone());
        }
        solver
    }

    /// All findings, those of one program together.
    fn findings(&self) -> impl Iterator<Item = (&Shown<'_>, &Amplified)> {
        let each = self.programs.iter();
        each.flat_map(|shown| {
            let found = shown.result.record.findings.iter();
            found.map(move |found| (shown, found))
        })
    }

    /// The largest distance that was explored.
    fn distance(&self) -> usize {
        let each = self.programs.iter();
        each.map(|shown| shown.result.record.distance)
            .max()
            .unwrap_or(0)
    }

    fn seconds(&self) -> f64 {
        self.programs.iter().map(|shown| shown.result.seconds).sum()
    }

    /// Which limits were hit.
    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        for shown in &self.programs {
            limits.absorb(&shown.result.limits);
        }
        limits
    }

    fn tests(&self) -> u64 {
        self.sum(|result| result.record.order.len() as u64)
    }

    fn given(&self) -> u64 {
        self.sum(|result| result.given as u64)
    }

    /// For a bug that so many percent of the tests expose: the probability that the sample misses it. Empty if all
    /// tests were run.
    fn risks(&self) -> Vec<(usize, f64)> {
        let unusable = self.sum(|result| result.unusable.len() as u64);
        let (all, run) = (self.given() as usize, (self.tests() + unusable) as usize);
        if self.sum(|result| result.planned as u64) as usize >= all {
            return Vec::new();
        }
        let risk = |percent| (percent, miss_probability(all, share(all, percent), run));
        SHARES.map(risk).to_vec()
    }

    /// Where the connection to the input got lost, most often first.
    fn losses(&self) -> Vec<(String, u64)> {
        let mut sum: BTreeMap<String, u64> = BTreeMap::new();
        for (name, count) in self.programs.iter().flat_map(|shown| &shown.result.losses) {
            *sum.entry(name.clone()).or_default() += count;
        }
        ranked(&sum)
    }
}
