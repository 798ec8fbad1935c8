//! `parallax clean`: removes derived programs and unpacked files.

use std::fs;
use std::io;
use std::path::Path;

use parallax_bundle::Bundle;

use super::shared::cache_directory;
use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::size::{counted, show_bytes};

/// Remove the cached variants of all programs, and Parallax's own unpacked files
///
/// Both are made again when needed. What was captured stays: it is inside the programs themselves.
#[derive(Debug, clap::Args)]
pub struct Arguments {}

pub fn run(_: Arguments) -> Result<Exit, Failure> {
    remove(&cache_directory())?;
    if let Ok(bundle) = Bundle::unpack() {
        remove(bundle.directory())?;
    }
    Ok(Exit::Clean)
}

fn remove(directory: &Path) -> Result<(), Failure> {
    let (files, bytes) = contents(directory);
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let message = format!("cannot remove {}: {error}", directory.display());
            return Err(Failure::new(Exit::Internal, message));
        }
        _ => {}
    }
    console::print(&format!(
        "removed {}, {}, from {}\n",
        counted(files, "file"),
        show_bytes(bytes),
        directory.display()
    ))?;
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
