//! Lines of one program, from one command line or from nothing.

use std::path::Path;

use parallax_capture::{Program, Variant};
use parallax_exec::sites::{self, SiteMap};
use parallax_report::results::cover::{self as report, CoverReport};
use parallax_search::core::guide::Target;
use parallax_search::cover::{self, Aims, Inbox, Options};

use super::Options as Asked;
use crate::budget::Budget;
use crate::failure::Failure;
use crate::watch::Watcher;
use crate::{Answer, Start, variants};

/// Searches for lines of a program.
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
    let count = targets.len() as u32;
    let each = options.budget;
    let all = Budget {
        runs: each.runs.map(|runs| runs * u64::from(count)),
        time: each.time.map(|time| time * count),
    };
    let searched = Options {
        explore: options.explore(
            path,
            all,
            start.shape,
            cover::variables(&analysis, start.environment),
            false,
        ),
        seeds: start.seeds,
        aims: Aims {
            searched: targets.len(),
            targets: targets.clone(),
            before: Vec::new(),
            runs: each.runs,
            time: each.time,
            without: options.without.clone(),
        },
    };
    let output = setup.output("cover", path);
    let sites = SiteMap::load(&programs.traced, &programs.traced_libraries)?;
    let tables = sites::read_tables(&covered.path, &covered.libraries)?;
    let place = (output.clone(), absolute);
    let mut watcher = Watcher::new(context, vec![place], all.time);
    let inbox = Inbox::default();
    let summary = cover::cover(
        &programs,
        &analysis,
        &sites,
        &tables,
        searched,
        &inbox,
        &mut watcher,
    )?;
    watcher.finish(std::slice::from_ref(&summary.search.findings))?;
    let report = CoverReport {
        program: path,
        targets: &targets,
        summary: &summary,
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
