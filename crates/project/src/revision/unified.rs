//! Patches in unified format, as `git diff` and `diff -u` write them: which lines of which files come and go.
//!
//! Contents may look like anything, also like the head of a file or a hunk. So the numbers in a hunk's head say how far it goes, and
//! only what lies between hunks is taken for a head.

use std::ops::Range;

/// Lines of a file: the first one, from 1, and how many. Of none, the line that they would come after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub first: u32,
    pub count: u32,
}

impl Span {
    /// The numbers of the lines.
    pub fn lines(self) -> Range<u32> {
        self.first..self.first.saturating_add(self.count)
    }

    /// Of a text in lines: those before the span, and the span itself.
    pub(super) fn range(self) -> Range<usize> {
        let first = self.next().saturating_sub(1);
        first as usize..(first + self.count) as usize
    }

    /// The line that the span begins with, or would begin with if it had any.
    fn next(self) -> u32 {
        self.first.saturating_add(u32::from(self.count == 0))
    }

    /// So many lines before this one.
    fn before(next: u32, count: u32) -> Span {
        let first = match count {
            0 => next.saturating_sub(1),
            _ => next.saturating_sub(count),
        };
        Span { first, count }
    }
}

/// What a patch changes in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// Without the `a/` and `b/` of git; `None` where there is no such file.
    pub old: Option<String>,
    pub new: Option<String>,
    /// Lines that went and lines that came in their place, without unchanged lines between them.
    pub runs: Vec<(Span, Span)>,
}

/// Reads a patch.
pub fn read(patch: &str) -> Vec<FileDiff> {
    let mut files: Vec<FileDiff> = Vec::new();
    let mut lines = patch.lines();
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("--- ") {
            files.push(FileDiff {
                old: file_name(name),
                ..FileDiff::default()
            });
        } else if let Some(name) = line.strip_prefix("+++ ") {
            last(&mut files).new = file_name(name);
        } else if let Some(head) = line.strip_prefix("@@ ") {
            read_hunk(head, &mut lines, &mut last(&mut files).runs);
        }
    }
    files
}

/// The file that is being read. A patch of a single file may come without its head.
fn last(files: &mut Vec<FileDiff>) -> &mut FileDiff {
    if files.is_empty() {
        files.push(FileDiff::default());
    }
    let last = files.len() - 1;
    &mut files[last]
}

/// The name in the head of a file, which a time may follow.
fn file_name(text: &str) -> Option<String> {
    let name = text.split('\t').next().unwrap_or_default();
    let name = name.trim_matches('"');
    let inside = name.strip_prefix("a/").or(name.strip_prefix("b/"));
    (name != "/dev/null").then(|| inside.unwrap_or(name).to_owned())
}

/// Takes the lines of a hunk, and adds the runs of changed ones.
fn read_hunk<'p>(
    head: &str,
    lines: &mut impl Iterator<Item = &'p str>,
    runs: &mut Vec<(Span, Span)>,
) {
    let mut words = head.split(' ');
    let spans = [span(words.next(), '-'), span(words.next(), '+')];
    // Of the old and the new file: the next line, the lines that are still to come, and how many of the present run there were.
    let mut next = spans.map(Span::next);
    let mut left = spans.map(|span| span.count);
    let mut run = [0, 0];
    while left != [0, 0] {
        let Some(line) = lines.next() else {
            break;
        };
        let is_of = match line.as_bytes().first() {
            Some(b'-') => [true, false],
            Some(b'+') => [false, true],
            // The line before has no end.
            Some(b'\\') => continue,
            _ => [true, true],
        };
        if is_of == [true, true] {
            end_run(&mut run, next, runs);
        }
        for side in [0, 1] {
            if is_of[side] {
                next[side] = next[side].saturating_add(1);
                left[side] = left[side].saturating_sub(1);
                run[side] += u32::from(is_of != [true, true]);
            }
        }
    }
    end_run(&mut run, next, runs);
}

/// Adds a run of changed lines that ends before these, if there is one.
fn end_run(run: &mut [u32; 2], [old, new]: [u32; 2], runs: &mut Vec<(Span, Span)>) {
    let [removed, added] = std::mem::take(run);
    if removed + added > 0 {
        runs.push((Span::before(old, removed), Span::before(new, added)));
    }
}

/// A word of a hunk's head, as `-3,2` or `+3`.
fn span(word: Option<&str>, sign: char) -> Span {
    let text = word
        .and_then(|word| word.strip_prefix(sign))
        .unwrap_or("0,0");
    let (first, count) = text.split_once(',').unwrap_or((text, "1"));
    Span {
        first: first.parse().unwrap_or(0),
        count: count.parse().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A span as a hunk's head has it.
    fn shown(span: Span) -> String {
        match span.count {
            1 => span.first.to_string(),
            count => format!("{},{count}", span.first),
        }
    }

    /// Each file as `old > new:`, then each of its runs as `-old +new`.
    fn summary(patch: &str) -> String {
        let name = |name: &Option<String>| name.clone().unwrap_or("none".into());
        let file = |file: &FileDiff| {
            let runs = file.runs.iter();
            let runs = runs.map(|(old, new)| format!(" -{} +{}", shown(*old), shown(*new)));
            let runs: String = runs.collect();
            format!("{} > {}:{runs}", name(&file.old), name(&file.new))
        };
        let files: Vec<String> = read(patch).iter().map(file).collect();
        files.join("; ")
    }

    #[test]
    fn runs_of_changed_lines_are_found_in_their_context() {
        let table = [
            // Without context, runs are as the heads say.
            (
                "--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n@@ -3,0 +4 @@ c\n+new\n@@ -5 +5,0 @@\n-e\n",
                "x > x: -2 +2 -3,0 +4 -5 +5,0",
            ),
            // One hunk with two runs, then one whose context lost its space.
            (
                "--- a/x.c\n+++ b/x.c\n@@ -1,5 +1,5 @@\n a\n-b\n+B\n+C\n d\n-e\n f\n@@ -9 +9,2 @@\n\n+f\n",
                "x.c > x.c: -2 +2,2 -4 +4,0 -9,0 +10",
            ),
            // Contents that look like heads.
            (
                "--- a/s\n+++ b/s\n@@ -3 +3,2 @@ int f(void)\n--- old\n+++ b/new.c\n+@@ -1 +1 @@\n@@ -10,2 +11,0 @@\n-x\n-x\n",
                "s > s: -3 +3,2 -10,2 +11,0",
            ),
            // A last line without an end is one run with what comes in its place.
            (
                "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
                "x > x: -1 +1",
            ),
            // Files that come and go, names with times, in quotes, and without prefixes.
            (
                "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/o\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
                "none > n: -0,0 +1; o > none: -1 +0,0",
            ),
            (
                "--- old.c\t2020-01-01 00:00:00\n+++ \"b/a b\"\t\n@@ -1 +1 @@\n-x\n+y\n",
                "old.c > a b: -1 +1",
            ),
            ("@@ -0,0 +1 @@\n+x\n", "none > none: -0,0 +1"),
            // What was cut off, and what is no patch.
            (
                "--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n a\n-b",
                "x > x: -2 +1,0",
            ),
            ("@@ what @@\n-x\n", "none > none:"),
            ("Binary files a/x and b/x differ\n", ""),
        ];
        for (patch, expected) in table {
            assert_eq!(summary(patch), expected, "{patch}");
        }
    }
}
