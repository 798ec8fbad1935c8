//! Two versions of a program, what was changed between them, and the change sequence graph.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use parallax_analysis::Analysis;
use parallax_analysis::dependence::Dependences;
use parallax_analysis::lines::normalise;
use parallax_analysis::sequence::{ChangeGraph, Changes, FileChange, Interactions, same_lines};
use parallax_capture::{Derived, Variant};
use parallax_project::revision::unified;
use parallax_report::results::graph::{Place, Shown};

use crate::context::Context;
use crate::failure::Failure;
use crate::variants;
use crate::versions::texts;

/// One version, analysed.
pub struct Version {
    /// The program with counters, whose code was analysed.
    pub covered: Derived,
    pub analysis: Analysis,
    pub dependences: Dependences,
    texts: HashMap<String, PathBuf>,
}

impl Version {
    pub fn new(context: &Context, path: &Path) -> Result<Version, Failure> {
        let program = variants::read(path)?;
        let derived = variants::derive(context, &program, Variant::Covered)?;
        let analysis = Analysis::new(variants::read_code(&derived)?, []);
        Ok(Version {
            dependences: Dependences::new(&analysis),
            analysis,
            texts: texts(&program),
            covered: derived,
        })
    }

    /// A source as it was when the program was built, by normalised name.
    pub fn text(&self, file: &str) -> Option<String> {
        let kept = self.texts.get(file).and_then(|path| fs::read(path).ok());
        let bytes = kept.or_else(|| fs::read(file).ok())?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn files(&self) -> Vec<&str> {
        self.analysis.lines.files().collect()
    }
}

/// The new version, with what was changed in it.
pub struct Comparison {
    pub new: Version,
    pub changes: Changes,
    pub graph: ChangeGraph,
}

impl Comparison {
    pub fn new(
        context: &Context,
        old: &Path,
        new: &Path,
        patch: Option<&Path>,
        wanted: Interactions,
    ) -> Result<Comparison, Failure> {
        let (old, new) = (Version::new(context, old)?, Version::new(context, new)?);
        let patch = match patch {
            Some(path) => {
                let text = fs::read_to_string(path).map_err(|error| {
                    Failure::of_file(crate::exit::Exit::Usage, "cannot read", path, &error)
                })?;
                Some(Hunks::of(&text))
            }
            None => None,
        };
        let files = changed_files(&old, &new, patch.as_ref());
        let changes = Changes::new(&files, &old.dependences, &new.dependences);
        let graph = ChangeGraph::new(&new.analysis, &new.dependences, &changes, wanted);
        Ok(Comparison {
            new,
            changes,
            graph,
        })
    }

    /// The graph, ready to be shown.
    pub fn shown(&self) -> Shown<'_> {
        Shown {
            graph: &self.graph,
            places: (0..self.graph.nodes.len())
                .map(|node| self.place(node))
                .collect(),
            without_trace: &self.changes.without_trace,
        }
    }

    /// File (as short as it can be), line and text of a node.
    pub fn place(&self, node: usize) -> Place {
        let statements = &self.new.dependences.statements;
        let statement = statements.get(self.graph.nodes[node].statement);
        let text = self.new.text(&statement.file);
        let line = text.as_deref().and_then(|text| {
            let line = text.lines().nth(statement.line as usize - 1)?;
            Some(line.trim().to_owned())
        });
        let file = Path::new(&statement.file).file_name();
        Place {
            file: file.map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            line: statement.line,
            text: line.unwrap_or_default(),
        }
    }
}

/// Numbers of lines by the names that a patch has for files.
type Lines = BTreeMap<String, BTreeSet<u32>>;

/// Lines that a patch adds and takes away.
#[derive(Debug, Default, PartialEq, Eq)]
struct Hunks {
    added: Lines,
    removed: Lines,
}

impl Hunks {
    /// Of a patch in unified format.
    fn of(patch: &str) -> Hunks {
        let mut hunks = Hunks::default();
        for file in unified::read(patch) {
            let removed = file.runs.iter().flat_map(|(old, _)| old.lines());
            let added = file.runs.iter().flat_map(|(_, new)| new.lines());
            if let Some(name) = file.old {
                hunks.removed.entry(name).or_default().extend(removed);
            }
            if let Some(name) = file.new {
                hunks.added.entry(name).or_default().extend(added);
            }
        }
        hunks
    }
}

/// The lines of the file with this path: of names that could mean it, the longest does.
fn in_file(lines: &Lines, path: &str) -> BTreeSet<u32> {
    let means = |name: &str| {
        let name = normalise(name);
        path == name || path.ends_with(&format!("/{name}"))
    };
    let named = lines.iter().filter(|(name, _)| means(name));
    let named = named.max_by_key(|(name, _)| name.len());
    named.map_or_else(BTreeSet::new, |(_, lines)| lines.clone())
}

/// How many of the last parts of two paths are the same.
fn likeness(one: &str, other: &str) -> usize {
    let parts = one.rsplit('/').zip(other.rsplit('/'));
    parts.take_while(|(one, other)| one == other).count()
}

fn changed_files(old: &Version, new: &Version, patch: Option<&Hunks>) -> Vec<FileChange> {
    let (old_files, new_files) = (old.files(), new.files());
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    let mut changes = Vec::new();
    for file in &new_files {
        let same_path = old_files.iter().find(|other| *other == file);
        let like = old_files.iter().filter(|other| !taken.contains(**other));
        let like = like.max_by_key(|other| likeness(other, file));
        let mut before = same_path
            .or(like.filter(|other| likeness(other, file) > 0))
            .copied();
        // The only source of each, under two names.
        let own = |files: &[&str], version: &Version| -> Vec<String> {
            let kept = files
                .iter()
                .filter(|file| version.texts.contains_key(**file));
            kept.map(|file| (*file).to_owned()).collect()
        };
        if before.is_none()
            && let ([one], [other]) = (&own(&old_files, old)[..], &own(&new_files, new)[..])
            && other == file
        {
            before = old_files.iter().find(|file| *file == one).copied();
        }
        taken.extend(before);
        let texts = before
            .and_then(|before| old.text(before))
            .zip(new.text(file));
        let Some((old_text, new_text)) = texts else {
            continue;
        };
        if old_text == new_text && patch.is_none() {
            continue;
        }
        changes.push(FileChange {
            old: before.map(str::to_owned),
            new: Some((*file).to_owned()),
            same: same_lines(&old_text, &new_text),
            only: patch.map(|patch| {
                let removed = before.map_or_else(BTreeSet::new, |old| in_file(&patch.removed, old));
                (in_file(&patch.added, file), removed)
            }),
        });
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_says_which_lines_came_and_went() {
        let text =
            "--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@\n a\n-b\n+--- c\n d\n@@ -9 +9,2 @@\n e\n+f\n";
        let found = Hunks::of(text);
        assert_eq!(found.removed, [("x.c".to_owned(), [2].into())].into());
        assert_eq!(found.added, [("x.c".to_owned(), [2, 10].into())].into());
    }

    #[test]
    fn a_file_is_meant_by_the_longest_name_that_fits() {
        let text = "--- a/main.c\n+++ b/main.c\n@@ -1 +1 @@\n-a\n+b\n\
                    --- a/src/main.c\n+++ b/src/main.c\n@@ -5 +5 @@\n-a\n+b\n";
        let found = Hunks::of(text);
        for (path, line) in [("/p/src/main.c", 5), ("/p/main.c", 1), ("src/main.c", 5)] {
            assert_eq!(in_file(&found.added, path), [line].into(), "{path}");
        }
        assert!(in_file(&found.added, "/p/domain.c").is_empty());
    }
}
