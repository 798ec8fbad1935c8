//! Places of branches in the words of the ledger: file relative to the top of the source, line, and its text.

use std::path::Path;

use parallax_abi::SiteId;
use parallax_exec::sites::SiteMap;
use parallax_search::cover::{Obstacle, Step};
use parallax_store::ledger;

use parallax_report::results::source::Places;

/// Puts sites of one program into words.
pub struct Spots<'a> {
    top: Option<&'a Path>,
    places: Places<'a>,
}

impl<'a> Spots<'a> {
    pub fn new(sites: &'a SiteMap, top: Option<&'a Path>) -> Spots<'a> {
        Spots {
            top,
            places: Places::new(sites),
        }
    }

    /// Where a site is, and the text there.
    pub fn spot(&mut self, id: SiteId) -> ledger::Spot {
        let text = self.places.line(id).unwrap_or_default();
        let Some(site) = self.places.site(id) else {
            return ledger::Spot::default();
        };
        let inside = self
            .top
            .and_then(|top| Path::new(site.file).strip_prefix(top).ok());
        ledger::Spot {
            file: match inside {
                Some(path) => path.to_string_lossy().into_owned(),
                None => site.file.to_owned(),
            },
            line: site.line,
            column: site.column,
            function: site.function.to_owned(),
            text,
        }
    }

    /// A step on the way to a line, as the ledger has it.
    pub fn step(&mut self, step: &Step) -> ledger::Step {
        ledger::Step {
            kind: step.means.name().to_owned(),
            branch: step.site.map(|site| self.spot(site)),
            scenario: step.scenario.clone(),
            distance: step.distance,
        }
    }

    /// What a search did not get past; each place once.
    pub fn obstacle(&mut self, obstacle: &Obstacle) -> ledger::Obstacle {
        let contradicts = obstacle.contradicts.iter().flatten();
        let mut spots: Vec<ledger::Spot> = Vec::new();
        for site in contradicts {
            let spot = self.spot(*site);
            if !spots.contains(&spot) {
                spots.push(spot);
            }
        }
        ledger::Obstacle {
            branch: self.spot(obstacle.site),
            distance: obstacle.distance,
            scenario: obstacle.scenario.clone(),
            contradicts: spots,
            prefixes: obstacle.prefixes,
            is_concrete: obstacle.is_concrete,
        }
    }
}
