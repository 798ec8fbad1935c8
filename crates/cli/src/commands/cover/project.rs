//! The targets of a project: all programs that have them, in rounds.

use std::path::Path;
use std::time::Instant;

use parallax_project::Project;
use parallax_store::Store;

use super::campaign::Campaign;
use super::covering::{Covering, variables};
use super::{Arguments, Tests};
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::patch::{Scope, Wish};
use crate::commands::project::{is_wanted, no_such_program};
use crate::commands::stored;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::counted;
use crate::testfile::{Format, Template, TemplateError};
use parallax_report::results::cover::project as report;

pub fn run(arguments: &Arguments, wish: &Wish) -> Result<Exit, Failure> {
    let started = Instant::now();
    let project = arguments.project.find()?;
    let budget = arguments.budget.or(&project.config.budget);
    let format = format(arguments, &project)?;
    let scope = scope(arguments, &project, wish)?;
    let store = stored::open()?;
    let in_use = store.begin("parallax cover")?;
    let found = scope.find(Some(&store))?;
    if found.scenarios == 0 {
        console::note(
            "nothing has been recorded: searches start from nothing; parallax record runs the tests",
        );
    }
    let campaign = Campaign::new(arguments, budget, &store, &scope, &found)?;
    if campaign.earlier > 0 {
        let settled = counted(campaign.earlier as u64, "target");
        console::note(&format!(
            "{settled} settled before; --again searches once more"
        ));
    }
    let output = match arguments.means.has_output() {
        true => arguments.means.output("cover", Path::new("tests")),
        false => stored::directory().join("cover").join("tests"),
    };
    let mut covering = Covering {
        arguments,
        store: &store,
        scope: &scope,
        campaign,
        variables: variables(&project),
        tests: format.map(|format| (format, output)),
    };
    let end = arguments.total.map(|total| started + total);
    let mut watcher = Watcher::new(Vec::new(), arguments.total);
    covering.search(budget, end, &mut watcher)?;
    watcher.finish(&[])?;
    let shown = report::Shown {
        targets: covering.campaign.shown(),
        has_skipped: !found.skipped.is_empty(),
        scenarios: found.scenarios as u64,
        findings: &covering.campaign.findings,
        time: started.elapsed(),
        width: console::width(),
    };
    match arguments.means.json {
        true => console::print_data(&report::render_json(&shown))?,
        false => console::print(&report::render_text(&shown))?,
    }
    let exit = match watch::interrupted() {
        true => Exit::Interrupted,
        false => Exit::Clean,
    };
    in_use.end(exit as u8)?;
    Ok(exit)
}

/// Searches for inputs that reach what a range changes, and keeps them as scenarios: for commands that start from such. Prints
/// nothing.
pub fn reach(
    arguments: &Arguments,
    project: &Project,
    range: Option<&str>,
    store: &Store,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let scope = scope(arguments, project, &Wish::Patch(range.map(str::to_owned)))?;
    let found = scope.find(Some(store))?;
    let budget = arguments.budget()?;
    let campaign = Campaign::new(arguments, budget, store, &scope, &found)?;
    let mut covering = Covering {
        arguments,
        store,
        scope: &scope,
        campaign,
        variables: variables(project),
        tests: None,
    };
    let end = arguments.total.map(|total| Instant::now() + total);
    covering.search(budget, end, watcher)
}

/// What is asked about, in the programs that are wanted.
fn scope(arguments: &Arguments, project: &Project, wish: &Wish) -> Result<Scope, Failure> {
    let mut scope = Scope::of_project(project, wish)?;
    let subjects = &mut scope.subjects;
    subjects.retain(|subject| is_wanted(Path::new(&subject.name), &arguments.only));
    match subjects.is_empty() {
        true => Err(no_such_program()),
        false => Ok(scope),
    }
}

/// What test files are to be.
fn format(arguments: &Arguments, project: &Project) -> Result<Option<Format>, Failure> {
    let template = &project.config.test.template;
    Ok(match arguments.tests {
        Some(Tests::None) => None,
        Some(Tests::Sh) => Some(Format::Shell),
        Some(Tests::Bats) => Some(Format::Bats),
        None if template.is_empty() => Some(Format::Shell),
        None => Some(Format::Template(Template::read(
            &project.root.join(template),
        )?)),
    })
}

impl From<TemplateError> for Failure {
    fn from(error: TemplateError) -> Failure {
        let failure = Failure::from_error(Exit::Usage, &error);
        match error {
            TemplateError::Read { .. } => {
                failure.hint("test.template of parallax.toml names it, from the top of the project")
            }
            TemplateError::Unknown { .. } | TemplateError::Empty(_) => {
                let marks = crate::testfile::MARKS.map(|(mark, _)| format!("{{{{{mark}}}}}"));
                failure.hint(format!("there are: {}", marks.join(" ")))
            }
        }
    }
}
