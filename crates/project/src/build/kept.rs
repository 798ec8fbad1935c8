//! `build.json`: what is remembered of a build. Its being there says that the build is whole.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use parallax_files::write_whole;
use serde::{Deserialize, Serialize};

use super::BuildError;
use crate::programs::Program;
use crate::revision::Revision;

/// A build as it was finished. Paths are relative to the build's directory.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub revision: Revision,
    /// Where it was built. Makefiles know absolute paths: elsewhere the build is of no use.
    directory: PathBuf,
    pub source: PathBuf,
    pub tree: PathBuf,
    /// All captured programs. Kept, because later a recorder may stand in for them.
    programs: Vec<Program>,
    pub notes: Vec<String>,
    pub seconds: f64,
}

const FILE: &str = "build.json";

impl Kept {
    pub fn new(
        directory: &Path,
        revision: &Revision,
        source: &Path,
        tree: &Path,
        programs: &[Program],
        notes: Vec<String>,
        time: Duration,
    ) -> Kept {
        let relative = |path: &Path| path.strip_prefix(directory).unwrap_or(path).to_owned();
        let program = |program: &Program| Program {
            name: program.name.clone(),
            path: relative(&program.path),
        };
        Kept {
            revision: revision.clone(),
            directory: directory.to_owned(),
            source: relative(source),
            tree: relative(tree),
            programs: programs.iter().map(program).collect(),
            notes,
            seconds: time.as_secs_f64(),
        }
    }

    /// `None` if the build is not whole.
    pub fn read(directory: &Path) -> Option<Kept> {
        let bytes = fs::read(directory.join(FILE)).ok()?;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        let there = |path: &Path| directory.join(path).exists();
        let programs_there = kept.programs.iter().all(|program| there(&program.path));
        let here = kept.directory == directory;
        (here && there(&kept.tree) && programs_there).then_some(kept)
    }

    /// Appears as a whole or not at all.
    pub fn write(&self, directory: &Path) -> Result<(), BuildError> {
        let write = || -> std::io::Result<()> {
            write_whole(&directory.join(FILE), &serde_json::to_vec_pretty(self)?)
        };
        write().map_err(BuildError::io(directory))
    }

    /// The programs, with the paths that they have in this directory.
    pub fn programs(&self, directory: &Path) -> Vec<Program> {
        let absolute = |program: &Program| Program {
            name: program.name.clone(),
            path: directory.join(&program.path),
        };
        self.programs.iter().map(absolute).collect()
    }
}
