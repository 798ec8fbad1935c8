//! What `/proc` tells about a process.

use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::ptrace::Pid;

/// A file as the kernel tells it from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    pub device: u64,
    pub number: u64,
}

impl Identity {
    pub fn of(metadata: &fs::Metadata) -> Identity {
        Identity {
            device: metadata.dev(),
            number: metadata.ino(),
        }
    }
}

/// What kind of thing a descriptor is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Regular,
    Directory,
    /// Pipes and sockets: what was read is gone.
    Stream,
    /// A device, with its number.
    Device(u64),
    Other,
}

/// An open descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    pub identity: Identity,
    pub kind: Kind,
}

impl Descriptor {
    /// Whether everything written to it fails for want of room.
    pub fn is_full(&self) -> bool {
        const FULL: u64 = libc::makedev(1, 7);
        self.kind == Kind::Device(FULL)
    }
}

fn descriptor_path(pid: Pid, descriptor: i32) -> PathBuf {
    format!("/proc/{pid}/fd/{descriptor}").into()
}

/// What a descriptor of a process is; `None` if it is not open.
pub fn descriptor(pid: Pid, descriptor: i32) -> Option<Descriptor> {
    let metadata = fs::metadata(descriptor_path(pid, descriptor)).ok()?;
    let kind = match metadata.mode() & libc::S_IFMT {
        libc::S_IFREG => Kind::Regular,
        libc::S_IFDIR => Kind::Directory,
        libc::S_IFIFO | libc::S_IFSOCK => Kind::Stream,
        libc::S_IFCHR => Kind::Device(metadata.rdev()),
        _ => Kind::Other,
    };
    Some(Descriptor {
        identity: Identity::of(&metadata),
        kind,
    })
}

/// The path that a descriptor was opened with, if it still leads there.
pub fn path_of_descriptor(pid: Pid, descriptor: i32) -> Option<PathBuf> {
    fs::read_link(descriptor_path(pid, descriptor))
        .ok()
        .filter(|path| path.is_absolute() && !path.as_os_str().as_bytes().ends_with(b" (deleted)"))
}

pub fn working_directory(pid: Pid) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (!path.as_os_str().as_bytes().ends_with(b" (deleted)")).then_some(path)
}

/// The executed file.
pub fn executable(pid: Pid) -> Option<(PathBuf, fs::Metadata)> {
    let link = format!("/proc/{pid}/exe");
    let metadata = fs::metadata(&link).ok()?;
    Some((fs::read_link(&link).ok()?, metadata))
}

pub fn command_line(pid: Pid) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

pub fn environment(pid: Pid) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

/// What the lines of `status` say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub group: Pid,
    pub parent: Pid,
    pub umask: Option<u32>,
}

pub fn status(pid: Pid) -> Option<Status> {
    let text = fs::read(format!("/proc/{pid}/status")).ok()?;
    let mut status = Status::default();
    for line in String::from_utf8_lossy(&text).lines() {
        let Some((key, value)) = line.split_once(":\t") else {
            continue;
        };
        match key {
            "Umask" => status.umask = u32::from_str_radix(value, 8).ok(),
            "Tgid" => status.group = value.parse().unwrap_or(0),
            "PPid" => {
                status.parent = value.parse().unwrap_or(0);
                break;
            }
            _ => {}
        }
    }
    Some(status)
}

/// Where the next read or write through a descriptor begins.
pub fn offset(pid: Pid, descriptor: i32) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).unwrap_or_default();
    let position = text.lines().find_map(|line| line.strip_prefix("pos:"));
    position
        .and_then(|value| value.trim().parse().ok())
        .unwrap_or(0)
}

/// How the file behind a descriptor is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub offset: u64,
    /// Every write goes to the end.
    pub append: bool,
    /// Of the file.
    pub size: u64,
}

