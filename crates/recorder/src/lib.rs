//! Watches a test suite and makes a scenario of every run of the programs under test.
//!
//! [`record`] runs a test command under ptrace(2). For each program under test that it executes, wherever and by whatever way,
//! a [`Recorded`] run comes out: arguments, standard input as consumed, the files and directories that the program
//! looked at as they were before, the environment that matters, and what it printed and how it ended.
//!
//! The programs and the build tree stay as they are; see [`tracer`] for how. What cannot be recorded is counted or noted, never
//! silently left out.

mod calls;
mod files;
mod filter;
mod finish;
mod found;
mod inject;
mod limits;
mod memory;
mod probe;
mod proc;
mod programs;
mod ptrace;
mod recording;
mod resources;
mod session;
mod territory;
mod tracer;

use std::ffi::OsString;
use std::io;

pub use limits::Limits;
pub use probe::probe;
pub use programs::Program;
pub use recording::End;
pub use session::{Plan, Progress, Summary, record};
pub use tracer::Command;

/// Why nothing could be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The test command does not start.
    #[error("cannot start {}: {error}", command.display())]
    Start { command: OsString, error: io::Error },
    /// The machine does not allow it.
    #[error("cannot trace the test command: {0}")]
    Trace(#[source] io::Error),
    #[error("cannot wait for the test command: {0}")]
    Wait(#[source] io::Error),
    /// Whoever keeps the scenarios could not.
    #[error("cannot keep a scenario: {0}")]
    Sink(#[source] Box<dyn std::error::Error + Send + Sync>),
}
