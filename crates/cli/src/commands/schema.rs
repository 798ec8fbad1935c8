//! `parallax schema`: the JSON Schema of what commands print.

use crate::console;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::document::JSON_SCHEMA;

/// Print the JSON Schema of what --json prints
#[derive(Debug, clap::Args)]
pub struct Arguments {}

pub fn run(_: Arguments) -> Result<Exit, Failure> {
    console::print_data(JSON_SCHEMA)?;
    Ok(Exit::Clean)
}
