//! A program that is run once, as it is: with the user's files, environment and standard input.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use parallax_capture::{Derived, Variant};
use parallax_exec::run::{Launch, Stdin};

use crate::console;
use crate::events::context;
use crate::size::{parse_bytes, parse_seconds};
use parallax_campaign::Failure;
use parallax_campaign::variants;

/// What is run, and within which limits.
#[derive(Debug, clap::Args)]
pub struct OnceArguments {
    /// A program built with parallax-cc
    pub program: PathBuf,

    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,

    /// Standard input of the program (default: as of parallax itself)
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,

    /// End the program after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub timeout: Duration,

    /// Memory for the program
    #[arg(long, value_name = "SIZE", default_value = "4G", value_parser = parse_bytes)]
    pub memory: u64,
}

impl OnceArguments {
    /// Makes the variant that is to be run; notes go to the user.
    pub fn derive(&self, variant: Variant) -> Result<Derived, Failure> {
        let derived = variants::derive(&context(), &variants::read(&self.program)?, variant)?;
        for note in &derived.notes {
            console::note(note);
        }
        Ok(derived)
    }

    /// How it is run.
    pub fn launch(&self, derived: &Derived) -> Launch {
        Launch {
            argv0: Some(self.program.clone().into_os_string()),
            args: self.arguments.clone(),
            stdin: match &self.stdin {
                Some(path) => Stdin::File(path.clone()),
                None => Stdin::Inherit,
            },
            timeout: self.timeout,
            memory: Some(self.memory),
            ..Launch::new(&derived.path)
        }
    }
}
