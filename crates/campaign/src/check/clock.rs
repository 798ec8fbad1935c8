//! How long the search has taken, builds that it waited for left out; and what is left of the time when a search was cut off.
//!
//! A check that is killed or interrupted has used up a part of its budget and kept what it found. The same check, started again, goes on with the
//! rest; one that came to its end has a new budget the next time. The time is on the disk every second, because nobody asks before killing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parallax_files::write_whole;

/// The time is written down so often.
const BEAT: Duration = Duration::from_secs(1);
/// Whatever was used up, one part in so many of the budget is there: what is known has to be looked at again.
const LEAST: u32 = 20;

/// A clock that can be stopped for a while.
#[derive(Debug)]
pub struct Clock {
    started: Instant,
    stopped: Mutex<Stopped>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stopped {
    /// In all, until it was last started again.
    time: Duration,
    since: Option<Instant>,
}

impl Clock {
    pub fn start() -> Arc<Clock> {
        Arc::new(Clock {
            started: Instant::now(),
            stopped: Mutex::default(),
        })
    }

    /// What counts of the time since it was started.
    pub fn elapsed(&self) -> Duration {
        let stopped = *self.stopped();
        let until = stopped.since.unwrap_or_else(Instant::now);
        until
            .duration_since(self.started)
            .saturating_sub(stopped.time)
    }

    /// Does something that does not count.
    pub fn without<T>(&self, something: impl FnOnce() -> T) -> T {
        let began = Instant::now();
        self.stopped().since = Some(began);
        let result = something();
        let mut stopped = self.stopped();
        stopped.since = None;
        stopped.time += began.elapsed();
        result
    }

    fn stopped(&self) -> MutexGuard<'_, Stopped> {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the time of one search is written down.
#[derive(Clone, Debug)]
pub struct Used {
    path: PathBuf,
    budget: Duration,
    /// By searches that were cut off.
    pub before: Duration,
}

impl Used {
    /// Of the search with this name in a directory; what is not there or cannot be read was never begun.
    pub fn read(directory: &Path, name: &str, budget: Duration) -> Used {
        // A search with another budget is another search.
        let path = directory.join(format!("check-{name}-{}.used", budget.as_millis()));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let seconds = text.trim().parse::<f64>().ok();
        let before = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Used {
            path,
            budget,
            before: before.unwrap_or_default(),
        }
    }

    pub fn left(&self) -> Duration {
        self.budget
            .saturating_sub(self.before)
            .max(self.budget / LEAST)
    }

    /// Writes down what the clock shows until the meter is ended.
    pub fn measure(&self, clock: Arc<Clock>) -> Meter {
        let (end, ended) = channel();
        let used = self.clone();
        let thread = std::thread::spawn(move || used.beat(&clock, &ended));
        Meter {
            end,
            thread: Some(thread),
            path: self.path.clone(),
        }
    }

    fn beat(&self, clock: &Clock, ended: &Receiver<()>) {
        loop {
            let is_over = ended.recv_timeout(BEAT) != Err(RecvTimeoutError::Timeout);
            let seconds = (self.before + clock.elapsed()).as_secs_f64();
            // Half a number would be read as another one. Where nothing can be written the next search has its whole budget.
            let _ = write_whole(&self.path, format!("{seconds:.1}\n").as_bytes());
            if is_over {
                return;
            }
        }
    }
}

/// Writes down the time.
#[derive(Debug)]
pub struct Meter {
    end: Sender<()>,
    thread: Option<JoinHandle<()>>,
    path: PathBuf,
}

impl Meter {
    /// The search came to its end: the next one begins anew.
    pub fn forget(mut self) {
        self.stop();
        let _ = fs::remove_file(&self.path);
    }

    fn stop(&mut self) {
        let _ = self.end.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        self.stop();
    }
}

/// `2:05`.
pub fn shown(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Duration = Duration::from_secs(100);

    fn used(directory: &tempfile::TempDir) -> Used {
        Used::read(directory.path(), "x", BUDGET)
    }

    #[test]
    fn what_is_not_searching_does_not_count() {
        let clock = Clock::start();
        let inside = clock.without(|| {
            std::thread::sleep(Duration::from_millis(200));
            clock.elapsed()
        });
        assert!(inside < Duration::from_millis(150), "{inside:?}");
        assert!(clock.elapsed() < Duration::from_millis(150));
        std::thread::sleep(Duration::from_millis(20));
        assert!(clock.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn a_search_that_was_cut_off_has_what_was_left_and_the_next_one_all() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(used(&directory).left(), BUDGET);
        let clock = Clock::start();
        std::thread::sleep(Duration::from_millis(300));
        drop(used(&directory).measure(clock.clone()));
        let before = used(&directory).before;
        assert!(before >= Duration::from_millis(300), "{before:?}");
        assert!(used(&directory).left() <= BUDGET - Duration::from_millis(300));
        // Cut off once more: both count.
        drop(used(&directory).measure(clock.clone()));
        assert!(used(&directory).before >= before * 2);
        used(&directory).measure(clock).forget();
        assert_eq!(used(&directory).left(), BUDGET);
    }

    #[test]
    fn there_is_time_to_look_at_what_is_known_whatever_was_used() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("check-x-100000.used");
        fs::write(&path, "1000.0\n").unwrap();
        assert_eq!(used(&directory).left(), BUDGET / LEAST);
        for damaged in ["", "soon", "-3", "inf", "NaN"] {
            fs::write(&path, damaged).unwrap();
            assert_eq!(used(&directory).left(), BUDGET, "{damaged:?}");
        }
    }
}
