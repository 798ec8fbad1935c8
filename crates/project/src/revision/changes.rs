//! What a range changes: the lines of the new revision that the old one does not have.

use std::path::Path;

use super::git::{Repository, command, output, whole_output};
use super::unified;
use super::{Revision, RevisionError};

/// The lines of one file that are new or modified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Relative to the top of the project.
    pub file: String,
    /// Numbers in the new revision, ascending.
    pub lines: Vec<u32>,
}

impl Repository {
    /// What is new or modified from one revision to another in files of the project. Renamed files are followed.
    pub fn changes(&self, old: &Revision, new: &Revision) -> Result<Vec<Change>, RevisionError> {
        let mut diff = command(self.top());
        diff.args(["-c", "core.quotePath=false", "diff", "-U0", "-M"])
            .args(["--no-color", "--no-ext-diff", "--no-textconv"])
            .args(["--src-prefix=a/", "--dst-prefix=b/"])
            .args([&old.id, &new.id, "--"]);
        if !self.prefix().as_os_str().is_empty() {
            diff.arg(self.prefix());
        }
        let text = output(diff)?;
        Ok(added(&String::from_utf8_lossy(&text), self.prefix()))
    }
}

/// A file that two revisions have, with different contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Modified {
    /// Relative to the top of the project, in the new revision.
    pub file: String,
    pub old: Vec<u8>,
    pub new: Vec<u8>,
}

/// A file that lies in the project in one of two revisions, by its paths in the repository.
pub(super) struct Touched {
    /// The letter that git has for what was done to it.
    pub status: char,
    /// The same two unless it was renamed.
    pub before: String,
    pub after: String,
}

impl Repository {
    /// Files of the project with contents in both revisions that are not the same. Renamed files are followed.
    pub fn modified(&self, old: &Revision, new: &Revision) -> Result<Vec<Modified>, RevisionError> {
        let mut modified = Vec::new();
        for Touched { before, after, .. } in self.touched(old, new, "MR")? {
            let Ok(file) = Path::new(&after).strip_prefix(self.prefix()) else {
                continue;
            };
            modified.push(Modified {
                file: file.to_string_lossy().into_owned(),
                old: self.contents(old, &before)?,
                new: self.contents(new, &after)?,
            });
        }
        Ok(modified)
    }

    /// Files to which something was done that one of these letters of git stands for.
    pub(super) fn touched(
        &self,
        old: &Revision,
        new: &Revision,
        letters: &str,
    ) -> Result<Vec<Touched>, RevisionError> {
        let mut diff = command(self.top());
        diff.args(["diff", "--name-status", "-z", "-M"])
            .arg(format!("--diff-filter={letters}"))
            .args([&old.id, &new.id, "--"]);
        if !self.prefix().as_os_str().is_empty() {
            diff.arg(self.prefix());
        }
        let list = String::from_utf8_lossy(&output(diff)?).into_owned();
        let mut fields = list.split('\0').filter(|field| !field.is_empty());
        let mut touched = Vec::new();
        while let (Some(status), Some(before)) = (fields.next(), fields.next()) {
            let status = status.chars().next().unwrap_or_default();
            let after = match status {
                'R' => fields.next().unwrap_or(before),
                _ => before,
            };
            touched.push(Touched {
                status,
                before: before.to_owned(),
                after: after.to_owned(),
            });
        }
        Ok(touched)
    }

    /// A file of a revision, by its path in the repository.
    pub(super) fn contents(
        &self,
        revision: &Revision,
        path: &str,
    ) -> Result<Vec<u8>, RevisionError> {
        let mut show = command(self.top());
        show.args(["cat-file", "blob", &format!("{}:{path}", revision.id)]);
        whole_output(show)
    }
}

/// The lines that come, in files below the prefix.
fn added(diff: &str, prefix: &Path) -> Vec<Change> {
    let files = unified::read(diff).into_iter();
    let changes = files.filter_map(|file| {
        let name = file.new?;
        let inside = Path::new(&name).strip_prefix(prefix).ok()?;
        let lines = file.runs.iter().flat_map(|(_, new)| new.lines());
        Some(Change {
            file: inside.to_string_lossy().into_owned(),
            lines: lines.collect(),
        })
    });
    changes.filter(|change| !change.lines.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_come_are_those_of_files_below_the_prefix() {
        let diff = "\
diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -3 +3,2 @@ int f(void)
-old
+one
+two
@@ -10,2 +11,0 @@
-gone
-gone
diff --git a/other/b.c b/other/b.c
--- a/other/b.c
+++ b/other/b.c
@@ -0,0 +1 @@
+x
diff --git a/src/c.c b/src/c.c
--- a/src/c.c
+++ /dev/null
@@ -1 +0,0 @@
-x
";
        let expected = Change {
            file: "a.c".into(),
            lines: vec![3, 4],
        };
        assert_eq!(added(diff, Path::new("src")), [expected]);
        assert_eq!(added(diff, Path::new("")).len(), 2);
    }
}
