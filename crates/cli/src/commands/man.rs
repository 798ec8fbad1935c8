//! `parallax man`: manual pages of all commands, made of what `--help` says.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;

use crate::CommandLine;
use crate::exit::Exit;
use parallax_campaign::Failure;

/// Write manual pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax man ~/.local/share/man/man1     # then: man parallax-check")]
pub struct Arguments {
    /// Where to: parallax.1, parallax-check.1 and so on
    directory: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let directory = &arguments.directory;
    let failed = |error| Failure::of_file(Exit::Usage, "cannot write to", directory, &error);
    fs::create_dir_all(directory).map_err(failed)?;
    clap_mangen::generate_to(CommandLine::command(), directory).map_err(failed)?;
    Ok(Exit::Clean)
}
