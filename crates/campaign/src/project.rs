//! The project that is worked on: its compiler, its programs by name.

use std::path::{Path, PathBuf};

use parallax_project::{Project, Toolchain};

use crate::exit::Exit;
use crate::failure::Failure;

/// Whether a program was asked for, by its name in the build tree or the last part of it; all are if none is named.
pub fn is_wanted(name: &Path, only: &[PathBuf]) -> bool {
    let same = |wanted: &PathBuf| wanted == name || Some(wanted.as_os_str()) == name.file_name();
    only.is_empty() || only.iter().any(same)
}

/// None of the programs has the name that was asked for.
pub fn no_such_program() -> Failure {
    Failure::new(Exit::Usage, "the project has no such program")
        .hint("parallax build shows its programs")
}

/// This very program as compiler.
pub fn toolchain() -> Result<Toolchain, Failure> {
    Toolchain::current().map_err(Failure::cannot("find", Path::new("/proc/self/exe")))
}

/// Environment variables that are input.
pub fn variables(project: &Project) -> Vec<Vec<u8>> {
    let variables = project.config.inputs.environment.iter();
    variables.map(|name| name.clone().into_bytes()).collect()
}
