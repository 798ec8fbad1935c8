//! The files of a run: laid out before it, cleared away before the next.
//!
//! They are reached through a descriptor of the sandbox's file system, not by path: in a mount namespace they are
//! nowhere else. Nothing runs in the sandbox meanwhile, so nobody plays tricks with links.

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{ExecuteError, lay_out};
use crate::sandbox::{Confinement, Init, PRIVATE, Place, Private, WORK, WORK_MODE};
use parallax_scenario::Scenario;

/// What is in a sandbox's file system when nobody has been there.
#[derive(Debug)]
pub(super) struct Scratch {
    /// Paths of our own that must stay, with those that lead to them.
    own: BTreeSet<PathBuf>,
    leading: BTreeSet<PathBuf>,
    /// Files in use by ourselves; `None` if the file system is shared with others.
    count: Option<u64>,
    /// What was laid out for the last run, right in the working directory: on the way to anything deeper the
    /// program may have left a link that leads elsewhere.
    laid_out: Vec<PathBuf>,
}

impl Scratch {
    pub fn new(init: &Init, place: &Place, confinement: Confinement) -> Scratch {
        let is_apart = matches!(confinement, Confinement::Namespaces { .. });
        let own: BTreeSet<PathBuf> = place.own_paths().into_iter().collect();
        let leading = own
            .iter()
            .flat_map(|path| path.ancestors().skip(1).map(Path::to_owned))
            .collect();
        Scratch {
            own,
            leading,
            count: if is_apart { count(init) } else { None },
            laid_out: Vec::new(),
        }
    }

    /// Makes everything as it was at first, then lays out the scenario's files.
    pub fn prepare(&mut self, init: &Init, scenario: &Scenario) -> Result<(), ExecuteError> {
        let root = root(init);
        let work = root.join(WORK.to_str().expect("ASCII"));
        // First of all: without that nothing can be cleared away.
        self.unlock_own(init).map_err(ExecuteError::Scratch)?;
        // Mostly they are still there, and all there is: then nobody need look into the directories.
        for path in self.laid_out.drain(..) {
            let _ = fs::remove_file(path);
        }
        if self.count.is_none() || count(init) != self.count {
            self.clear(&root, Path::new(WORK.to_str().expect("ASCII")))
                .map_err(ExecuteError::Scratch)?;
            if self.count.is_some() {
                for private in &PRIVATE {
                    self.clear(&root, Path::new(private.name.to_str().expect("ASCII")))
                        .map_err(ExecuteError::Scratch)?;
                }
            }
        }
        lay_out(&work, scenario)?;
        for (place, files) in &scenario.elsewhere {
            let is_meant = |private: &&Private| private.path.to_bytes() == &place[..];
            // Where they are everybody's, they are not for us to write to.
            let private = PRIVATE
                .iter()
                .filter(|_| self.count.is_some())
                .find(is_meant);
            let Some(private) = private else {
                return Err(ExecuteError::Outside(place.as_os_str().into()));
            };
            lay_out(&root.join(private.name.to_str().expect("ASCII")), files)?;
        }
        let names = scenario
            .files
            .keys()
            .map(|name| Path::new(name.as_os_str()));
        let near = names.filter(|name| name.components().count() == 1);
        self.laid_out.extend(near.map(|name| work.join(name)));
        Ok(())
    }

    /// Gives our own directories the permissions back that they had: programs may change those of what is theirs.
    fn unlock_own(&self, init: &Init) -> io::Result<()> {
        make_mode(init, WORK, WORK_MODE)?;
        if self.count.is_some() {
            for private in &PRIVATE {
                make_mode(init, private.name, private.mode)?;
            }
        }
        Ok(())
    }

    /// Empties a directory, but for what is ours.
    fn clear(&self, root: &Path, directory: &Path) -> io::Result<()> {
        let full = root.join(directory);
        for entry in entries(&full)? {
            let entry = entry?;
            let path = directory.join(entry.file_name());
            if self.own.contains(&path) {
                continue;
            }
            if self.leading.contains(&path) {
                self.clear(root, &path)?;
            } else if entry.file_type()?.is_dir() {
                remove_directory(&entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// The file system's root as a path of ours, and the name of the working directory there.
pub(super) fn roots(init: &Init) -> (PathBuf, &'static Path) {
    (root(init), Path::new(WORK.to_str().expect("ASCII")))
}

/// The working directory as a path of ours.
pub(super) fn work(init: &Init) -> PathBuf {
    let (root, work) = roots(init);
    root.join(work)
}

/// The file system's root as a path of ours.
fn root(init: &Init) -> PathBuf {
    format!("/proc/self/fd/{}", init.files.as_raw_fd()).into()
}

/// Gives a directory of the file system a mode, if it has another.
fn make_mode(init: &Init, name: &CStr, mode: libc::mode_t) -> io::Result<()> {
    let files = init.files.as_raw_fd();
    // SAFETY: system calls on a valid string and plain data.
    let is_done = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        let flags = libc::AT_SYMLINK_NOFOLLOW;
        libc::fstatat(files, name.as_ptr(), &mut status, flags) == 0
            && (status.st_mode == libc::S_IFDIR | mode
                || libc::fchmodat(files, name.as_ptr(), mode, 0) == 0)
    };
    match is_done {
        true => Ok(()),
        false => Err(io::Error::last_os_error()),
    }
}

/// How many files the file system holds.
fn count(init: &Init) -> Option<u64> {
    // SAFETY: plain data, filled in by the call.
    unsafe {
        let mut status: libc::statfs = std::mem::zeroed();
        (libc::fstatfs(init.files.as_raw_fd(), &mut status) == 0)
            .then(|| status.f_files - status.f_ffree)
    }
}

/// The entries of a directory, even if its owner has locked himself out.
fn entries(directory: &Path) -> io::Result<fs::ReadDir> {
    fs::read_dir(directory).or_else(|_| {
        fs::set_permissions(directory, Permissions::from_mode(0o700))?;
        fs::read_dir(directory)
    })
}

fn remove_directory(directory: &Path) -> io::Result<()> {
    let Err(error) = fs::remove_dir_all(directory) else {
        return Ok(());
    };
    if error.kind() != io::ErrorKind::PermissionDenied {
        return Err(error);
    }
    unlock(directory)?;
    fs::remove_dir_all(directory)
}

/// Makes all directories below writable again.
fn unlock(directory: &Path) -> io::Result<()> {
    fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            unlock(&entry.path())?;
        }
    }
    Ok(())
}
