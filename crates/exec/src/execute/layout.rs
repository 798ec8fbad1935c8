//! The files of a scenario, laid out below a directory.
//!
//! Links come after everything that is written through paths: a scenario can make a link to anywhere, and nothing of ours may be
//! written through it.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component as Part, Path};
use std::sync::LazyLock;

use super::{ExecuteError, order};
use parallax_scenario::{Bytes, Scenario, ktest};

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
    for (name, size) in &scenario.sizes {
        let path = inside(name, scenario)?;
        let contents = scenario.files.get(name);
        // Contents that have grown beyond it are all there is.
        if contents.is_some_and(|contents| (contents.len() as u64) < *size) {
            let file = fs::File::options().write(true).open(directory.join(path));
            file.and_then(|file| lengthen(&file, *size))
                .map_err(failed(path))?;
        }
    }
    for (name, holes) in &scenario.holes {
        let path = inside(name, scenario)?;
        if let Some(contents) = scenario.files.get(name) {
            let file = fs::File::options().write(true).open(directory.join(path));
            file.and_then(|file| dig(&file, contents, holes))
                .map_err(failed(path))?;
        }
    }
    for (name, first) in &scenario.hard_links {
        let path = inside(name, scenario)?;
        let first = directory.join(inside(first, scenario)?);
        let parent = path.parent().unwrap_or(Path::new(""));
        make_directories(directory, parent)
            .and_then(|()| fs::hard_link(first, directory.join(path)))
            .map_err(failed(path))?;
    }
    if let Some((name, contents)) = ktest::layout(scenario) {
        let path = Path::new(name);
        write(&directory.join(path), &contents).map_err(failed(path))?;
    }
    for name in &scenario.pipes {
        let path = inside(name, scenario)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        make_directories(directory, parent)
            .and_then(|()| make_pipe(&directory.join(path)))
            .map_err(failed(path))?;
    }
    for (name, target) in &scenario.links {
        let path = inside(name, scenario)?;
        let parent = path.parent().unwrap_or(Path::new(""));
        make_directories(directory, parent)
            .and_then(|()| symlink(target.as_os_str(), directory.join(path)))
            .map_err(failed(path))?;
    }
    for (name, entries) in &scenario.listings {
        let path = inside_or_root(name, scenario)?;
        let full = directory.join(path);
        // What is not there any more has no order.
        if full.is_dir() && !scenario.links.contains_key(name) {
            order::arrange(&full, entries).map_err(failed(path))?;
        }
    }
    // Children before their directories, which may lock us out.
    let stamped: BTreeSet<&Bytes> = scenario.modes.keys().chain(scenario.times.keys()).collect();
    for name in stamped.into_iter().rev() {
        let path = inside_or_root(name, scenario)?;
        let full = directory.join(path);
        // Of a link itself, if it is one.
        if let Some(time) = scenario.times.get(name) {
            set_time(&full, *time).map_err(failed(path))?;
        }
        if let Some(mode) = scenario.modes.get(name) {
            // What a link leads to would get it.
            if scenario.links.contains_key(name) {
                return Err(ExecuteError::Outside(path.to_owned()));
            }
            fs::set_permissions(full, Permissions::from_mode(mode & 0o7777))
                .map_err(failed(path))?;
        }
    }
    Ok(())
}

/// Makes a file larger. The rest takes room, too, unless it would be too much.
fn lengthen(file: &fs::File, size: u64) -> io::Result<()> {
    const MOST: u64 = 16 << 20;
    if size <= MOST {
        // SAFETY: an open descriptor and numbers.
        let result = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, size as libc::off_t) };
        if result == 0 {
            return Ok(());
        }
    }
    file.set_len(size)
}

/// Gives the room back that parts of a file take, unless there is something in them by now.
fn dig(file: &fs::File, contents: &[u8], holes: &[(u64, u64)]) -> io::Result<()> {
    // Only whole pages are given back, and the last one is one even if the file ends in it.
    const PAGE: u64 = 4096;
    let size = file.metadata()?.len();
    let within = |offset: u64| contents.len().min(offset.try_into().unwrap_or(usize::MAX));
    for (start, end) in holes {
        let end = match *end < size {
            true => *end,
            false => size.next_multiple_of(PAGE),
        };
        let part = contents.get(within(*start)..within(end));
        let is_empty = part.is_some_and(|part| part.iter().all(|byte| *byte == 0));
        if *start >= end || !is_empty {
            continue;
        }
        let (start, length) = (*start as libc::off_t, (end - start) as libc::off_t);
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: an open descriptor and numbers.
        let result = unsafe { libc::fallocate(file.as_raw_fd(), mode, start, length) };
        if result != 0 {
            let error = io::Error::last_os_error();
            // It takes room then, and is the same otherwise.
            if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
                return Err(error);
            }
        }
    }
    Ok(())
}

