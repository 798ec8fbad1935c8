//! The report of `parallax replay`.

mod json;
mod text;

use std::path::PathBuf;

use parallax_exec::compare::{Difference, Names, Side, Window, compare};
use parallax_exec::replay::{Build, Seen};
use parallax_scenario::{Bytes, Ending, Recorded, Scenario};

pub use json::{all_json, json};
pub use text::{all_text, command_line, text};

/// A scenario that is run again, with what is known about it.
pub struct What {
    pub title: String,
    pub scenario: Scenario,
    /// As it was recorded; empty if that is not known.
    pub program: Bytes,
    /// What came of it then.
    pub result: Option<Ending>,
    /// What the program was called then.
    pub names: Names,
    pub is_finding: bool,
}

impl What {
    /// A scenario that was recorded, with its result.
    pub fn recorded(title: String, recorded: Recorded) -> What {
        let Recorded {
            program,
            scenario,
            result,
            ..
        } = recorded;
        let name = scenario.name.clone().unwrap_or_else(|| program.clone());
        What {
            title,
            names: Names {
                program: PathBuf::from(program.to_os_string()),
                name: name.0,
            },
            scenario,
            program,
            result: Some(result),
            is_finding: false,
        }
    }
}

/// What was recorded.
#[derive(Clone, Copy)]
pub struct Reference<'a> {
    pub ending: &'a Ending,
    pub names: &'a Names,
}

/// What one subject did.
pub struct Shown {
    pub label: String,
    pub build: Build,
    pub seen: Seen,
    pub is_flaky: bool,
}

pub struct ReplayReport<'a> {
    pub what: &'a What,
    pub reference: Option<Reference<'a>>,
    pub shown: &'a [Shown],
    /// Of each of those, against the reference, or against the first of them.
    pub differences: Vec<Vec<Difference>>,
}

impl<'a> ReplayReport<'a> {
    pub fn new(
        what: &'a What,
        reference: Option<Reference<'a>>,
        shown: &'a [Shown],
        window: Window,
    ) -> ReplayReport<'a> {
        let recorded = reference.map(|Reference { ending, names }| Side { ending, names });
        let first = recorded.or_else(|| shown.first().map(|shown| shown.seen.side()));
        let differences = |shown: &Shown| {
            let mut all =
                first.map_or_else(Vec::new, |first| compare(first, shown.seen.side(), window));
            // Sanitizers write to standard error, and go on or end as they like.
            if shown.build == Build::Checked && !shown.seen.problems.is_empty() {
                all.retain(|difference| {
                    !matches!(difference, Difference::Stderr(_) | Difference::End { .. })
                });
            }
            all
        };
        ReplayReport {
            what,
            reference,
            differences: shown.iter().map(differences).collect(),
            shown,
        }
    }

    /// Whether everything came out the same, each time.
    pub fn is_same(&self) -> bool {
        self.differences.iter().all(Vec::is_empty) && !self.shown.iter().any(|s| s.is_flaky)
    }
}

/// The recorded side of a scenario.
pub fn side(what: &What) -> Option<Side<'_>> {
    let ending = what.result.as_ref()?;
    let names = &what.names;
    Some(Side { ending, names })
}

/// Why a scenario did not give what was recorded.
pub enum Why {
    Differs(Vec<Difference>),
    /// Not every time.
    Flaky(Vec<Difference>),
    /// It could not be run.
    Failed(String),
}

pub struct Missed {
    pub id: String,
    pub command: String,
    /// Limits that the recording met.
    pub notes: Vec<String>,
    /// Why it may come out otherwise. Then it is told, but does not count.
    pub unsteady: Vec<String>,
    pub why: Why,
}

/// What became of all scenarios.
pub struct AllReport {
    pub total: usize,
    pub missed: Vec<Missed>,
    pub seconds: f64,
    pub jobs: usize,
    pub is_checked: bool,
}

impl AllReport {
    pub fn same(&self) -> usize {
        self.total - self.missed.len()
    }

    /// How many were different, and may be.
    pub fn unsteady(&self) -> usize {
        let missed = self.missed.iter();
        missed.filter(|one| !one.unsteady.is_empty()).count()
    }

    /// How many were the same, of those that count.
    pub fn percent(&self) -> f64 {
        let counting = self.total - self.unsteady();
        100.0 * self.same() as f64 / counting.max(1) as f64
    }

    pub fn rate(&self) -> f64 {
        self.total as f64 / self.seconds.max(0.001)
    }
}
