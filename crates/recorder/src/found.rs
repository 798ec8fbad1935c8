//! What was at a path when the program first named it.
//!
//! Besides contents, what the file system says is kept where it can matter ([`Stamp`]): names of one file, sizes of what is kept in part, holes, the order in which a
//! directory lists its entries, and dates that somebody set. Such a date is told by change and status time lying apart; other dates are those of a build or a test, and
//! differ each time. Files in `/tmp`, `/var/tmp` and `/dev/shm` that are in neither tree belong to the scenario, too (`Scenario::elsewhere`): tests use them as a second
//! file system. Reading for the record uses `O_NOATIME`, because tests look at access times.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::proc::{self, Entry, Identity};
use crate::territory::Territory;

/// What was at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Absent,
    Directory {
        mode: u32,
        /// Names of its entries in the order in which it lists them, if the program listed it.
        listed: Option<Vec<OsString>>,
        /// The program asked for it, or made something in it; others are only on the way to something.
        is_meant: bool,
        stamp: Stamp,
    },
    File {
        mode: u32,
        contents: Contents,
        /// The program may have changed it since.
        is_changed: bool,
        stamp: Stamp,
    },
    Link {
        target: OsString,
        /// As in [`Stamp`].
        time: Option<i64>,
    },
    /// A named pipe that the program did not open: what others do at its other end is no part of a scenario.
    Pipe {
        mode: u32,
    },
    /// A program or a library: what it is built from, not what it is given.
    Binary,
    /// A pipe that was used, a socket, a device.
    Special,
}

/// What is known of a file's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Its name appeared in a list, no more.
    Unread,
    /// We cannot read it, so nor could the program.
    Unreadable,
    Whole(Vec<u8>),
    /// The beginning of a file of this size.
    Part(Vec<u8>, u64),
}

/// What the file system says about a file besides what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// When it was last changed, in nanoseconds, if somebody has set that. Otherwise it is when it was written: a matter of
    /// when the project was built or tested, which differs from one time to the next.
    pub time: Option<i64>,
    /// It was made or changed in the course of the tests.
    pub is_fresh: bool,
    /// Which file it is, and how many names it has.
    pub identity: Identity,
    pub names: u64,
    pub size: u64,
    /// Beginning and end of the parts that take no room.
    pub holes: Vec<(u64, u64)>,
}

/// Seconds that writing a file and what else is done to it then may lie apart.
const WRITTEN: u64 = 2;

impl Stamp {
    fn of(metadata: &fs::Metadata, territory: &Territory) -> Stamp {
        let seconds = metadata.mtime().checked_mul(1_000_000_000);
        let time = seconds.and_then(|time| time.checked_add(metadata.mtime_nsec()));
        let is_fresh = time.is_some_and(|time| territory.is_of_tests(time));
        let is_set = metadata.mtime().abs_diff(metadata.ctime()) > WRITTEN;
        Stamp {
            time: time.filter(|_| is_set && !is_fresh),
            is_fresh,
            identity: Identity::of(metadata),
            names: metadata.nlink(),
            size: metadata.size(),
            holes: Vec::new(),
        }
    }
}

impl Found {
    /// What can be said of a path without reading what is there.
    pub fn at(path: &Path, metadata: &fs::Metadata, territory: &Territory) -> Found {
        let mode = metadata.mode() & 0o7777;
        let stamp = Stamp::of(metadata, territory);
        match metadata.mode() & libc::S_IFMT {
            libc::S_IFDIR => Found::Directory {
                mode,
                listed: None,
                is_meant: false,
                stamp,
            },
            libc::S_IFREG => {
                let is_sparse = metadata.blocks() * 512 < metadata.size();
                let holes = match is_sparse {
                    true => proc::holes(path).unwrap_or_default(),
                    false => Vec::new(),
                };
                Found::File {
                    mode,
                    contents: Contents::Unread,
                    is_changed: false,
                    stamp: Stamp { holes, ..stamp },
                }
            }
            libc::S_IFLNK => match fs::read_link(path) {
                Ok(target) => Found::Link {
                    target: target.into_os_string(),
                    time: stamp.time,
                },
                Err(_) => Found::Absent,
            },
            libc::S_IFIFO => Found::Pipe { mode },
            _ => Found::Special,
        }
    }

    /// What a list of names tells about an entry that cannot be looked at.
    pub fn listed(entry: &Entry) -> Found {
        let stamp = Stamp::default();
        match entry.kind {
            libc::DT_DIR => Found::Directory {
                mode: 0o755,
                listed: None,
                is_meant: false,
                stamp,
            },
            libc::DT_REG => Found::File {
                mode: 0o644,
                contents: Contents::Unreadable,
                is_changed: false,
                stamp,
            },
            // Where it leads is nothing that the program can know.
            libc::DT_LNK => Found::Link {
                target: "unknown".into(),
                time: None,
            },
            _ => Found::Absent,
        }
    }
}
