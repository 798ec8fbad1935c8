//! Input: which descriptors carry symbolic bytes, and labelling of what was read.
//!
//! A descriptor's source is found by what it *is* when it is read, so that `dup`, `freopen` and inherited
//! descriptors need no bookkeeping. Pipes and socket pairs that the program made itself are no input:
//! what it reads there it has written.

mod given;
mod sources;

use crate::buffer::Buffer;
use crate::core_state::Core;
use crate::map::{Map, Seen};
use crate::sys::{self, FileStatus};
use crate::trace::new_event;
use crate::{context, hash, loss, shadow, trace};
use parallax_abi::trace::{Event, EventKind, LossKind, Source, SourceKind, Stop, flags};
use parallax_expr::build;

pub use given::{label_argument_count, label_arguments, label_environment, main_labels};
pub use sources::label_object;

/// A file, pipe or socket that was read.
#[derive(Clone, Copy)]
struct Known {
    device: u64,
    inode: u64,
    /// `None` if it is not symbolic.
    source: Option<u32>,
}

pub struct Inputs {
    /// What descriptor 0 was when the program started.
    stdin: Option<FileStatus>,
    stdin_source: Option<u32>,
    known: Buffer<Known>,
    by_identity: Map,
    /// Label of the number of arguments.
    argument_count: u32,
    /// Pipes and sockets between parts of the program itself.
    own: Seen,
    /// The working directory at the start of the first process: device and inode.
    start: Option<(u64, u64)>,
}

/// A descriptor whose bytes are symbolic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    source: u32,
    status: FileStatus,
}

impl Inputs {
    pub const fn new() -> Inputs {
        Inputs {
            stdin: None,
            stdin_source: None,
            known: Buffer::new(),
            by_identity: Map::new(),
            argument_count: 0,
            own: Seen::new(),
            start: None,
        }
    }

    /// Remembers what standard input is at the start of the program. In a program that another
    /// traced one executed it is input only if it is the same file.
    pub fn set_up(&mut self, is_first_process: bool) {
        if is_first_process {
            self.start = directory(sys::AT_FDCWD);
        } else {
            self.disown_inherited();
        }
        let Ok(status) = sys::fstat(0) else { return };
        self.stdin = Some(status);
        if !trace::has_flag(flags::STDIN) {
            return;
        }
        self.stdin_source = if is_first_process {
            trace::add_source(Source {
                kind: SourceKind::Stdin as u32,
                device: status.device,
                inode: status.inode,
                ..NO_SOURCE
            })
        } else {
            sources::find(SourceKind::Stdin, status)
        };
    }

    /// Pipes and sockets that a traced program handed to this one are between the two, unless they
    /// are known as input.
    fn disown_inherited(&mut self) {
        const LOOKED_AT: i32 = 256;
        for descriptor in 0..LOOKED_AT {
            let Ok(status) = sys::fstat(descriptor) else {
                continue;
            };
            if (status.is_pipe() || status.is_socket())
                && sources::find(SourceKind::Stream, status).is_none()
            {
                self.own.insert(identity(status));
            }
        }
    }

    /// The program made this pipe or pair of sockets for itself.
    pub fn add_own(&mut self, descriptor: i32) {
        if let Ok(status) = sys::fstat(descriptor) {
            self.own.insert(identity(status));
        }
    }

    fn is_own(&self, status: FileStatus) -> bool {
        self.own.contains(identity(status))
    }

    fn is_stdin(&self, status: FileStatus) -> bool {
        self.stdin
            .is_some_and(|stdin| (stdin.device, stdin.inode) == (status.device, status.inode))
    }

    /// The stream was read in a way that cannot be followed: it is no input from here on.
    pub fn lose(&mut self, stream: Stream) {
        if self.is_stdin(stream.status) {
            self.stdin_source = None;
            return;
        }
        for known in self.known.as_mut_slice() {
            if known.source == Some(stream.source) {
                known.source = None;
            }
        }
    }
}

const NO_SOURCE: Source = Source {
    kind: 0,
    index: 0,
    device: 0,
    inode: 0,
    name: 0,
    name_length: 0,
    padding: 0,
    taken: 0,
};

fn identity(status: FileStatus) -> u64 {
    hash::pair(status.device, status.inode)
}

fn directory(descriptor: i32) -> Option<(u64, u64)> {
    let status = sys::directory_status(descriptor).ok()?;
    Some((status.device, status.inode))
}

/// Whether a directory's descriptor stands for the directory that the run started in.
pub fn is_start(core: &Core, descriptor: i32) -> bool {
    core.inputs.start.is_some() && core.inputs.start == directory(descriptor)
}

