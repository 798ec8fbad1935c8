//! Two versions of a project: their builds, the patch between them, the programs that it changes, and the recorded scenarios that
//! run changed code.
//!
//! What every command starts from that compares what lies before a patch with what comes after it.

mod libraries;
mod touching;
mod version;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use parallax_analysis::lines::normalise;
use parallax_capture::Program as Captured;
use parallax_project::revision::Kind;
use parallax_project::{Build, Patch, Project, Revision, Selected, Selection};
use parallax_report::model::{self as report, SourceFile};
use parallax_search::diverge::walk::Both;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::project::{is_wanted, no_such_program, toolchain};
use crate::{build, patch, variants};
pub use libraries::Library;
pub use touching::{Changed, Seed, Touching, touching, touching_code};
use version::has_texts;
pub use version::{Version, texts};

/// Two builds with the patch between them.
pub struct Pair {
    pub context: Context,
    pub project: Project,
    pub builds: Both<Build>,
    /// A version that is known to be right.
    pub golden: Option<Build>,
    /// In files that can have code of programs, and that are tested.
    pub patch: Patch,
}

/// A program of both versions.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As scenarios know it.
    pub name: String,
    pub paths: Both<PathBuf>,
    pub golden: Option<PathBuf>,
}

impl Pair {
    /// Builds what a range names, unless it is built; of no range, `HEAD` and the source as it is.
    pub fn of_project(
        context: &Context,
        project: Project,
        range: Option<&str>,
        golden: Option<&str>,
    ) -> Result<Pair, Failure> {
        let selected = project.select(&Selection::patch(range))?;
        let golden = match golden {
            Some(word) => Some(project.select(&Selection::Words(word.to_owned()))?.new),
            None => None,
        };
        Pair::of_selected(context, project, selected, golden)
    }

    /// Builds two revisions, and one that is known to be right, unless they are built.
    pub fn of_selected(
        context: &Context,
        project: Project,
        selected: Selected,
        golden: Option<Revision>,
    ) -> Result<Pair, Failure> {
        let Some(old) = selected.old else {
            let message = "versions are compared between two revisions, as in HEAD~1..HEAD";
            return Err(Failure::new(Exit::Usage, message).hint(
                "HEAD~1..HEAD is the last commit, HEAD.. are your uncommitted changes, main...topic a branch",
            ));
        };
        let new = selected.new;
        if old.id == new.id {
            let message = format!("{} and {} are the same", old.label, new.label);
            return Err(Failure::new(Exit::Usage, message).hint(
                "give two that differ, as in HEAD~1..HEAD; HEAD.. are your uncommitted changes",
            ));
        }
        let source = project.config.source.clone();
        let is_wanted = |file: &str| patch::is_source(file) && source.counts(file);
        let repository = project.repository.as_ref();
        let patch = repository.map(|repository| repository.patch(&old, &new, &is_wanted));
        let patch = patch.transpose()?.unwrap_or_default();
        let (builds, golden) = {
            let makes = project.builds(toolchain()?);
            let builds = Both {
                old: build::ensure(context, &makes, &old)?,
                new: build::ensure(context, &makes, &new)?,
            };
            let golden = golden.map(|golden| build::ensure(context, &makes, &golden));
            (builds, golden.transpose()?)
        };
        Ok(Pair {
            context: context.clone(),
            project,
            builds,
            golden,
            patch,
        })
    }

    /// What programs may find at its usual place: tests use files of source and build.
    pub fn folders(&self) -> Vec<PathBuf> {
        let builds = [&self.builds.old, &self.builds.new].into_iter();
        let builds = builds.chain(&self.golden);
        builds
            .flat_map(|build| [build.source.clone(), build.tree.clone()])
            .collect()
    }

    /// The range in words that name the same for as long as there are these commits.
    pub fn range(&self) -> String {
        let label = |build: &Build| {
            let revision = &build.revision;
            match revision.kind {
                Kind::Commit if !revision.label.contains(' ') => revision.label.clone(),
                _ => revision.short_id().to_owned(),
            }
        };
        format!("{}..{}", label(&self.builds.old), label(&self.builds.new))
    }

    /// Where the source of each version is.
    pub fn tops(&self) -> Both<&Path> {
        Both {
            old: &self.builds.old.source,
            new: &self.builds.new.source,
        }
    }

