//! CPU time: on a busy machine the clock tells little.

use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

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

/// Processor time of the whole machine at one moment.
pub struct Machine {
    at: Instant,
    busy: f64,
}

/// Cores that were used, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Used {
    /// By what is measured.
    pub own: f64,
    /// By everybody else, other virtual machines included.
    pub others: f64,
}

impl Machine {
    pub fn now() -> Result<Machine> {
        let text = fs::read_to_string("/proc/stat").context("/proc/stat")?;
        // SAFETY: no preconditions.
        let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
        Ok(Machine {
            at: Instant::now(),
            busy: busy_ticks(&text).context("/proc/stat is not understood")? as f64 / hertz,
        })
    }

    /// What was used since, if what is measured took so much processor time.
    pub fn used_since(&self, own: Duration) -> Result<Used> {
        let now = Machine::now()?;
        let clock = now.at.duration_since(self.at).as_secs_f64().max(1e-6);
        let own = own.as_secs_f64();
        Ok(Used {
            own: own / clock,
            // The kernel counts in ticks, so that it can be a little less than nothing.
            others: ((now.busy - self.busy - own) / clock).max(0.0),
        })
    }
}

/// All but idle time and waiting for disks, of all processors; time that guests take is in that of users.
fn busy_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let all: Option<Vec<u64>> = line.split_whitespace().map(|n| n.parse().ok()).collect();
    match all?.as_slice() {
        [user, nice, system, _idle, _wait, irq, softirq, steal, ..] => {
            Some(user + nice + system + irq + softirq + steal)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_of_guests_and_idle_time_do_not_count_as_busy() {
        let stat = "cpu  100 20 3 9999 888 4 5 6 77 0\ncpu0 1 1 1 1 1 1 1 1 1 0\n";
        assert_eq!(busy_ticks(stat), Some(138));
        assert_eq!(busy_ticks("cpu 1 2"), None);
    }
}
