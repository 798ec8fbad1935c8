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

/// The capability to choose the number of the next process.
const CHECKPOINT_RESTORE: u32 = 40;
/// In the second row of a set, which is for numbers from 32 on.
const KEPT: u32 = 1 << (CHECKPOINT_RESTORE - 32);

#[repr(C)]
struct Header {
    version: u32,
    pid: libc::c_int,
}

/// Effective, permitted, inheritable; the second row is for numbers from 32 on.
type Sets = [[u32; 3]; 2];

const HEADER: Header = Header {
    version: 0x2008_0522,
    pid: 0,
};

unsafe fn set_capabilities(sets: &Sets) -> bool {
    let header = ptr::from_ref(&HEADER);
    // SAFETY: reads local structs of the kernel's layout.
    unsafe { libc::syscall(libc::SYS_capset, header, sets.as_ptr()) == 0 }
}

/// Gives up all capabilities, also those that a program file could bring. But one: to choose the number of the next
/// process. What is executed gets it only if that is asked for ([`hand_down_capability`]).
pub(super) unsafe fn drop_capabilities() -> Result<(), i32> {
    const LAST: libc::c_ulong = 63;
    // SAFETY: system calls on plain numbers and local structs.
    unsafe {
        // Nothing becomes inheritable once the bounding set is empty.
        let mut all: Sets = [[0; 3]; 2];
        let header = ptr::from_ref(&HEADER);
        libc::syscall(libc::SYS_capget, header, all.as_mut_ptr());
        all[1][2] |= KEPT;
        set_capabilities(&all);
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
        // Older kernels do not know the one, and refuse.
        let few: Sets = [[0; 3], [KEPT; 3]];
        if set_capabilities(&few) || set_capabilities(&[[0; 3]; 2]) {
            Ok(())
        } else {
            Err(errno())
        }
    }
}

/// The program that this process executes next keeps the capability to choose process numbers: a run server, which gives it
/// up in the process of each run.
pub(super) unsafe fn hand_down_capability() {
    let raise = libc::PR_CAP_AMBIENT_RAISE;
    // SAFETY: plain numbers.
    unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, CHECKPOINT_RESTORE, 0, 0) };
}

/// The program that this process executes next has no capability.
pub(super) unsafe fn forget_capabilities() {
    // SAFETY: gives up, which is always allowed.
    unsafe { set_capabilities(&[[0; 3]; 2]) };
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
