//! Lines of one program, from one command line or from nothing.

use std::path::Path;

use parallax_capture::Variant;
use parallax_exec::sites::{self, SiteMap};
use parallax_search::archive::Archive;
use parallax_search::cover::map::Target;
use parallax_search::cover::{self, Coverer, Observer, Options, Progress, Summary, Verdict};
use parallax_search::explore::Programs;

use super::Arguments;
use crate::commands::explore::seed;
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::shared;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use parallax_report::results::cover::{self as report, CoverReport};

pub fn run(arguments: &Arguments, path: &Path) -> Result<Exit, Failure> {
    if arguments.at.is_empty() {
        let message = "a program alone does not say which lines are meant";
        return Err(Failure::new(Exit::Usage, message).hint("--at FILE:LINE names one"));
    }
    let program = shared::read(path)?;
    let shape = seed::shape(&arguments.start, &arguments.arguments)?;
    let covered = shared::derive(&program, Variant::Covered)?;
    let analysis = arguments.analyse(shared::read_code(&covered)?);
    let mut targets: Vec<Target> = Vec::new();
    for (file, line) in &arguments.at {
        targets.push(Target::named(&analysis, file, *line)?);
    }
    let traced = shared::derive(&program, Variant::Traced)?;
    for note in traced.notes.iter().chain(&shape.notes) {
        console::note(note);
    }
    let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
    let programs = Programs {
        plain: absolute.clone(),
        traced: traced.path,
        covered: Some(covered.path),
        checked: arguments.means.checked(&program),
        traced_libraries: traced.libraries,
        covered_libraries: covered.libraries,
    };
    let options = Options {
        seeds: shape.shape.seeds(),
        explore: arguments.options(
            path,
            arguments.budget()?,
            shape.shape,
            cover::variables(&analysis, shape.environment),
            false,
        ),
        without: arguments.left_out(),
    };
    let output = arguments.means.output("cover", path);
    let archive = Archive::open(&output)?;
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = match &programs.covered {
        Some(covered) => sites::read_tables(covered, &programs.covered_libraries)?,
        None => Vec::new(),
    };
    let mut coverer = Coverer::new(&programs, &analysis, &options, &sites, &tables)?;
    let mut results: Vec<(Target, Summary)> = Vec::new();
    let mut watcher = Watcher::new(vec![(output.clone(), absolute)], options.explore.time);
    for target in targets {
        let summary = coverer.cover(&target, &mut watcher)?;
        if let Verdict::Covered { scenario, .. } = &summary.verdict {
            archive.add_test(scenario)?;
        }
        let stopped = summary.stopped;
        results.push((target, summary));
        if stopped {
            break;
        }
    }
    watcher.finish(&[])?;
    let report = CoverReport {
        program: path,
        results: &results,
        seeds: &options.seeds,
        sites: &sites,
        directory: &output,
        width: console::width(),
    };
    match arguments.means.json {
        true => console::print_data(&report::render_json(&report))?,
        false => console::print(&report::render_text(&report))?,
    }
    Ok(match watch::interrupted() {
        true => Exit::Interrupted,
        false => Exit::Clean,
    })
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let pace = self.pace(progress.runs);
        self.tell(format!("{pace}  {}", nearness(progress)));
    }

    fn stop(&self) -> bool {
        self.is_over()
    }
}

/// How near a search is.
pub fn nearness(progress: &Progress) -> String {
    let distance = match progress.distance {
        Some(distance) => format!("nearest {distance} branches away"),
        None => "no way there yet".to_owned(),
    };
    format!("{distance}  {} open", progress.open)
}
