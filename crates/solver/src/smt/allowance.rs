//! How much of a search's time the SMT-LIB program may take.
//!
//! A handful of questions about long floating-point expressions, each given up after seconds, would use up what thousands of
//! others need. So questions wait until the search has earned the time for them.

use std::time::{Duration, Instant};

/// What may be used before anything was earned.
const FIRST: Duration = Duration::from_secs(3);
/// Less time than this is not worth asking.
const LEAST: Duration = Duration::from_millis(50);

pub(super) struct Allowance {
    started: Instant,
    /// Of the time since the start; one or more: all of it.
    share: f64,
    spent: Duration,
}

impl Allowance {
    pub fn new(share: f64) -> Allowance {
        Allowance {
            started: Instant::now(),
            share,
            spent: Duration::ZERO,
        }
    }

    /// How long the next question may take, up to `most`; `None` if it is not to be asked now.
    pub fn next(&self, most: Duration) -> Option<Duration> {
        self.after(self.started.elapsed(), most)
    }

    fn after(&self, elapsed: Duration, most: Duration) -> Option<Duration> {
        if self.share >= 1.0 {
            return Some(most);
        }
        let earned = FIRST + elapsed.mul_f64(self.share.max(0.0));
        let left = earned.saturating_sub(self.spent);
        (left >= LEAST).then(|| left.min(most))
    }

    pub fn spend(&mut self, time: Duration) {
        self.spent += time;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_was_used_up_comes_back_with_time_that_passes() {
        let second = Duration::from_secs(1);
        let mut allowance = Allowance::new(0.25);
        assert_eq!(allowance.after(Duration::ZERO, 10 * second), Some(FIRST));
        allowance.spend(FIRST);
        assert_eq!(allowance.after(Duration::ZERO, second), None);
        assert_eq!(allowance.after(2 * second, second), Some(second / 2));
        assert_eq!(allowance.after(100 * second, second), Some(second));
    }

    #[test]
    fn all_of_the_time_is_no_limit() {
        let mut allowance = Allowance::new(1.0);
        allowance.spend(Duration::from_secs(1000));
        let most = Duration::from_secs(10);
        assert_eq!(allowance.after(Duration::ZERO, most), Some(most));
    }
}
