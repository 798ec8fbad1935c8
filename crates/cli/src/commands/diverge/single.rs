//! Two programs, or one with two versions in its source, and one command line.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parallax_annotate::Side;
use parallax_scenario::Scenario;
use parallax_search::archive::Archive;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::correspond::Correspondence;
use parallax_search::diverge::walk::Both;
use parallax_search::diverge::{Natives, Observer, Prepared, Progress, Versions, diverge};

use super::{Arguments, Format, progress_line};
use crate::commands::explore::start::Start;
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::shared;
use crate::commands::versions::Version;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::diverge::{self as report, DivergeReport};

pub fn run(arguments: &Arguments, old_name: &Path) -> Result<Exit, Failure> {
    if !arguments.only.is_empty() {
        let message = "--program chooses among the programs of a project";
        return Err(
            Failure::new(Exit::Usage, message).hint("parallax diverge OLD..NEW --program NAME")
        );
    }
    let Start {
        seeds,
        shape,
        environment,
    } = arguments.start.read()?;
    let means = &arguments.means;
    let new_name = arguments.new.as_deref().unwrap_or(old_name);
    let budget = arguments.budget()?;
    let options = arguments.options(new_name, budget, seeds, shape, environment);
    let output = means.output("diverge", new_name);
    let archive = Archive::open(&output)?;
    let natives = natives(arguments, old_name)?;
    let state = State::default();
    let mut watching = Watching {
        watcher: Watcher::new(vec![(output.clone(), natives.new.clone())], budget.time),
        state: &state,
    };
    // While variants are made, inputs are run on the programs as they are.
    let (ready, preparation) = (OnceLock::new(), OnceLock::new());
    let (made, summary) = thread::scope(|scope| {
        let making = scope.spawn(|| {
            let made = Ready::new(arguments, old_name);
            let made = made.map(|made| ready.get_or_init(|| made));
            state.has_failed.store(made.is_err(), Ordering::Relaxed);
            let prepared = made.as_ref().ok();
            let _ = preparation.set(prepared.map(|ready| ready.prepared(&options.seeds)));
            state.is_prepared.store(true, Ordering::Relaxed);
            made
        });
        let summary = diverge(&natives, &options, &preparation, &mut watching);
        let made = making.join();
        let made = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (made, summary)
    });
    let ready = made?;
    let summary = summary?;
    watching.watcher.finish(&[])?;
    let mut kept = Vec::new();
    for cluster in &summary.clusters {
        kept.push(archive.add_test(&cluster.scenario)?);
    }
    let report = DivergeReport {
        names: Both {
            old: old_name,
            new: new_name,
        },
        is_annotated: arguments.new.is_none(),
        summary: &summary,
        versions: ready.places(),
        kept: &kept,
        directory: &output,
    };
    match arguments.format() {
        Format::Json => console::print_data(&report::render_json(&report))?,
        Format::Sarif => console::print_data(&report::render_sarif(&report))?,
        Format::Human => console::print(&report::render_text(&report))?,
    }
    Ok(watch::exit(summary.clusters.is_empty()))
}

/// The programs as they are.
fn natives(arguments: &Arguments, old_name: &Path) -> Result<Natives, Failure> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(Failure::cannot("find", path));
    let plain = |path: &Path| -> Result<PathBuf, Failure> {
        shared::read(path)?;
        absolute(path)
    };
    let (old, new) = match &arguments.new {
        Some(new) => (plain(old_name)?, plain(new)?),
        None => (
            Version::side(old_name, Side::Old)?.1,
            Version::side(old_name, Side::New)?.1,
        ),
    };
    let golden = arguments.golden.as_ref();
    Ok(Natives {
        old,
        new,
        golden: golden.map(|path| plain(Path::new(path))).transpose()?,
    })
}

/// What is derived from them.
struct Ready {
    versions: Both<Version>,
    correspondence: Correspondence,
    golden_checked: Option<PathBuf>,
}

impl Ready {
    fn new(arguments: &Arguments, old_name: &Path) -> Result<Ready, Failure> {
        let means = &arguments.means;
        let versions = match &arguments.new {
            Some(new) => Both {
                old: Version::new(old_name, means)?,
                new: Version::new(new, means)?,
            },
            None => Both {
                old: Version::annotated(old_name, Side::Old, means)?,
                new: Version::annotated(old_name, Side::New, means)?,
            },
        };
        let golden_checked = match &arguments.golden {
            Some(path) => means.checked(&shared::read(Path::new(path))?),
            None => None,
        };
        Ok(Ready {
            correspondence: Version::correspondence(&versions.old, &versions.new),
            versions,
            golden_checked,
        })
    }

    fn places(&self) -> Versions<'_> {
        Versions {
            sites: Both {
                old: &self.versions.old.sites,
                new: &self.versions.new.sites,
            },
            correspondence: &self.correspondence,
        }
    }

    fn prepared(&self, seeds: &[Scenario]) -> Prepared<'_> {
        Prepared {
            programs: Both {
                old: self.versions.old.programs.clone(),
                new: self.versions.new.programs.clone(),
            },
            golden_checked: self.golden_checked.clone(),
            versions: self.places(),
            vocabulary: self.versions.new.vocabulary(seeds.iter()),
        }
    }
}

/// How far variants are.
#[derive(Default)]
struct State {
    is_prepared: AtomicBool,
    has_failed: AtomicBool,
}

struct Watching<'s> {
    watcher: Watcher,
    state: &'s State,
}

impl Observer for Watching<'_> {
    fn progress(&mut self, progress: &Progress) {
        // Until then the line shows how far the variants are.
        if self.state.is_prepared.load(Ordering::Relaxed) {
            let pace = self.watcher.pace(progress.runs);
            self.watcher.tell(progress_line(&pace, progress));
        }
    }

    fn found(&mut self, cluster: &Cluster) {
        self.watcher
            .announce_one_of_many(&report::headline(cluster));
    }

    fn stop(&self) -> bool {
        self.watcher.is_over() || self.state.has_failed.load(Ordering::Relaxed)
    }
}
