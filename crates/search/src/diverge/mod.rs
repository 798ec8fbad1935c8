//! Inputs on which two versions of a program behave differently.
//!
//! Every input, the given ones first of all, is run natively on both versions and judged at once; that needs nothing but the two
//! programs. Sources that need no trace ([`crate::sources`]) make more. When the traced variants are there, inputs are also traced
//! on both versions (Shadow, ICSE 2016, without annotations): what corresponds in their code is found first ([`correspond`]); then
//! the conditions that they decided are walked through side by side ([`walk`]), as expressions over the same input bytes
//! ([`pool`], [`lockstep`]). Where a condition is another expression in the new version, the solver is asked for an input
//! that one version decides otherwise. Each input on which the versions part is a point from which the new
//! version is explored ([`bounded`]). Unlike the paper's, the comparison does not end with the paths that it was given: both
//! versions are taken along other paths together ([`common`]).
//!
//! What differs is run natively again on all builds ([`triage`]); inputs that show the same are one cluster ([`clusters`]). Who has
//! the next turn is a matter of what each kind of work has yielded for its cost ([`director`]).

mod align;
mod bounded;
pub mod clusters;
mod common;
mod comparer;
pub mod correspond;
mod director;
mod extremes;
mod finish;
mod given;
mod interface;
mod lockstep;
mod native;
mod pool;
mod questions;
mod results;
mod summary;
mod task;
pub mod triage;
mod visits;
pub mod walk;

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::core::budget::Budget;
use crate::core::pipeline::drive;
use crate::explore::Programs;
use crate::sources::vocabulary::Vocabulary;
use correspond::Correspondence;
use director::Searching;
use native::Shared;
use parallax_exec::sites::SiteMap;
use task::Slot;
use walk::{Both, Place, Version};

pub use interface::{Cost, DivergeError, Natives, Observer, Options, Phase, Progress, Subjects};
pub use summary::{Summary, Yield};

/// Work done at a time, whatever the number of threads.
const SLOTS: usize = 8;

/// Both versions' places.
#[derive(Clone, Copy)]
pub struct Versions<'v> {
    pub sites: Both<&'v SiteMap>,
    pub correspondence: &'v Correspondence,
}

impl Versions<'_> {
    /// Names a place without the calls that led there.
    fn origin(&self, place: &Place) -> u64 {
        let name = |version: Version| {
            let site = (*place.sites.get(version))?;
            let view = self.sites.get(version).get(site);
            Some(view.map_or(site.0, |view| view.original.0))
        };
        name(Version::New)
            .or_else(|| name(Version::Old))
            .unwrap_or(place.name)
    }
}

/// What is derived from both versions, and may come while the search is under way.
pub struct Prepared<'v> {
    pub programs: Both<Programs>,
    /// The golden version, built with sanitizers.
    pub golden_checked: Option<PathBuf>,
    pub versions: Versions<'v>,
    pub vocabulary: Vocabulary,
}

/// Prepared by somebody else: `None` in it says that nothing comes; then given inputs are compared natively, and that is all.
pub type Preparation<'v> = OnceLock<Option<Prepared<'v>>>;

/// Compares two versions until the budget is used up or nothing is left to try.
pub fn diverge(
    natives: &Natives,
    options: &Options,
    preparation: &Preparation<'_>,
    observer: &mut dyn Observer,
) -> Result<Summary, DivergeError> {
    let explore = &options.explore;
    let budget = Budget::new(explore.runs, finish::searching(explore.time));
    let shared = Shared::new(natives, explore, budget);
    let mut director = Searching::new(options, &shared, preparation, observer);
    let slots = (0..SLOTS).map(|_| Slot::default()).collect();
    let slots = drive(explore.jobs, slots, &mut director, task::work);
    director.finish(slots)
}
