//! One search for all targets of a program.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_capture::Variant;
use parallax_exec::sites::{self, SiteMap};
use parallax_report::words::counted;
use parallax_search::core::counts::Counts;
use parallax_search::cover::{self, Heuristic, Inbox, Options, Summary};
use parallax_search::engine::{Observer, Progress};
use parallax_search::explore::{Bounds, Shape};
use parallax_store::Store;

use super::Options as Asked;
use super::campaign::Campaign;
use super::candidates::{self, Candidate};
use super::checkpoint::Checkpoint;
use super::looking::Looking;
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

/// Searches for targets in one program, as far as they are open.
pub fn search(
    means: &Shared<'_>,
    campaign: &mut Campaign<'_>,
    subject: usize,
    targets: &[usize],
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let path = campaign.found.subjects[subject].path.clone();
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
    let mut candidates = candidates::read(means.store, Suite::read(means.store, &path)?)?;
    if candidates.is_empty() {
        candidates.push(Candidate::nothing());
    }
    let inbox = Inbox::default();
    let mut looking = Looking::open(means, campaign, subject, &sites, &inbox)?;
    let searched = looking.look_for(targets, &counts, &candidates)?;
    if searched == 0 {
        return Ok(());
    }
    let conditions = looking.campaign.all_conditions();
    let mut checkpoint = Checkpoint::open(context, means.store, &looking.name, &conditions)?;
    if means.options.again && looking.campaign.begin_anew(subject) {
        checkpoint.clear()?;
    }
    let known = checkpoint.read();
    let is_first = known.is_none();
    let mut seeds: Vec<_> = candidates.into_iter().map(|one| one.scenario).collect();
    let is_server = seeds.iter().all(|seed| seed.listening.is_some());
    if let Some((starts, histories)) = known {
        seeds.extend(starts);
        looking.histories = histories;
    }
    let aims = looking.aims(searched);
    let Total { budget, is_cut } = total(means, &aims.before);
    let mut explore = means.options.explore(
        &path,
        budget,
        Shape::Bounded(Bounds::default()),
        cover::variables(&analysis, means.variables.to_vec()),
        is_server,
    );
    explore.settings.readable.extend(folders);
    let options = Options {
        seeds,
        explore,
        aims,
    };
    let mut watching = Watching {
        looking: &mut looking,
        watcher,
    };
    let result = cover::cover(
        &programs,
        &analysis,
        &sites,
        &tables,
        options,
        &inbox,
        &mut watching,
    );
    looking.keep_all()?;
    let Summary {
        outcomes,
        discoveries,
        search,
    } = result?;
    if is_first && !means.options.without.contains(&Heuristic::Survey) {
        let note = format!(
            "{}: {} with one change reached {} of {} in {:.0} s",
            looking.name,
            counted(search.progress.inputs, "input"),
            looking.surveyed,
            counted(searched as u64, "target"),
            looking.started.elapsed().as_secs_f64(),
        );
        match context.in_check {
            true => watcher.tell(&note),
            false => context.note(&note),
        }
    }
    checkpoint.write(discoveries, &looking.histories)?;
    looking.finish(outcomes, &search, is_cut)?;
    let name = looking.name.clone();
    campaign.add_findings(&name, &path, search.findings)
}

/// Keeps at once what reaches a target, and tells how far the search is.
struct Watching<'w, 'l, 'c> {
    looking: &'w mut Looking<'l, 'c>,
    watcher: &'w mut Watcher,
}

impl Observer for Watching<'_, '_, '_> {
    fn progress(&mut self, progress: &Progress) {
        let looking = &mut *self.looking;
        if let Err(failure) = looking.keep_all() {
            looking.error.get_or_insert(failure);
        }
        let campaign = &looking.campaign;
        let (covered, all) = (campaign.covered(), campaign.found.targets.len());
        let seconds = looking.started.elapsed().as_secs_f64();
        let Progress { runs, inputs, .. } = progress;
        self.watcher.count_runs(inputs + runs);
        let line = format!(
            "{covered} of {all} covered  {}  {seconds:.0} s  {runs} runs  {} open",
            looking.name, progress.open
        );
        self.watcher.tell(&line);
    }

    fn left_out(&mut self, _seed: usize, _why: &dyn std::fmt::Display) {
        self.looking.left_out += 1;
    }

    fn stop(&self) -> bool {
        let context = &self.looking.means.options.setup.context;
        self.looking.error.is_some() || context.is_cancelled() || self.watcher.is_over()
    }
}

/// What a search for several targets may take.
struct Total {
    budget: Budget,
    /// Whether the end of everything comes before all of them have had their time.
    is_cut: bool,
}

fn total(means: &Shared<'_>, before: &[Duration]) -> Total {
    let Budget { runs, time } = means.budget;
    let left = |time: Duration| before.iter().map(|spent| time.saturating_sub(*spent)).sum();
    let own: Option<Duration> = time.map(left);
    let rest = means
        .end
        .map(|end| end.saturating_duration_since(Instant::now()));
    Total {
        budget: Budget {
            runs: runs.map(|runs| runs * before.len() as u64),
            time: own.into_iter().chain(rest).min(),
        },
        is_cut: rest.is_some_and(|rest| own.is_none_or(|own| rest < own)),
    }
}
