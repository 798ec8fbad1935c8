//! Files in memory that clang and its children inherit.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::PathBuf;

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

/// A path by which children can open an inherited file, if there is one.
pub fn path_for_children(file: &File) -> Option<PathBuf> {
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    path.exists().then_some(path)
}
