//! A patch in pieces that can be left out: what delta debugging works on.
//!
//! A hunk is a run of lines that were changed, without the unchanged lines around it that `diff` shows: as small as it can be, so
//! that what is left in the end says as much as it can. Where a hunk does not build without another one, that is found out by
//! building.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::changes::Touched;
use super::git::{Repository, command, output};
use super::unified::{self, Span};
use super::{Revision, RevisionError};

/// A run of lines that a patch changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Relative to the top of the project, in the new revision if that has it.
    pub file: String,
    /// What it was called in the old revision.
    pub old_file: String,
    pub old: Span,
    pub new: Span,
    /// Without their ends.
    pub removed: Vec<String>,
    pub added: Vec<String>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Patched {
    file: String,
    /// Contents in lines, each with its end; `None` where there is no such file.
    before: Option<Vec<Vec<u8>>>,
    after: Option<Vec<Vec<u8>>>,
    /// Which of the patch's hunks are in it.
    hunks: Range<usize>,
}

/// What lies between two revisions, hunk by hunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    files: Vec<Patched>,
    pub hunks: Vec<Hunk>,
}

impl Patch {
    /// Names what it changes, from what to what.
    pub(crate) fn name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for patched in &self.files {
            hasher.update(patched.file.as_bytes());
            for side in [&patched.before, &patched.after] {
                hasher.update(&[0, u8::from(side.is_some())]);
                for line in side.iter().flatten() {
                    hasher.update(line);
                }
            }
        }
        hasher.finalize().to_hex()[..8].to_owned()
    }

    /// Every file of the patch as it is when of all hunks only these are applied; `None` if there is no such file then.
    pub fn with<'p>(
        &'p self,
        hunks: &'p BTreeSet<usize>,
    ) -> impl Iterator<Item = (&'p str, Option<Vec<u8>>)> {
        let files = self.files.iter();
        files.map(|patched| (patched.file.as_str(), self.text(patched, hunks)))
    }

    fn text(&self, patched: &Patched, chosen: &BTreeSet<usize>) -> Option<Vec<u8>> {
        let mut own = patched.hunks.clone();
        let (before, after) = match (&patched.before, &patched.after) {
            (Some(before), Some(after)) => (before, after),
            // The one hunk of such a file is the file.
            (one, other) => {
                let is_new = own.any(|hunk| chosen.contains(&hunk));
                let text = if is_new { other } else { one };
                return text.as_ref().map(|lines| lines.concat());
            }
        };
        let mut text: Vec<u8> = Vec::new();
        let mut at = 0;
        for number in own {
            let hunk = &self.hunks[number];
            let (old, new) = (hunk.old.range(), hunk.new.range());
            text.extend(before.get(at..old.start).unwrap_or_default().concat());
            let lines = match chosen.contains(&number) {
                true => after.get(new),
                false => before.get(old.clone()),
            };
            text.extend(lines.unwrap_or_default().concat());
            at = old.end;
        }
        text.extend(before.get(at..).unwrap_or_default().concat());
        Some(text)
    }

    /// Adds a file with the places of its changes.
    fn add(
        &mut self,
        [old_file, file]: [String; 2],
        sides: [Option<Vec<u8>>; 2],
        spans: &[(Span, Span)],
    ) {
        let [before, after] = sides.map(|side| side.map(|bytes| lines(&bytes)));
        let from = self.hunks.len();
        let shown = |lines: &Option<Vec<Vec<u8>>>, span: Span| {
            let lines = lines.as_ref().and_then(|lines| lines.get(span.range()));
            let lines = lines.unwrap_or_default().iter();
            lines
                .map(|line| String::from_utf8_lossy(line).trim_end().to_owned())
                .collect()
        };
        for (old, new) in spans {
            self.hunks.push(Hunk {
                file: file.clone(),
                old_file: old_file.clone(),
                old: *old,
                new: *new,
                removed: shown(&before, *old),
                added: shown(&after, *new),
            });
        }
        self.files.push(Patched {
            file,
            before,
            after,
            hunks: from..self.hunks.len(),
        });
    }
}

fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.map(<[u8]>::to_vec).collect()
}

impl Repository {
    /// What lies between two revisions in files of the project that are wanted. Renamed files are followed.
    pub fn patch(
        &self,
        old: &Revision,
        new: &Revision,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Patch, RevisionError> {
        let mut patch = Patch::default();
        for Touched {
            status,
            before,
            after,
        } in self.touched(old, new, "AMDR")?
        {
            let inside = |path: &str| {
                let inside = Path::new(path).strip_prefix(self.prefix()).ok()?;
                Some(inside.to_string_lossy().into_owned())
            };
            let Some(file) = inside(&after) else {
                continue;
            };
            // What came from outside of the project has no name there.
            let old_file = inside(&before).unwrap_or_else(|| file.clone());
            if !is_wanted(&file) {
                continue;
            }
            let spans = self.spans(old, new, &before, &after)?;
            let sides = [
                (status != 'A').then(|| self.contents(old, &before)),
                (status != 'D').then(|| self.contents(new, &after)),
            ];
            let [old_side, new_side] = sides.map(Option::transpose);
            if !spans.is_empty() {
                patch.add([old_file, file], [old_side?, new_side?], &spans);
            }
        }
        Ok(patch)
    }

    /// Where a file was changed.
    fn spans(
        &self,
        old: &Revision,
        new: &Revision,
        before: &str,
        after: &str,
    ) -> Result<Vec<(Span, Span)>, RevisionError> {
        let mut diff = command(self.top());
        diff.args(["diff", "-U0", "-M", "--no-color", "--no-ext-diff"])
            .args(["--no-textconv", &old.id, &new.id, "--", before]);
        if after != before {
            diff.arg(after);
        }
        let text = output(diff)?;
        Ok(spans_of(&String::from_utf8_lossy(&text)))
    }
}

/// Where the only file of a diff was changed.
fn spans_of(diff: &str) -> Vec<(Span, Span)> {
    let files = unified::read(diff).into_iter();
    files.flat_map(|file| file.runs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "a\nb\nc\nd\ne\n";
    const NEW: &str = "a\nB\nc\nnew\nd\n";
    /// `b` to `B`, `new` after `c`, `e` gone.
    const DIFF: &str =
        "--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n@@ -3,0 +4 @@ c\n+new\n@@ -5 +5,0 @@\n-e\n";

    fn patch() -> Patch {
        let mut patch = Patch::default();
        let sides = [OLD, NEW].map(|text| Some(text.as_bytes().to_vec()));
        patch.add(["x.c", "x.c"].map(str::to_owned), sides, &spans_of(DIFF));
        patch.add(
            ["added.c", "added.c"].map(str::to_owned),
            [None, Some(b"x\n".to_vec())],
            &spans_of("@@ -0,0 +1 @@\n+x\n"),
        );
        patch
    }

    fn texts(hunks: &[usize]) -> Vec<Option<String>> {
        let patch = patch();
        let hunks = hunks.iter().copied().collect();
        let texts = patch.with(&hunks);
        texts
            .map(|(_, text)| text.map(|text| String::from_utf8(text).unwrap()))
            .collect()
    }

    #[test]
    fn all_hunks_make_the_new_text_and_none_the_old_one() {
        assert_eq!(patch().hunks.len(), 4);
        assert_eq!(texts(&[0, 1, 2, 3]), [Some(NEW.into()), Some("x\n".into())]);
        assert_eq!(texts(&[]), [Some(OLD.into()), None]);
    }

    #[test]
    fn each_hunk_is_applied_by_itself() {
        let first = |hunks: &[usize]| texts(hunks)[0].clone().unwrap();
        assert_eq!(first(&[0]), "a\nB\nc\nd\ne\n");
        assert_eq!(first(&[1]), "a\nb\nc\nnew\nd\ne\n");
        assert_eq!(first(&[0, 2]), "a\nB\nc\nd\n");
        assert_eq!(patch().hunks[1].added, ["new"]);
        assert_eq!(patch().hunks[2].removed, ["e"]);
    }
}
