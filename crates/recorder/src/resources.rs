//! Limits on what a process may use, as `ulimit` sets them.
//!
//! They are no part of scenarios: a sandbox has limits of its own. A test that sets some wants to see what the program
//! does when it hits them, so such a run is not expected to come out the same again.

use std::ptr;

use crate::ptrace::Pid;

/// Those that programs notice.
const KINDS: [libc::__rlimit_resource_t; 6] = [
    libc::RLIMIT_AS,
    libc::RLIMIT_DATA,
    libc::RLIMIT_STACK,
    libc::RLIMIT_FSIZE,
    libc::RLIMIT_NOFILE,
    libc::RLIMIT_CPU,
];

/// The limits of a process; `None` where they cannot be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLimits([Option<u64>; KINDS.len()]);

impl ResourceLimits {
    pub fn of(pid: Pid) -> ResourceLimits {
        ResourceLimits(KINDS.map(|kind| limit(pid, kind)))
    }

    /// Whether a process has no lower ones.
    pub fn hold_for(&self, pid: Pid) -> bool {
        let own = ResourceLimits::of(pid);
        let is_lower = |(own, usual): (&Option<u64>, &Option<u64>)| {
            own.zip(*usual).is_some_and(|(own, usual)| own < usual)
        };
        !own.0.iter().zip(&self.0).any(is_lower)
    }
}

fn limit(pid: Pid, kind: libc::__rlimit_resource_t) -> Option<u64> {
    // SAFETY: plain data, filled in by the call.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        (libc::prlimit(pid, kind, ptr::null(), &mut limit) == 0).then_some(limit.rlim_cur)
    }
}
