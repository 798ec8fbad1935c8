//! How much memory a tree of processes uses.
//!
//! `RLIMIT_AS` cannot be the limit: the runtime reserves terabytes of address
//! space for its tables. So the resident memory is looked at from outside: first the cheap
//! sum, which counts pages that forked processes share several times, and only
//! when that is too much the proportional one, which is exact and slow.

use std::fs;

/// Whether these processes together use more than `limit` bytes,
/// private and shared memory (the trace is that), mapped files not counted.
pub(crate) fn exceeds(processes: &[libc::pid_t], limit: u64) -> bool {
    let sum = |of: fn(libc::pid_t) -> u64| -> u64 { processes.iter().map(|pid| of(*pid)).sum() };
    sum(resident) > limit && sum(proportional) > limit
}

fn resident(pid: libc::pid_t) -> u64 {
    sum_of_lines(&format!("/proc/{pid}/status"), &["RssAnon:", "RssShmem:"])
}

fn proportional(pid: libc::pid_t) -> u64 {
    sum_of_lines(
        &format!("/proc/{pid}/smaps_rollup"),
        &["Pss_Anon:", "Pss_Shmem:"],
    )
}

/// Sum of the named `kB` lines of a file below `/proc`; 0 if the process is gone.
fn sum_of_lines(path: &str, names: &[&str]) -> u64 {
    let text = fs::read_to_string(path).unwrap_or_default();
    let kilobytes: u64 = text
        .lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let name = words.next()?;
            names
                .contains(&name)
                .then(|| words.next()?.parse::<u64>().ok())?
        })
        .sum();
    kilobytes * 1024
}
