//! Two programs, or one with two versions in its source, and one command line.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use parallax_annotate::Side;
use parallax_report::results::diverge::{self as report, DivergeReport};
use parallax_scenario::Scenario;
use parallax_search::archive::Archive;
use parallax_search::diverge::Versions as Sites;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::correspond::Correspondence;
use parallax_search::diverge::walk::Both;
use parallax_search::engine::{Natives, Observer, Prepared, Progress, search};
use parallax_search::goals::differences::Differences;
use parallax_search::journal::Nowhere;

use super::{Options, progress_line};
use crate::failure::Failure;
use crate::setup::Setup;
use crate::variants;
use crate::versions::Version;
use crate::watch::Watcher;
use crate::{Answer, Start};

/// What is compared.
pub struct Versions<'v> {
    pub old: &'v Path,
    /// Without one, both versions are in the source of the old one.
    pub new: Option<&'v Path>,
    /// A version that is known to be right.
    pub golden: Option<&'v Path>,
}

/// Compares programs from one command line, or from scenarios.
pub fn run(options: &Options, names: &Versions<'_>, start: Start) -> Result<Answer, Failure> {
    let Start {
        seeds,
        shape,
        environment,
        notes,
    } = start;
    let setup = &options.setup;
    let context = &setup.context;
    context.notes(&notes);
    let new_name = names.new.unwrap_or(names.old);
    let budget = options.budget;
    let searched = options.searched(new_name, budget, seeds, shape, environment);
    let output = setup.output("diverge", new_name);
    let archive = Archive::open(&output)?;
    let natives = natives(setup, names)?;
    let state = State::default();
    let places = vec![(output.clone(), natives.new.clone())];
    let mut watching = Watching {
        watcher: Watcher::new(context, places, budget.time),
        state: &state,
    };
    // While variants are made, inputs are run on the programs as they are.
    let (ready, preparation) = (OnceLock::new(), OnceLock::new());
    let (made, summary) = thread::scope(|scope| {
        let making = scope.spawn(|| {
            let made = Ready::new(setup, names);
            let made = made.map(|made| ready.get_or_init(|| made));
            let prepared = made.as_ref().ok();
            let _ = preparation.set(prepared.map(|ready| ready.prepared(&searched.seeds)));
            state.is_prepared.store(true, Ordering::Relaxed);
            made
        });
        let summary = search(
            &natives,
            &searched,
            &preparation,
            &mut [&mut Differences::default()],
            &mut Nowhere,
            &mut watching,
        );
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
            old: names.old,
            new: new_name,
        },
        is_annotated: names.new.is_none(),
        summary: &summary,
        versions: ready.places(),
        kept: &kept,
        directory: &output,
        width: context.width,
    };
    Ok(Answer {
        exit: context.exit(summary.clusters.is_empty()),
        text: report::render_text(&report),
        json: report::render_json(&report),
        sarif: report::render_sarif(&report),
    })
}

/// The programs as they are.
fn natives(setup: &Setup, names: &Versions<'_>) -> Result<Natives, Failure> {
    let plain = |path: &Path| -> Result<PathBuf, Failure> {
        variants::read(path)?;
        std::path::absolute(path).map_err(Failure::cannot("find", path))
    };
    let (old, new) = match names.new {
        Some(new) => (plain(names.old)?, plain(new)?),
        None => (
            Version::side(names.old, Side::Old, setup)?.1,
            Version::side(names.old, Side::New, setup)?.1,
        ),
    };
    Ok(Natives {
        old: Some(old),
        new,
        golden: names.golden.map(plain).transpose()?,
    })
}

/// What is derived from them.
struct Ready {
    versions: Both<Version>,
    correspondence: Correspondence,
    golden_checked: Option<PathBuf>,
}

impl Ready {
    fn new(setup: &Setup, names: &Versions<'_>) -> Result<Ready, Failure> {
        let versions = match names.new {
            Some(new) => Both {
                old: Version::new(names.old, setup)?,
                new: Version::new(new, setup)?,
            },
            None => Both {
                old: Version::annotated(names.old, Side::Old, setup)?,
                new: Version::annotated(names.old, Side::New, setup)?,
            },
        };
        let golden = names.golden.map(|path| setup.builds(path)).transpose()?;
        Ok(Ready {
            correspondence: Version::correspondence(&versions.old, &versions.new),
            versions,
            golden_checked: golden.and_then(|(_, checked)| checked),
        })
    }

    fn places(&self) -> Sites<'_> {
        Sites {
            sites: Both {
                old: &self.versions.old.sites,
                new: &self.versions.new.sites,
            },
            correspondence: &self.correspondence,
        }
    }

    fn prepared(&self, seeds: &[Scenario]) -> Prepared<'_> {
        Prepared {
            new: self.versions.new.programs.clone(),
            old: Some(self.versions.old.programs.clone()),
            golden_checked: self.golden_checked.clone(),
            sites: &self.versions.new.sites,
            tables: &[],
            versions: Some(self.places()),
            vocabulary: self.versions.new.vocabulary(seeds.iter()),
            examiner: None,
        }
    }
}

/// How far variants are.
#[derive(Default)]
struct State {
    is_prepared: AtomicBool,
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
            self.watcher.tell(&progress_line(&pace, progress));
        }
    }

    fn found(&mut self, cluster: &Cluster) {
        self.watcher
            .announce_one_of_many(&report::headline(cluster));
    }

    fn stop(&self) -> bool {
        self.watcher.is_over()
    }
}
