//! What programs read and write by, kept from one run to the next: making it anew costs more than reading what most runs write.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::run::Output;
use crate::run::output::Collector;
use crate::run::prepare::KeptFile;

/// Kept for the next run.
#[derive(Default)]
pub(super) struct Kept {
    pub stdin: KeptFile,
    pipes: Option<Pipes>,
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.write_str("Kept")
    }
}

/// A pipe for standard output, and one for standard error.
pub(super) struct Pipes {
    pub collector: Collector,
    /// The ends that programs get.
    writers: [OwnedFd; 2],
}

impl Pipes {
    fn new() -> io::Result<Pipes> {
        let (collector, stdout, stderr) = Collector::new(Output::capture())?;
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        Ok(Pipes {
            collector,
            writers: [stdout, stderr],
        })
    }

    /// The end of standard output (0) or of standard error (1) that programs get.
    pub fn writer(&self, number: usize) -> BorrowedFd<'_> {
        self.writers[number].as_fd()
    }

    /// Whether they are as new: who has the other end can make it fail instead of waiting, for everybody.
    fn are_as_new(&self) -> bool {
        let is_plain = |writer: &OwnedFd| {
            // SAFETY: asks for the flags of a descriptor of ours.
            let flags = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_GETFL) };
            flags & (libc::O_NONBLOCK | libc::O_APPEND | libc::O_DIRECT | libc::O_ASYNC) == 0
        };
        self.collector.is_reading() && self.writers.iter().all(is_plain)
    }
}

impl Kept {
    /// Pipes that keep the first `limit` bytes of each stream.
    pub fn pipes(&mut self, limit: usize) -> io::Result<Pipes> {
        let mut pipes = match self.pipes.take() {
            Some(pipes) => pipes,
            None => Pipes::new()?,
        };
        pipes.collector.keep(limit);
        Ok(pipes)
    }

    /// After a run whose processes have all ended by themselves.
    pub fn give_back(&mut self, pipes: Pipes) {
        if pipes.are_as_new() {
            self.pipes = Some(pipes);
        }
    }
}
