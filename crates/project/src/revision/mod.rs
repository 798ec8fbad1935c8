//! What the user means by a range, a revision or nothing: one or two [`Revision`]s.
//!
//! With git, every revision is a commit in the end. Uncommitted changes become one that no branch names: its tree is
//! written through a temporary copy of the index, so that the user's index, checkout and stash stay as they are, and its
//! author and date are fixed, so that the same changes have the same name. Without git, the tree as it is
//! is named by its content.

mod addition;
mod changes;
mod copy;
mod generated;
mod git;
mod hunks;
mod submodules;
pub mod unified;
mod usual;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::project::{Project, ProjectError};
use crate::tools::is_on_path;
pub use addition::NewFile;
pub use changes::{Change, Modified};
use copy::Snapshot;
pub use git::Repository;
pub use hunks::{Hunk, Patch};
pub use unified::Span;
pub use usual::{Trailer, Usual};

/// What the user typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// Nothing: the source as it is now.
    #[default]
    Current,
    /// `OLD..NEW`, `OLD...NEW`, `OLD..` (against the source as it is now) or a single revision.
    Words(String),
    /// What is staged, against this revision.
    Cached { base: String },
    /// The source as it is now, against this revision.
    Worktree { base: String },
}

impl Selection {
    /// A range, or without one what is not committed.
    pub fn patch(range: Option<&str>) -> Selection {
        match range {
            Some(range) => Selection::Words(range.to_owned()),
            None => Selection::Worktree {
                base: "HEAD".to_owned(),
            },
        }
    }
}

/// What that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selected {
    /// `None` when a single revision was meant.
    pub old: Option<Revision>,
    pub new: Revision,
}

impl Selected {
    /// Old, then new.
    pub fn all(&self) -> impl Iterator<Item = &Revision> {
        self.old.iter().chain([&self.new])
    }
}

/// A state of the source that can be built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revision {
    /// As the user knows it: `HEAD~1`, `v2.0`, `staged changes`.
    pub label: String,
    /// Commit in hexadecimal, or hash of the content of a tree without version control.
    pub id: String,
    pub kind: Kind,
}

impl Revision {
    /// Enough of the id to tell revisions apart.
    pub fn short_id(&self) -> &str {
        self.id.get(..12).unwrap_or(&self.id)
    }
}

/// Where a revision's files come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A commit of the user's.
    Commit,
    /// A commit that was made of staged changes.
    Staged,
    /// A commit that was made of the checkout as it was.
    Uncommitted,
    /// A source tree without version control.
    Copy,
}

/// Why there is no such revision.
#[derive(Debug, thiserror::Error)]
pub enum RevisionError {
    #[error("there is no revision {0:?}")]
    Unknown(String),
    #[error("{} is not in a git repository, so there are no revisions but the source as it is", root.display())]
    NoRepository {
        root: PathBuf,
        /// What git says about a repository that is there and cannot be used.
        complaint: Option<String>,
    },
    #[error("{} has no commit yet, so there are no revisions but the source as it is", root.display())]
    NoCommit { root: PathBuf },
    #[error("{0:?} is not of the form OLD..NEW")]
    Form(String),
    #[error("{old} and {new} have no common ancestor")]
    NoBase { old: String, new: String },
    #[error("there is no commit before this one, so there is nothing to compare with")]
    NothingBefore,
    #[error("git {command} failed: {message}")]
    Git { command: String, message: String },
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Project(#[from] Box<ProjectError>),
}

impl RevisionError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> RevisionError {
        let path = path.to_owned();
        move |error| RevisionError::Io { path, error }
    }
}

/// Finds out which revisions are meant.
pub(crate) fn select(project: &Project, selection: &Selection) -> Result<Selected, RevisionError> {
    let Some(repository) = &project.repository else {
        return match selection {
            Selection::Current => Ok(Selected {
                old: None,
                new: Snapshot::of(&project.root)?.revision(),
            }),
            _ => Err(no_repository(project)),
        };
    };
    let state = project.state().map_err(Box::new)?;
    let pair = |old: Revision, new: Revision| Selected {
        old: Some(old),
        new,
    };
    match selection {
        Selection::Current => Ok(Selected {
            old: None,
            new: repository.uncommitted(&state)?,
        }),
        Selection::Cached { base } => {
            Ok(pair(repository.commit(base)?, repository.staged(&state)?))
        }
        Selection::Worktree { base } => Ok(pair(
            repository.commit(base)?,
            repository.uncommitted(&state)?,
        )),
        Selection::Words(words) => {
            let named = |word: &str| repository.commit(if word.is_empty() { "HEAD" } else { word });
            if let Some((old, new)) = words.split_once("...") {
                let base = repository.merge_base(&named(old)?, &named(new)?)?;
                return Ok(pair(base, named(new)?));
            }
            match words.split_once("..") {
                None if words.is_empty() => Err(RevisionError::Form(words.clone())),
                None => Ok(Selected {
                    old: None,
                    new: named(words)?,
                }),
                Some((_, new)) if new.contains("..") => Err(RevisionError::Form(words.clone())),
                Some((old, "")) => Ok(pair(named(old)?, repository.uncommitted(&state)?)),
                Some((old, new)) => Ok(pair(named(old)?, named(new)?)),
            }
        }
    }
}

/// Puts a revision's files into a directory that does not exist yet. Returns the top of the project in it, and
/// remarks for the user.
pub(crate) fn materialise(
    project: &Project,
    revision: &Revision,
    destination: &Path,
) -> Result<(PathBuf, Vec<String>), RevisionError> {
    match (&project.repository, revision.kind) {
        (Some(repository), Kind::Commit | Kind::Staged | Kind::Uncommitted) => {
            repository.check_out(revision, destination)?;
            let notes = submodules::fill(repository, revision, destination)?;
            repository.even_times(revision, destination)?;
            Ok((destination.join(repository.prefix()), notes))
        }
        (_, Kind::Copy) => {
            Snapshot::of(&project.root)?.copy_to(destination)?;
            let notes = generated::trust(destination, &is_on_path)?;
            Ok((destination.to_owned(), notes))
        }
        (None, _) => Err(no_repository(project)),
    }
}

fn no_repository(project: &Project) -> RevisionError {
    let root = project.root.clone();
    let complaint = git::complaint(&root);
    // Where everybody begins.
    let is_new = |complaint: &String| complaint.contains("does not have any commits yet");
    match complaint.as_ref().is_some_and(is_new) {
        true => RevisionError::NoCommit { root },
        false => RevisionError::NoRepository { root, complaint },
    }
}

/// Sets a file's time of modification; symbolic links keep theirs.
fn set_time(path: &Path, time: SystemTime) -> io::Result<()> {
    std::fs::File::open(path)?.set_modified(time)
}
