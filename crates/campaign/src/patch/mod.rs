//! The lines that a search is about, as targets: what `targets` lists and `cover` searches for.
//!
//! A patch (or lines that the user names, or all code) in the programs of a project, without what has no code, in groups that run
//! together, each with the answer whether the recorded scenarios run it.

mod lines;
mod suite;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use parallax_analysis::BlockId;
use parallax_project::{Build, Project, Revision, Selection};
use parallax_report::model::Skipped;
use parallax_report::results::targets as report;
use parallax_store::{Filter, Store};

use crate::build;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::measure::measure;
use crate::project::toolchain;
use crate::stored::{KEPT, SEEDS};
use lines::Gathered;
use parallax_exec::coverage::Counter;
pub use suite::{Suite, Test};

use crate::versions::Pair;

/// Which lines are meant.
#[derive(Clone, Debug)]
pub enum Request {
    /// Those that a range of revisions changes; of none, those that are not committed.
    Patch(Option<String>),
    /// File and line.
    Lines(Vec<(String, u32)>),
    /// All that have code.
    Everything,
}

/// A program to look at.
#[derive(Clone, Debug)]
pub struct Subject {
    /// As scenarios know it.
    pub name: String,
    pub path: PathBuf,
}

/// Where the lines are that are asked about.
pub struct Scope {
    pub context: Context,
    pub subjects: Vec<Subject>,
    /// Top of the source; `None` if it is not known.
    pub source: Option<PathBuf>,
    /// Where the programs are by the names that scenarios know them by.
    pub tree: Option<PathBuf>,
    /// File and line; `None` means all.
    pub wanted: Option<Vec<(String, u32)>>,
    /// What was built.
    pub revision: Option<Revision>,
    /// Whether code in this file (relative to the top of the source) is meant when all is.
    counts: Box<dyn Fn(&str) -> bool>,
}

/// Lines that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Relative to the top of the source, where that is known.
    pub file: String,
    /// Ascending.
    pub lines: Vec<u32>,
    pub function: String,
    /// Programs that have the code.
    pub places: Vec<Place>,
    /// Site ids of the blocks.
    pub blocks: BTreeSet<u64>,
    /// A recorded scenario that runs it: its name in the store.
    pub covered_by: Option<String>,
    /// How many recorded scenarios do.
    pub hits: u64,
}

/// The code of a target in one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of the subject.
    pub subject: usize,
    /// As debug information names it.
    pub file: String,
    pub blocks: Vec<BlockId>,
    /// How near the recorded scenarios of this program come: blocks that they run of the functions that the code is in.
    pub nearby: usize,
}

impl Target {
    /// `src/io.c:235`.
    pub fn name(&self) -> String {
        let line = self.lines.first().copied().unwrap_or(0);
        format!("{}:{line}", self.file)
    }

    /// Whether a program has it.
    pub fn is_in(&self, subject: usize) -> bool {
        self.places.iter().any(|place| place.subject == subject)
    }

    /// Names of the programs that have it.
    pub fn programs<'s>(&self, subjects: &'s [Subject]) -> Vec<&'s str> {
        let places = self.places.iter();
        let names = places.filter_map(|place| subjects.get(place.subject));
        names.map(|subject| subject.name.as_str()).collect()
    }
}

/// What was asked about.
pub struct Found {
    pub subjects: Vec<Subject>,
    /// In the order of files and lines.
    pub targets: Vec<Target>,
    pub skipped: Vec<Skipped>,
    /// How many scenarios say what is covered.
    pub scenarios: usize,
}

impl Found {
    /// All of it, ready to be shown.
    pub fn shown(&self) -> report::Found {
        let target = |target: &Target| report::Target {
            file: target.file.clone(),
            lines: target.lines.clone(),
            function: target.function.clone(),
            programs: (target.programs(&self.subjects).into_iter())
                .map(str::to_owned)
                .collect(),
            blocks: target.blocks.clone(),
            is_covered: target.covered_by.is_some(),
        };
        report::Found {
            targets: self.targets.iter().map(target).collect(),
            skipped: self.skipped.clone(),
            scenarios: self.scenarios as u64,
        }
    }

    /// How many targets recorded scenarios run.
    pub fn covered(&self) -> usize {
        let targets = self.targets.iter();
        targets.filter(|target| target.covered_by.is_some()).count()
    }
}

impl Scope {
    /// One captured program, without a project around it.
    pub fn of_program(context: &Context, path: &Path, request: &Request) -> Result<Scope, Failure> {
        let wanted = match request {
            Request::Patch(_) => {
                let message = "a program alone does not say which lines are meant";
                return Err(Failure::new(Exit::Usage, message)
                    .hint("--at FILE:LINE names one, --uncovered means all that no test runs"));
            }
            Request::Lines(lines) => Some(lines.clone()),
            Request::Everything => None,
        };
        Ok(Scope {
            context: context.clone(),
            subjects: vec![Subject {
                name: path.display().to_string(),
                path: path.to_owned(),
            }],
            source: None,
            tree: None,
            wanted,
            revision: None,
            counts: Box::new(|file| !file.starts_with("/usr/")),
        })
    }

