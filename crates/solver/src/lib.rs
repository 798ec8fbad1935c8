//! Which input takes the other side: queries over the constraints of a path, answered in layers.
//!
//! A [`Solver`] lives as long as an exploration; a [`Path`] as long as one trace. A query is a
//! prefix of the path and a goal; the [`Answer`] is a [`Model`] (the few bytes that
//! must differ from the seed's), a [`Core`] (constraints that contradict the goal), or
//! the reason why there is neither: a limit or a broken back end is an answer, not an error.
//!
//! Layers, each owning the next:
//!
//! 1. `slice`: only constraints that share input bytes with the goal.
//! 2. `cache`: answers, models and contradictions of earlier queries, across paths.
//! 3. `cheap`: sets of byte values, inversion of the goal, search.
//! 4. `blast`: circuits in CaDiCaL, incremental per path; everything integer.
//! 5. `smt`: an SMT-LIB program as a child; floating point, and what was too hard before.
//!
//! Whatever a layer claims to be a model is evaluated on all constraints of the slice before it is believed.
//!
//! Then changes that the query does not need are taken back, halves first. Every limit of a query but its time is deterministic ([`Limits`]). A back end that
//! hangs, dies, lies or uses too much memory costs one query.

mod blast;
mod cache;
mod cheap;
mod config;
mod constraint;
mod copy;
mod dense;
mod hash;
mod layer;
mod log;
mod overlay;
mod path;
pub mod query;
mod sets;
mod shared;
mod slice;
mod smt;
mod statistics;
mod terms;

pub use config::{Config, Limits, SmtProgram};
pub use constraint::{Answer, Constraint, Core, FIRST_FIXED, Holds, Model, Variable, Why};
pub use layer::Layer;
pub use overlay::Overlay;
pub use path::Path;
pub use statistics::{LayerStatistics, Statistics};

use parallax_expr::Store;
use std::sync::Arc;
use std::time::Instant;

/// Configuration, back ends, what was learned from earlier paths, and statistics.
pub struct Solver {
    shared: Arc<shared::Shared>,
}

impl Solver {
    pub fn new(config: Config) -> Solver {
        Solver {
            shared: Arc::new(shared::Shared::new(config)),
        }
    }

    /// A path without constraints. `names` gives the stable id of each source of the trace; ids from
    /// [`FIRST_FIXED`] on are those of sources that cannot be changed.
    pub fn path<'p, S: Store>(&self, store: &'p S, names: &'p [u32]) -> Path<'p, S> {
        Path::new(Arc::clone(&self.shared), store, names)
    }

    /// From now on no query takes longer than until then; later ones are not answered.
    pub fn end_by(&self, until: Option<Instant>) {
        *shared::locked(&self.shared.until) = until;
    }

    /// What has happened so far.
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }
}
