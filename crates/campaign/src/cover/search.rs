//! Searching for the targets of one program, one after the other.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use parallax_capture::Variant;
use parallax_exec::sites::{self, SiteMap};
use parallax_search::cover::{self, Counts, Coverer, Heuristic, Options};
use parallax_search::explore::{Bounds, Shape};
use parallax_store::Store;

use super::Options as Asked;
use super::campaign::Campaign;
use super::checkpoint::{Checkpoint, Starts};
use super::keeper::Keeper;
use super::looking::Looking;
use super::ranking::{self, Candidate};
use super::spots::Spots;
use super::survey;
use crate::budget::Budget;
use crate::failure::Failure;
use crate::patch::{Scope, Suite};
use crate::testfile::Format;
use crate::variants;
use crate::watch::Watcher;

/// What searches in all programs share.
pub struct Shared<'m> {
    pub options: &'m Asked,
    /// Of the search for one target.
    pub budget: Budget,
    pub store: &'m Store,
    pub scope: &'m Scope,
    /// Environment variables that are input.
    pub variables: &'m [Vec<u8>],
    /// What test files are, and where.
    pub tests: Option<(&'m Format, &'m Path)>,
    /// When everything ends.
    pub end: Option<Instant>,
}

impl Shared<'_> {
    /// What the survey leaves of the budget of one target.
    pub fn for_searching(&self) -> Budget {
        match self.options.without.contains(&Heuristic::Survey) {
            true => self.budget,
            false => survey::rest(self.budget),
        }
    }

    /// Whether to end now.
    pub fn is_over(&self) -> bool {
        self.options.setup.context.is_cancelled()
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// Searches for targets in one program, as far as they are open.
pub fn search(
    means: &Shared<'_>,
    campaign: &mut Campaign<'_>,
    subject: usize,
    targets: &[usize],
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let subject_of = &campaign.found.subjects[subject];
    let (name, path) = (subject_of.name.clone(), subject_of.path.clone());
    let setup = &means.options.setup;
    let context = &setup.context;
    let program = variants::read(&path)?;
    let covered = variants::derive(context, &program, Variant::Covered)?;
    let analysis = means.options.analyse(variants::read_code(&covered)?);
    let plain = path.canonicalize();
    let plain = plain.map_err(Failure::cannot("find", &path))?;
    let programs = setup.programs(&program, plain, Some(&covered))?;
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = sites::read_tables(&covered.path, &covered.libraries)?;
    let counts = Counts::new(&analysis.program, &tables);
    let folders: Vec<PathBuf> = means.scope.folders();
    let mut candidates = ranking::candidates(means.store, Suite::read(means.store, &path)?)?;
    if candidates.is_empty() {
        candidates.push(Candidate::nothing());
    }
    let mut options = Options {
        seeds: Vec::new(),
        explore: means.options.explore(
            &path,
            means.for_searching(),
            Shape::Bounded(Bounds::default()),
            cover::variables(&analysis, means.variables.to_vec()),
            candidates
                .iter()
                .all(|one| one.scenario.listening.is_some()),
        ),
        without: means.options.without.clone(),
    };
    options.explore.settings.readable.extend(folders.clone());
    let mut coverer = Coverer::new(&programs, &analysis, &options, &sites, &tables)?;
    let mut looking = Looking {
        means,
        campaign,
        keeper: Keeper::new(means.store, &name, &path, &folders, setup, means.tests)?,
        spots: Spots::new(&sites, means.scope.source.as_deref()),
        watcher,
        program: name.as_bytes().into(),
        name,
        path: path.clone(),
        subject,
        current: 0,
        started: Instant::now(),
        end: None,
        wanted: HashMap::new(),
        by_counter: HashMap::new(),
        error: None,
        surveying: None,
        histories: HashMap::new(),
    };
    let here = looking.campaign.open().into_iter();
    let is_here = |index: &usize| looking.campaign.found.targets[*index].is_in(subject);
    let here: Vec<usize> = here.filter(is_here).collect();
    looking.look_for(&here, &counts);
    looking.take_known(&candidates)?;
    let given = candidates.len();
    match looking.campaign.starts.remove(&subject) {
        Some(starts) => {
            candidates.extend(starts.candidates);
            looking.histories = starts.histories;
        }
        None => {
            let extent = looking.extent(looking.open_of(targets).len());
            let conditions = looking.campaign.all_conditions();
            let mut checkpoint =
                Checkpoint::open(context, means.store, &looking.name, &conditions)?;
            let known = match means.options.again {
                true => None,
                false => checkpoint.read(extent),
            };
            match known {
                Some(starts) => {
                    candidates.extend(starts.candidates);
                    looking.histories = starts.histories;
                }
                None => {
                    looking.take_apart(&mut coverer, &counts, targets, &mut candidates)?;
                    if options.has(Heuristic::Survey) {
                        looking.survey(
                            &mut coverer,
                            &analysis,
                            &counts,
                            targets,
                            &mut candidates,
                        )?;
                    }
                    if !means.is_over() {
                        checkpoint.write(extent, &candidates[given..], &looking.histories)?;
                    }
                }
            }
        }
    }
    let mut queue = Vec::new();
    for index in targets {
        if means.is_over() {
            break;
        }
        if looking.campaign.is_open(*index) {
            let target = looking.target(*index);
            let line = format!("{}: how near are the tests?", looking.label(*index));
            looking.watcher.tell(&line);
            let seeds = ranking::rank(&coverer, &counts, &target, &candidates);
            let nearest = seeds.first().and_then(|seed| seed.distance);
            let rank = (
                looking.campaign.was_searched(*index),
                nearest.unwrap_or(u32::MAX),
                *index,
            );
            queue.push((rank, target, seeds));
        }
    }
    // Those that were never searched for, and of these the nearest: what reaches them may reach others on the way.
    queue.sort_by_key(|(rank, ..)| *rank);
    for ((_, _, index), target, seeds) in queue {
        if means.is_over() {
            break;
        }
        if looking.campaign.is_open(index) {
            looking.search(&mut coverer, index, &target, &seeds)?;
        }
    }
    let starts = Starts {
        histories: std::mem::take(&mut looking.histories),
        candidates: candidates.split_off(given),
    };
    looking.campaign.starts.insert(subject, starts);
    Ok(())
}
