//! Unpacking into a directory that other processes may be unpacking into as well.

use crate::Asset;
use parallax_files::replace;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A directory to unpack below.
pub struct Base {
    pub path: PathBuf,
    /// Others can write to the parent: the directory must turn out to be ours alone, because what
    /// is unpacked into it is loaded into compilers.
    pub private: bool,
}

/// Where to unpack, best first.
pub fn bases() -> Vec<Base> {
    // Safety: no preconditions.
    let user = unsafe { libc::geteuid() };
    let temporary = env::temp_dir().join(format!("parallax-{user}"));
    parallax_files::cache_directory()
        .map(|path| Base {
            path,
            private: false,
        })
        .into_iter()
        .chain([Base {
            path: temporary,
            private: true,
        }])
        .collect()
}

/// Unpacks below `base` unless that was done before; returns the directory.
pub fn into(base: &Base, assets: &[Asset], identity: &str) -> io::Result<PathBuf> {
    if base.private {
        create_private(&base.path)?;
    }
    let target = base.path.join(identity);
    if target.is_dir() {
        return repair(&target, assets).map(|()| target);
    }
    fs::create_dir_all(&base.path)?;
    // Files are written to a directory of this process and appear together, by rename.
    let scratch = base
        .path
        .join(format!(".unpack-{}-{identity}", std::process::id()));
    let result = write_all(&scratch, assets).and_then(|()| fs::rename(&scratch, &target));
    if result.is_err() {
        // Another process may have been first: then its directory is as good as ours.
        let _ = fs::remove_dir_all(&scratch);
        if !target.is_dir() {
            result?;
        }
    }
    Ok(target)
}

/// Unpacks again what does not have its size any more: a full disk, a tidying job or a crash
/// of the machine left it so. Looking at sizes costs nothing; contents are not compared.
fn repair(directory: &Path, assets: &[Asset]) -> io::Result<()> {
    for asset in assets {
        let path = directory.join(asset.name);
        // A directory or anything else in its place does not count as the file.
        let whole = |found: fs::Metadata| found.is_file() && found.len() == asset.size;
        if fs::symlink_metadata(&path).is_ok_and(whole) {
            continue;
        }
        // By rename: somebody may be using the damaged one, or be repairing it too.
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        replace(&path, |scratch| write(scratch, asset))?;
    }
    Ok(())
}

fn write(path: &Path, asset: &Asset) -> io::Result<()> {
    fs::write(path, zstd::stream::decode_all(asset.compressed)?)
}

fn write_all(scratch: &Path, assets: &[Asset]) -> io::Result<()> {
    // Left over from a killed process with our number.
    let _ = fs::remove_dir_all(scratch);
    fs::create_dir(scratch)?;
    for asset in assets {
        let path = scratch.join(asset.name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        write(&path, asset)?;
    }
    Ok(())
}

/// Makes sure that `path` is a directory that only this user can write to.
fn create_private(path: &Path) -> io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let found = fs::symlink_metadata(path)?;
    // Safety: no preconditions.
    let ours = found.uid() == unsafe { libc::geteuid() };
    if found.is_dir() && ours && found.permissions().mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::Error::other(
            "exists, but is not a directory of this user alone",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assets() -> Vec<Asset> {
        let compressed = zstd::stream::encode_all(&b"content"[..], 1).unwrap().leak();
        vec![
            Asset {
                name: "one",
                size: 7,
                compressed,
            },
            Asset {
                name: "below/two",
                size: 7,
                compressed,
            },
        ]
    }

    #[test]
    fn many_processes_can_unpack_at_once() {
        let temporary = tempfile::tempdir().unwrap();
        let base = || Base {
            path: temporary.path().join("parallax"),
            private: false,
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                // Threads share a process number, which is harder than what can happen.
                scope.spawn(|| while into(&base(), &assets(), "1-x").is_err() {});
            }
        });
        let directory = into(&base(), &assets(), "1-x").unwrap();
        assert_eq!(fs::read(directory.join("below/two")).unwrap(), b"content");
        assert_eq!(fs::read_dir(&base().path).unwrap().count(), 1);
    }

    #[test]
    fn files_that_were_cut_off_or_removed_are_unpacked_again() {
        let temporary = tempfile::tempdir().unwrap();
        let base = Base {
            path: temporary.path().join("parallax"),
            private: false,
        };
        let directory = into(&base, &assets(), "1-x").unwrap();
        let (one, two) = (directory.join("one"), directory.join("below/two"));
        fs::write(&one, "cont").unwrap();
        fs::remove_dir_all(directory.join("below")).unwrap();
        assert_eq!(into(&base, &assets(), "1-x").unwrap(), directory);
        for file in [&one, &two] {
            assert_eq!(fs::read(file).unwrap(), b"content");
        }
        // Nothing else is left behind, and what is whole is left alone.
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 2);
        let before = fs::metadata(&one).unwrap().ino();
        into(&base, &assets(), "1-x").unwrap();
        assert_eq!(fs::metadata(&one).unwrap().ino(), before);
    }

    #[test]
    fn a_temporary_directory_that_others_can_write_to_is_refused() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("parallax");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(
            into(
                &Base {
                    path,
                    private: true
                },
                &assets(),
                "1-x"
            )
            .is_err()
        );
    }
}
