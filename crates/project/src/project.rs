//! The project that a directory belongs to.

use std::io;
use std::path::{Path, PathBuf};

use parallax_files::create_ignored;

use crate::build::{Builds, Toolchain};
use crate::config::{Config, ConfigError, FILE_NAME, Layers};
use crate::revision::{Repository, RevisionError, Selected, Selection, select};

/// Name of the directory that everything of ours is kept in.
pub const STATE: &str = ".parallax";

/// Why there is no project to work on.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    #[error("no {FILE_NAME} in {} or above", .0.display())]
    NotFound(PathBuf),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("{}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// A project with its configuration.
#[derive(Clone, Debug)]
pub struct Project {
    /// Top of the project: where the file is. Absolute.
    pub root: PathBuf,
    pub config: Config,
    /// `None` for a source tree without version control.
    pub repository: Option<Repository>,
}

impl Project {
    /// The project that a directory belongs to.
    pub fn find(directory: &Path) -> Result<Project, ProjectError> {
        Project::find_with(directory, &[])
    }

    /// Likewise, with `section.key=value` words of the command line.
    pub fn find_with(directory: &Path, flags: &[String]) -> Result<Project, ProjectError> {
        let io_error = |error| ProjectError::Io {
            path: directory.to_owned(),
            error,
        };
        let directory = directory.canonicalize().map_err(io_error)?;
        let root = directory
            .ancestors()
            .find(|folder| folder.join(FILE_NAME).is_file())
            .ok_or_else(|| ProjectError::NotFound(directory.clone()))?
            .to_owned();
        let mut layers = Layers::of(&root.join(FILE_NAME))?;
        layers.flags = flags.to_vec();
        Ok(Project {
            config: layers.resolve()?,
            repository: Repository::of(&root),
            root,
        })
    }

    /// Where everything of ours is kept. Made when it is not there, and hidden from git.
    pub fn state(&self) -> Result<PathBuf, ProjectError> {
        state_directory(&self.root)
    }

    /// The revisions that the user means.
    pub fn select(&self, selection: &Selection) -> Result<Selected, RevisionError> {
        select(self, selection)
    }

    /// The builds of this project's revisions.
    pub fn builds(&self, toolchain: Toolchain) -> Builds<'_> {
        Builds::new(self, toolchain)
    }
}

/// `.parallax` at the top of a project.
pub fn state_directory(root: &Path) -> Result<PathBuf, ProjectError> {
    let path = root.join(STATE);
    create_ignored(&path).map_err(|error| ProjectError::Io {
        path: path.clone(),
        error,
    })?;
    Ok(path)
}
