//! Descriptors that clang and its children inherit.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Write};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};

/// A file in memory with this content, inherited by children. It has no name, so there
/// is nothing to clean up.
pub fn memory_file(content: &[u8]) -> io::Result<File> {
    // Safety: a constant C string; the descriptor is new and ours.
    let mut file = unsafe {
        let descriptor = libc::memfd_create(c"parallax".as_ptr(), 0);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        File::from_raw_fd(descriptor)
    };
    file.write_all(content)?;
    Ok(file)
}

/// A pipe whose read end children inherit and whose write end they do not: when this
/// process lets go of the write end, readers see the end.
pub fn pipe_to_children() -> io::Result<(PipeReader, PipeWriter)> {
    let (reader, writer) = io::pipe()?;
    inherit(reader.as_raw_fd())?;
    Ok((reader, writer))
}

fn inherit(descriptor: RawFd) -> io::Result<()> {
    // Safety: an open descriptor; no memory is involved.
    if unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}
