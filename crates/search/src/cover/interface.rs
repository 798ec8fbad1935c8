//! What a search for a target is given, and what it gives back.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use parallax_abi::SiteId;

use crate::explore;
use parallax_exec::coverage::Counter;
use parallax_exec::finding::Finding;
use parallax_scenario::Scenario;

/// Parts of the search that can be left out, to see what they are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Heuristic {
    /// Distances mind what must hold for the target to be reached.
    Preconditions,
    /// Calls through pointers lead to the functions that these may point to. A matter of the analysis that a search is given.
    Pointers,
    /// A way that contradicts what was decided before is tried without what it contradicts.
    Regenerate,
    /// Where a condition does not depend on input bytes: what gives its variables other values is searched for.
    Switch,
    /// Longer and shorter inputs, other arguments.
    Structure,
    /// Parts of one scenario in another.
    Splice,
    /// In a project, before all searches: the scenarios with one thing changed.
    Survey,
}

impl Heuristic {
    pub const ALL: [Heuristic; 7] = [
        Heuristic::Preconditions,
        Heuristic::Pointers,
        Heuristic::Regenerate,
        Heuristic::Switch,
        Heuristic::Structure,
        Heuristic::Splice,
        Heuristic::Survey,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Heuristic::Preconditions => "preconditions",
            Heuristic::Pointers => "pointers",
            Heuristic::Regenerate => "regenerate",
            Heuristic::Switch => "switch",
            Heuristic::Structure => "structure",
            Heuristic::Splice => "splice",
            Heuristic::Survey => "survey",
        }
    }
}

/// How to search.
#[derive(Clone, Debug)]
pub struct Options {
    /// Scenarios to start from, the best ones first if they are as good as each other.
    pub seeds: Vec<Scenario>,
    /// Everything that an exploration is given, too; its budget is that of one target, and its shape says what
    /// inputs may be made.
    pub explore: explore::Options,
    pub without: BTreeSet<Heuristic>,
}

impl Options {
    pub fn has(&self, heuristic: Heuristic) -> bool {
        !self.without.contains(&heuristic)
    }
}

/// Who watches.
pub trait Observer {
    fn progress(&mut self, progress: &Progress);
    /// Whether to end now.
    fn stop(&self) -> bool;
    /// When it ends at the latest, as far as that is known beforehand.
    fn end(&self) -> Option<Instant> {
        None
    }
    /// A new input was run; it may have reached what else is looked for.
    fn ran(&mut self, _reached: &Reached<'_>) {}
}

/// What a new input ran.
pub struct Reached<'r> {
    /// The given scenario that the input was made from.
    pub seed: &'r Scenario,
    pub scenario: &'r Scenario,
    /// Everything of the covered program that ran.
    pub counters: &'r [Counter],
    /// How the input came about.
    pub steps: &'r dyn Fn() -> Vec<Step>,
}

/// How far it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub runs: u64,
    /// Decisions between the target and what came nearest.
    pub distance: Option<u32>,
    /// Ways that are not tried yet.
    pub open: u64,
}

/// How one step of a derivation was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Means {
    /// The input was changed so that a branch went the other way.
    Greedy,
    /// The same, without something that had been decided before.
    Regenerate,
    /// The input was changed for the sake of a definition that a condition on the way needs.
    Switch,
    /// The input got another structure.
    Structure,
    /// A part of another scenario was taken over.
    Splice,
}

impl Means {
    pub fn name(self) -> &'static str {
        match self {
            Means::Greedy => "greedy",
            Means::Regenerate => "regenerate",
            Means::Switch => "switch",
            Means::Structure => "structure",
            Means::Splice => "splice",
        }
    }
}

/// One step from a seed to the target.
#[derive(Clone, Debug)]
pub struct Step {
    pub means: Means,
    /// The branch that was to go otherwise, or the call of the library function that it is in; `None` if it was none.
    pub site: Option<SiteId>,
    /// The new input.
    pub scenario: Scenario,
    /// Decisions from there to the target, or to the definition that it was for, as it was expected.
    pub distance: Option<u32>,
}

/// The branch that a search came to nearest to its target and did not get past.
#[derive(Clone, Debug)]
pub struct Obstacle {
    pub site: SiteId,
    /// Decisions between the other side and the target.
    pub distance: u32,
    /// A run that came there.
    pub scenario: Scenario,
    /// No input goes there from any explored run: the branches that contradict it.
    pub contradicts: Option<Vec<SiteId>>,
    /// Beginnings of paths on which it was tried.
    pub prefixes: u64,
    /// In no run did the branch depend on input bytes.
    pub is_concrete: bool,
}

/// What became of a target.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// A scenario that was given reaches it: its number.
    Suite(usize),
    /// Reached by a new input.
    Covered {
        scenario: Scenario,
        steps: Vec<Step>,
    },
    /// All ways that could lead there contradict what leads to them.
    Infeasible(Option<Obstacle>),
    /// Not reached in the time given.
    Blocked(Option<Obstacle>),
    /// No way leads there from anything that ran.
    Missed,
}

impl Verdict {
    /// Whether some input reaches the target.
    pub fn is_reached(&self) -> bool {
        matches!(self, Verdict::Suite(_) | Verdict::Covered { .. })
    }
}

/// What a search came to.
#[derive(Clone, Debug)]
pub struct Summary {
    pub verdict: Verdict,
    pub runs: u64,
    /// Different ones.
    pub paths: u64,
    pub executions: u64,
    pub time: Duration,
    pub queries: u64,
    /// Function or instruction → how often labels were lost there.
    pub losses: std::collections::BTreeMap<String, u64>,
    /// Errors of the program that were met on the way and confirmed, and those of the input that reaches the target.
    pub findings: Vec<Finding>,
    /// Whether it was ended from outside.
    pub stopped: bool,
}
