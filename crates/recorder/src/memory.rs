//! Memory of a stopped process.

use std::io;

use crate::ptrace::Pid;

/// Longest path that the kernel takes.
const LONGEST_PATH: usize = 4096;
const PAGE: u64 = 4096;

/// Reads as much as there is, up to the length of `into`.
fn read_some(pid: Pid, address: u64, into: &mut [u8]) -> io::Result<usize> {
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: into.len(),
    };
    // SAFETY: `local` is the slice; the other address is only used in the other process.
    match unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        length => Ok(length as usize),
    }
}

/// Reads exactly so many bytes.
pub fn read(pid: Pid, address: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let read = read_some(pid, address, &mut bytes)?;
    bytes.truncate(read);
    if read == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Reads a string up to its terminator. Page by page: the next page need not exist.
pub fn read_path(pid: Pid, mut address: u64) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    // Most paths are short; a first small piece saves copying.
    let mut piece = 256;
    while text.len() <= LONGEST_PATH {
        let to_page_end = (PAGE - address % PAGE) as usize;
        let mut bytes = vec![0; to_page_end.min(piece)];
        let read = read_some(pid, address, &mut bytes)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.truncate(read);
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            text.extend_from_slice(&bytes[..end]);
            return Ok(text);
        }
        text.extend_from_slice(&bytes);
        address += read as u64;
        piece = PAGE as usize;
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Reads the first `length` bytes of what a vector of buffers holds.
pub fn read_vector(pid: Pid, vector: u64, count: usize, length: usize) -> io::Result<Vec<u8>> {
    const ENTRY: usize = size_of::<libc::iovec>();
    /// The kernel takes no more (`UIO_MAXIOV`).
    const MOST: usize = 1024;
    let entries = read(pid, vector, count.min(MOST) * ENTRY)?;
    let mut bytes = Vec::with_capacity(length);
    for entry in entries.chunks_exact(ENTRY) {
        let word = |at: usize| u64::from_ne_bytes(entry[at..at + 8].try_into().expect("8 bytes"));
        let wanted = (length - bytes.len()).min(word(8) as usize);
        bytes.extend(read(pid, word(0), wanted)?);
        if bytes.len() == length {
            break;
        }
    }
    Ok(bytes)
}

/// How many bytes the buffers of a vector hold.
pub fn vector_length(pid: Pid, vector: u64, count: usize) -> io::Result<usize> {
    const ENTRY: usize = size_of::<libc::iovec>();
    let entries = read(pid, vector, count.min(1024) * ENTRY)?;
    let length = |entry: &[u8]| u64::from_ne_bytes(entry[8..16].try_into().expect("8 bytes"));
    Ok(entries
        .chunks_exact(ENTRY)
        .map(|entry| length(entry) as usize)
        .sum())
}

/// Vector and number of buffers of a `struct msghdr`.
pub fn message_vector(pid: Pid, header: u64) -> io::Result<(u64, usize)> {
    let bytes = read(pid, header, size_of::<libc::msghdr>())?;
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let vector = word(std::mem::offset_of!(libc::msghdr, msg_iov));
    let count = word(std::mem::offset_of!(libc::msghdr, msg_iovlen));
    Ok((vector, count as usize))
}

pub fn write(pid: Pid, address: u64, bytes: &[u8]) -> io::Result<()> {
    let local = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let remote = libc::iovec {
        iov_base: address as *mut libc::c_void,
        iov_len: bytes.len(),
    };
    // SAFETY: the local side is only read; the other address is only used in the other process.
    match unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) } {
        -1 => Err(io::Error::last_os_error()),
        length if length as usize == bytes.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Pid {
        std::process::id() as Pid
    }

    #[test]
    fn a_string_is_read_to_its_end_across_pages() {
        let mut bytes = vec![b'x'; 3000];
        bytes.push(0);
        bytes.extend(b"more");
        let read = read_path(own(), bytes.as_ptr() as u64).unwrap();
        assert_eq!(read, &bytes[..3000]);
        let endless = vec![b'y'; 2 * LONGEST_PATH];
        assert!(read_path(own(), endless.as_ptr() as u64).is_err());
    }

    #[test]
    fn a_vector_is_read_as_far_as_it_was_filled() {
        let (one, two) = (*b"abc", *b"defgh");
        let vector = [[one.as_ptr() as u64, 3], [two.as_ptr() as u64, 5]];
        let address = vector.as_ptr() as u64;
        assert_eq!(read_vector(own(), address, 2, 5).unwrap(), b"abcde");
        assert_eq!(vector_length(own(), address, 2).unwrap(), 8);
    }
}
