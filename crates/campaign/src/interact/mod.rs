//! Orders of executed changes that break something which no change alone does.

pub mod project;
mod ready;
pub mod single;

use std::path::{Path, PathBuf};

use parallax_report::words::{counted, show_count};
use parallax_search::engine::{Options as Searched, Patch, Phase, Progress};
use parallax_search::explore::{self, Bounds, Shape};
use parallax_trace::region::Symbolic;

use crate::Start;
use crate::budget::Budget;
use crate::setup::Setup;
pub use ready::Ready;

/// How to search.
#[derive(Clone)]
pub struct Options {
    pub setup: Setup,
    pub budget: Budget,
    /// Choices that are left to chance are the same for the same number.
    pub seed: u64,
    /// Without the graph.
    pub isolated: bool,
    /// Kinds of work that are left out.
    pub without: Vec<Phase>,
}

impl Options {
    /// Everything that a search is given.
    fn searched(&self, program: &Path, start: Start, readable: Vec<PathBuf>) -> Searched {
        let symbolic = Symbolic {
            environment: start.environment,
            following: true,
            ..Symbolic::ALL
        };
        let mut settings = self.setup.compared(program);
        settings.readable.extend(readable);
        let shape = match start.shape {
            Shape::Described(described) => Shape::Described(described),
            _ => Shape::Bounded(Bounds::around(&start.seeds)),
        };
        Searched {
            seeds: start.seeds,
            without: self.without.clone(),
            explore: explore::Options {
                seed: self.seed,
                ..self.setup.options(self.budget, shape, symbolic, settings)
            },
            patch: Patch::default(),
        }
    }
}

/// How far a search is, in a line that begins with `pace`.
fn progress_line(pace: &str, progress: &Progress) -> String {
    format!(
        "{pace}  {}, {}, {} shown  {} open",
        counted(progress.inputs, "input"),
        counted(progress.paths, "path"),
        show_count(progress.findings),
        show_count(progress.open),
    )
}
