//! What a comparison of two versions came to.

mod json;
pub mod project;
mod sarif;
mod text;

use std::path::{Path, PathBuf};

use parallax_scenario::Golden;
use parallax_search::diverge::Versions;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::triage::{Class, Shown};
use parallax_search::diverge::walk::{Both, Place, Version};
use parallax_search::engine::Summary;

use super::source::Places;
use crate::palette::Palette;

pub use json::render_json;
pub use sarif::render_sarif;
pub(super) use text::difference;
pub use text::render_text;

impl From<Class> for crate::model::Class {
    fn from(class: Class) -> crate::model::Class {
        use crate::model::Class::{Both, Difference, Fixed, Regression};
        match class {
            Class::Regression => Regression,
            Class::Difference | Class::Silent => Difference,
            Class::Both => Both,
            Class::Fixed => Fixed,
        }
    }
}

/// Everything that is reported.
pub struct DivergeReport<'a> {
    /// As the user named them.
    pub names: Both<&'a Path>,
    /// Both versions were made from one program.
    pub is_annotated: bool,
    pub summary: &'a Summary,
    pub versions: Versions<'a>,
    /// Where the input of each cluster is kept.
    pub kept: &'a [PathBuf],
    pub directory: &'a Path,
    /// Columns of text.
    pub width: usize,
}

/// What differs, in one line.
pub fn headline(cluster: &Cluster) -> String {
    headline_with(cluster, &message(cluster))
}

/// Likewise, with these words for what was seen.
fn headline_with(cluster: &Cluster, message: &str) -> String {
    let class = match (cluster.class(), cluster.shown.golden) {
        (_, Some(Golden::Intended)) => Palette.good("intended"),
        (Class::Regression, _) | (_, Some(Golden::Regression)) => Palette.bad("regression"),
        (Class::Fixed, _) => Palette.good("fixed"),
        (Class::Difference, _) => Palette.warn("difference"),
        (Class::Both, _) => Palette.warn("in both"),
        (Class::Silent, _) => Palette.dim("silent"),
    };
    format!("{class} {message}")
}

/// What was seen, without styles.
pub fn message(cluster: &Cluster) -> String {
    message_with(cluster, &|file| file.to_owned())
}

/// Likewise, with names of files as `short` makes them.
fn message_with(cluster: &Cluster, short: &dyn Fn(&str) -> String) -> String {
    message_of(&cluster.shown, short)
}

/// What an input showed, with names of files as `short` makes them.
pub(super) fn message_of(shown: &Shown, short: &dyn Fn(&str) -> String) -> String {
    match shown.problems.first() {
        Some(problem) => {
            let place = problem.location.as_ref();
            let place = place.map(|place| format!(" at {}:{}", short(&place.file), place.line));
            let whose = match shown.class {
                Class::Regression => " in the new version only",
                Class::Fixed => " in the old version only",
                _ => " in both versions",
            };
            format!(
                "{}{}{whose}",
                problem.kind.name(),
                place.unwrap_or_default()
            )
        }
        None => {
            let parts: Vec<String> = shown
                .differences
                .iter()
                .map(|difference| match difference {
                    parallax_exec::compare::Difference::End { one, other } => {
                        format!("{one} became {other}")
                    }
                    other => other.part(),
                })
                .collect();
            match parts.as_slice() {
                [] => "nothing that can be seen".to_owned(),
                parts => parts.join(", "),
            }
        }
    }
}

/// Names places of both versions.
struct PlacesOfBoth<'a> {
    old: Places<'a>,
    new: Places<'a>,
}

impl<'a> PlacesOfBoth<'a> {
    fn new(versions: Versions<'a>) -> PlacesOfBoth<'a> {
        PlacesOfBoth {
            old: Places::new(versions.sites.old),
            new: Places::new(versions.sites.new),
        }
    }

    /// The sources of each version are below these.
    fn below(versions: Versions<'a>, tops: Both<&Path>) -> PlacesOfBoth<'a> {
        PlacesOfBoth {
            old: Places::below(versions.sites.old, tops.old),
            new: Places::below(versions.sites.new, tops.new),
        }
    }

    /// Where a difference begins: the place and its line, in a version that has it.
    fn of(&mut self, place: &Place, version: Version) -> Option<(String, Option<String>)> {
        let site = (*place.sites.get(version))?;
        if site.0 == 0 {
            return Some(("the exit status".to_owned(), None));
        }
        let places = match version {
            Version::Old => &mut self.old,
            Version::New => &mut self.new,
        };
        Some((places.name(site), places.line(site)))
    }

    /// File and line of that place, in the new version if that has it.
    fn spot(&self, place: &Place) -> Option<(String, u32)> {
        let sides = [(place.sites.new, &self.new), (place.sites.old, &self.old)];
        sides.into_iter().find_map(|(site, places)| {
            let site = site.filter(|site| site.0 != 0)?;
            let line = places.site(site)?.line;
            let name = places.name(site);
            let file = name.split(':').next().unwrap_or(&name);
            (line > 0).then(|| (file.to_owned(), line))
        })
    }
}
