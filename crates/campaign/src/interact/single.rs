//! Two programs and one command line.

use std::path::Path;

use parallax_report::results::interact::{self as report, InteractReport};
use parallax_search::archive::Archive;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::engine::{Observer, Progress};

use super::{Options, Ready, progress_line};
use crate::failure::Failure;
use crate::watch::Watcher;
use crate::{Answer, Start};

/// What is compared.
pub struct Versions<'v> {
    pub old: &'v Path,
    pub new: &'v Path,
    /// A version that is known to be right.
    pub golden: Option<&'v Path>,
    /// Only what this patch changes.
    pub patch: Option<&'v Path>,
}

/// Searches from one command line, or from scenarios.
pub fn run(
    options: &Options,
    versions: &Versions<'_>,
    start: Start,
    is_verbose: bool,
) -> Result<Answer, Failure> {
    let setup = &options.setup;
    let context = &setup.context;
    context.notes(&start.notes);
    let Versions { old, new, .. } = *versions;
    let ready = Ready::new(old, new, versions.golden, versions.patch, setup)?;
    let output = setup.output("interact", new);
    let archive = Archive::open(&output)?;
    let places = vec![(output.clone(), new.to_owned())];
    let mut watching = Watching(Watcher::new(context, places, options.budget.time));
    let summary = ready.search(new, start, Vec::new(), options, &mut watching)?;
    watching.0.finish(&[])?;
    let mut kept = Vec::new();
    for finding in &summary.findings {
        kept.push(archive.add_test(&finding.scenario)?.display().to_string());
    }
    let reports = [report::Program {
        title: format!("{} → {}", old.display(), new.display()),
        name: new.display().to_string(),
        graph: ready.comparison.shown(),
        summary: &summary,
        kept,
    }];
    let shown = InteractReport {
        isolated: options.isolated,
        is_verbose,
        programs: &reports,
        unreached: &[],
        width: context.width,
        kept: format!("inputs are kept in {}", output.display()),
    };
    Ok(Answer::new(
        context.exit(summary.findings.is_empty()),
        report::render_text(&shown),
        report::render_json(&shown),
    ))
}

struct Watching(Watcher);

impl Observer for Watching {
    fn progress(&mut self, progress: &Progress) {
        let pace = self.0.pace(progress.runs);
        self.0.tell(&progress_line(&pace, progress));
    }

    fn found(&mut self, cluster: &Cluster) {
        self.0
            .announce_one_of_many(&report::headline(&cluster.shown));
    }

    fn stop(&self) -> bool {
        self.0.is_over()
    }
}
