//! What a search may take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Runs and time; a part that is not there is not limited.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub runs: Option<u64>,
    pub time: Option<Duration>,
}

impl Budget {
    /// Time only.
    pub fn of(time: Duration) -> Budget {
        Budget {
            runs: None,
            time: Some(time),
        }
    }
}
