//! Input: which descriptors carry symbolic bytes, and labelling of what was read.

use crate::buffer::Buffer;
use crate::core_state::Core;
use crate::map::Map;
use crate::sys::{self, FileStatus};
use crate::trace::new_event;
use crate::{context, hash, loss, shadow, trace};
use parallax_abi::trace::{Event, EventKind, LossKind, Source, SourceKind, Stop, flags};
use parallax_expr::build;

/// File systems whose files are made up by the kernel while they are read.
const PROC: u64 = 0x9fa0;
const SYSFS: u64 = 0x6265_6572;
const DEVPTS: u64 = 0x1cd1;

#[derive(Clone, Copy)]
struct File {
    device: u64,
    inode: u64,
    /// `None` if the file is not symbolic.
    source: Option<u32>,
}

pub struct Inputs {
    /// What descriptor 0 was when the program started.
    stdin: Option<FileStatus>,
    stdin_source: Option<u32>,
    /// Bytes taken from a standard input that has no offset.
    stdin_next: u64,
    files: Buffer<File>,
    by_identity: Map,
}

/// A descriptor whose bytes are symbolic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    source: u32,
    is_regular: bool,
}

impl Inputs {
    pub const fn new() -> Inputs {
        Inputs {
            stdin: None,
            stdin_source: None,
            stdin_next: 0,
            files: Buffer::new(),
            by_identity: Map::new(),
        }
    }

    /// Remembers what standard input is at the start of the program. In a program that another
    /// traced one executed it is input only if it is the same file.
    pub fn set_up(&mut self, is_first_process: bool) {
        let Ok(status) = sys::fstat(0) else { return };
        self.stdin = Some(status);
        if !trace::has_flag(flags::STDIN) {
            return;
        }
        if is_first_process {
            self.stdin_source = trace::add_source(Source {
                kind: SourceKind::Stdin as u32,
                device: status.device,
                inode: status.inode,
                ..NO_SOURCE
            });
            return;
        }
        let same = |source: &Source| {
            source.kind == SourceKind::Stdin as u32
                && (source.device, source.inode) == (status.device, status.inode)
        };
        self.stdin_source = trace::sources().iter().position(same).map(|at| at as u32);
        if let Some(stdin) = self.stdin_source {
            // Other processes may have taken bytes before.
            let taken = trace::events()
                .iter()
                .filter(|event| event.kind == EventKind::Input as u8 && event.x == stdin)
                .map(|event| event.y + u64::from(event.label));
            self.stdin_next = taken.max().unwrap_or(0);
        }
    }
}

impl Inputs {
    /// Standard input was read in a way that cannot be followed.
    pub fn lose_stdin(&mut self) {
        self.stdin_source = None;
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
};

/// The symbolic stream behind a descriptor, if it is one.
pub fn stream(core: &mut Core, descriptor: i32) -> Option<Stream> {
    let status = sys::fstat(descriptor).ok()?;
    let is_regular = status.is_regular();
    let is_stdin = core
        .inputs
        .stdin
        .is_some_and(|stdin| (stdin.device, stdin.inode) == (status.device, status.inode));
    if is_stdin {
        return core
            .inputs
            .stdin_source
            .map(|source| Stream { source, is_regular });
    }
    if !is_regular || !trace::has_flag(flags::FILES) {
        return None;
    }
    file_source(core, descriptor, status).map(|source| Stream { source, is_regular })
}

fn file_source(core: &mut Core, descriptor: i32, status: FileStatus) -> Option<u32> {
    let FileStatus { device, inode, .. } = status;
    let key = hash::pair(device, inode);
    let files = core.inputs.files.as_slice();
    let matches = |at: u32| {
        let file = &files[at as usize];
        (file.device, file.inode) == (device, inode)
    };
    if let Some(at) = core.inputs.by_identity.find(key, matches) {
        return files[at as usize].source;
    }
    let at = files.len() as u32;
    let source = find_or_add_file(descriptor, status);
    if !core.inputs.files.push(File {
        device,
        inode,
        source,
    }) || !core.inputs.by_identity.insert(key, at)
    {
        trace::stop(Stop::Memory);
    }
    source
}

/// The source of a file, shared with the other processes of the trace.
fn find_or_add_file(descriptor: i32, status: FileStatus) -> Option<u32> {
    let system = sys::file_system(descriptor).unwrap_or(0);
    if [PROC, SYSFS, DEVPTS].contains(&system) {
        return None;
    }
    let mut path = *b"/proc/self/fd/\0\0\0\0\0\0\0\0\0\0\0\0";
    write_decimal(&mut path[14..25], descriptor as u32);
    let mut buffer = [0; 4096];
    let name = sys::readlink(&path, &mut buffer).unwrap_or(&[]);
    if name.starts_with(b"/proc/")
        || name.starts_with(b"/sys/")
        || name.starts_with(b"/dev/") && !name.starts_with(b"/dev/shm/")
    {
        return None;
    }
    let FileStatus { device, inode, .. } = status;
    let same = |source: &Source| {
        source.kind == SourceKind::File as u32 && (source.device, source.inode) == (device, inode)
    };
    if let Some(at) = trace::sources().iter().position(same) {
        return Some(at as u32);
    }
    trace::add_source(Source {
        kind: SourceKind::File as u32,
        device,
        inode,
        name: trace::blob(name, 1)?,
        name_length: name.len() as u32,
        ..NO_SOURCE
    })
}

fn write_decimal(room: &mut [u8], number: u32) {
    let mut digits = 1;
    let mut rest = number / 10;
    while rest > 0 {
        digits += 1;
        rest /= 10;
    }
    let mut rest = number;
    for place in room[..digits].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

impl Stream {
    /// Where in its source the `count` bytes lie that were just read through a
    /// descriptor's own offset.
    pub fn offset_of_last(self, core: &mut Core, descriptor: i32, count: u64) -> Option<u64> {
        if self.is_regular {
            return sys::file_offset(descriptor).ok()?.checked_sub(count);
        }
        let offset = core.inputs.stdin_next;
        core.inputs.stdin_next += count;
        Some(offset)
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
        self.is_regular
    }
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
        label: count as u32,
        context,
        x: source,
        y: offset,
        ..new_event(EventKind::Input)
    });
}

/// Adds the source of argument number `index` and labels its bytes, terminator included.
///
/// # Safety
/// `address` is a string of `count` bytes.
pub unsafe fn label_argument(core: &mut Core, index: u32, address: u64, count: u64) {
    let kind = SourceKind::Argument as u32;
    if let Some(source) = trace::add_source(Source {
        kind,
        index,
        ..NO_SOURCE
    }) {
        // SAFETY: passed on to the caller.
        unsafe { label_bytes(core, source, 0, address, count) };
    }
}

/// Labels of `argc`, `argv` and `envp` when the program's `main` is called.
pub fn main_labels() -> [u32; 3] {
    [0; 3]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_decimal() {
        let mut room = [0; 11];
        write_decimal(&mut room, 0);
        assert_eq!(&room[..2], b"0\0");
        write_decimal(&mut room, 4_294_967_295);
        assert_eq!(&room, b"4294967295\0");
    }
}
