//! Inputs on which two versions of a program behave differently, of two programs or over a project's patch.

mod blame;
mod campaign;
mod checkpoint;
mod compare;
mod keeper;
pub mod project;
pub mod single;

use std::path::{Path, PathBuf};

use parallax_report::words::counted;
use parallax_scenario::Scenario;
use parallax_search::engine::{Options as Searched, Patch, Phase, Progress};
use parallax_search::explore::Shape;
use parallax_trace::region::Symbolic;

use crate::budget::Budget;
use crate::setup::Setup;
pub use blame::{Accused, prepare as prepare_blame};
pub use campaign::{Campaign, Part, blames, identity};
pub use checkpoint::Checkpoint;
pub use compare::{Beside, Further, Nothing, Ready, Search};
pub use keeper::{finding_id, keep, keep_as};
pub use parallax_report::results::diverge::project::Blame;

/// How to compare.
pub struct Options {
    pub setup: Setup,
    pub budget: Budget,
    /// In a project: only these programs, if any are named.
    pub only: Vec<PathBuf>,
    /// In a project: whether to compare again what was compared before.
    pub again: bool,
    /// In a project: whether to look for the hunks that differences come from.
    pub blame: bool,
    /// Kinds of work that are left out.
    pub without: Vec<Phase>,
}

impl Options {
    /// With nothing but what every search has.
    pub fn new(setup: Setup, budget: Budget) -> Options {
        Options {
            setup,
            budget,
            only: Vec::new(),
            again: false,
            blame: true,
            without: Vec::new(),
        }
    }

    /// Everything that a comparison is given.
    fn searched(
        &self,
        program: &Path,
        budget: Budget,
        seeds: Vec<Scenario>,
        shape: Shape,
        environment: Vec<Vec<u8>>,
    ) -> Searched {
        let symbolic = Symbolic {
            environment,
            following: true,
            ..Symbolic::ALL
        };
        let settings = self.setup.compared(program);
        Searched {
            seeds,
            without: self.without.clone(),
            explore: self.setup.options(budget, shape, symbolic, settings),
            patch: Patch::default(),
        }
    }
}

/// How far a comparison is, in a line that begins with `pace`.
fn progress_line(pace: &str, progress: &Progress) -> String {
    let phase = match progress.phase {
        Phase::Given | Phase::Concolic => "comparing",
        Phase::Connections => "trying single connections",
        Phase::Words => "trying options and words",
        Phase::World => "trying other files and streams",
        Phase::Data => "trying other data",
        Phase::Numbers => "trying other numbers",
        Phase::Mutate => "mutating",
        Phase::Bounded => "exploring the new version",
        Phase::Branches => "taking other branches",
        Phase::Lines => "reaching changed lines",
        Phase::Near => "making changed code fail",
        Phase::Orders => "running changes together",
        Phase::Splice => "trying parts of other inputs",
    };
    format!(
        "{pace}  {}, {}, {} shown, {} open  {phase}",
        counted(progress.inputs, "input"),
        counted(progress.divergences, "divergence"),
        progress.findings,
        progress.open,
    )
}
