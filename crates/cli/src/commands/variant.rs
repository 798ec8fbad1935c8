//! `parallax variant`: derives a program and says where it is.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use parallax_capture::Variant;
use parallax_files::replace;

use crate::console;
use crate::events::context;
use crate::exit::Exit;
use parallax_campaign::Failure;
use parallax_campaign::variants;

/// Make a variant of a captured program and print its path
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  parallax variant ./prog --kind traced
  parallax variant ./prog --kind checked -o prog-checked && ./prog-checked input")]
pub struct Arguments {
    /// A program built with parallax-cc
    program: PathBuf,

    /// What to make of it
    #[arg(long, value_enum, default_value = "traced")]
    kind: Kind,

    /// Copy the variant here instead of printing where it is cached
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Kind {
    /// Values carry the expressions they have over the input
    Traced,
    /// AddressSanitizer and UndefinedBehaviorSanitizer
    Checked,
    /// Blocks and branches are counted
    Covered,
}

impl From<Kind> for Variant {
    fn from(kind: Kind) -> Variant {
        match kind {
            Kind::Traced => Variant::Traced,
            Kind::Checked => Variant::Checked,
            Kind::Covered => Variant::Covered,
        }
    }
}

pub fn run(arguments: Arguments) -> Result<Exit, Failure> {
    let program = variants::read(&arguments.program)?;
    let derived = variants::derive(&context(), &program, arguments.kind.into())?;
    for note in &derived.notes {
        console::note(note);
    }
    let Some(output) = arguments.output else {
        // As it is: a path need not be text.
        let mut line = derived.path.as_os_str().as_bytes().to_vec();
        line.push(b'\n');
        console::print_data(&line)?;
        return Ok(Exit::Clean);
    };
    // Through a neighbour and rename: the target may be the very program that is running.
    let copy = |scratch: &Path| fs::copy(&derived.path, scratch).map(|_| ());
    replace(&output, copy)
        .map_err(|error| Failure::of_file(Exit::Usage, "cannot write", &output, &error))?;
    Ok(Exit::Clean)
}
