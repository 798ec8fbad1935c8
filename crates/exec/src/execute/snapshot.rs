//! Shared memory as it was before a run that must be repeated.

use std::mem::offset_of;
use std::os::fd::AsRawFd;

use parallax_abi::cover;
use parallax_abi::trace::{self, Header};

use crate::shared::Shared;

const PAGE: usize = 4096;

/// The first page, which describes everything else; the rest was empty, or is not read before it is written.
pub(super) struct Snapshot {
    first_page: [u8; PAGE],
}

impl Snapshot {
    pub fn take(memory: &Shared<'_>) -> Option<Snapshot> {
        let mut first_page = [0; PAGE];
        let fd = memory.descriptor.as_raw_fd();
        // SAFETY: reads into a buffer of the given length.
        let count = unsafe { libc::pread(fd, first_page.as_mut_ptr().cast(), PAGE, 0) };
        (count == PAGE as isize).then_some(Snapshot { first_page })
    }

    /// Whether the memory is again as it was. Counters stay: they hold what all runs before have counted, which must not get lost
    /// for the sake of a run that counts twice.
    pub fn restore(&self, memory: &Shared<'_>) -> bool {
        if memory.variable == cover::ENVIRONMENT {
            return true;
        }
        let fd = memory.descriptor.as_raw_fd();
        let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // A trace's blobs start with names that must stay; the others are found by what was emptied.
        let end = if memory.variable == trace::ENVIRONMENT {
            let at = offset_of!(Header, blob_offset);
            let bytes = self.first_page[at..at + 8].try_into().expect("eight bytes");
            u64::from_ne_bytes(bytes) as libc::off_t
        } else {
            libc::off_t::MAX
        };
        // SAFETY: system calls on a descriptor of ours and a buffer of the given length.
        unsafe {
            libc::fallocate(fd, flags, PAGE as libc::off_t, end - PAGE as libc::off_t) == 0
                && libc::pwrite(fd, self.first_page.as_ptr().cast(), PAGE, 0) == PAGE as isize
        }
    }
}
