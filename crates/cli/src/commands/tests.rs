//! `parallax tests`: what was found, as tests of the project that can be committed.

use std::fs;
use std::path::PathBuf;

use parallax_campaign::Failure;
use parallax_campaign::tests::{self, Options};
use parallax_project::idiom::Idiom;

use super::project::ProjectArguments;
use super::setup::RunningArguments;
use crate::console;
use crate::events::context;
use crate::exit::Exit;

/// Write what was found as tests of the project, ready to be committed
///
/// Inputs that run changed lines which no test ran, and inputs on which the versions differ, become test files in the project's own way
/// (automake, Meson, CTest, bats or plain shell), on the project's list of tests. The result is a patch for `git apply`. Every
/// test is run first: it executes the line that it is for, passes on the version whose behaviour it states, and fails on the other
/// one where these differ.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax check HEAD~1..HEAD && parallax tests HEAD~1..HEAD -o tests.patch && git apply tests.patch
  parallax tests | git apply
  parallax tests --idiom bats --folder test/regress

What the new version does is taken for right, unless it brings an error: such a test states what the old version does, and fails until
the error is mended. Tests need nothing of Parallax. test.template of parallax.toml says what they look like, if they are to look otherwise.
Exit code: 0, whether there was anything to write or not.")]
pub struct Arguments {
    /// The range that was checked (default: as for parallax check)
    range: Option<String>,

    /// Write the patch to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How tests are written (default: as the project does)
    #[arg(long, value_enum, value_name = "IDIOM")]
    idiom: Option<Way>,

    /// The folder that they go to, relative to the top of the project
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,

    #[command(flatten)]
    running: RunningArguments,

    #[command(flatten)]
    project: ProjectArguments,
}

/// How tests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    Automake,
    Meson,
    Ctest,
    Bats,
    Sh,
}

impl Way {
    fn idiom(self) -> Idiom {
        match self {
            Way::Automake => Idiom::Automake,
            Way::Meson => Idiom::Meson,
            Way::Ctest => Idiom::Ctest,
            Way::Bats => Idiom::Bats,
            Way::Sh => Idiom::Shell,
        }
    }
}

pub fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let options = Options {
        running: arguments.running.plain(),
        range: arguments.range.clone(),
        idiom: arguments.idiom.map(Way::idiom),
        folder: arguments.folder.clone(),
    };
    let write = |patch: &[u8]| match &arguments.output {
        Some(path) => fs::write(path, patch)
            .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", path, &error)),
        None => console::print_data(patch),
    };
    tests::run(&context(), &options, arguments.project.find()?, &write)?;
    Ok(Exit::Clean)
}
