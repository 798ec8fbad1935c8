//! Exploration: new inputs for new paths, from one scenario or from nothing. The search with one version and one goal, new code
//! ([`crate::goals::code`]).

mod interface;
mod shape;

use std::sync::OnceLock;

use crate::engine::{self, Natives, Patch, Prepared, search};
use crate::goals::code::Code;
use crate::journal::Journal;
use crate::sources::vocabulary::Vocabulary;
use parallax_exec::sites::{self, SiteMap};

pub use crate::goals::code::Moment;
pub use interface::{Ended, ExploreError, Options, Programs, Summary, is_about_the_input};
pub use shape::{ArgumentGroup, Bounds, Described, Shape};

/// Explores a program, or goes on where the journal says that another process was.
pub fn explore(
    programs: &Programs,
    options: &Options,
    vocabulary: Vocabulary,
    journal: &mut dyn Journal,
    observer: &mut dyn engine::Observer,
) -> Result<Summary, engine::SearchError> {
    let load = || SiteMap::load(&programs.traced, &programs.traced_libraries);
    let sites = load().map_err(ExploreError::from)?;
    let tables = match &programs.covered {
        Some(covered) => {
            let read = sites::read_tables(covered, &programs.covered_libraries);
            read.map_err(ExploreError::from)?
        }
        None => Vec::new(),
    };
    let natives = Natives {
        new: programs.plain.clone(),
        old: None,
        golden: None,
    };
    let preparation = OnceLock::from(Some(Prepared {
        new: programs.clone(),
        old: None,
        golden_checked: None,
        sites: &sites,
        tables: &tables,
        versions: None,
        vocabulary,
        examiner: None,
    }));
    let options = engine::Options {
        seeds: options.shape.seeds(),
        without: Vec::new(),
        explore: options.clone(),
        patch: Patch::default(),
    };
    let mut code = Code::new(&tables, options.explore.seed);
    let search = search(
        &natives,
        &options,
        &preparation,
        &mut [&mut code],
        journal,
        observer,
    )?;
    Ok(Summary {
        search,
        latest: code.into_latest(),
    })
}
