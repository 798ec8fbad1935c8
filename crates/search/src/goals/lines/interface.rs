//! What a search for lines is given, and what it gives back.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use parallax_abi::SiteId;
use parallax_scenario::Scenario;

use crate::core::guide::Target;

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
    /// Inputs that are made without looking at a path: entries with one thing changed, and at random.
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

/// What is searched for, and how.
#[derive(Clone, Debug)]
pub struct Aims {
    pub targets: Vec<Target>,
    /// So many of them are searched for; of the others it is only noticed that they are reached.
    pub searched: usize,
    /// Time that earlier searches for them took.
    pub before: Vec<Duration>,
    /// For each target: traced runs and time while it is the one that is searched for.
    pub runs: Option<u64>,
    pub time: Option<Duration>,
    pub without: BTreeSet<Heuristic>,
}

impl Aims {
    pub fn has(&self, heuristic: Heuristic) -> bool {
        !self.without.contains(&heuristic)
    }
}

/// Targets that were reached and that nobody has heard of yet.
pub type Inbox = Rc<RefCell<Vec<Reached>>>;

/// An input has reached a target.
#[derive(Clone, Debug)]
pub struct Reached {
    /// Its number.
    pub target: usize,
    /// The given scenario that the input was made from.
    pub seed: Arc<Scenario>,
    pub scenario: Arc<Scenario>,
    /// How it was made; empty if it was given.
    pub steps: Vec<Step>,
    /// The target that was searched for then.
    pub focus: Option<usize>,
    /// Whether nobody looked at a path to make it.
    pub is_surveyed: bool,
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
    /// The input got another structure, or something else of it was changed.
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
    /// This scenario, which was given, reaches it.
    Suite(Scenario),
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

/// An input that ran something that none before it had.
#[derive(Clone, Debug)]
pub struct Discovery {
    pub scenario: Arc<Scenario>,
    /// The given scenario that it was made from, and how.
    pub seed: Arc<Scenario>,
    pub steps: Vec<Step>,
}

/// What became of one target, and what that took.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// Whether it was searched for at all, or reached before its turn came.
    pub is_searched: bool,
    /// Whether it had all the runs or all the time that there are for a target.
    pub is_out_of_runs: bool,
    pub is_out_of_time: bool,
    /// Traced runs and time while it was the one that was searched for.
    pub runs: u64,
    pub time: Duration,
    /// Inputs that were run for it, and alternatives that were asked about.
    pub paths: u64,
    pub queries: u64,
    /// Given scenarios that came nearest, the nearest first, and the decisions that it lacks.
    pub seeds: Vec<Arc<Scenario>>,
    pub distance: Option<u32>,
}
