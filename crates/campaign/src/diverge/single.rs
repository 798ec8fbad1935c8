//! Two programs, or one with two versions in its source, and one command line.

use std::path::Path;

use parallax_annotate::Side;
use parallax_report::results::diverge::{self as report, DivergeReport};
use parallax_search::archive::Archive;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::Both;
use parallax_search::diverge::{Diverger, Observer, Progress, Subjects, Versions as Sites};

use super::{Options, progress_line};
use crate::failure::Failure;
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
    let old_name = names.old;
    let (old, new) = match names.new {
        Some(new) => (Version::new(old_name, setup)?, Version::new(new, setup)?),
        None => (
            Version::annotated(old_name, Side::Old, setup)?,
            Version::annotated(old_name, Side::New, setup)?,
        ),
    };
    let new_name = names.new.unwrap_or(old_name);
    let golden = names.golden.map(|path| setup.builds(path)).transpose()?;
    let subjects = Subjects {
        programs: Both {
            old: old.programs.clone(),
            new: new.programs.clone(),
        },
        golden,
    };
    let budget = options.budget;
    let searched = options.searched(new_name, budget, seeds, shape, environment);
    let correspondence = Version::correspondence(&old, &new);
    let versions = Sites {
        sites: Both {
            old: &old.sites,
            new: &new.sites,
        },
        correspondence: &correspondence,
    };
    let output = setup.output("diverge", new_name);
    let archive = Archive::open(&output)?;
    let mut watcher = Watcher::new(
        context,
        vec![(output.clone(), subjects.programs.new.plain.clone())],
        budget.time,
    );
    let diverger = Diverger::new(&subjects, &searched, versions)?;
    let summary = diverger.run(&mut watcher)?;
    watcher.finish(&[])?;
    let mut kept = Vec::new();
    for cluster in &summary.clusters {
        kept.push(archive.add_test(&cluster.scenario)?);
    }
    let report = DivergeReport {
        names: Both {
            old: old_name,
            new: new_name,
        },
        is_annotated: names.new.is_none(),
        summary: &summary,
        versions,
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

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.tell(&progress_line(&self.pace(progress.runs), progress));
    }

    fn found(&mut self, cluster: &Cluster) {
        self.announce_one_of_many(&report::headline(cluster));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}
