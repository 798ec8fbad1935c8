//! What a search along a change sequence graph came to.

mod json;
mod text;

use std::path::{Path, PathBuf};

use parallax_engine::interact::{Finding, Kind, Summary};

use super::diverge::message_of;
use crate::commands::changes::Comparison;
use crate::console::Palette;

pub use json::render_json;
pub use text::render_text;

/// Everything that is reported.
pub struct InteractReport<'a> {
    /// Old and new, as the user named them.
    pub names: (&'a Path, &'a Path),
    /// The graph was not used.
    pub isolated: bool,
    pub comparison: &'a Comparison,
    pub summary: &'a Summary,
    /// Where the input of each finding is kept.
    pub kept: &'a [PathBuf],
    pub directory: &'a Path,
}

/// What differs, in one line.
pub fn headline(finding: &Finding) -> String {
    let kind = match finding.kind {
        Kind::Regression => Palette.bad("regression"),
        Kind::IncompleteFix => Palette.bad("incomplete fix"),
        Kind::Difference => Palette.warn("difference"),
        Kind::Progression => Palette.good("progression"),
    };
    format!("{kind} {}", message(finding))
}

/// What was seen, without styles.
pub fn message(finding: &Finding) -> String {
    message_of(&finding.shown, &|file| file.to_owned())
}
