//! The files of a scenario, laid out below a directory.
//!
//! Links come after everything that is written through paths: a scenario can make a link to anywhere, and nothing of ours may be
//! written through it.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component as Part, Path};
use std::sync::LazyLock;

use super::ExecuteError;
use crate::scenario::{Bytes, Scenario, ktest};

const FILE_MODE: u32 = 0o644;
const DIRECTORY_MODE: u32 = 0o755;

/// Whether files that this process makes have the usual permissions by themselves.
static IS_USUAL: LazyLock<bool> = LazyLock::new(|| {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let umask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    umask.is_some_and(|umask| u32::from_str_radix(umask.trim(), 8) == Ok(0o022))
});

/// Writes the scenario's files, directories and links below `directory`.
pub fn lay_out(directory: &Path, scenario: &Scenario) -> Result<(), ExecuteError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |source| ExecuteError::File { path, source }
    };
    for name in &scenario.directories {
        let path = inside(name, scenario)?;
        make_directories(directory, path).map_err(failed(path))?;
    }
    if !scenario.directory.is_empty() {
        let path = inside(&scenario.directory, scenario)?;
        make_directories(directory, path).map_err(failed(path))?;
    }
    for (name, contents) in &scenario.files {
        let path = inside(name, scenario)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        make_directories(directory, parent)
            .and_then(|()| write(&directory.join(path), contents))
            .map_err(failed(path))?;
    }
    if let Some((name, contents)) = ktest::layout(scenario) {
        let path = Path::new(name);
        write(&directory.join(path), &contents).map_err(failed(path))?;
    }
    for (name, target) in &scenario.links {
        let path = inside(name, scenario)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        make_directories(directory, parent)
            .and_then(|()| symlink(target.as_os_str(), directory.join(path)))
            .map_err(failed(path))?;
    }
    // Children before their directories, which may lock us out.
    for (name, mode) in scenario.modes.iter().rev() {
        let path = inside(name, scenario)?;
        if scenario.links.contains_key(name) {
            return Err(ExecuteError::Outside(path.to_owned()));
        }
        fs::set_permissions(directory.join(path), Permissions::from_mode(mode & 0o7777))
            .map_err(failed(path))?;
    }
    Ok(())
}

/// The path, if it stays below the root, and does not lead through one of the scenario's links.
fn inside<'n>(name: &'n Bytes, scenario: &Scenario) -> Result<&'n Path, ExecuteError> {
    let path = Path::new(name.as_os_str());
    let is_plain = path
        .components()
        .all(|part| matches!(part, Part::Normal(_) | Part::CurDir));
    let leads_elsewhere = !scenario.links.is_empty()
        && path.ancestors().skip(1).any(|above| {
            let above = Bytes::from(above.as_os_str().as_bytes());
            scenario.links.contains_key(&above)
        });
    if is_plain && !name.is_empty() && !leads_elsewhere {
        Ok(path)
    } else {
        Err(ExecuteError::Outside(path.to_owned()))
    }
}

fn write(path: &Path, contents: &[u8]) -> io::Result<()> {
    fs::write(path, contents)?;
    make_usual(path, FILE_MODE)
}

/// Makes a directory below `root`, with those above it.
fn make_directories(root: &Path, path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let full = root.join(path);
    match fs::create_dir(&full) {
        Ok(()) => make_usual(&full, DIRECTORY_MODE),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(Path::new(""));
            if parent.as_os_str().is_empty() {
                return Err(error);
            }
            make_directories(root, parent)?;
            make_directories(root, path)
        }
        Err(error) => Err(error),
    }
}

fn make_usual(path: &Path, mode: u32) -> io::Result<()> {
    match *IS_USUAL {
        true => Ok(()),
        false => fs::set_permissions(path, Permissions::from_mode(mode)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(scenario: &Scenario) -> Result<tempfile::TempDir, ExecuteError> {
        let root = tempfile::tempdir().unwrap();
        lay_out(root.path(), scenario).map(|()| root)
    }

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn directories_links_and_permissions_are_made() {
        let scenario = Scenario {
            files: [("a/b/file".into(), "text".into())].into(),
            directories: ["empty/inner".into()].into(),
            directory: "a/start".into(),
            links: [("a/link".into(), "b/file".into())].into(),
            modes: [("a/b/file".into(), 0o400), ("empty".into(), 0o500)].into(),
            ..Scenario::default()
        };
        let root = laid_out(&scenario).unwrap();
        let path = |name: &str| root.path().join(name);
        assert_eq!(fs::read(path("a/link")).unwrap(), b"text");
        assert!(path("a/start").is_dir() && path("empty/inner").is_dir());
        assert_eq!(mode(&path("a/b/file")), 0o400);
        assert_eq!(mode(&path("empty")), 0o500);
        assert_eq!(mode(&path("a/b")), DIRECTORY_MODE);
        fs::set_permissions(path("empty"), Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn nothing_is_written_outside_or_through_a_link() {
        let elsewhere = tempfile::tempdir().unwrap();
        let before = mode(elsewhere.path());
        let target: Bytes = elsewhere.path().as_os_str().as_bytes().into();
        let link = [("link".into(), target)];
        let cases = [
            Scenario {
                files: [("../file".into(), "x".into())].into(),
                ..Scenario::default()
            },
            Scenario {
                files: [("link/file".into(), "x".into())].into(),
                links: link.clone().into(),
                ..Scenario::default()
            },
            Scenario {
                modes: [("link".into(), 0o777)].into(),
                links: link.clone().into(),
                ..Scenario::default()
            },
            Scenario {
                directories: ["link/inner".into()].into(),
                links: link.into(),
                ..Scenario::default()
            },
        ];
        for scenario in &cases {
            let result = laid_out(scenario);
            assert!(
                matches!(result, Err(ExecuteError::Outside(_))),
                "{result:?}"
            );
        }
        assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
        assert_eq!(mode(elsewhere.path()), before);
    }
}
