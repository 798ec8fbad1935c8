//! Scenarios as test files of a project: shell scripts, bats files, or whatever the project's own template makes of
//! the same pieces.
//!
//! A test lays out the files, runs the program, and compares exit code and standard output (standard error on request) with what was observed. Nothing of Parallax is
//! needed to run it. Paths of the place where it was observed are replaced: by a directory of its own for files,
//! by `@PROGRAM@` for the program.

mod shell;
mod template;
pub mod verify;

use std::path::Path;

use parallax_scenario::{Ending, Scenario};

pub use template::{MARKS, Template, TemplateError};

/// What a test file is made of.
#[derive(Clone, Copy, Debug)]
pub struct Test<'t> {
    /// Fit for a file.
    pub name: &'t str,
    /// As people call it.
    pub title: &'t str,
    pub program: &'t Path,
    /// Its name in the build tree, for tests that are to be run in others: they look for it there.
    pub built_as: Option<&'t str>,
    pub scenario: &'t Scenario,
    /// What was observed.
    pub ending: &'t Ending,
    /// Whether standard error is compared, too. What is said there often changes and differs between systems, so only where nothing else
    /// tells versions apart.
    pub has_stderr: bool,
}

/// What kind of file.
#[derive(Clone, Debug)]
pub enum Format {
    Shell,
    Bats,
    Template(Template),
}

/// Why a scenario cannot be written as a test.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unwritable {
    #[error("it needs clients that talk to a server")]
    Server,
    #[error("it needs pipes or sockets that others write to")]
    Streams,
    #[error("its output goes to a pipe that nobody reads")]
    BrokenPipe,
    #[error("the program did not end by itself")]
    NoEnd,
    #[error("it is larger than {} bytes", shell::MOST)]
    Large,
}

impl Format {
    /// Ending of the file's name.
    pub fn ending(&self) -> &str {
        match self {
            Format::Shell => "sh",
            Format::Bats => "bats",
            Format::Template(template) => template.ending(),
        }
    }

    /// The file's contents.
    pub fn write(&self, test: &Test<'_>) -> Result<Vec<u8>, Unwritable> {
        let pieces = shell::pieces(test)?;
        Ok(match self {
            Format::Shell => pieces.script().into_bytes(),
            Format::Bats => pieces.bats().into_bytes(),
            Format::Template(template) => template.fill(&pieces),
        })
    }
}

#[cfg(test)]
mod tests;
