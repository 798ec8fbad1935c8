//! Anonymous shared memory that is handed to programs.
//!
//! It is a `memfd`: it needs no `/dev/shm`, has no name that could be left behind, and vanishes with its
//! last descriptor. It is sparse: only pages that were written cost memory.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

/// Why there is no shared memory.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// The kernel has no `memfd_create`, or a filter forbids it.
    #[error("cannot create anonymous shared memory for the {purpose}")]
    Create {
        purpose: &'static str,
        #[source]
        source: io::Error,
    },
    /// `ulimit -f` is in the way.
    #[error("the {purpose} may need {bytes} bytes, but files are limited to {limit} (ulimit -f)")]
    FileLimit {
        purpose: &'static str,
        bytes: u64,
        limit: u64,
    },
    /// Memory accounting is in the way.
    #[error("cannot size the {purpose} to {bytes} bytes")]
    Size {
        purpose: &'static str,
        bytes: u64,
        #[source]
        source: io::Error,
    },
    /// Not enough address space (`ulimit -v`).
    #[error("cannot map the {purpose}")]
    Map {
        purpose: &'static str,
        #[source]
        source: io::Error,
    },
}

/// Shared memory as a program is given it: the descriptor, and the environment variable that
/// will carry the descriptor's number.
#[derive(Clone, Copy, Debug)]
pub struct Shared<'a> {
    pub variable: &'static str,
    pub descriptor: BorrowedFd<'a>,
}

impl Shared<'_> {
    /// What tells this memory from others.
    pub(crate) fn identity(&self) -> (u64, u64) {
        // SAFETY: `stat` is plain data, filled in by the call; zeros if it fails.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            libc::fstat(self.descriptor.as_raw_fd(), &mut stat);
            (stat.st_dev, stat.st_ino)
        }
    }
}

/// An anonymous file, mapped.
#[derive(Debug)]
pub struct SharedMemory {
    pub file: OwnedFd,
    pub map: MmapRaw,
}

impl SharedMemory {
    /// Creates `bytes` zeros. The name shows in `/proc`, the purpose in messages.
    pub fn create(
        name: &CStr,
        purpose: &'static str,
        bytes: u64,
    ) -> Result<SharedMemory, SharedError> {
        // SAFETY: the name is a valid C string; the result is checked.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            let source = io::Error::last_os_error();
            return Err(SharedError::Create { purpose, source });
        }
        // SAFETY: just created, owned by nobody else.
        let file = unsafe { OwnedFd::from_raw_fd(fd) };
        // Asked first, because going over the limit is answered with a signal that kills.
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: fills in a plain struct.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
        if bytes > limit.rlim_cur {
            return Err(SharedError::FileLimit {
                purpose,
                bytes,
                limit: limit.rlim_cur,
            });
        }
        // SAFETY: plain system call on an owned descriptor.
        if unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) } != 0 {
            return Err(SharedError::Size {
                purpose,
                bytes,
                source: io::Error::last_os_error(),
            });
        }
        let map = MmapOptions::new()
            .len(bytes as usize)
            .map_raw(&file)
            .map_err(|source| SharedError::Map { purpose, source })?;
        Ok(SharedMemory { file, map })
    }

    /// For handing it to a program.
    pub fn shared(&self, variable: &'static str) -> Shared<'_> {
        Shared {
            variable,
            descriptor: self.file.as_fd(),
        }
    }

    /// Memory that it takes: what nobody has written to takes none.
    pub fn resident_bytes(&self) -> u64 {
        // SAFETY: `stat` is plain data, filled in by the call.
        unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            assert_eq!(libc::fstat(self.file.as_raw_fd(), &mut stat), 0);
            stat.st_blocks as u64 * 512
        }
    }
}