fn make_pipe(path: &Path) -> io::Result<()> {
    let name = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a string that is ended.
    match unsafe { libc::mkfifo(name.as_ptr(), FILE_MODE) } {
        0 => make_usual(path, FILE_MODE),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Sets when a file or directory was last changed and read, in nanoseconds since 1970.
fn set_time(path: &Path, nanoseconds: i64) -> io::Result<()> {
    const SECOND: i64 = 1_000_000_000;
    let time = libc::timespec {
        tv_sec: nanoseconds.div_euclid(SECOND),
        tv_nsec: nanoseconds.rem_euclid(SECOND),
    };
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a string that is ended, and two times.
    let result = unsafe {
        let times = [time; 2];
        libc::utimensat(
            libc::AT_FDCWD,
            path.as_ptr(),
            times.as_ptr(),
            libc::AT_SYMLINK_NOFOLLOW,
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// As [`inside`], but an empty name means the root itself.
fn inside_or_root<'n>(name: &'n Bytes, scenario: &Scenario) -> Result<&'n Path, ExecuteError> {
    match name.is_empty() {
        true => Ok(Path::new("")),
        false => inside(name, scenario),
    }
}

/// The path, if it stays below the root, and does not lead through one of the scenario's links.
pub(super) fn inside<'n>(name: &'n Bytes, scenario: &Scenario) -> Result<&'n Path, ExecuteError> {
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
    fn sizes_times_and_further_names_are_made() {
        use std::os::unix::fs::MetadataExt;
        let long_ago = 978_307_200_500_000_000;
        let scenario = Scenario {
            files: [("d/file".into(), "text".into())].into(),
            sizes: [("d/file".into(), 5000)].into(),
            hard_links: [("other/name".into(), "d/file".into())].into(),
            pipes: ["d/pipe".into()].into(),
            links: [("link".into(), "d/pipe".into())].into(),
            times: [
                ("d/file".into(), long_ago),
                ("d".into(), -1),
                ("link".into(), 5_000_000_000),
            ]
            .into(),
            modes: [("d".into(), 0o500), (Bytes::default(), 0o700)].into(),
            ..Scenario::default()
        };
        let root = laid_out(&scenario).unwrap();
        let status = |name: &str| fs::symlink_metadata(root.path().join(name)).unwrap();
        let file = status("other/name");
        assert_eq!((file.len(), file.nlink()), (5000, 2));
        assert_eq!(file.ino(), status("d/file").ino());
        assert_eq!(
            (file.mtime(), file.mtime_nsec()),
            (978_307_200, 500_000_000)
        );
        assert_eq!(status("d").mtime(), -1);
        assert_eq!(status("link").mtime(), 5);
        assert_ne!(status("d/pipe").mtime(), 5);
        assert_eq!(status("d/pipe").mode(), libc::S_IFIFO | FILE_MODE);
        assert_eq!(mode(root.path()), 0o700);
        fs::set_permissions(root.path().join("d"), Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn holes_take_no_room_unless_there_is_something_in_them() {
        use std::os::unix::fs::MetadataExt;
        let zeros = Bytes::from(vec![0; 1 << 16]);
        let mut text = zeros.clone();
        text.0[10] = b'x';
        let names = ["full", "empty", "part", "changed", "long", "longer"];
        let mut scenario = Scenario {
            files: names.map(|name| (name.into(), zeros.clone())).into(),
            holes: [
                ("empty".into(), vec![(0, 1 << 16)]),
                ("part".into(), vec![(0, 1 << 12), (1 << 13, 1 << 14)]),
                ("changed".into(), vec![(0, 1 << 15)]),
                ("long".into(), vec![(0, (1 << 20) + 1)]),
            ]
            .into(),
            sizes: [("long".into(), (1 << 20) + 1), ("longer".into(), 1 << 20)].into(),
            ..Scenario::default()
        };
        scenario.files.insert("changed".into(), text.clone());
        let root = laid_out(&scenario).unwrap();
        let status = |name: &str| fs::symlink_metadata(root.path().join(name)).unwrap();
        let kilobytes = |name: &str| status(name).blocks() / 2;
        assert_eq!(names.map(kilobytes), [64, 0, 52, 64, 0, 1024]);
        assert_eq!(fs::read(root.path().join("changed")).unwrap(), text.0);
        assert_eq!(fs::read(root.path().join("part")).unwrap(), zeros.0);
        assert_eq!(status("long").len(), (1 << 20) + 1);
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
                files: [("file".into(), "x".into())].into(),
                hard_links: [("link/file".into(), "file".into())].into(),
                links: link.clone().into(),
                ..Scenario::default()
            },
            Scenario {
                hard_links: [("mine".into(), "../../etc/passwd".into())].into(),
                ..Scenario::default()
            },
            Scenario {
                files: [("../file".into(), "x".into())].into(),
                holes: [("../file".into(), vec![(0, 1)])].into(),
                ..Scenario::default()
            },
            Scenario {
                times: [("link/inner".into(), 0)].into(),
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
