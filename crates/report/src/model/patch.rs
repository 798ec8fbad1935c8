//! The patch itself: its two sides, its hunks, and the text that they are shown in.

use serde::{Deserialize, Serialize};

/// What was tested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// As it can be typed again: `HEAD~1..HEAD`.
    pub range: String,
    pub old: Revision,
    pub new: Revision,
    /// Changed files that are sources, in order.
    pub files: Vec<SourceFile>,
    /// All hunks, in the order of files and lines. Findings name them by number.
    pub hunks: Vec<Hunk>,
}

/// One side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// As the user knows it: `HEAD~1`, `v2.0`, `uncommitted changes`.
    pub label: String,
    /// Commit in hexadecimal, or hash of a tree without version control.
    pub id: String,
    /// Whether it is a commit that others can look up.
    pub is_commit: bool,
}

impl Revision {
    /// Enough of the id to tell revisions apart.
    pub fn short_id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// A changed file, with the text that the annotated diff is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceFile {
    /// In the new revision if that has it.
    pub name: String,
    /// What it was called before, if otherwise.
    pub old_name: Option<String>,
    /// Its text in the new revision. `None`: there is none, or it is not at hand; then hunks are shown without what is around
    /// them.
    pub text: Option<String>,
}

/// Lines of a file: the first one, from 1, and how many. Of none, the line that they would come after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    pub first: u32,
    pub count: u32,
}

impl Span {
    /// Whether a line is one of them.
    pub fn has(self, line: u32) -> bool {
        (self.first..self.first + self.count).contains(&line)
    }

    /// The last line; of none, the first.
    pub fn last(self) -> u32 {
        self.first + self.count.saturating_sub(1)
    }
}

/// A run of changed lines, without unchanged ones around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// As in [`SourceFile::name`].
    pub file: String,
    pub old: Span,
    pub new: Span,
    /// Without their ends.
    pub removed: Vec<String>,
    pub added: Vec<String>,
}
