//! Who is told what happens, and who is asked whether to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::check::clock::Clock;
use crate::exit::Exit;
use crate::failure::Failure;

/// What everything that takes time is given.
#[derive(Clone)]
pub struct Context {
    pub events: Arc<dyn Events>,
    pub cancel: Cancel,
    /// Runs of programs so far.
    pub runs: Arc<Runs>,
    /// Columns that text is laid out for.
    pub width: usize,
    /// Whether this is one of several searches that take turns: then who leads them says what was found, and how it goes on.
    pub in_check: bool,
}

impl Context {
    /// Tells what is worth knowing and is no error.
    pub fn note(&self, note: &str) {
        self.events.tell(Event::Note(note));
    }

    /// Tells each of several things.
    pub fn notes<'n>(&self, notes: impl IntoIterator<Item = &'n String>) {
        for note in notes {
            self.note(note);
        }
    }

    /// Tells of a failure that does not end the work, and what follows from it.
    pub fn trouble(&self, failure: &Failure, what_follows: &str) {
        self.events.tell(Event::Trouble(failure));
        self.note(what_follows);
    }

    /// Says something in a line that stays.
    pub fn say(&self, line: &str) {
        self.events.tell(Event::Line(line));
    }

    /// Whether somebody asked for an end.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.is_set()
    }

    /// How a search ends that has found something or not.
    pub fn exit(&self, is_clean: bool) -> Exit {
        match (self.is_cancelled(), is_clean) {
            (true, _) => Exit::Interrupted,
            (false, true) => Exit::Clean,
            (false, false) => Exit::Findings,
        }
    }
}

/// Asks for an end. Whatever takes time looks at it now and then.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    /// The same question for searches that take a function without state.
    halt: Option<fn() -> bool>,
}

impl Cancel {
    /// With a flag that others set, and a function that reads the same flag.
    pub fn new(flag: Arc<AtomicBool>, halt: fn() -> bool) -> Cancel {
        Cancel {
            flag,
            halt: Some(halt),
        }
    }

    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    pub fn halt(&self) -> Option<fn() -> bool> {
        self.halt
    }
}

/// Counts runs of programs over searches that each count from nothing.
#[derive(Debug, Default)]
pub struct Runs {
    before: AtomicU64,
    current: AtomicU64,
}

impl Runs {
    /// So many since the current search began; a smaller number is that of another search.
    pub fn count(&self, runs: u64) {
        let before = self.current.swap(runs, Ordering::Relaxed);
        if runs < before {
            self.before.fetch_add(before, Ordering::Relaxed);
        }
    }

    pub fn total(&self) -> u64 {
        self.before.load(Ordering::Relaxed) + self.current.load(Ordering::Relaxed)
    }
}

/// Something that happened.
pub enum Event<'e> {
    /// Worth knowing, and no error.
    Note(&'e str),
    /// Something could not be done, and work goes on without it.
    Trouble(&'e Failure),
    /// A line that stays.
    Line(&'e str),
    /// Something was found, in one line; of lines alike one is enough.
    Found(&'e str),
}

/// Something that takes time.
pub enum Task<'t> {
    /// A search, which may take so long.
    Search(Option<Duration>),
    /// A variant with this name is made of so many modules.
    Derive { variant: &'t str, modules: u64 },
    /// A revision with this label is built.
    Build(&'t str),
    /// Tests are recorded; their output may be on the terminal.
    Record { shows_output: bool },
    /// Searches take turns.
    Check {
        title: String,
        budget: Duration,
        clock: Arc<Clock>,
        runs: Arc<Runs>,
        phases: &'t [&'static str],
    },
}

/// How far something is.
pub enum Step<'s> {
    /// In a line.
    Line(&'s str),
    Compiled {
        source: &'s str,
        done: u64,
    },
    Linking,
    Build(&'s parallax_project::Event<'s>),
    Recorded {
        runs: u64,
        scenarios: u64,
    },
    /// A phase of a check has its turn.
    Begin(usize),
    /// Its turn is over; what it has come to in all.
    End {
        phase: usize,
        gave: String,
        spent: Duration,
        is_done: bool,
    },
    /// Something else than a phase is done.
    Doing(&'s str),
    Totals {
        findings: u64,
        covered: u64,
        lines: u64,
    },
}

/// Hears of what happens.
pub trait Events: Send + Sync {
    fn tell(&self, event: Event<'_>);
    /// Begins something that takes time; it is over when what is returned is dropped.
    fn begin(&self, task: Task<'_>) -> Box<dyn Progress>;
}

/// Hears how far something is.
pub trait Progress: Send + Sync {
    fn step(&self, step: Step<'_>);
}
