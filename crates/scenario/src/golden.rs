//! What a version that is known to be right says about two others that differ.

use serde::{Deserialize, Serialize};

/// Which of them it agrees with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Golden {
    /// It does what the old version does.
    Regression,
    /// It does something else than both.
    Unclear,
    /// It does what the new version does.
    Intended,
}

impl Golden {
    pub fn name(self) -> &'static str {
        match self {
            Golden::Regression => "regression",
            Golden::Unclear => "unclear",
            Golden::Intended => "intended",
        }
    }

    pub fn in_words(self) -> &'static str {
        match self {
            Golden::Regression => "the version known to be right does as the old one",
            Golden::Unclear => "the version known to be right does something else than both",
            Golden::Intended => "the version known to be right does as the new one",
        }
    }
}
