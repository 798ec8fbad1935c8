//! Watches a test suite and makes a scenario of every run of the programs under test.
//!
//! [`record`] runs a test command under ptrace(2). For each program under test that it executes, wherever and by whatever way,
//! a [`Recorded`] run comes out: arguments, standard input as consumed, the files and directories that the program
//! looked at as they were before, the environment that matters, and what it printed and how it ended.
//!
//! The programs and the build tree stay as they are; see [`tracer`] for how. What cannot be recorded is counted or noted, never
//! silently left out.
//!
//! * *Why no launcher in place of each program*: it would cost an `exec` per run, change `argv[0]`, `/proc/self/exe`, symbols (tests
//!   that use gdb) and the time stamps that `make` looks at, and have to be repaired after a crash. Tracees end with the tracer
//!   (`PTRACE_O_EXITKILL`).
//! * *Standard input* is the rest of the file that it is, kept when the program first uses it, or what reads of the pipe returned. *Output* is what was written to
//!   descriptors that are the same file as descriptor 1 or 2 was at the start. That it is a regular file is kept only where the program can tell; otherwise runs that
//!   differ in nothing else would be different scenarios.
//! * *Servers*: from `listen` or `accept` on, all reading and writing is watched. Streams are told apart by socket; an answer in the middle of a stream is a pause
//!   of the client.
//! * *Debuggers* cannot trace what we trace: they and what they run are let go before a filter is installed, and counted.
//! * *Unsteady runs* depend on more than their input: signals from other processes, free space, inode numbers, limits of their own. They are
//!   marked, with the reason.
//! * *Not recorded*: owners, sockets, devices, pipes that are read, and files of the source tree that a program reads which was
//!   started in a directory for temporary files. Setuid programs gain no rights, unless root records.
//! * One thread traces, with some 20 stops per run of a program: with many parallel tests it is the bottleneck.

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