/// Where writing to a regular file begins; `None` if the descriptor is something else.
pub fn position(pid: Pid, descriptor: i32) -> Option<Position> {
    let metadata = fs::metadata(descriptor_path(pid, descriptor)).ok()?;
    if !metadata.is_file() {
        return None;
    }
    let text = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let flags = i32::from_str_radix(field("flags:")?.trim(), 8).ok()?;
    Some(Position {
        offset: field("pos:")?.trim().parse().ok()?,
        append: flags & libc::O_APPEND != 0,
        size: metadata.len(),
    })
}

/// Beginning and end of the parts of a file that take no room. Of a file with very many of them, none: it would take longer
/// to note them than they are worth.
pub fn holes(path: &Path) -> io::Result<Vec<(u64, u64)>> {
    const MOST: usize = 1000;
    let file = open_unnoticed(path, libc::O_NOFOLLOW)?;
    let size = file.metadata()?.len();
    // SAFETY: an open descriptor and numbers.
    let seek =
        |from: u64, what: i32| unsafe { libc::lseek(file.as_raw_fd(), from as libc::off_t, what) };
    let mut holes = Vec::new();
    let mut at = 0;
    while at < size && holes.len() <= MOST {
        let Ok(start) = u64::try_from(seek(at, libc::SEEK_HOLE)) else {
            return Err(io::Error::last_os_error());
        };
        if start >= size {
            break;
        }
        // No more data is an error.
        let end = u64::try_from(seek(start, libc::SEEK_DATA)).unwrap_or(size);
        holes.push((start, end));
        at = end;
    }
    holes.truncate(if holes.len() > MOST { 0 } else { MOST });
    Ok(holes)
}

/// Opens for reading without leaving a trace: tests look at when a file was last read. That is allowed for our own files;
/// for those of others it has to be done the usual way.
fn open_unnoticed(path: &Path, flags: i32) -> io::Result<File> {
    let open = |flags: i32| {
        fs::OpenOptions::new()
            .read(true)
            .custom_flags(flags | libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
    };
    match open(flags | libc::O_NOATIME) {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => open(flags),
        result => result,
    }
}

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: OsString,
    /// As in `d_type`.
    pub kind: u8,
}

/// The entries of a directory, in the order in which it lists them.
pub fn entries(directory: &Path) -> io::Result<Vec<Entry>> {
    let file = open_unnoticed(directory, libc::O_DIRECTORY | libc::O_NOFOLLOW)?;
    // SAFETY: the stream takes the descriptor over and is closed below; an entry is valid until the next is read.
    unsafe {
        let stream = libc::fdopendir(file.into_raw_fd());
        if stream.is_null() {
            return Err(io::Error::last_os_error());
        }
        let mut entries = Vec::new();
        loop {
            let entry = libc::readdir(stream);
            if entry.is_null() {
                break;
            }
            let name = CStr::from_ptr((*entry).d_name.as_ptr()).to_bytes();
            if name != b"." && name != b".." {
                entries.push(Entry {
                    name: OsString::from_vec(name.to_vec()),
                    kind: (*entry).d_type,
                });
            }
        }
        libc::closedir(stream);
        Ok(entries)
    }
}

/// Bytes that were read, and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    pub bytes: Vec<u8>,
    pub size: u64,
}

/// Reads at most `limit` bytes of the regular file behind a descriptor, from `offset` on.
pub fn read_descriptor(pid: Pid, descriptor: i32, offset: u64, limit: u64) -> io::Result<Contents> {
    let file = open_unnoticed(&descriptor_path(pid, descriptor), 0)?;
    let size = file.metadata()?.len().saturating_sub(offset);
    let mut bytes = vec![0; size.min(limit) as usize];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    bytes.truncate(filled);
    Ok(Contents { bytes, size })
}

/// Reads at most `limit` bytes of a regular file, and of nothing else.
pub fn read_file(path: &Path, limit: u64) -> io::Result<Contents> {
    let file = open_unnoticed(path, libc::O_NOFOLLOW)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Contents {
        size: metadata.len().max(bytes.len() as u64),
        bytes,
    })
}

