//! Lines of one program, from one command line or from nothing.

use std::path::Path;

use parallax_capture::{Program, Variant};
use parallax_exec::sites::{self, SiteMap};
use parallax_report::results::cover::{self as report, CoverReport};
use parallax_search::archive::Archive;
use parallax_search::cover::map::Target;
use parallax_search::cover::{self, Coverer, Observer, Options, Progress, Summary, Verdict};

use super::Options as Asked;
use crate::failure::Failure;
use crate::watch::Watcher;
use crate::{Answer, Start, variants};

/// Searches for lines of a program, one after the other.
pub fn run(
    options: &Asked,
    path: &Path,
    program: &Program,
    lines: &[(String, u32)],
    start: Start,
) -> Result<Answer, Failure> {
    let setup = &options.setup;
    let context = &setup.context;
    let covered = variants::derive(context, program, Variant::Covered)?;
    let analysis = options.analyse(variants::read_code(&covered)?);
    let mut targets: Vec<Target> = Vec::new();
    for (file, line) in lines {
        targets.push(Target::named(&analysis, file, *line)?);
    }
    let absolute = std::path::absolute(path).map_err(Failure::cannot("find", path))?;
    let programs = setup.programs(program, absolute.clone(), Some(&covered))?;
    context.notes(&start.notes);
    let searched = Options {
        seeds: start.seeds,
        explore: options.explore(
            path,
            options.budget,
            start.shape,
            cover::variables(&analysis, start.environment),
            false,
        ),
        without: options.without.clone(),
    };
    let output = setup.output("cover", path);
    let archive = Archive::open(&output)?;
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = sites::read_tables(&covered.path, &covered.libraries)?;
    let mut coverer = Coverer::new(&programs, &analysis, &searched, &sites, &tables)?;
    let mut results: Vec<(Target, Summary)> = Vec::new();
    let mut watcher = Watcher::new(
        context,
        vec![(output.clone(), absolute)],
        searched.explore.time,
    );
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
        seeds: &searched.seeds,
        sites: &sites,
        directory: &output,
        width: context.width,
    };
    Ok(Answer::new(
        context.exit(true),
        report::render_text(&report),
        report::render_json(&report),
    ))
}

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        let pace = self.pace(progress.runs);
        self.tell(&format!("{pace}  {}", nearness(progress)));
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
