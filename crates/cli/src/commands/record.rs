//! `parallax record`: runs the test suite and keeps every run of the programs under test as a scenario.

use std::ffi::OsString;
use std::path::PathBuf;

use parallax_campaign::Failure;
use parallax_campaign::record::{Most, Options, keep};
use parallax_recorder::Limits;

use super::project::ProjectArguments;
use crate::events::{self, context};
use crate::exit::Exit;
use crate::size::parse_bytes;

/// Run the test suite and keep every run of the programs under test as a scenario
///
/// Whatever way the tests call a program (by PATH, by its full name, through libtool's wrapper), its arguments, standard
/// input, the files and directories that it looked at, the environment that matters, what it printed and how it
/// ended are kept. The programs stay as they are, and the tests see nothing of it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax record                                  # builds the project if need be, and runs its tests
  parallax record -- make check TESTS=tests/cut.pl # some of them
  parallax record -C build --program src/cut -- make check
                                                   # another build tree, without parallax.toml

Tests may fail: that is said, and the exit code is 0. It is 3 if the project cannot be built or the test
command cannot be run at all.")]
pub struct Arguments {
    /// The command that runs the tests (default: test.command of parallax.toml)
    #[arg(last = true, value_name = "TEST COMMAND")]
    command: Vec<OsString>,

    /// Record in this build tree, in which the test command runs, instead of the project's own
    #[arg(short = 'C', long, value_name = "DIR", requires = "command")]
    directory: Option<PathBuf>,

    /// With -C: the source tree, if it is not around the build tree (may be repeated)
    #[arg(long, value_name = "DIR", requires = "directory")]
    source: Vec<PathBuf>,

    /// A program under test, by its path in the build tree (may be repeated; default: all that were built with
    /// parallax-cc and that parallax.toml does not exclude)
    #[arg(long, value_name = "PATH")]
    program: Vec<PathBuf>,

    /// An environment variable that is always part of scenarios (may be repeated)
    #[arg(long, value_name = "NAME")]
    env: Vec<OsString>,

    /// Let the tests write to the terminal instead of a log file
    #[arg(long)]
    show_output: bool,

    /// Keep at most so much of each file (default: 1M, or record.file of parallax.toml)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    file_limit: Option<u64>,

    /// Keep at most so much of standard input
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    stdin_limit: u64,

    /// Keep at most so much of standard output and standard error
    #[arg(long, value_name = "SIZE", default_value = "1M", value_parser = parse_bytes)]
    output_limit: u64,

    /// Keep at most so much of all files of one scenario (default: 8M, or record.scenario of parallax.toml)
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    scenario_limit: Option<u64>,

    /// Keep at most so many scenarios
    #[arg(long, value_name = "NUMBER", default_value_t = Limits::default().scenarios)]
    scenarios: u64,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    project: ProjectArguments,
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let options = Options {
        command: arguments.command.clone(),
        directory: arguments.directory.clone(),
        source: arguments.source.clone(),
        program: arguments.program.clone(),
        env: arguments.env.clone(),
        show_output: arguments.show_output,
        limits: Most {
            file: arguments.file_limit,
            scenario: arguments.scenario_limit,
            stdin: Some(arguments.stdin_limit),
            output: Some(arguments.output_limit),
            scenarios: Some(arguments.scenarios),
        },
        settings: arguments.project.settings.clone(),
    };
    events::print(&keep(&context(), &options)?, arguments.json)
}
