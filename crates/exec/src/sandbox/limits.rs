//! Resource limits and privileges of what runs in the sandbox. Called between `fork` and `exec`: nothing here allocates.

use std::ptr;

use super::Limits;

/// Descriptors that a program can have open: as many as `select` can tell apart.
const DESCRIPTORS: libc::rlim_t = 1024;

/// Sets the limits for this process and what comes of it.
pub(super) unsafe fn limit_resources(limits: &Limits, processes_are_counted_apart: bool) {
    lower(libc::RLIMIT_FSIZE, limits.file_bytes);
    lower(libc::RLIMIT_NOFILE, DESCRIPTORS);
    lower(libc::RLIMIT_CORE, 0);
    // Elsewhere all processes of the user count, and any limit would be wrong.
    if processes_are_counted_apart {
        lower(libc::RLIMIT_NPROC, limits.processes.into());
    }
}

fn lower(resource: libc::__rlimit_resource_t, to: libc::rlim_t) {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: plain structs.
    unsafe {
        if libc::getrlimit(resource, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_cur.min(to);
            limit.rlim_max = limit.rlim_max.min(to);
            libc::setrlimit(resource, &limit);
        }
    }
}

/// Gives up all capabilities, also those that a program file could bring. But one: to choose the number of the next
/// process. It ends with this program image, because nothing is left that could be inherited.
pub(super) unsafe fn drop_capabilities() -> Result<(), i32> {
    const LAST: libc::c_ulong = 63;
    const VERSION_3: u32 = 0x2008_0522;
    const CHECKPOINT_RESTORE: u32 = 40;
    #[repr(C)]
    struct Header {
        version: u32,
        pid: libc::c_int,
    }
    // SAFETY: system calls on plain numbers and local structs.
    unsafe {
        for capability in 0..=LAST {
            libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
        }
        libc::prctl(
            libc::PR_CAP_AMBIENT,
            libc::PR_CAP_AMBIENT_CLEAR_ALL,
            0,
            0,
            0,
        );
        let header = Header {
            version: VERSION_3,
            pid: 0,
        };
        // Effective, permitted, inheritable; the second row is for numbers from 32 on.
        let kept = 1 << (CHECKPOINT_RESTORE - 32);
        let few = [[0, 0, 0], [kept, kept, 0]];
        let none = [[0_u32; 3]; 2];
        // Older kernels do not know the one, and refuse.
        for capabilities in [few, none] {
            let set = libc::syscall(
                libc::SYS_capset,
                ptr::from_ref(&header),
                capabilities.as_ptr(),
            );
            if set == 0 {
                return Ok(());
            }
        }
        Err(errno())
    }
}

/// No program file makes us more than we are.
pub(super) unsafe fn renounce_privileges() {
    // SAFETY: plain numbers.
    unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
}

pub(super) fn errno() -> i32 {
    // SAFETY: always valid for the calling thread.
    unsafe { *libc::__errno_location() }
}
