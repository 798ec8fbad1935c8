//! `parallax scenarios`: what has been recorded, added and imported.

use std::fmt::Write as _;
use std::path::PathBuf;

use parallax_store::{Filter, Kept, Listed, Origin, Store};
use serde_json::{Value, json};

use crate::console::{self, Palette, printable, shorten};
use crate::events::context;
use crate::exit::Exit;
use crate::size::{counted, show_bytes, show_count};
use parallax_campaign::Failure;
use parallax_campaign::measure::measure;
use parallax_campaign::stored::{self, KEPT, SHOWN_ID};
use parallax_report::given::{command_line, ending, inputs};
use parallax_report::results::SCHEMA;

/// List scenarios: command line, size, blocks covered, and which test made them
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Show these whole (the beginning of a name is enough)
    #[arg(value_name = "ID")]
    ids: Vec<String>,

    /// Of this program only
    #[arg(long, value_name = "NAME")]
    program: Option<PathBuf>,

    /// Made by this test only
    #[arg(long, value_name = "NAME")]
    test: Option<String>,

    /// Measure what each covers where that is not known, with the programs below this directory
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    coverage: Option<PathBuf>,

    /// Also those that Parallax made on its way to something else
    #[arg(long)]
    all: bool,

    /// Print them as JSON, whole
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some(store) = stored::open_existing()? else {
        return show_nothing(arguments.json);
    };
    let in_use = store.begin("parallax scenarios")?;
    let filter = Filter {
        program: arguments
            .program
            .as_ref()
            .map(|name| name.as_os_str().as_encoded_bytes().into()),
        test: arguments.test.clone(),
        origins: match arguments.all {
            true => Vec::new(),
            false => KEPT.to_vec(),
        },
    };
    if let Some(tree) = &arguments.coverage {
        measure(
            &context(),
            &store,
            &store.list(&filter)?,
            tree,
            std::slice::from_ref(tree),
        )?;
    }
    let mut list = Vec::new();
    for id in &arguments.ids {
        list.push(store.find(id)?);
    }
    if arguments.json {
        if arguments.ids.is_empty() {
            list.extend(store.list(&filter)?.into_iter().map(|one| one.id));
        }
        let all: Result<Vec<Value>, Failure> =
            list.iter().map(|id| Ok(value(&store.get(id)?))).collect();
        print_json(all?)?;
    } else if arguments.ids.is_empty() {
        let listed = store.list(&filter)?;
        console::print(&table(&store, &listed)?)?;
    } else {
        for id in &list {
            console::print(&whole(&store.get(id)?))?;
        }
    }
    in_use.end(Exit::Clean as u8)?;
    Ok(Exit::Clean)
}

fn show_nothing(as_json: bool) -> Result<Exit, Failure> {
    match as_json {
        true => print_json(Vec::new())?,
        false => console::print("no scenarios yet: parallax record makes them\n")?,
    }
    Ok(Exit::Clean)
}

fn print_json(list: Vec<Value>) -> Result<(), Failure> {
    let document = json!({
        "schema": SCHEMA,
        "command": "scenarios",
        "stats": {"runs": 0, "paths": 0, "queries": 0, "seconds": 0},
        "losses": [],
        "findings": [],
        "targets": [],
        "scenarios": list,
    });
    console::print_data(&format!("{document}\n"))
}

fn value(kept: &Kept) -> Value {
    let recorded = &kept.recorded;
    json!({
        "id": kept.id,
        "program": recorded.program,
        "scenario": recorded.scenario,
        "result": recorded.result,
        "blocks": kept.blocks,
        "test": recorded.test,
        "tests": kept.tests,
        "origin": kept.origin.name(),
        "size": recorded.scenario.size(),
        "seconds": recorded.seconds,
        "notes": recorded.notes,
        "unsteady": recorded.unsteady,
    })
}

/// One line each; the columns are as wide as they must be, the command line gets the rest.
fn table(store: &Store, listed: &[Listed]) -> Result<String, Failure> {
    let mut text = String::new();
    let tests = listed.iter().filter_map(|one| one.test.as_ref());
    let test_width = tests.map(|name| name.chars().count()).max().unwrap_or(0);
    let test_width = test_width.clamp("generated".len(), 30);
    let width = console::width()
        .saturating_sub(SHOWN_ID + test_width + 24)
        .max(20);
    let heading = format!(
        "{:<SHOWN_ID$}  {:<width$}  {:>9}  {:>6}  test",
        "id", "command", "size", "blocks"
    );
    let _ = writeln!(text, "{}", Palette.dim(&heading));
    for one in listed {
        let kept = store.get(&one.id)?;
        let program = printable(&one.program);
        let command = shorten(&command_line(&program, &kept.recorded.scenario), width);
        let padding = width.saturating_sub(command.chars().count());
        let blocks = one.blocks.map_or_else(|| "–".to_owned(), show_count);
        let test = one.test.as_deref().unwrap_or(match one.origin {
            Origin::Recorded => "–",
            origin => origin.name(),
        });
        let _ = writeln!(
            text,
            "{}  {command}{:padding$}  {:>9}  {blocks:>6}  {}",
            Palette.heading(&one.id[..SHOWN_ID]),
            "",
            show_bytes(one.size),
            shorten(&printable(test.as_bytes()), test_width),
        );
    }
    let bytes: u64 = listed.iter().map(|one| one.size).sum();
    let _ = writeln!(
        text,
        "{}, {}",
        counted(listed.len() as u64, "scenario"),
        show_bytes(bytes)
    );
    Ok(text)
}

/// Everything about one.
fn whole(kept: &Kept) -> String {
    let recorded = &kept.recorded;
    let scenario = &recorded.scenario;
    let mut text = format!("{}  {}\n", Palette.heading(&kept.id), kept.origin);
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {} {value}", Palette.dim(&format!("{name}:")));
    };
    row(
        "command",
        &command_line(&printable(&recorded.program), scenario),
    );
    if !scenario.directory.is_empty() {
        row("in", &printable(&scenario.directory));
    }
    for (name, bytes) in inputs(scenario) {
        row(&name, &bytes);
    }
    for (path, target) in &scenario.links {
        row(&format!("link {}", printable(path)), &printable(target));
    }
    for (path, first) in &scenario.hard_links {
        row(&format!("name {}", printable(path)), &printable(first));
    }
    for (path, size) in &scenario.sizes {
        row(&format!("size {}", printable(path)), &show_bytes(*size));
    }
    for directory in &scenario.directories {
        row("directory", &printable(directory));
    }
    for (place, there) in &scenario.elsewhere {
        let names = there.names();
        let names = names.iter().map(|name| printable(name));
        let names: Vec<String> = names.collect();
        row(&format!("in {}", printable(place)), &names.join(" "));
    }
    row("result", &ending(&recorded.result));
    let line = |bytes: &[u8]| printable(bytes).replace('\n', "\\n");
    for (name, bytes) in [
        ("stdout", &recorded.result.stdout),
        ("stderr", &recorded.result.stderr),
    ] {
        if !bytes.is_empty() {
            row(name, &line(bytes));
        }
    }
    if kept.others > 0 {
        row(
            "unstable",
            &format!("{} with another result", counted(kept.others, "run")),
        );
    }
    if let Some(blocks) = kept.blocks {
        row("covers", &counted(blocks, "block"));
    }
    for test in &kept.tests {
        row("test", &printable(test.as_bytes()));
    }
    for note in &recorded.notes {
        row("note", &printable(note.as_bytes()));
    }
    for reason in &recorded.unsteady {
        row("unsteady", &printable(reason.as_bytes()));
    }
    text
}