    /// The patch, ready to be shown.
    pub fn shown(&self) -> report::Patch {
        let mut files: Vec<SourceFile> = Vec::new();
        for hunk in &self.patch.hunks {
            if files.last().is_none_or(|last| last.name != hunk.file) {
                let text = fs::read(self.builds.new.source.join(&hunk.file)).ok();
                files.push(SourceFile {
                    name: hunk.file.clone(),
                    old_name: (hunk.old_file != hunk.file).then(|| hunk.old_file.clone()),
                    text: text.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                });
            }
        }
        let span = |span: parallax_project::revision::Span| report::Span {
            first: span.first,
            count: span.count,
        };
        let hunks = self.patch.hunks.iter().map(|hunk| report::Hunk {
            file: hunk.file.clone(),
            old: span(hunk.old),
            new: span(hunk.new),
            removed: hunk.removed.clone(),
            added: hunk.added.clone(),
        });
        report::Patch {
            range: self.range(),
            old: revision(&self.builds.old.revision),
            new: revision(&self.builds.new.revision),
            files,
            hunks: hunks.collect(),
        }
    }

    /// Programs of both versions that are made of changed files; of those that are wanted, if any are named.
    pub fn changed(&self, only: &[PathBuf]) -> Result<Vec<Subject>, Failure> {
        let mut subjects = Vec::new();
        let mut is_known = false;
        for program in &self.builds.new.programs {
            if !is_wanted(Path::new(&program.name), only) {
                continue;
            }
            is_known = true;
            let same = |build: &Build| {
                let mut programs = build.programs.iter();
                let found = programs.find(|one| one.name == program.name);
                found.map(|found| found.path.clone())
            };
            let Some(old) = same(&self.builds.old) else {
                let name = &program.name;
                self.context.note(&format!(
                    "the old version has no {name}: it is not compared"
                ));
                continue;
            };
            let is_changed = self.is_made_of_patch(&program.path, &self.builds.new)?
                || self.is_made_of_patch(&old, &self.builds.old)?;
            if is_changed {
                subjects.push(Subject {
                    name: program.name.clone(),
                    paths: Both {
                        old,
                        new: program.path.clone(),
                    },
                    golden: self.golden.as_ref().and_then(same),
                });
            }
        }
        if !is_known {
            return Err(no_such_program());
        }
        if only.is_empty() {
            self.name_untested_libraries();
        }
        Ok(subjects)
    }

    /// Whether a program or a captured shared library that it loads is made of changed files.
    fn is_made_of_patch(&self, program: &Path, build: &Build) -> Result<bool, Failure> {
        let captured = variants::read(program)?;
        let mut parts = variants::libraries(&captured)?;
        parts.push(captured);
        if !parts.iter().all(has_texts) {
            // What it is made of is not known: nothing may be left out for that.
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            self.context.note(&format!(
                "the sources of {name} are no longer in the cache: it may be searched in vain, and less is known about it; \
                 parallax build --force builds it anew"
            ));
            return Ok(!self.patch.hunks.is_empty());
        }
        Ok(parts.iter().any(|part| self.is_of_patch(part, build)))
    }

    /// Whether one file, a program or a library, is made of changed files.
    fn is_of_patch(&self, captured: &Captured, build: &Build) -> bool {
        let files: BTreeSet<String> = texts(captured).into_keys().collect();
        let hunks = self.patch.hunks.iter();
        let mut names = hunks.flat_map(|hunk| [&hunk.file, &hunk.old_file]);
        names.any(|name| {
            let path = normalise(&build.source.join(name).to_string_lossy());
            files.contains(&path) || is_made_from(&files, name)
        })
    }
}

/// A revision, ready to be shown.
pub fn revision(revision: &Revision) -> report::Revision {
    report::Revision {
        label: revision.label.clone(),
        id: revision.id.clone(),
        is_commit: revision.kind == Kind::Commit,
    }
}

/// Whether a file among these is generated from one with this name, as far as names tell: `parse.c` from `parse.y`.
fn is_made_from(files: &BTreeSet<String>, name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let Some((stem, "y" | "l" | "in" | "def" | "re" | "gperf")) = file.rsplit_once('.') else {
        return false;
    };
    files.iter().any(|path| {
        let made = path.rsplit('/').next().unwrap_or(path);
        made == stem || made.split('.').next() == Some(stem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_files_are_known_by_their_stem() {
        let files = BTreeSet::from(["/b/lib/parse.c".to_owned(), "/b/config.h".to_owned()]);
        assert!(is_made_from(&files, "lib/parse.y"));
        assert!(is_made_from(&files, "config.h.in"));
        assert!(!is_made_from(&files, "lib/parse.c"));
        assert!(!is_made_from(&files, "lib/lex.l"));
    }
}
