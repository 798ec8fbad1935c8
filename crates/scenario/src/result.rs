//! What came of a run, and runs that were seen happening.

use serde::{Deserialize, Serialize};

use super::{Bytes, Scenario};

/// How a run ended and what it printed, as all commands show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ending {
    pub exit: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: Bytes,
    pub stderr: Bytes,
    /// What the checked build reported, one line each.
    pub sanitizer: Option<String>,
    /// What a server answered to each of its clients.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Bytes>,
}

/// A run of a program that the test suite made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// As configured, relative to the build tree.
    pub program: Bytes,
    pub scenario: Scenario,
    pub result: Ending,
    /// The test that made it, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// What was left out because of a limit, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Why it may come out otherwise the next time, in words: what it did depended on something that is no part of
    /// scenarios, like other processes at work.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsteady: Vec<String>,
    pub seconds: f64,
}