    /// The programs of a project, built if they are not yet.
    pub fn of_project(
        context: &Context,
        project: &Project,
        request: &Request,
    ) -> Result<Scope, Failure> {
        let selection = match request {
            Request::Patch(range) => Selection::patch(range.as_deref()),
            Request::Lines(_) | Request::Everything => Selection::Current,
        };
        let selected = project.select(&selection)?;
        let wanted = match request {
            Request::Everything => None,
            Request::Lines(lines) => Some(lines.clone()),
            Request::Patch(_) => {
                let Some(old) = &selected.old else {
                    let message = "a patch is what lies between two revisions";
                    return Err(Failure::new(Exit::Usage, message).hint(
                        "HEAD~1..HEAD is the last commit, HEAD.. are your uncommitted changes",
                    ));
                };
                Some(changed_lines(project, old, &selected.new)?)
            }
        };
        let built = build::ensure(context, &project.builds(toolchain()?), &selected.new)?;
        Ok(Scope::of_build(context, project, built, wanted))
    }

    /// What a patch changes in the version that it leads to.
    pub fn of_patch(pair: &Pair) -> Result<Scope, Failure> {
        let (project, new) = (&pair.project, &pair.builds.new);
        let wanted = changed_lines(project, &pair.builds.old.revision, &new.revision)?;
        Ok(Scope::of_build(
            &pair.context,
            project,
            new.clone(),
            Some(wanted),
        ))
    }

    fn of_build(
        context: &Context,
        project: &Project,
        built: Build,
        wanted: Option<Vec<(String, u32)>>,
    ) -> Scope {
        let settings = project.config.source.clone();
        let programs = built.programs.into_iter();
        Scope {
            context: context.clone(),
            subjects: programs
                .map(|program| Subject {
                    name: program.name,
                    path: program.path,
                })
                .collect(),
            source: Some(built.source),
            tree: Some(built.tree),
            wanted,
            revision: Some(built.revision),
            counts: Box::new(move |file| settings.counts(file)),
        }
    }

    /// What programs may find at its usual place: tests use files of source and build.
    pub fn folders(&self) -> Vec<PathBuf> {
        self.source.iter().chain(&self.tree).cloned().collect()
    }

    /// Finds the targets, and which of them scenarios cover: what they run is measured where that is not known.
    pub fn find(&self, store: Option<&Store>) -> Result<Found, Failure> {
        let mut scenarios = 0;
        if let Some(store) = store {
            let filter = |origins: &[_]| Filter {
                origins: origins.to_vec(),
                ..Filter::default()
            };
            scenarios = store.list(&filter(&SEEDS))?.len();
            if let Some(tree) = &self.tree {
                let mut kept = store.list(&filter(&KEPT))?;
                let mut names = HashSet::new();
                names.extend(self.subjects.iter().map(|one| one.name.as_bytes()));
                kept.retain(|one| names.contains(&one.program[..]));
                measure(&self.context, store, &kept, tree, &self.folders())?;
            }
        }
        let mut gathered = Gathered::default();
        for number in 0..self.subjects.len() {
            gathered.look_at(self, number, store)?;
        }
        let (targets, skipped) = gathered.finish();
        Ok(Found {
            subjects: self.subjects.clone(),
            targets,
            skipped,
            scenarios,
        })
    }
}

/// The counters of the code on these lines of a captured program, whose source is below `source`.
pub fn counters(
    context: &Context,
    program: &Path,
    source: &Path,
    lines: Vec<(String, u32)>,
) -> Result<HashSet<Counter>, Failure> {
    let scope = Scope {
        context: context.clone(),
        subjects: vec![Subject {
            name: program.display().to_string(),
            path: program.to_owned(),
        }],
        source: Some(source.to_owned()),
        tree: None,
        wanted: Some(lines),
        revision: None,
        counts: Box::new(|_| true),
    };
    lines::counters(&scope)
}

/// File and line of what is new or changed in files that can have code and are tested.
fn changed_lines(
    project: &Project,
    old: &Revision,
    new: &Revision,
) -> Result<Vec<(String, u32)>, Failure> {
    let settings = &project.config.source;
    let repository = project.repository.as_ref();
    let changes = repository.map(|repository| repository.changes(old, new));
    let changes = changes.transpose()?.unwrap_or_default().into_iter();
    let meant = changes.filter(|change| is_source(&change.file) && settings.counts(&change.file));
    let lines = meant.flat_map(|change| {
        let file = change.file;
        let lines = change.lines.into_iter();
        lines.map(move |line| (file.clone(), line))
    });
    Ok(lines.collect())
}

/// Whether a changed file can have code of C programs in it.
pub fn is_source(file: &str) -> bool {
    const ENDINGS: [&str; 11] = [
        "c", "h", "y", "l", "def", "inc", "cc", "cpp", "cxx", "hh", "hpp",
    ];
    // What a header is made from has code; a `Makefile.in` has none.
    let file = file.strip_suffix(".in").unwrap_or(file);
    let ending = file.rsplit_once('.').map(|(_, ending)| ending);
    ending.is_some_and(|ending| ENDINGS.contains(&ending))
}

#[cfg(test)]
mod tests {
    use super::is_source;

    #[test]
    fn templates_of_headers_are_sources_and_those_of_makefiles_are_not() {
        for file in ["src/a.c", "lib/config.h.in", "lib/stdio.in.h", "parse.y"] {
            assert!(is_source(file), "{file}");
        }
        for file in [
            "Makefile.in",
            "lib/Makefile.am",
            "configure",
            "po/x.in",
            "README",
        ] {
            assert!(!is_source(file), "{file}");
        }
    }
}
