//! Which commands there are on this machine.

use std::os::unix::fs::PermissionsExt;

/// Whether a command can be run by its name.
pub fn is_on_path(name: &str) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| {
        folder
            .join(name)
            .metadata()
            .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}
