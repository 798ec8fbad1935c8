//! `parallax report`: what the last check came to, again, in any form.

use parallax_report::kept;

use super::formats::FormatArguments;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::stored;

/// Show the report of the last check again, in any form
///
/// Nothing is run: it is what `parallax check` said.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax report -v                            # everything, on the terminal
  parallax report -o report.html                # to be looked at in a browser
  parallax report --format sarif,junit -o out/  # out/parallax.sarif and out/parallax.xml
  parallax report --format markdown | gh pr comment --body-file -

Exit code: as that of the check; 2 if there was none.")]
pub struct Arguments {
    #[command(flatten)]
    formats: FormatArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    arguments.formats.check()?;
    let Some(report) = kept::load(&stored::directory())? else {
        let message = "no patch has been checked here";
        return Err(Failure::new(Exit::Usage, message).hint("parallax check does that"));
    };
    arguments.formats.write(&report)?;
    Ok(match report.verdict().is_failure() {
        true => Exit::Findings,
        false => Exit::Clean,
    })
}
