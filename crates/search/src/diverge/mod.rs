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
pub(crate) mod comparer;
pub mod correspond;
mod extremes;
pub(crate) mod given;
mod lockstep;
mod pool;
mod questions;
pub mod triage;
mod visits;
pub mod walk;

use correspond::Correspondence;
use parallax_exec::sites::SiteMap;
use walk::{Both, Place, Version};

/// Both versions' places.
#[derive(Clone, Copy)]
pub struct Versions<'v> {
    pub sites: Both<&'v SiteMap>,
    pub correspondence: &'v Correspondence,
}

impl Versions<'_> {
    /// Names a place without the calls that led there.
    pub(crate) fn origin(&self, place: &Place) -> u64 {
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
