//! What an amplification came to.

mod json;
mod text;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use parallax_abi::SiteId;
use parallax_engine::amplify::sample::{miss_probability, share};
use parallax_engine::amplify::{Seed, Summary};
use parallax_engine::sites::SiteMap;

pub use json::render as render_json;
pub use text::render as render_text;

/// Everything that is reported.
pub struct AmplifyReport<'a> {
    /// As the user named it.
    pub program: &'a Path,
    pub seeds: &'a [Seed],
    pub summary: &'a Summary,
    pub sites: &'a SiteMap,
    /// Finding → its directory.
    pub kept: &'a BTreeMap<String, PathBuf>,
}

/// Percentages of tests that expose a bug for which the risk of a sample is told: those of the paper.
const SHARES: [usize; 3] = [6, 10, 30];

impl AmplifyReport<'_> {
    /// Lines at which checks were made.
    fn checked_lines(&self) -> usize {
        let checked = self.summary.sites.iter().filter(|(_, count)| **count > 0);
        let lines: BTreeSet<(String, u32)> = checked
            .filter_map(|((site, _), _)| self.place(*site))
            .collect();
        lines.len()
    }

    /// File and line of a site.
    fn place(&self, site: SiteId) -> Option<(String, u32)> {
        let view = self.sites.get(site)?;
        Some((view.file.to_owned(), view.line))
    }

    /// For a bug that so many percent of the tests expose: the probability that the sample misses it. Empty if all
    /// tests were run.
    fn risks(&self) -> Vec<(usize, f64)> {
        let (all, run) = (self.summary.given, self.summary.order.len());
        if run >= all {
            return Vec::new();
        }
        let risk = |percent| (percent, miss_probability(all, share(all, percent), run));
        SHARES.map(risk).to_vec()
    }

    /// Where the connection to the input got lost, most often first.
    fn ranked_losses(&self) -> Vec<(String, u64)> {
        let losses = self.summary.losses.iter();
        let mut ranked: Vec<_> = losses.map(|(name, count)| (name.clone(), *count)).collect();
        ranked.sort_by_key(|(_, count)| Reverse(*count));
        ranked
    }
}
