//! CPU time: on a busy machine the clock tells little.

/// Seconds of all children that have ended, and of theirs.
pub fn of_children() -> f64 {
    used(libc::RUSAGE_CHILDREN)
}

/// The same, with those of this process.
pub fn of_all() -> f64 {
    used(libc::RUSAGE_SELF) + of_children()
}

fn used(who: libc::c_int) -> f64 {
    // SAFETY: plain data, filled in by the call.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(who, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}
