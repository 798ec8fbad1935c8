//! Making sources: names and identities of what is read, shared by all processes of a trace.

use super::{NO_SOURCE, label_bytes};
use crate::core_state::Core;
use crate::sys::{self, FileStatus, SocketOption};
use crate::trace;
use parallax_abi::trace::{Source, SourceKind};

/// File systems whose files are made up by the kernel while they are read.
const PROC: u64 = 0x9fa0;
const SYSFS: u64 = 0x6265_6572;
const DEVPTS: u64 = 0x1cd1;

/// A source that is there already, perhaps made by another process.
pub fn find(kind: SourceKind, status: FileStatus) -> Option<u32> {
    let same = |source: &Source| {
        source.kind == kind as u32 && (source.device, source.inode) == (status.device, status.inode)
    };
    let at = trace::sources().iter().position(same)?;
    Some(at as u32)
}

/// The source of a regular file; `None` if it is no input.
pub fn of_file(descriptor: i32, status: FileStatus) -> Option<u32> {
    // What has no name was made by the program itself, or cannot be given to it again.
    if status.links == 0 {
        return None;
    }
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
    find(SourceKind::File, status).or_else(|| {
        trace::add_source(Source {
            kind: SourceKind::File as u32,
            device: status.device,
            inode: status.inode,
            name: trace::blob(name, 1)?,
            name_length: name.len() as u32,
            ..NO_SOURCE
        })
    })
}

/// The source of a pipe or socket; `None` if it is no input.
pub fn of_stream(descriptor: i32, status: FileStatus) -> Option<u32> {
    if status.is_socket() && !is_between_programs(descriptor) {
        return None;
    }
    find(SourceKind::Stream, status).or_else(|| {
        trace::add_source(Source {
            kind: SourceKind::Stream as u32,
            index: count(SourceKind::Stream),
            device: status.device,
            inode: status.inode,
            ..NO_SOURCE
        })
    })
}

/// Whether another program can be at the other end of a socket: not if it is a way to talk to the kernel.
fn is_between_programs(descriptor: i32) -> bool {
    const AF_UNIX: i32 = 1;
    const AF_INET: i32 = 2;
    const AF_INET6: i32 = 10;
    let domain = sys::socket_option(descriptor, SocketOption::Domain);
    matches!(domain, Ok(AF_UNIX | AF_INET | AF_INET6))
}

/// How many sources of a kind there are.
fn count(kind: SourceKind) -> u32 {
    let sources = trace::sources().iter();
    sources.filter(|source| source.kind == kind as u32).count() as u32
}

/// Labels memory that the program declares to be its input number `index` of that sort.
///
/// # Safety
/// The bytes can be read.
pub unsafe fn label_object(core: &mut Core, index: u32, name: &[u8], address: u64, size: u64) {
    let kind = SourceKind::Object as u32;
    // A program that another one executed counts from the start and gets the same objects.
    let same = |source: &Source| source.kind == kind && source.index == index;
    let known = trace::sources().iter().position(same);
    let source = known.map(|at| at as u32).or_else(|| {
        trace::add_source(Source {
            kind,
            index,
            name: trace::blob(name, 1)?,
            name_length: name.len() as u32,
            ..NO_SOURCE
        })
    });
    if let Some(source) = source {
        // SAFETY: passed on to the caller.
        unsafe { label_bytes(core, source, 0, address, size) };
    }
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
