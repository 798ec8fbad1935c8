//! What a range changes: the lines of the new revision that the old one does not have.

use std::path::Path;

use super::git::{Repository, command, output};
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
        Ok(parse(&String::from_utf8_lossy(&text), self.prefix()))
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

impl Repository {
    /// Files of the project with contents in both revisions that are not the same. Renamed files are followed.
    pub fn modified(&self, old: &Revision, new: &Revision) -> Result<Vec<Modified>, RevisionError> {
        let mut diff = command(self.top());
        diff.args(["diff", "--name-status", "-z", "-M", "--diff-filter=MR"])
            .args([&old.id, &new.id, "--"]);
        if !self.prefix().as_os_str().is_empty() {
            diff.arg(self.prefix());
        }
        let list = String::from_utf8_lossy(&output(diff)?).into_owned();
        let mut fields = list.split('\0').filter(|field| !field.is_empty());
        let mut modified = Vec::new();
        while let (Some(status), Some(before)) = (fields.next(), fields.next()) {
            let after = match status.starts_with('R') {
                true => fields.next().unwrap_or(before),
                false => before,
            };
            let Ok(file) = Path::new(after).strip_prefix(self.prefix()) else {
                continue;
            };
            modified.push(Modified {
                file: file.to_string_lossy().into_owned(),
                old: self.contents(old, before)?,
                new: self.contents(new, after)?,
            });
        }
        Ok(modified)
    }

    pub(super) fn contents(
        &self,
        revision: &Revision,
        path: &str,
    ) -> Result<Vec<u8>, RevisionError> {
        let mut show = command(self.top());
        show.args(["cat-file", "blob", &format!("{}:{path}", revision.id)]);
        let mut bytes = output(show)?;
        // Taken off by who reads answers of one line.
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn parse(diff: &str, prefix: &Path) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut current: Option<Change> = None;
    // Lines of a hunk that are still to come: they may look like anything.
    let mut rest = 0u32;
    for line in diff.lines() {
        if rest > 0 {
            rest -= u32::from(line.starts_with(['+', '-']));
            continue;
        }
        if let Some(name) = line.strip_prefix("+++ ") {
            changes.extend(current.take());
            let name = name.trim_end_matches('\t').trim_matches('"');
            let inside = name
                .strip_prefix("b/")
                .and_then(|name| Path::new(name).strip_prefix(prefix).ok());
            current = inside.map(|file| Change {
                file: file.to_string_lossy().into_owned(),
                lines: Vec::new(),
            });
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let ((_, removed), (first, added)) = spans(hunk);
            rest = removed + added;
            if let Some(change) = &mut current {
                change.lines.extend(first..first + added);
            }
        }
    }
    changes.extend(current);
    changes.retain(|change| !change.lines.is_empty());
    changes
}

/// Of a hunk's head: the first line that went and how many, the first that came and how many.
pub(super) fn spans(head: &str) -> ((u32, u32), (u32, u32)) {
    let span = |word: Option<&str>, sign: char| {
        let text = word
            .and_then(|word| word.strip_prefix(sign))
            .unwrap_or("0,0");
        let (first, count) = text.split_once(',').unwrap_or((text, "1"));
        (first.parse().unwrap_or(0), count.parse().unwrap_or(0))
    };
    let mut words = head.split(' ');
    (span(words.next(), '-'), span(words.next(), '+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_and_modified_lines_are_found_and_contents_are_not_taken_for_heads() {
        let diff = "\
diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -3 +3,2 @@ int f(void)
--- old
+++ b/new.c
+@@ -1 +1 @@
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
        assert_eq!(parse(diff, Path::new("src")), [expected]);
        assert_eq!(parse(diff, Path::new("")).len(), 2);
    }
}
