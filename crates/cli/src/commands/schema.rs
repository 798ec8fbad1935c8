//! `parallax schema`: the JSON Schema of what commands print, and of the configuration.

use crate::console;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_report::results::document::JSON_SCHEMA;

/// Print the JSON Schema of what --json prints, or of parallax.toml
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax schema > report.schema.json
  parallax schema --config > parallax.schema.json")]
pub struct Arguments {
    /// The schema of parallax.toml
    #[arg(long)]
    config: bool,
}

pub fn run(arguments: Arguments) -> Result<Exit, Failure> {
    if arguments.config {
        console::print_data(&parallax_project::config::json_schema())?;
    } else {
        console::print_data(JSON_SCHEMA)?;
    }
    Ok(Exit::Clean)
}
