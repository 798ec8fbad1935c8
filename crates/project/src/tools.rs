//! Which commands there are on this machine.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// Where a command is that is called by its name; a path means itself.
pub fn find_on_path(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join(name));
    paths.find(|path| {
        let found = path.metadata();
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}

/// Whether a command can be run by its name.
pub fn is_on_path(name: &str) -> bool {
    find_on_path(name).is_some()
}
