//! The ledger: what became of each group of changed lines.

use parallax_scenario::Scenario;
use serde::{Deserialize, Serialize};

/// Lines that run together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Target {
    pub file: String,
    /// Ascending, of the new version.
    pub lines: Vec<u32>,
    pub function: String,
    /// That have the code.
    pub programs: Vec<String>,
    pub state: State,
    /// How many known inputs run it; 1 where it is only known that some do, 0 if none does.
    pub hits: u64,
    /// Of what is not covered: why, in a sentence for people who do not know how the search works.
    pub why: Option<String>,
    /// Of what a new input covers: the command line, to be pasted.
    pub command: Option<String>,
    /// That input, and its name in the store.
    pub scenario: Option<Scenario>,
    pub scenario_id: Option<String>,
    /// How the input was made from a test, step by step.
    pub steps: Vec<Step>,
    /// The test file that was written for it, relative to the top of the project.
    pub test: Option<String>,
    /// Spent on the search.
    pub seconds: f64,
    /// Whatever else is to be said.
    pub notes: Vec<String>,
}

/// What became of a target.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The tests run it.
    Suite,
    /// A new input runs it.
    Covered,
    /// Every way there contradicts itself, on all that was explored.
    Infeasible,
    /// Something was not got past in the time given.
    Blocked,
    /// No way leads there from anything that ran.
    Missed,
    /// It was not searched for: no time was left.
    #[default]
    Open,
}

impl State {
    pub const ALL: [State; 6] = [
        State::Suite,
        State::Covered,
        State::Infeasible,
        State::Blocked,
        State::Missed,
        State::Open,
    ];

    pub fn name(self) -> &'static str {
        match self {
            State::Suite => "suite",
            State::Covered => "covered",
            State::Infeasible => "infeasible",
            State::Blocked => "blocked",
            State::Missed => "missed",
            State::Open => "open",
        }
    }

    /// Whether some input runs it.
    pub fn is_covered(self) -> bool {
        matches!(self, State::Suite | State::Covered)
    }

    /// For people.
    pub fn in_words(self) -> &'static str {
        match self {
            State::Suite => "run by the tests",
            State::Covered => "run by a new input",
            State::Infeasible => "every way tried contradicts itself",
            State::Blocked => "not reached",
            State::Missed => "nothing leads there",
            State::Open => "not searched for",
        }
    }
}

/// A step of the way from a test to an input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// What was done, in words: `turned the condition`.
    pub what: String,
    /// The decision that it was about: file, line and the line's text, as far as known.
    pub file: Option<String>,
    pub line: u32,
    pub text: String,
    /// The command line after the step.
    pub command: Option<String>,
}

/// A changed line without code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    pub file: String,
    pub line: u32,
    pub why: String,
}
