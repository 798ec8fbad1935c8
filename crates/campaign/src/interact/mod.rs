//! Orders of executed changes that break something which no change alone does.

pub mod project;
mod ready;
pub mod single;

use std::path::{Path, PathBuf};

use parallax_report::words::{counted, show_count};
use parallax_search::explore;
use parallax_search::interact::{Options as Searched, Progress};
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
        Searched {
            seeds: start.seeds,
            isolated: self.isolated,
            explore: explore::Options {
                seed: self.seed,
                ..self
                    .setup
                    .options(self.budget, start.shape, symbolic, settings)
            },
        }
    }
}

/// How far a search is, in a line that begins with `pace`.
fn progress_line(pace: &str, progress: &Progress) -> String {
    format!(
        "{pace}  {} in {}, {} differ, {} shown  {} open",
        counted(progress.tests, "input"),
        counted(progress.sequences, "order"),
        show_count(progress.differences),
        show_count(progress.findings),
        show_count(progress.open),
    )
}
