//! `parallax scenario add`: a command line becomes a scenario.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use parallax_store::Origin;

use super::{RunArguments, Runner};
use crate::commands::explore::seed;
use crate::console::{self, Palette};
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::stored;
use parallax_report::given::ending;

/// Run a command line once, in a sandbox, and keep it as a scenario
///
/// Standard input is read to its end unless it is a terminal. Files that the arguments name become part of the scenario.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax scenario add -- ./prog -x file.txt
  parallax scenario add --file config --env LANG=C -- ./prog < input")]
pub struct Arguments {
    #[command(flatten)]
    run: RunArguments,

    /// A further file that the program reads
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// An environment variable that is part of the input
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<OsString>,

    /// Name of a test that this belongs to
    #[arg(long, value_name = "NAME")]
    test: Option<String>,

    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let Some((program, words)) = arguments.command.split_first() else {
        return Err(Failure::new(Exit::Usage, "no command line was given")
            .hint("give the program and its arguments behind --"));
    };
    let program = Path::new(program);
    let mut notes = Vec::new();
    let mut scenario = seed::given(words, &arguments.file, &arguments.env, &mut notes)?;
    let mut input = io::stdin();
    if !input.is_terminal() {
        input
            .read_to_end(&mut scenario.stdin)
            .map_err(Failure::cannot("read", Path::new("/dev/stdin")))?;
    }
    for note in &notes {
        console::note(note);
    }
    let store = stored::open()?;
    let in_use = store.begin("parallax scenario add")?;
    let name = super::name(&store, program, &arguments.run)?;
    let mut runner = Runner::new(program, name, &arguments.run)?;
    let recorded = runner.record(scenario, arguments.test.clone())?;
    let added = store.add(&recorded, Origin::Added)?;
    let state = match added.is_new {
        true => "added",
        false => "known already",
    };
    let end = ending(&recorded.result);
    console::print(&format!(
        "{} {state}: {end}\n",
        Palette.heading(&added.id[..stored::SHOWN_ID])
    ))?;
    in_use.end(Exit::Clean as u8)?;
    Ok(Exit::Clean)
}
