//! Inputs that reach given lines, of one program or of a project's patch.

mod campaign;
pub mod candidates;
mod checkpoint;
mod covering;
mod keeper;
mod looking;
pub mod project;
mod search;
pub mod single;
mod spots;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_analysis::{Analysis, ModuleCode};
use parallax_search::cover::Heuristic;
use parallax_search::explore;
use parallax_search::explore::Shape;
use parallax_trace::region::Symbolic;

use crate::budget::Budget;
use crate::setup::Setup;
pub use campaign::Campaign;
pub use checkpoint::Checkpoint as Starts;
pub use covering::Covering;
pub use keeper::test_name;
pub use looking::Looking;
pub use search::Shared;

/// How to search.
pub struct Options {
    pub setup: Setup,
    /// For one line.
    pub budget: Budget,
    /// In a project: for everything.
    pub total: Option<Duration>,
    /// In a project: only in these programs, if any are named.
    pub only: Vec<PathBuf>,
    /// In a project: whether to search for targets again that are settled.
    pub again: bool,
    /// Which input may be changed, if not all of it.
    pub symbolic: Option<Symbolic>,
    /// Parts of the search that are left out.
    pub without: BTreeSet<Heuristic>,
}

impl Options {
    /// With nothing but what every search has.
    pub fn new(setup: Setup, budget: Budget) -> Options {
        Options {
            setup,
            budget,
            total: None,
            only: Vec::new(),
            again: false,
            symbolic: None,
            without: BTreeSet::new(),
        }
    }

    /// The program's code, analysed.
    fn analyse(&self, code: Vec<ModuleCode>) -> Analysis {
        match self.without.contains(&Heuristic::Pointers) {
            true => Analysis::without_pointers(code),
            false => Analysis::new(code, []),
        }
    }

    /// Everything that a search is given besides its seeds and targets.
    fn explore(
        &self,
        program: &Path,
        budget: Budget,
        shape: Shape,
        variables: Vec<Vec<u8>>,
        is_server: bool,
    ) -> explore::Options {
        let input = match &self.symbolic {
            None => Symbolic {
                environment: variables,
                files: !is_server,
                ..Symbolic::ALL
            },
            Some(chosen) => chosen.clone(),
        };
        let symbolic = Symbolic {
            following: true,
            ..input
        };
        let usual = self.setup.settings(program);
        self.setup.options(budget, shape, symbolic, usual)
    }
}
