//! `parallax why`: what became of a line that was to be covered.

use parallax_scenario::Scenario;
use parallax_store::Store;
use parallax_store::ledger::{Entry, Settled};

use super::project::ProjectArguments;
use super::project::parse_place;
use crate::console::{self, Palette};
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::patch::{Request, Scope};
use parallax_campaign::stored;
use parallax_report::results::document::Document;
use parallax_report::results::ledger as report;
use parallax_report::results::targets as targets_report;

/// Say why a line is covered, or why it is not
///
/// Which test runs it; or which new input, and how that was made from a test; or which branch stands before it, what
/// that contradicts, which scenario came nearest, and where track of the input was lost.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax why src/io.c:235
  parallax why io.c:235 --json | jq '.targets[].why'

`parallax cover` enters what it finds out; a line that it has not looked for is looked up in the tests.")]
pub struct Arguments {
    /// A line; the end of the file's path is enough
    #[arg(value_name = "FILE:LINE", value_parser = parse_place)]
    place: (String, u32),

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let (file, line) = &arguments.place;
    if let Some(store) = stored::open_existing()? {
        let known = store.settled_at(file, *line)?;
        // The same line of several files, or of several revisions: of each file the latest.
        let mut latest: Vec<Settled> = Vec::new();
        for settled in known {
            let is_new = |other: &Settled| other.entry.file != settled.entry.file;
            if latest.iter().all(is_new) {
                latest.push(settled);
            }
        }
        if !latest.is_empty() {
            show(arguments, &store, &latest)?;
            return Ok(Exit::Clean);
        }
    }
    look(arguments)
}

fn show(arguments: &Arguments, store: &Store, known: &[Settled]) -> Result<(), Failure> {
    let mut targets = Vec::new();
    for (number, settled) in known.iter().enumerate() {
        let entry = &settled.entry;
        let scenario = scenario_of(store, entry);
        if arguments.json {
            targets.push(report::json(entry, scenario.as_ref()));
            continue;
        }
        if number > 0 {
            console::print("\n")?;
        }
        console::print(&report::whole(entry, scenario.as_ref(), console::width()))?;
        let revision = settled.revision.get(..12).unwrap_or(&settled.revision);
        console::print(&format!(
            "{}\n",
            Palette.dim(&format!("in revision {revision}"))
        ))?;
    }
    if arguments.json {
        let document = Document {
            command: "why",
            runs: 0,
            paths: 0,
            queries: 0,
            seconds: 0.0,
            losses: Vec::new(),
            findings: Vec::new(),
            targets,
            statistics: serde_json::json!({}),
        };
        console::print_data(&document.render())?;
    }
    Ok(())
}

/// What covers it, if something does and it is still there.
fn scenario_of(store: &Store, entry: &Entry) -> Option<Scenario> {
    let id = entry
        .scenario
        .as_ref()
        .filter(|_| entry.status.is_covered())?;
    Some(store.get(id).ok()?.recorded.scenario)
}

/// Nobody has searched for it: what the tests and the source say.
fn look(arguments: &Arguments) -> Result<Exit, Failure> {
    let (file, line) = &arguments.place;
    let project = arguments.project.find()?;
    let scope = Scope::of_project(
        &context(),
        &project,
        &Request::Lines(vec![(file.clone(), *line)]),
    )?;
    let store = stored::open_existing()?;
    let found = scope.find(store.as_ref())?;
    if arguments.json {
        console::print_data(&targets_report::json(
            &found.shown(),
            "why",
            std::time::Duration::ZERO,
        ))?;
        return Ok(Exit::Clean);
    }
    let Some(target) = found.targets.first() else {
        let why = found
            .skipped
            .first()
            .map_or("not compiled here", |line| &line.why);
        console::print(&format!(
            "{}  cannot be covered: {why}\n",
            Palette.place(&format!("{file}:{line}"))
        ))?;
        return Ok(Exit::Clean);
    };
    let place = Palette.place(&target.name());
    match (&target.covered_by, &store) {
        (Some(id), Some(store)) => {
            let kept = store.get(id)?;
            let test = kept.tests.first().map_or("–", String::as_str);
            let program = crate::console::printable(&kept.recorded.program);
            let line = parallax_report::given::command_line(&program, &kept.recorded.scenario);
            console::print(&format!(
                "{place}  {}  {}\n  {line}\n  scenario {}  test {test}\n",
                target.function,
                Palette.good("covered by the tests"),
                id.get(..12).unwrap_or(id),
            ))?;
        }
        _ => console::print(&format!(
            "{place}  {}  {}: parallax cover --at {} does\n",
            target.function,
            Palette.warn("no test runs it, and nobody has searched for it"),
            target.name(),
        ))?,
    }
    Ok(Exit::Clean)
}