/// The address that a socket of another process is bound to, as scenarios name it: `tcp:PORT`, `tcp6:PORT` or `unix:PATH`.
pub fn socket_address(pid: Pid, descriptor: i32) -> Option<Vec<u8>> {
    // SAFETY: both calls take numbers; what they return is checked and closed.
    let own = unsafe {
        let process = libc::syscall(libc::SYS_pidfd_open, pid, 0) as i32;
        if process < 0 {
            return None;
        }
        let own = libc::syscall(libc::SYS_pidfd_getfd, process, descriptor, 0) as i32;
        libc::close(process);
        own
    };
    if own < 0 {
        return None;
    }
    // SAFETY: plain data, filled in by the call, whose size is given.
    let (storage, length, result) = unsafe {
        let mut storage: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
        let result = libc::getsockname(own, (&raw mut storage).cast(), &mut length);
        libc::close(own);
        (storage, length as usize, result)
    };
    if result != 0 {
        return None;
    }
    let address = &raw const storage;
    // SAFETY: the family says which of the structures was stored; all fit into the storage.
    unsafe {
        match i32::from(storage.ss_family) {
            libc::AF_INET => {
                let port = (*address.cast::<libc::sockaddr_in>()).sin_port;
                Some(format!("tcp:{}", u16::from_be(port)).into_bytes())
            }
            libc::AF_INET6 => {
                let port = (*address.cast::<libc::sockaddr_in6>()).sin6_port;
                Some(format!("tcp6:{}", u16::from_be(port)).into_bytes())
            }
            libc::AF_UNIX => {
                let start = std::mem::offset_of!(libc::sockaddr_un, sun_path);
                let bytes = std::slice::from_raw_parts(address.cast::<u8>(), length);
                let path = bytes.get(start..)?;
                let end = path.iter().position(|byte| *byte == 0);
                let mut text = b"unix:".to_vec();
                text.extend(&path[..end.unwrap_or(path.len())]);
                Some(text)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, SeekFrom};

    #[test]
    fn contents_are_read_from_the_offset_on_even_if_the_file_is_gone() {
        let mut file = tempfile::tempfile().unwrap();
        io::Write::write_all(&mut file, b"0123456789").unwrap();
        file.seek(SeekFrom::Start(4)).unwrap();
        let own = std::process::id() as Pid;
        let at = offset(own, file.as_raw_fd());
        assert_eq!(at, 4);
        let contents = read_descriptor(own, file.as_raw_fd(), at, 3).unwrap();
        assert_eq!(contents.bytes, b"456");
        assert_eq!(contents.size, 6);
        assert_eq!(path_of_descriptor(own, file.as_raw_fd()), None);
    }

    #[test]
    fn holes_and_positions_of_files_are_known() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let append = fs::File::options().append(true).open(file.path()).unwrap();
        let other = fs::File::options().write(true).open(file.path()).unwrap();
        other.write_all_at(&[1; 4096], 1 << 16).unwrap();
        other.set_len(1 << 20).unwrap();
        assert_eq!(
            holes(file.path()).unwrap(),
            [(0, 1 << 16), ((1 << 16) + 4096, 1 << 20)]
        );
        let own = std::process::id() as Pid;
        let found = position(own, append.as_raw_fd()).unwrap();
        assert!(found.append);
        assert_eq!((found.offset, found.size), (0, 1 << 20));
        assert!(!position(own, other.as_raw_fd()).unwrap().append);
        let (reader, _writer) = io::pipe().unwrap();
        assert_eq!(position(own, reader.as_raw_fd()), None);
    }

    #[test]
    fn a_listening_socket_says_where() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = std::process::id() as Pid;
        let found = socket_address(own, listener.as_raw_fd()).unwrap();
        assert_eq!(found, format!("tcp:{port}").into_bytes());
    }

    #[test]
    fn a_process_knows_its_parent_and_umask() {
        let own = std::process::id() as Pid;
        let found = status(own).unwrap();
        assert_eq!(found.group, own);
        assert!(found.parent > 0 && found.umask.is_some());
    }
}
