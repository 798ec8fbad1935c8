//! `parallax clean`: removes what can be made again, and moves a damaged store away.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use parallax_bundle::Bundle;
use parallax_exec::temporary;
use parallax_store::{Alone, Holder, Store, set_aside};

use crate::console;
use crate::exit::Exit;
use crate::size::{counted, show_bytes};
use parallax_campaign::Failure;
use parallax_campaign::stored;
use parallax_campaign::variants::cache_directory;

/// Remove what can be made again: variants of programs, unpacked files, journals of searches
///
/// Scenarios, findings and tests stay, and so does what was captured: it is inside the programs themselves. What a running
/// parallax uses is left alone. Says what and how much before it asks.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Remove the sources that were kept while programs were built as well, whatever program they belong to: builds with sanitizers are then made
    /// from what is in the programs themselves, without the checks for undefined behaviour, until they are built again
    #[arg(long)]
    sources: bool,

    /// Move the store with all scenarios and findings aside, whatever state it is in, and begin a new one
    #[arg(long)]
    store: bool,
}

const COMMAND: &str = "parallax clean";

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    if arguments.store {
        return move_store(arguments.yes);
    }
    let mut places = vec![("variants of programs", cache_directory())];
    if let Ok(bundle) = Bundle::unpack() {
        places.push(("unpacked files", bundle.directory().to_owned()));
    }
    let kept = parallax_capture::Store::open().map(|store| store.directory().to_owned());
    if arguments.sources {
        places.extend(kept.map(|directory| ("sources of captured programs", directory)));
    }
    for (what, path) in &places {
        let (files, bytes) = contents(path);
        show(what, path, files, bytes)?;
    }
    let store = stored::directory();
    let journals = store.join("blobs");
    if journals.is_dir() {
        let (files, bytes) = contents(&journals);
        let what = "of these what only journals of searches need";
        show(what, &journals, files, bytes)?;
    }
    if !agreed(arguments.yes)? {
        return Ok(Exit::Clean);
    }
    let left = temporary::sweep_all();
    if left > 0 {
        let count = counted(left as u64, "directory/directories");
        console::print(&format!("removed {count} of runs that were killed\n"))?;
    }
    let cache = cache_directory();
    // Without it nobody could be kept out of the other places.
    fs::create_dir_all(&cache).map_err(Failure::cannot("use", &cache))?;
    if let Some(_alone) = alone(&cache)? {
        for (what, path) in &places {
            remove(what, path)?;
        }
    }
    if let Some(_alone) = alone(&store)?
        && let Some(store) = stored::open_existing()?
    {
        let swept = store.sweep()?;
        console::print(&format!(
            "removed {} and {}, {}\n",
            counted(swept.journals, "journal"),
            counted(swept.blobs.files, "file"),
            show_bytes(swept.blobs.bytes)
        ))?;
    }
    Ok(Exit::Clean)
}

fn show(what: &str, path: &Path, files: u64, bytes: u64) -> Result<(), Failure> {
    console::print(&format!(
        "{what}: {}, {}, in {}\n",
        counted(files, "file"),
        show_bytes(bytes),
        path.display()
    ))?;
    Ok(())
}

/// Asks, where somebody can answer.
fn agreed(yes: bool) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        console::print("nothing was removed: --yes does\n")?;
        return Ok(false);
    }
    console::print("remove? [y/N] ")?;
    let mut answer = String::new();
    // What cannot be read is no consent.
    let _ = io::stdin().read_line(&mut answer);
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Keeps others out of a directory; says so if that cannot be.
fn alone(directory: &Path) -> Result<Option<Alone>, Failure> {
    if !directory.is_dir() {
        return Ok(None);
    }
    match Alone::try_enter(directory, COMMAND)? {
        Ok(alone) => Ok(Some(alone)),
        Err(holders) => {
            let note = format!("{} is left alone: {}", directory.display(), users(&holders));
            console::note(&note);
            Ok(None)
        }
    }
}

fn users(holders: &[Holder]) -> String {
    let list: Vec<String> = holders.iter().map(Holder::to_string).collect();
    format!("in use by {}", list.join(", "))
}

fn move_store(yes: bool) -> Result<Exit, Failure> {
    let directory = stored::directory();
    let size = Store::size_in(&directory);
    console::print(&format!(
        "store: {}, in {}\n",
        show_bytes(size),
        directory.display()
    ))?;
    if size == 0 || !agreed(yes)? {
        return Ok(Exit::Clean);
    }
    let _alone = match Alone::try_enter(&directory, COMMAND)? {
        Ok(alone) => alone,
        Err(holders) => {
            let message = format!("the store is {}", users(&holders));
            return Err(Failure::new(Exit::Usage, message).hint("wait until that has ended"));
        }
    };
    if let Some(place) = set_aside(&directory)? {
        console::print(&format!("moved to {}\n", place.display()))?;
    }
    Ok(Exit::Clean)
}

fn remove(what: &str, directory: &PathBuf) -> Result<(), Failure> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(Failure::of_file(
                Exit::Internal,
                "cannot remove",
                directory,
                &error,
            ));
        }
        _ => {}
    }
    console::print(&format!("removed the {what}\n"))?;
    Ok(())
}

/// Number and size of the files below a directory.
fn contents(directory: &Path) -> (u64, u64) {
    let mut total = (0, 0);
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => open.push(entry.path()),
                Ok(metadata) => total = (total.0 + 1, total.1 + metadata.len()),
                Err(_) => {}
            }
        }
    }
    total
}
