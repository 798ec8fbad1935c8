//! What all paths of a solver share.

use crate::cache::{AllowedValues, Memory};
use crate::config::Config;
use crate::constraint::Why;
use crate::layer::{Layer, Outcome, Reply};
use crate::log::Log;
use crate::smt::Backend;
use crate::statistics::Statistics;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(crate) struct Shared {
    pub config: Config,
    pub smt: Mutex<Backend>,
    pub memory: Mutex<Memory>,
    pub allowed: Mutex<AllowedValues>,
    /// Where queries are written; `None` without a log, or after an error.
    pub log: Mutex<Option<Log>>,
    statistics: Mutex<Statistics>,
    /// When every query must be over.
    pub until: Mutex<Option<Instant>>,
}

impl Shared {
    pub fn new(config: Config) -> Shared {
        let mut statistics = Statistics::default();
        let log = config.log.as_deref().and_then(|path| {
            Log::open(path)
                .inspect_err(|error| statistics.log_error = Some(error.to_string()))
                .ok()
        });
        Shared {
            memory: Mutex::default(),
            allowed: Mutex::default(),
            log: Mutex::new(log),
            smt: Mutex::new(Backend::new(&config)),
            config,
            statistics: Mutex::new(statistics),
            until: Mutex::default(),
        }
    }

    pub fn statistics(&self) -> Statistics {
        locked(&self.statistics).clone()
    }

    pub fn count(&self, change: impl FnOnce(&mut Statistics)) {
        change(&mut locked(&self.statistics));
    }

    /// Adds to the time of a layer.
    pub fn spent(&self, layer: Layer, time: Duration) {
        self.count(|statistics| statistics.layers.entry(layer).or_default().time += time);
    }

    /// Oracle mode: a layer's reply, if the one from below does not contradict it.
    pub fn compare(&self, upper: Reply, lower: Reply) -> Reply {
        let contradiction = matches!(
            (&upper.outcome, &lower.outcome),
            (Outcome::Sat(_), Outcome::Unsat(_)) | (Outcome::Unsat(_), Outcome::Sat(_))
        );
        if !contradiction {
            return upper;
        }
        let what = format!(
            "{} says {}, {} the opposite",
            upper.layer,
            match upper.outcome {
                Outcome::Sat(_) => "sat",
                _ => "unsat",
            },
            lower.layer
        );
        self.count(|statistics| statistics.disagreements.push(what.clone()));
        Reply::new(upper.layer, Outcome::Unknown(Why::Disagreement(what)))
    }
}

/// The data behind a lock. A thread that panicked while counting has done no harm to the counts.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
