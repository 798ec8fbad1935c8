//! The targets of a project: all programs that have them, in rounds.

use std::path::Path;
use std::time::Instant;

use parallax_project::Project;
use parallax_report::results::cover::project as report;
use parallax_report::words::counted;
use parallax_store::Store;

use super::Options;
use super::campaign::Campaign;
use super::covering::Covering;
use crate::failure::Failure;
use crate::patch::{Request, Scope};
use crate::project::{is_wanted, no_such_program, variables};
use crate::testfile::Format;
use crate::watch::Watcher;
use crate::{Answer, stored};

/// Searches for lines of a project, and writes new inputs as test files of this format.
pub fn run(
    options: &Options,
    project: &Project,
    request: &Request,
    format: Option<Format>,
) -> Result<Answer, Failure> {
    let started = Instant::now();
    let (context, budget) = (&options.setup.context, options.budget);
    let scope = scope(options, project, request)?;
    let store = stored::open()?;
    let in_use = store.begin("parallax cover")?;
    let found = scope.find(Some(&store))?;
    if found.scenarios == 0 {
        context.note(
            "nothing has been recorded: searches start from nothing; parallax record runs the tests",
        );
    }
    let campaign = Campaign::new(options, budget, &store, &scope, &found)?;
    if campaign.earlier > 0 {
        let settled = counted(campaign.earlier as u64, "target");
        context.note(&format!(
            "{settled} settled before; --again searches once more"
        ));
    }
    let usual = || stored::directory().join("cover").join("tests");
    let output = options.setup.output.clone().unwrap_or_else(usual);
    let mut covering = Covering {
        options,
        store: &store,
        scope: &scope,
        campaign,
        variables: variables(project),
        tests: format.map(|format| (format, output)),
    };
    let end = options.total.map(|total| started + total);
    let mut watcher = Watcher::new(context, Vec::new(), options.total);
    covering.search(budget, end, &mut watcher)?;
    watcher.finish(&[])?;
    let shown = report::Shown {
        targets: covering.campaign.shown(),
        has_skipped: !found.skipped.is_empty(),
        scenarios: found.scenarios as u64,
        findings: &covering.campaign.findings,
        time: started.elapsed(),
        width: context.width,
    };
    let exit = context.exit(true);
    in_use.end(exit as u8)?;
    Ok(Answer::new(
        exit,
        report::render_text(&shown),
        report::render_json(&shown),
    ))
}

/// Searches for inputs that reach what a range changes, and keeps them as scenarios: for commands that start from such. Prints
/// nothing.
pub fn reach(
    options: &Options,
    project: &Project,
    range: Option<&str>,
    store: &Store,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let scope = scope(options, project, &Request::Patch(range.map(str::to_owned)))?;
    let found = scope.find(Some(store))?;
    let budget = options.budget;
    let campaign = Campaign::new(options, budget, store, &scope, &found)?;
    let mut covering = Covering {
        options,
        store,
        scope: &scope,
        campaign,
        variables: variables(project),
        tests: None,
    };
    let end = options.total.map(|total| Instant::now() + total);
    covering.search(budget, end, watcher)
}

/// What is asked about, in the programs that are wanted.
fn scope(options: &Options, project: &Project, request: &Request) -> Result<Scope, Failure> {
    let mut scope = Scope::of_project(&options.setup.context, project, request)?;
    let subjects = &mut scope.subjects;
    subjects.retain(|subject| is_wanted(Path::new(&subject.name), &options.only));
    match subjects.is_empty() {
        true => Err(no_such_program()),
        false => Ok(scope),
    }
}
