//! The targets of a project: all programs that have them, in rounds.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use parallax_project::Project;
use parallax_store::Store;

use super::campaign::Campaign;
use super::search::{Means, search};
use super::{Arguments, Tests};
use crate::commands::explore::watch::{self, Watcher};
use crate::commands::patch::{Found, Scope, Suite, Wish};
use crate::commands::project::{is_wanted, no_such_program};
use crate::commands::search::Budget;
use crate::commands::{search as notes, stored};
use crate::console::{self, Palette};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::cover::project as report;
use crate::size::counted;
use crate::testfile::{Format, Template, TemplateError};

/// Programs that a target is searched for in, at most: the code of libraries can be in a hundred.
const PROGRAMS: usize = 3;

pub fn run(arguments: &Arguments, wish: &Wish) -> Result<Exit, Failure> {
    let started = Instant::now();
    let project = arguments.project.find()?;
    let budget = Budget::or(arguments.time, arguments.runs, &project.config.budget);
    let format = format(arguments, &project)?;
    let scope = scope(arguments, &project, wish)?;
    let store = stored::open()?;
    let in_use = store.begin("parallax cover")?;
    let found = scope.find(Some(&store))?;
    if found.scenarios == 0 {
        notes::say(
            "nothing has been recorded: searches start from nothing; parallax record runs the tests",
        );
    }
    let mut campaign = Campaign::new(arguments, budget, &store, &scope, &found)?;
    if campaign.earlier > 0 {
        let settled = counted(campaign.earlier as u64, "target");
        notes::say(&format!(
            "{settled} settled before; --again searches once more"
        ));
    }
    let output = match arguments.means.has_output() {
        true => arguments.means.output("cover", Path::new("tests")),
        false => stored::directory().join("cover").join("tests"),
    };
    let variables = variables(&project);
    let means = Means {
        arguments,
        budget,
        store: &store,
        scope: &scope,
        variables: &variables,
        tests: format.as_ref().map(|format| (format, output.as_path())),
        end: arguments.total.map(|total| started + total),
    };
    let mut watcher = Watcher::new(Vec::new(), arguments.total);
    search_all(&means, &mut campaign, &mut watcher)?;
    watcher.finish(&[])?;
    let shown = report::Shown {
        campaign: &campaign,
        store: &store,
        time: started.elapsed(),
    };
    match arguments.means.json {
        true => console::print_data(&report::render_json(&shown)?)?,
        false => console::print(&report::render_text(&shown)?)?,
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
    let mut campaign = Campaign::new(arguments, budget, store, &scope, &found)?;
    let variables = variables(project);
    let means = Means {
        arguments,
        budget,
        store,
        scope: &scope,
        variables: &variables,
        tests: None,
        end: arguments.total.map(|total| Instant::now() + total),
    };
    search_all(&means, &mut campaign, watcher)
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

/// Environment variables that are input.
fn variables(project: &Project) -> Vec<Vec<u8>> {
    let variables = project.config.inputs.environment.iter();
    variables.map(|name| name.clone().into_bytes()).collect()
}

/// Searches for all open targets, each in the programs where that promises most.
fn search_all(
    means: &Means<'_>,
    campaign: &mut Campaign<'_>,
    watcher: &mut Watcher,
) -> Result<(), Failure> {
    let tests = sizes(campaign.found, means.store)?;
    for round in 0..PROGRAMS {
        for (subject, targets) in assigned(campaign, &tests, round) {
            if watch::interrupted() {
                break;
            }
            if let Err(failure) = search(means, campaign, subject, &targets, watcher) {
                console::print_error(&failure.render(&Palette));
                let name = &campaign.found.subjects[subject].name;
                notes::say(&format!("{name} is left out"));
            }
        }
    }
    Ok(())
}

/// How many scenarios there are of each program.
fn sizes(found: &Found, store: &Store) -> Result<Vec<usize>, Failure> {
    let size = |subject: &crate::commands::patch::Subject| {
        Suite::read(store, &subject.path).map(|suite| suite.tests.len())
    };
    found.subjects.iter().map(size).collect()
}

/// The open targets of each program in this round: in the first, each target in the program whose tests come nearest to it.
fn assigned(campaign: &Campaign<'_>, tests: &[usize], round: usize) -> BTreeMap<usize, Vec<usize>> {
    let mut assigned: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for index in campaign.open() {
        let mut places: Vec<_> = campaign.found.targets[index].places.iter().collect();
        places.sort_by_key(|place| {
            let tests = tests.get(place.subject).copied().unwrap_or(0);
            (std::cmp::Reverse((place.nearby, tests)), place.subject)
        });
        let entry = campaign.entries[index].as_ref();
        // Who has used up the time is done.
        let is_done =
            entry.is_some_and(|entry| entry.time_limit.is_some() || entry.run_limit.is_some());
        if let Some(place) = places.get(round).filter(|_| !is_done) {
            assigned.entry(place.subject).or_default().push(index);
        }
    }
    assigned
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