/// The symbolic stream behind a descriptor, if it is one.
pub fn stream(core: &mut Core, descriptor: i32) -> Option<Stream> {
    let status = sys::fstat(descriptor).ok()?;
    let source = if core.inputs.is_stdin(status) {
        core.inputs.stdin_source
    } else if status.is_regular() && trace::has_flag(flags::FILES) {
        source(core, status, || sources::of_file(descriptor, status))
    } else if (status.is_pipe() || status.is_socket())
        && trace::has_flag(flags::STREAMS)
        && !core.inputs.is_own(status)
    {
        source(core, status, || sources::of_stream(descriptor, status))
    } else {
        None
    };
    source.map(|source| Stream { source, status })
}

/// The source of what has this identity, made when it is first asked for.
fn source(core: &mut Core, status: FileStatus, make: impl FnOnce() -> Option<u32>) -> Option<u32> {
    let FileStatus { device, inode, .. } = status;
    let key = identity(status);
    let known = core.inputs.known.as_slice();
    let matches = |at: u32| {
        let known = &known[at as usize];
        (known.device, known.inode) == (device, inode)
    };
    if let Some(at) = core.inputs.by_identity.find(key, matches) {
        return known[at as usize].source;
    }
    let at = known.len() as u32;
    let source = make();
    if !core.inputs.known.push(Known {
        device,
        inode,
        source,
    }) || !core.inputs.by_identity.insert(key, at)
    {
        trace::stop(Stop::Memory);
    }
    source
}

impl Stream {
    /// Where in its source the `count` bytes lie that were just read through a
    /// descriptor's own offset.
    pub fn offset_of_last(self, descriptor: i32, count: u64) -> Option<u64> {
        if self.is_regular() {
            return sys::file_offset(descriptor).ok()?.checked_sub(count);
        }
        Some(trace::take_from(self.source, count))
    }

    /// Where the next byte of a source without offset will lie.
    pub fn next(self) -> u64 {
        trace::take_from(self.source, 0)
    }

    /// Labels bytes that were read from `offset` of the source.
    ///
    /// # Safety
    /// The bytes can be read.
    pub unsafe fn label(self, core: &mut Core, offset: u64, address: u64, count: u64) {
        // SAFETY: passed on to the caller.
        unsafe { label_bytes(core, self.source, offset, address, count) };
    }

    pub fn source(self) -> u32 {
        self.source
    }

    /// Whether offsets come from the file, not from counting.
    pub fn is_regular(self) -> bool {
        self.status.is_regular()
    }

    /// How long a regular file is.
    pub fn length(self) -> u64 {
        self.status.size
    }

    /// A reader wanted `wanted` bytes from `offset` on and got `count`: logs that the end was met, if
    /// it was.
    pub fn note_end(self, core: &mut Core, descriptor: i32, offset: u64, count: u64, wanted: u64) {
        if count >= wanted {
            return;
        }
        if self.is_regular() {
            // Short for another reason, such as a signal, if there is more.
            if offset + count >= self.length() {
                let more = offset.saturating_add(wanted) - self.length();
                log_end(core, self.source, self.length(), more);
            }
        } else if count == 0 && !(self.status.is_socket() && keeps_messages_apart(descriptor)) {
            log_end(core, self.source, offset, wanted);
        }
    }
}

/// Whether reading nothing from a socket is an empty message, not the end.
fn keeps_messages_apart(descriptor: i32) -> bool {
    const SOCK_STREAM: i32 = 1;
    const SOCK_SEQPACKET: i32 = 5;
    let kind = sys::socket_option(descriptor, sys::SocketOption::Type);
    !matches!(kind, Ok(SOCK_STREAM | SOCK_SEQPACKET))
}

/// Logs once per source and length that a reader met the end.
fn log_end(core: &mut Core, source: u32, length: u64, more: u64) {
    let kind = EventKind::EndOfInput;
    if !core
        .seen
        .insert(hash::words(&[kind as u64, source.into(), length]))
    {
        return;
    }
    let context = context::current(core);
    trace::event(Event {
        label: u32::try_from(more).unwrap_or(u32::MAX),
        context,
        x: source,
        y: length,
        ..new_event(kind)
    });
}

/// Labels `count` bytes of memory as the source's bytes from `offset` on.
///
/// # Safety
/// The bytes can be read.
pub unsafe fn label_bytes(core: &mut Core, source: u32, offset: u64, address: u64, count: u64) {
    let mut changed = false;
    for index in 0..count {
        // SAFETY: passed on to the caller.
        unsafe {
            let byte = *((address + index) as *const u8);
            let label = build::input(&mut core.nodes, source, offset + index, byte);
            // The byte may have been read before with another value: the file changed.
            let same = label != 0 && trace::node(label).lo == u64::from(byte);
            changed |= label != 0 && !same;
            shadow::store(address + index, 1, if same { label } else { 0 });
        }
    }
    if changed {
        loss::record(core, LossKind::Stale, 0, &[]);
    }
    let context = context::current(core);
    trace::event(Event {
        label: u32::try_from(count).unwrap_or(u32::MAX),
        context,
        x: source,
        y: offset,
        ..new_event(EventKind::Input)
    });
}
