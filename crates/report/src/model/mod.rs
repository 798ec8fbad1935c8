//! The data of a report about one patch.
//!
//! Filled by whoever tested the patch. All paths of sources are relative to the top of the project, all texts are without
//! styles. What program and input are is given as bytes ([`Scenario`], [`Ending`]): forms escape what they cannot show.
//!
//! [`Scenario`]: parallax_scenario::Scenario
//! [`Ending`]: parallax_scenario::Ending

mod coverage;
mod finding;
mod group;
mod patch;
mod target;
mod verdict;

use serde::{Deserialize, Serialize};

pub use coverage::{FileCoverage, LineCoverage, LineState, Tally};
pub use finding::{
    Accepted, Class, Difference, DifferenceLine, Finding, Guilty, Interaction, Level, Parting,
    Problem, Role, Technique,
};
pub use group::Group;
pub use parallax_scenario::Golden;
pub use patch::{Hunk, Patch, Revision, SourceFile, Span};
pub use target::{Skipped, State, Step, Target};
pub use verdict::{Count, Verdict};

/// Everything that is known after a patch was tested.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PatchReport {
    /// Of Parallax, as in `CARGO_PKG_VERSION`.
    pub version: String,
    pub patch: Patch,
    /// Programs that have changed code, by their names in the build tree.
    pub programs: Vec<Program>,
    /// In the order in which they were first worked on.
    pub phases: Vec<Phase>,
    /// In any order: forms sort by [`Finding::rank`].
    pub findings: Vec<Finding>,
    /// Every group of changed lines that has code, covered or not: the ledger. In the order of files and lines.
    pub targets: Vec<Target>,
    /// Changed lines without code, with the reason.
    pub skipped: Vec<Skipped>,
    /// Where the connection between input and values was lost, most often first.
    pub losses: Vec<Loss>,
    /// How coverage and findings grew while inputs were searched for, in order. May be empty.
    pub timeline: Vec<Moment>,
    /// Change sequence graphs, where they were made.
    pub graphs: Vec<Graph>,
    /// A commit of the range promises that nothing that can be seen changes (`Behaviour: none`).
    pub promise: Option<Promise>,
    /// Entries of the file of accepted findings that nothing was seen of this time, by id.
    pub stale: Vec<String>,
    /// Whatever else is to be said, a sentence each: programs that only one version has, tests that fail already.
    pub notes: Vec<String>,
    /// Ended by the user before the budget was used up.
    pub is_interrupted: bool,
    pub stats: Stats,
}

/// A program with changed code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// As configured, relative to the build tree.
    pub name: String,
    /// Recorded runs of the tests, and those of them that run changed code.
    pub scenarios: u64,
    pub touching: u64,
}

/// A part of the work.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// `build`, `record`, `cover`, `diverge`, `amplify`, `interact`, `blame`…
    pub name: String,
    pub seconds: f64,
    /// What it gave, in words: `2 differences from 40 tests`.
    pub gave: String,
    /// Why it was not done, or not to its end; `None` if it was.
    pub left: Option<String>,
}

/// A function or instruction at which values lost their connection to the input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub function: String,
    pub count: u64,
}

/// A point of the time line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// Since the search began.
    pub seconds: f64,
    /// Changed lines that some input runs.
    pub covered: u64,
    pub findings: u64,
}

/// In which order changes can run, and where they meet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    pub program: String,
    /// A whole `<svg>` element, as `parallax graph --svg` writes it.
    pub svg: String,
}

/// A commit says that behaviour stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    /// Its short id.
    pub commit: String,
    /// First line of its message.
    pub subject: String,
}

/// Effort, over all phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Traced runs.
    pub runs: u64,
    /// Different paths among them.
    pub paths: u64,
    /// Questions to the solver.
    pub queries: u64,
    /// Wall time of everything, building and recording included.
    pub seconds: f64,
    /// Wall time of searching, and what it was given.
    pub searched: f64,
    pub budget: Option<f64>,
    /// When it ended, in seconds since 1970.
    #[serde(default)]
    pub finished: u64,
}

impl PatchReport {
    /// Findings, the worst first; of those alike the one with the smaller input.
    pub fn ranked(&self) -> Vec<&Finding> {
        let mut list: Vec<&Finding> = self.findings.iter().collect();
        list.sort_by_cached_key(|finding| finding.rank(self.promise.is_some()));
        list
    }

    /// How bad a finding is in this patch.
    pub fn level(&self, finding: &Finding) -> Level {
        finding.level(self.promise.is_some())
    }

    /// The guilty hunks of a finding, those first without which it vanishes.
    pub fn hunks<'r>(&'r self, finding: &'r Finding) -> Vec<(&'r Hunk, Role)> {
        let all = finding.hunks.iter();
        let mut list: Vec<(&Hunk, Role)> = all
            .filter_map(|guilty| Some((self.patch.hunks.get(guilty.hunk)?, guilty.role)))
            .collect();
        list.sort_by_key(|(_, role)| *role);
        list
    }
}
