//! Builds of revisions, made once and kept.
//!
//! A build lives in `.parallax/builds/KEY/`: `source/` is the revision's files, in which it is configured and built, `logs/`
//! the whole output of each step, `build.json` is written last and says that the build is whole. The key is made of the
//! revision and of everything in the configuration that changes what is built. A build that failed or was interrupted has no
//! `build.json` and starts from nothing the next time. A lock beside the directory makes a second `parallax` wait.

mod error;
mod kept;
mod key;
mod lock;
mod step;
mod toolchain;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::config::BuildSettings;
use crate::programs::{self, Program};
use crate::project::Project;
use crate::revision::{Revision, materialise};

pub use error::{BuildError, FailedStep};
use kept::Kept;
use lock::Lock;
use step::{Step, StepName};
pub use toolchain::Toolchain;
pub use trial::{Trial, Tried};

/// A finished build.
#[derive(Clone, Debug)]
pub struct Build {
    pub revision: Revision,
    /// Everything that belongs to it.
    pub directory: PathBuf,
    /// Top of the source that was built. Tests run here.
    pub source: PathBuf,
    /// Where the results are.
    pub tree: PathBuf,
    /// The programs under test, by name.
    pub programs: Vec<Program>,
    /// The whole output of each step.
    pub logs: PathBuf,
    /// How long it took to make.
    pub time: Duration,
    /// It was there already.
    pub cached: bool,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// What happens while a build is made.
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// Another process is at it.
    Waiting,
    /// The revision's files are put in place.
    Copying,
    Started {
        step: &'static str,
        command: &'a str,
    },
    /// Still at it; the last line that it printed.
    Running {
        step: &'static str,
        time: Duration,
        line: String,
    },
    Finished {
        step: &'static str,
        time: Duration,
    },
}

/// The builds of a project.
#[derive(Clone, Debug)]
pub struct Builds<'p> {
    project: &'p Project,
    toolchain: Toolchain,
    /// Whether to give up.
    stop: Option<Arc<AtomicBool>>,
}

impl<'p> Builds<'p> {
    pub(crate) fn new(project: &'p Project, toolchain: Toolchain) -> Builds<'p> {
        Builds {
            project,
            toolchain,
            stop: None,
        }
    }

    /// Gives up, and ends what was started, when this is set.
    pub fn until(self, stop: Arc<AtomicBool>) -> Builds<'p> {
        Builds {
            stop: Some(stop),
            ..self
        }
    }

