//! What a search along a change sequence graph came to.

mod changes;
mod json;
mod text;

use parallax_search::diverge::triage::Shown;
use parallax_search::goals::orders::{Kind, Summary};

use super::diverge::message_of;
use super::graph;
use crate::palette::Palette;

pub use json::render_json;
pub use text::render_text;

/// Everything that is reported.
pub struct InteractReport<'a> {
    /// The graph was not used.
    pub isolated: bool,
    /// People asked for all changes and orders.
    pub is_verbose: bool,
    pub programs: &'a [Program<'a>],
    /// Programs with changed code that nothing was found to run.
    pub unreached: &'a [String],
    /// Where inputs are kept, in words.
    pub kept: String,
    /// Columns of text.
    pub width: usize,
}

/// One program.
pub struct Program<'a> {
    /// What was compared with what.
    pub title: String,
    /// As it is shown in command lines.
    pub name: String,
    pub graph: graph::Shown<'a>,
    pub summary: &'a Summary,
    /// Where the input of each finding is kept: a file, or the name of a scenario.
    pub kept: Vec<String>,
}

/// What differs, in one line.
pub fn headline(shown: &Shown) -> String {
    let kind = match Kind::of(shown) {
        Some(Kind::Regression) => Palette.bad("regression"),
        Some(Kind::IncompleteFix) => Palette.bad("incomplete fix"),
        Some(Kind::Difference) => Palette.warn("difference"),
        Some(Kind::Progression) => Palette.good("progression"),
        None => Palette.dim("both versions"),
    };
    format!("{kind} {}", message(shown))
}

/// What was seen, without styles.
pub fn message(shown: &Shown) -> String {
    message_of(shown, &|file| file.to_owned())
}
