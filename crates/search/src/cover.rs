//! Inputs that reach given lines. The search with one version and one goal, lines ([`crate::goals::lines`]): one search for all lines of a
//! program.

use std::sync::OnceLock;

use parallax_analysis::Analysis;
use parallax_analysis::words;
use parallax_exec::sites::{ModuleSites, SiteMap};
use parallax_scenario::Scenario;

use crate::engine::{self, Natives, Patch, Phase, Prepared, SearchError, search};
use crate::explore::{self, Bounds, Programs, Shape};
use crate::goals::lines::Lines;
use crate::journal::Nowhere;
use crate::sources::vocabulary::Vocabulary;

pub use crate::goals::lines::{
    Aims, Discovery, Heuristic, Inbox, Means, Obstacle, Outcome, Reached, Step, Verdict,
};

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from.
    pub seeds: Vec<Scenario>,
    /// The budget in it is that of the whole search.
    pub explore: explore::Options,
    pub aims: Aims,
}

/// What came out: of each target, and of the search.
pub struct Summary {
    pub outcomes: Vec<Outcome>,
    /// Inputs that later searches can start from.
    pub discoveries: Vec<Discovery>,
    pub search: engine::Summary,
}

/// The environment variables whose values are input: those that are known, and all that the program asks for.
pub fn variables(analysis: &Analysis, known: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    /// Of those that are not known.
    const MOST: usize = 24;
    // What chooses the language of the run is the C library's input, not the program's.
    let is_locale = |name: &Vec<u8>| name.starts_with(b"LC_") || name.starts_with(b"LANG");
    let mut asked = words::variables(&analysis.program);
    asked.retain(|name| !is_locale(name) && !known.contains(name));
    asked.truncate(MOST);
    known.into_iter().chain(asked).collect()
}

/// Searches for inputs that reach targets of a program. The tables are those of its covered variant; what is reached comes to the inbox
/// at once.
pub fn cover(
    programs: &Programs,
    analysis: &Analysis,
    sites: &SiteMap,
    tables: &[ModuleSites],
    options: Options,
    inbox: &Inbox,
    observer: &mut dyn engine::Observer,
) -> Result<Summary, SearchError> {
    let Options {
        seeds,
        mut explore,
        aims,
    } = options;
    if !matches!(explore.shape, Shape::Described(_)) {
        explore.shape = Shape::Bounded(Bounds::around(&seeds));
    }
    // Runs are for searching: what is given is traced besides.
    explore.runs = explore.runs.map(|runs| runs + seeds.len() as u64);
    let natives = Natives {
        new: programs.plain.clone(),
        old: None,
        golden: None,
    };
    let preparation = OnceLock::from(Some(Prepared {
        new: programs.clone(),
        old: None,
        golden_checked: None,
        sites,
        tables,
        versions: None,
        examiner: None,
        vocabulary: Vocabulary::new(&analysis.program, seeds.iter()),
    }));
    let mut without = Vec::new();
    if !aims.has(Heuristic::Survey) {
        let native = [Phase::Words, Phase::World, Phase::Data];
        without.extend(native.into_iter().chain([Phase::Numbers, Phase::Mutate]));
    }
    if !aims.has(Heuristic::Splice) {
        without.push(Phase::Splice);
    }
    let options = engine::Options {
        seeds,
        without,
        explore,
        patch: Patch::default(),
    };
    let effects = analysis.effects();
    let shape = &options.explore.shape;
    let inbox = inbox.clone();
    let mut lines = Lines::new(analysis, &effects, sites, tables, shape, aims, inbox);
    let goals: &mut [&mut dyn crate::core::goal::Goal] = &mut [&mut lines];
    let search = search(
        &natives,
        &options,
        &preparation,
        goals,
        &mut Nowhere,
        observer,
    )?;
    let (outcomes, discoveries) = lines.finish();
    Ok(Summary {
        outcomes,
        discoveries,
        search,
    })
}
