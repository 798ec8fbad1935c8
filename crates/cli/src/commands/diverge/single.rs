//! Two programs, or one with two versions in its source, and one command line.

use std::path::Path;

use parallax_annotate::Side;
use parallax_search::archive::Archive;
use parallax_search::diverge::clusters::Cluster;
use parallax_search::diverge::walk::Both;
use parallax_search::diverge::{Diverger, Observer, Progress, Subjects, Versions};

use super::{Arguments, Format, progress_line};
use crate::commands::explore::start::Start;
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::shared;
use crate::commands::versions::Version;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use parallax_report::results::diverge::{self as report, DivergeReport};

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
    let (old, new) = match &arguments.new {
        Some(new) => (Version::new(old_name, means)?, Version::new(new, means)?),
        None => (
            Version::annotated(old_name, Side::Old, means)?,
            Version::annotated(old_name, Side::New, means)?,
        ),
    };
    let new_name = arguments.new.as_deref().unwrap_or(old_name);
    let golden = match &arguments.golden {
        Some(path) => {
            let path = Path::new(path);
            let program = shared::read(path)?;
            let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
            Some((absolute, means.checked(&program)))
        }
        None => None,
    };
    let subjects = Subjects {
        programs: Both {
            old: old.programs.clone(),
            new: new.programs.clone(),
        },
        golden,
    };
    let budget = arguments.budget()?;
    let options = arguments.options(new_name, budget, seeds, shape, environment);
    let correspondence = Version::correspondence(&old, &new);
    let versions = Versions {
        sites: Both {
            old: &old.sites,
            new: &new.sites,
        },
        correspondence: &correspondence,
    };
    let output = means.output("diverge", new_name);
    let archive = Archive::open(&output)?;
    let mut watcher = Watcher::new(
        vec![(output.clone(), subjects.programs.new.plain.clone())],
        budget.time,
    );
    let diverger = Diverger::new(&subjects, &options, versions)?;
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
        is_annotated: arguments.new.is_none(),
        summary: &summary,
        versions,
        kept: &kept,
        directory: &output,
        width: console::width(),
    };
    match arguments.format() {
        Format::Json => console::print_data(&report::render_json(&report))?,
        Format::Sarif => console::print_data(&report::render_sarif(&report))?,
        Format::Human => console::print(&report::render_text(&report))?,
    }
    Ok(watch::exit(summary.clusters.is_empty()))
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.tell(progress_line(&self.pace(progress.runs), progress));
    }

    fn found(&mut self, cluster: &Cluster) {
        self.announce_one_of_many(&report::headline(cluster));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}
