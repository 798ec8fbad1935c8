//! CPU time of this thread: what a piece of work costs, however many others share the machine.

use std::time::Duration;

pub fn of_thread() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: fills in a plain struct.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_sleep_does_not() {
        let before = of_thread();
        std::thread::sleep(Duration::from_millis(50));
        assert!(of_thread() - before < Duration::from_millis(40));
        let mut sum = 0u64;
        while of_thread() - before < Duration::from_millis(5) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(sum > 0);
    }
}