    fn is_stopped(&self) -> bool {
        let stop = self.stop.as_ref();
        stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// The build of a revision: the one that was made before, or a new one.
    pub fn ensure(
        &self,
        revision: &Revision,
        watch: &mut dyn FnMut(&Event),
    ) -> Result<Build, BuildError> {
        let directory = self.directory(revision)?;
        let lock = Lock::take_until(&directory, || watch(&Event::Waiting), || self.is_stopped())?;
        if lock.is_none() {
            let revision = revision.label.clone();
            return Err(BuildError::Stopped { revision });
        }
        if let Some(build) = self.read(revision, &directory) {
            return Ok(build);
        }
        self.discard(&directory)?;
        self.make(revision, &directory, watch)
    }

    /// The build of a revision if it was made before.
    pub fn find(&self, revision: &Revision) -> Result<Option<Build>, BuildError> {
        let directory = self.directory(revision)?;
        Ok(self.read(revision, &directory))
    }

    /// Removes the build of a revision.
    pub fn remove(&self, revision: &Revision) -> Result<(), BuildError> {
        let directory = self.directory(revision)?;
        let _lock = Lock::take(&directory, || ())?;
        self.discard(&directory)
    }

    /// Removes all builds of the project, whatever they were made with.
    pub fn remove_all(&self) -> Result<(), BuildError> {
        self.remove_folder(self.folder_of(trial::FOLDER)?)?;
        self.remove_folder(self.folder()?)
    }

    fn remove_folder(&self, folder: PathBuf) -> Result<(), BuildError> {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let _lock = Lock::take(&entry.path(), || ())?;
                self.discard(&entry.path())?;
            }
        }
        fs::remove_dir_all(&folder).map_err(BuildError::io(&folder))
    }

    /// What commands that run in a build are to find in their environment.
    pub fn environment(&self) -> Result<Vec<(String, String)>, BuildError> {
        let state = self.project.state().map_err(Box::new)?;
        let mut variables = self.toolchain.environment(&state)?;
        let settings = &self.project.config.build;
        variables.push(("JOBS".to_owned(), settings.job_count().to_string()));
        // Some configure scripts refuse to work for root, which is who everybody is in a container.
        // Safety: always succeeds.
        if unsafe { libc::geteuid() } == 0 {
            variables.push(("FORCE_UNSAFE_CONFIGURE".to_owned(), "1".to_owned()));
        }
        variables.extend(settings.environment.clone());
        Ok(variables)
    }

    fn folder(&self) -> Result<PathBuf, BuildError> {
        self.folder_of("builds")
    }

    fn folder_of(&self, kind: &str) -> Result<PathBuf, BuildError> {
        let folder = self.project.state().map_err(Box::new)?.join(kind);
        fs::create_dir_all(&folder).map_err(BuildError::io(&folder))?;
        Ok(folder)
    }

    fn directory(&self, revision: &Revision) -> Result<PathBuf, BuildError> {
        Ok(self.folder()?.join(self.key(revision)))
    }

    fn key(&self, revision: &Revision) -> String {
        key::key(revision, &self.project.config.build, |name| {
            std::env::var_os(name)
        })
    }

    fn read(&self, revision: &Revision, directory: &Path) -> Option<Build> {
        let kept = Kept::read(directory)?;
        Some(self.build(revision, directory, kept, true))
    }

    fn build(&self, revision: &Revision, directory: &Path, kept: Kept, cached: bool) -> Build {
        let config = &self.project.config;
        let all = kept.programs(directory);
        let programs = programs::configured(&all, &config.programs, &config.source.skip);
        let mut notes = kept.notes;
        for pattern in &config.programs {
            let fits = |program: &Program| crate::pattern::fits(pattern, &program.name);
            if !all.iter().any(fits) {
                notes.push(format!("no captured program is called {pattern:?}"));
            }
        }
        Build {
            // The label is the user's, and may differ from time to time.
            revision: revision.clone(),
            directory: directory.to_owned(),
            source: directory.join(&kept.source),
            tree: directory.join(&kept.tree),
            programs,
            logs: directory.join(LOGS),
            time: Duration::from_secs_f64(kept.seconds),
            cached,
            notes,
        }
    }

    fn discard(&self, directory: &Path) -> Result<(), BuildError> {
        let source = directory.join(SOURCE);
        if let Some(repository) = &self.project.repository
            && source.join(".git").exists()
        {
            repository.remove_worktree(&source)?;
        }
        match fs::remove_dir_all(directory) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(BuildError::io(directory)(error))
            }
            _ => Ok(()),
        }
    }

    fn make(
        &self,
        revision: &Revision,
        directory: &Path,
        watch: &mut dyn FnMut(&Event),
    ) -> Result<Build, BuildError> {
        let started = Instant::now();
        let logs = directory.join(LOGS);
        fs::create_dir_all(&logs).map_err(BuildError::io(&logs))?;
        watch(&Event::Copying);
        let (source, notes) = materialise(self.project, revision, &directory.join(SOURCE))?;
        let settings = &self.project.config.build;
        let environment = self.environment()?;
        let is_stopped = &|| self.is_stopped();
        for (name, command) in steps(settings) {
            let step = Step {
                revision,
                name,
                command,
                directory: &source,
                environment: &environment,
                logs: &logs,
                stop: self.stop.as_ref().map(|_| is_stopped as &dyn Fn() -> bool),
            };
            let came = step.run(watch);
            if self.is_stopped() {
                let revision = revision.label.clone();
                return Err(BuildError::Stopped { revision });
            }
            came?;
        }
        let tree = source.join(&settings.tree);
        if !tree.is_dir() {
            return Err(BuildError::NoTree {
                revision: revision.label.clone(),
                tree,
            });
        }
        let programs = programs::captured(&tree);
        if programs.is_empty() {
            let shared = programs::libraries(&tree).into_iter();
            let mut libraries: Vec<String> = shared.map(|library| library.name).collect();
            libraries.extend(programs::archives(&tree));
            if !libraries.is_empty() {
                return Err(BuildError::OnlyLibraries {
                    revision: revision.label.clone(),
                    tree,
                    libraries,
                });
            }
            let log = logs.join(StepName::Build.log());
            return Err(BuildError::NothingCaptured {
                revision: revision.label.clone(),
                tree,
                said: step::said_by_wrapper(&log),
                log,
            });
        }
        let kept = Kept::new(
            directory,
            revision,
            &source,
            &tree,
            &programs,
            notes,
            started.elapsed(),
        );
        kept.write(directory)?;
        Ok(self.build(revision, directory, kept, false))
    }
}

const SOURCE: &str = "source";
const LOGS: &str = "logs";

/// The steps of a build that have something to do.
fn steps(settings: &BuildSettings) -> impl Iterator<Item = (StepName, &str)> {
    let all = [
        (StepName::Bootstrap, settings.bootstrap.as_str()),
        (StepName::Configure, settings.configure.as_str()),
        (StepName::Build, settings.build.as_str()),
    ];
    all.into_iter()
        .filter(|(_, command)| !command.trim().is_empty())
}
