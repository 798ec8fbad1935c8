//! Which directories of the machine a sandbox is about.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::mounts::{MAX_SHOWN, PRIVATE, WORK};
use super::{Confinement, SandboxError, private_directories};

/// The directories, as the sandbox needs them.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The engine's directory for this sandbox.
    pub(super) scratch: CString,
    /// The working directory as programs see it.
    pub(super) work: CString,
    /// Files and directories that must stay visible although they are where temporary files are.
    pub(super) shown: Vec<CString>,
    /// Options of the file system in memory; filled in when the limits are known.
    pub(super) options: CString,
    pub(super) directory: PathBuf,
}

impl Place {
    /// A sandbox that uses the directory `scratch`; `readable` files and directories can be found in it at their
    /// usual paths.
    pub fn new(
        confinement: Confinement,
        scratch: &Path,
        readable: &[PathBuf],
    ) -> Result<Place, SandboxError> {
        let failed = |path: &Path| SandboxError::Path(path.to_owned());
        let text =
            |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(|_| failed(path));
        let directory = fs::canonicalize(scratch).map_err(|_| failed(scratch))?;
        let private = private_directories();
        let mut shown: Vec<PathBuf> = Vec::new();
        for path in readable {
            let path = fs::canonicalize(path).map_err(|_| failed(path))?;
            let is_hidden = private.iter().any(|hidden| path.starts_with(hidden));
            // All of a directory for temporary files is never shown: its private contents are the point.
            let is_hidden = is_hidden && !private.contains(&path);
            if is_hidden && !shown.iter().any(|other| path.starts_with(other)) {
                shown.retain(|other| !other.starts_with(&path));
                shown.push(path);
            }
        }
        if let Some(path) = shown.get(MAX_SHOWN) {
            return Err(failed(path));
        }
        // The same everywhere, if it can be: programs tell where they are.
        let parent = Path::new("/tmp");
        let is_apart = matches!(confinement, Confinement::Namespaces { .. });
        let work = if is_apart && private.iter().any(|path| path == parent) {
            PathBuf::from(parallax_scenario::WORK)
        } else {
            directory.join(WORK.to_str().expect("ASCII"))
        };
        Ok(Place {
            scratch: text(&directory)?,
            work: text(&work)?,
            shown: shown
                .iter()
                .map(|path| text(path))
                .collect::<Result<_, _>>()?,
            options: CString::default(),
            directory,
        })
    }

    /// The working directory as programs see it.
    pub fn work(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.work.to_bytes()))
    }

    /// What in the private directories is ours: paths relative to [`Init::files`](super::Init::files).
    pub fn own_paths(&self) -> Vec<PathBuf> {
        let shown = self.shown.iter().chain([&self.work]);
        shown
            .filter_map(|path| {
                let path = Path::new(OsStr::from_bytes(path.to_bytes()));
                PRIVATE.iter().find_map(|private| {
                    let hidden = fs::canonicalize(private.path.to_str().ok()?).ok()?;
                    let rest = path.strip_prefix(hidden).ok()?;
                    Some(Path::new(private.name.to_str().ok()?).join(rest))
                })
            })
            .collect()
    }
}
