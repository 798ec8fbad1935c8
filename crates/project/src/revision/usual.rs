//! Which patch is meant when nothing is said: what this branch adds to the one that it will be merged into.

use super::{Repository, Revision, RevisionError, Selected};
use crate::project::Project;

/// Branches that others are usually merged into.
const MAIN: [&str; 3] = ["origin/HEAD", "main", "master"];

/// The patch that is meant, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usual {
    pub selected: Selected,
    /// For the user, when it is not what was to be expected.
    pub note: Option<String>,
}

impl Project {
    /// From where this branch left its upstream branch (or, without one, the main branch) to the checkout as it is. Where that is
    /// nothing, the last commit. `is_code`: files whose changes count; others lie about in every checkout.
    pub fn usual_patch(
        &self,
        is_code: impl Fn(&str) -> bool + Copy,
    ) -> Result<Usual, RevisionError> {
        let Some(repository) = &self.repository else {
            return Err(super::no_repository(self));
        };
        let state = self.state().map_err(Box::new)?;
        let new = repository.uncommitted(&state)?;
        let head = repository.commit("HEAD")?;
        let patch = |old: Revision, note: Option<String>| {
            let new = new.clone();
            Ok(Usual {
                selected: Selected {
                    old: Some(old),
                    new,
                },
                note,
            })
        };
        let upstream = repository.upstream();
        let is_known = upstream.is_some();
        let without = "there is no upstream branch";
        let bases = upstream.into_iter().chain(MAIN.map(str::to_owned));
        for name in bases.take(if is_known { 1 } else { MAIN.len() }) {
            let Ok(other) = repository.commit(&name) else {
                continue;
            };
            let Ok(base) = repository.merge_base(&other, &head) else {
                continue;
            };
            if base.id != head.id {
                let label = match base.id == other.id {
                    true => name.clone(),
                    false => format!("where the branch left {name}"),
                };
                let note = (!is_known).then(|| format!("{without}: compared with {name}"));
                return patch(Revision { label, ..base }, note);
            }
        }
        let changed =
            repository.ask(&["diff-tree", "-r", "-z", "--name-only", &head.id, &new.id])?;
        if changed.split('\0').any(is_code) {
            let note = format!("{without}: your uncommitted changes are compared with HEAD");
            return patch(head, (!is_known).then_some(note));
        }
        let why = match is_known {
            true => "there is nothing that the upstream branch does not have",
            false => without,
        };
        match repository.commit("HEAD~1") {
            Ok(old) => patch(old, Some(format!("{why}: the last commit is looked at"))),
            Err(_) => Err(RevisionError::NothingBefore),
        }
    }
}

impl Repository {
    /// The name of the branch that this one is compared with by `git status`.
    fn upstream(&self) -> Option<String> {
        let ask = [
            "rev-parse",
            "--abbrev-ref",
            "--symbolic-full-name",
            "@{upstream}",
        ];
        let name = self.ask(&ask).ok()?;
        (!name.is_empty()).then_some(name)
    }

    /// Names the files of a revision, whatever its history.
    pub fn content(&self, revision: &Revision) -> Result<String, RevisionError> {
        self.ask(&["rev-parse", &format!("{}^{{tree}}", revision.id)])
    }

    /// Trailers with this key (`Key: value` at the end of a message) of the commits between two revisions.
    pub fn trailers(
        &self,
        old: &Revision,
        new: &Revision,
        key: &str,
    ) -> Result<Vec<Trailer>, RevisionError> {
        let format = format!("--format=%h%x00%s%x00%(trailers:key={key},valueonly,separator=%x00)");
        let range = format!("{}..{}", old.id, new.id);
        let list = self.ask(&["log", &format, &range])?;
        let mut found = Vec::new();
        for line in list.lines() {
            let mut parts = line.split('\0');
            let (commit, subject) = (parts.next(), parts.next());
            let (commit, subject) = (commit.unwrap_or_default(), subject.unwrap_or_default());
            let values = parts.map(str::trim).filter(|value| !value.is_empty());
            found.extend(values.map(|value| Trailer {
                commit: commit.to_owned(),
                subject: subject.to_owned(),
                value: value.to_owned(),
            }));
        }
        Ok(found)
    }
}

/// What a commit says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// Short id.
    pub commit: String,
    /// First line of the message.
    pub subject: String,
    pub value: String,
}
