//! How a search is limited.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A request to stop that everybody who takes time can see.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// For those who only know the flag.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs, a deadline, and a request to stop. Clones share the deadline and the request.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    pub runs: Option<u64>,
    /// How long it may take once everything is there that it needs.
    time: Option<Duration>,
    deadline: Arc<OnceLock<Instant>>,
    pub stop: Stop,
}

impl Budget {
    pub fn new(runs: Option<u64>, time: Option<Duration>) -> Budget {
        Budget {
            runs,
            time,
            ..Budget::default()
        }
    }

    /// The clock begins; later calls change nothing.
    pub fn begin(&self) {
        if let Some(time) = self.time {
            self.deadline.get_or_init(|| Instant::now() + time);
        }
    }

    /// When it ends; `None` without a time limit, or before it has begun.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline.get().copied()
    }

    /// Whether there is no time left; runs are counted by the search.
    pub fn is_over(&self) -> bool {
        self.stop.is_requested() || self.is_late()
    }

    pub fn is_late(&self) -> bool {
        self.deadline()
            .is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Whether costs are seconds. Without a time limit they are counts, so that the same number of runs always gives the same
    /// result.
    pub fn is_timed(&self) -> bool {
        self.time.is_some()
    }
}
