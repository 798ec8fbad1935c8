//! New code: sides of branches, blocks and paths that no input has taken.

mod news;
mod orders;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use parallax_exec::run::End;
use parallax_exec::sites::ModuleSites;
use parallax_trace::path;

use crate::core::alternative::{Alternative, Change, places, structural, target};
use crate::core::corpus::{Corpus, EntryId};
use crate::core::goal::{Came, Goal, Observation, Path, Work, Worth};
use crate::core::limits::Limits;
pub use news::Moment;
use news::News;
use orders::Orders;

/// So many paths are all run on the sanitizer build; later only some of those without news.
const CHECKED_PATHS: u64 = 256;
const CHECKED_SHARE: u64 = 8;

/// See the module's description.
pub struct Code {
    news: News,
    orders: Orders,
    started: Instant,
    /// Time of earlier processes.
    before: Duration,
    runs: u64,
    paths: u64,
    /// Of the input that was observed last: its mode, and what it came by that nothing had taken.
    last: (u64, Vec<u64>),
}

impl Code {
    /// For a program whose covered variant has these tables. The seed orders what is equally good.
    pub fn new(tables: &[ModuleSites], seed: u64) -> Code {
        Code {
            news: News::new(tables),
            orders: Orders::new(seed),
            started: Instant::now(),
            before: Duration::ZERO,
            runs: 0,
            paths: 0,
            last: (0, Vec::new()),
        }
    }

    /// By source file: when something of it was last covered for the first time.
    pub fn into_latest(self) -> BTreeMap<String, Moment> {
        self.news.into_latest()
    }
}

impl Goal for Code {
    fn name(&self) -> &'static str {
        "new code"
    }

    fn observe(&mut self, run: &Observation<'_>) -> Worth {
        self.runs += 1;
        let moment = Moment {
            runs: self.runs,
            time: self.before + self.started.elapsed(),
        };
        let first = self.news.take_in(run.ran, moment);
        for counter in &first {
            self.orders.close(self.news.name(*counter));
            if let Some((site, side)) = self.news.side(*counter) {
                self.orders.reached(target(site, side.into()));
            }
        }
        self.last = (self.news.mode(run.ran), self.news.open(run.ran));
        let is_new = !first.is_empty();
        Worth {
            gain: f64::from(u8::from(is_new)),
            keep: is_new,
            look: is_new,
            test: is_new,
            ..Worth::default()
        }
    }

    fn entered(&mut self, entry: EntryId, _corpus: &Corpus) {
        let (mode, open) = std::mem::take(&mut self.last);
        self.orders.add_entry(entry, mode, open);
    }

    fn take_path(&mut self, path: &Path<'_>, _corpus: &Corpus, limits: &mut Limits) -> Worth {
        self.paths += u64::from(path.is_new);
        for (place, decision) in places(path.sites, path.traced)
            .into_iter()
            .zip(&path.traced.decisions)
        {
            let side = path::side(path.sites, decision, decision.value);
            self.orders
                .reached_by(path.entry, place.levels(decision.value, side));
        }
        if !path.is_last {
            for alternative in path.alternatives {
                self.orders.offer(*alternative, limits);
            }
            for alternative in structural(path.entry, path.traced) {
                self.orders.offer(alternative, limits);
            }
        }
        let is_due = self.paths <= CHECKED_PATHS || self.paths.is_multiple_of(CHECKED_SHARE);
        let is_error = !matches!(path.end, End::Exit(_));
        Worth {
            look: is_error || path.is_new && is_due,
            ..Worth::default()
        }
    }

    fn is_ready(&self) -> bool {
        !self.orders.is_empty()
    }

    fn choose(&mut self, most: usize, _corpus: &Corpus) -> Option<Work> {
        let alternatives = self.orders.take(most);
        (!alternatives.is_empty()).then_some(Work::Turn {
            alternatives,
            regenerate: false,
        })
    }

    fn tried(&mut self, alternative: &Alternative, _came: &Came, _corpus: &Corpus) {
        self.orders.tried(alternative);
    }

    fn open(&self) -> u64 {
        self.orders.len() as u64
    }
}

/// Operations are tried on one path of each calling context, not on all paths that lead there.
fn identity(alternative: &Alternative) -> u64 {
    match alternative.change {
        Change::Fail { .. } => alternative.levels[1],
        _ => alternative.path,
    }
}
