//! What an exploration came to.

mod json;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use parallax_exec::sites::SiteMap;
use parallax_search::explore::Summary;

use super::search::ranked;

pub use json::render as render_json;
pub use text::render as render_text;

/// Everything that is reported.
pub struct ExploreReport<'a> {
    /// As the user named it.
    pub program: &'a Path,
    pub summary: &'a Summary,
    pub sites: &'a SiteMap,
    /// Where tests and findings are.
    pub directory: &'a Path,
    /// Finding → its directory.
    pub kept: &'a BTreeMap<String, PathBuf>,
}

impl ExploreReport<'_> {
    /// Where the connection to the input got lost, most often first.
    fn ranked_losses(&self) -> Vec<(String, u64)> {
        ranked(&self.summary.search.losses)
    }
}
