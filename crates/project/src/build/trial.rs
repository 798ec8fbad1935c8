//! A build in which parts of a patch are left out.
//!
//! It is a build of the new revision of its own, in `.parallax/trials/KEY/`, made once. For each choice of hunks the changed files
//! get the text that they have with these hunks only, and the build step is run again: what has not changed is not
//! compiled again, as far as the project's build knows. Everything that is no hunk (build files, documentation) stays as it is in the
//! new revision.
//!
//! Compiling single objects from capture records would be faster. The project's own build step is right for generated sources, too, and for
//! whatever else a build does. A part of the patch that does not build is unclear, so a hunk that another one needs stays.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::kept::Kept;
use super::lock::Lock;
use super::step::{Step, StepName};
use super::{BuildError, Builds, Event};
use crate::programs::{self, Program};
use crate::revision::{Patch, Revision};

/// Where trials are, below the project's directory of ours.
pub(super) const FOLDER: &str = "trials";

/// A tree in which choices of hunks are built.
pub struct Trial<'t> {
    builds: &'t Builds<'t>,
    revision: Revision,
    patch: &'t Patch,
    source: PathBuf,
    tree: PathBuf,
    logs: PathBuf,
    environment: Vec<(String, String)>,
    _lock: Lock,
}

/// What became of a choice of hunks.
#[derive(Clone, Debug)]
pub enum Tried {
    /// All captured programs.
    Built(Vec<Program>),
    /// It does not build.
    Broken,
    /// Somebody asked for an end.
    Stopped,
}

impl<'p> Builds<'p> {
    /// A tree for parts of the patch that leads to this revision. Another process that has it is waited for.
    pub fn trial<'t>(
        &'t self,
        revision: &Revision,
        patch: &'t Patch,
        watch: &mut dyn FnMut(&Event),
    ) -> Result<Trial<'t>, BuildError> {
        // Files of another patch would stay as that one left them.
        let name = format!("{}-{}", self.key(revision), patch.name());
        let directory = self.folder_of(FOLDER)?.join(name);
        let lock = Lock::take(&directory, || watch(&Event::Waiting))?;
        let build = match Kept::read(&directory) {
            Some(kept) => self.build(revision, &directory, kept, true),
            None => {
                self.discard(&directory)?;
                self.make(revision, &directory, watch)?
            }
        };
        Ok(Trial {
            builds: self,
            revision: revision.clone(),
            patch,
            source: build.source,
            tree: build.tree,
            logs: build.logs,
            environment: self.environment()?,
            _lock: lock,
        })
    }
}

impl Trial<'_> {
    /// Directories that programs of the tree may read.
    pub fn folders(&self) -> [PathBuf; 2] {
        [self.source.clone(), self.tree.clone()]
    }

    /// Builds with these hunks only, until `stop` says to end.
    pub fn build(
        &self,
        hunks: &BTreeSet<usize>,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(&Event),
    ) -> Result<Tried, BuildError> {
        // What was built last must look older than what is written now, also where times are coarse.
        std::thread::sleep(Duration::from_millis(20));
        for (file, text) in self.patch.with(hunks) {
            put(&self.source.join(file), text.as_deref())?;
        }
        let settings = &self.builds.project.config.build;
        let step = Step {
            revision: &self.revision,
            name: StepName::Build,
            command: &settings.build,
            directory: &self.source,
            environment: &self.environment,
            logs: &self.logs,
            stop: Some(stop),
        };
        match step.run(watch) {
            _ if stop() => Ok(Tried::Stopped),
            Ok(()) => Ok(Tried::Built(programs::captured(&self.tree))),
            Err(BuildError::Step(_)) => Ok(Tried::Broken),
            Err(error) => Err(error),
        }
    }
}

/// Gives a file this text, or removes it. What is so already stays untouched: it need not be compiled again.
fn put(path: &Path, text: Option<&[u8]>) -> Result<(), BuildError> {
    let is_there = path.exists();
    let done = match text {
        None if is_there => fs::remove_file(path),
        None => Ok(()),
        Some(text) if is_there && fs::read(path).is_ok_and(|now| now == text) => Ok(()),
        Some(text) => {
            let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
            folder.and_then(|()| fs::write(path, text))
        }
    };
    done.map_err(BuildError::io(path))
}
