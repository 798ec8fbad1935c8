//! Whether this machine allows what recording needs.

use std::io;

use crate::ptrace;

/// Traces a process that does nothing, as test commands are traced; why that is not allowed, if it is not.
pub fn probe() -> io::Result<()> {
    // SAFETY: the child makes two calls, both of which are allowed after a fork of one thread of many.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => unsafe {
            libc::pause();
            libc::_exit(0)
        },
        1.. => {
            let seized = ptrace::seize(pid);
            // SAFETY: our own child, which has not been waited for.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            let _ = ptrace::wait(pid, 0);
            seized
        }
        _ => Err(io::Error::last_os_error()),
    }
}
