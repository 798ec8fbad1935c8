//! The system calls that say what a program looks at, as tables.
//!
//! One rule serves all calls that take a path: what is there *before* the first call that names it is input. It holds for
//! calls that change something, too: `rm` needs its file to be there, and a file that the program made
//! itself was not there when it was first named.

use libc::*;

/// A path among the arguments of a call.
#[derive(Clone, Copy, Debug)]
pub struct PathArgument {
    /// The argument that holds the directory that the path is relative to; without it, the working directory.
    pub directory: Option<usize>,
    pub path: usize,
}

/// Whether a call looks at a symbolic link or through it.
#[derive(Clone, Copy, Debug)]
pub enum Follow {
    Always,
    Never,
    /// Unless the argument has this flag.
    Unless(usize, i32),
    /// If the argument has this flag.
    If(usize, i32),
}

/// A call that takes paths.
#[derive(Clone, Copy, Debug)]
pub struct PathCall {
    pub number: i64,
    pub paths: &'static [PathArgument],
    pub follow: Follow,
    /// Whether it may change the contents of what is there.
    pub changes: bool,
    /// Whether it makes what its last path names.
    pub creates: bool,
}

const fn here(path: usize) -> PathArgument {
    PathArgument {
        directory: None,
        path,
    }
}

const fn at(directory: usize) -> PathArgument {
    PathArgument {
        directory: Some(directory),
        path: directory + 1,
    }
}

const fn looks(number: i64, paths: &'static [PathArgument], follow: Follow) -> PathCall {
    PathCall {
        number,
        paths,
        follow,
        changes: false,
        creates: false,
    }
}

const fn changes(number: i64, paths: &'static [PathArgument], follow: Follow) -> PathCall {
    PathCall {
        number,
        paths,
        follow,
        changes: true,
        creates: false,
    }
}

const fn makes(call: PathCall) -> PathCall {
    PathCall {
        creates: true,
        ..call
    }
}

/// Too new for the constants that we have.
const SYS_FCHMODAT2: i64 = 452;

use Follow::{Always, If, Never, Unless};

/// All calls that take paths, but for those that open files.
pub const PATH_CALLS: &[PathCall] = &[
    looks(SYS_stat, &[here(0)], Always),
    looks(SYS_lstat, &[here(0)], Never),
    looks(SYS_newfstatat, &[at(0)], Unless(3, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_statx, &[at(0)], Unless(2, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_access, &[here(0)], Always),
    looks(SYS_faccessat, &[at(0)], Always),
    looks(SYS_faccessat2, &[at(0)], Unless(3, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_readlink, &[here(0)], Never),
    looks(SYS_readlinkat, &[at(0)], Never),
    looks(SYS_chdir, &[here(0)], Always),
    looks(SYS_execve, &[here(0)], Always),
    looks(SYS_execveat, &[at(0)], Unless(4, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_statfs, &[here(0)], Always),
    looks(SYS_getxattr, &[here(0)], Always),
    looks(SYS_lgetxattr, &[here(0)], Never),
    looks(SYS_listxattr, &[here(0)], Always),
    looks(SYS_llistxattr, &[here(0)], Never),
    looks(SYS_inotify_add_watch, &[here(1)], Always),
    makes(looks(SYS_mkdir, &[here(0)], Never)),
    makes(looks(SYS_mkdirat, &[at(0)], Never)),
    makes(looks(SYS_mknod, &[here(0)], Never)),
    makes(looks(SYS_mknodat, &[at(0)], Never)),
    makes(looks(SYS_symlink, &[here(1)], Never)),
    makes(looks(SYS_symlinkat, &[at(1)], Never)),
    looks(SYS_chmod, &[here(0)], Always),
    looks(SYS_fchmodat, &[at(0)], Always),
    looks(SYS_FCHMODAT2, &[at(0)], Unless(3, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_chown, &[here(0)], Always),
    looks(SYS_lchown, &[here(0)], Never),
    looks(SYS_fchownat, &[at(0)], Unless(4, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_utime, &[here(0)], Always),
    looks(SYS_utimes, &[here(0)], Always),
    looks(SYS_futimesat, &[at(0)], Always),
    looks(SYS_utimensat, &[at(0)], Unless(3, AT_SYMLINK_NOFOLLOW)),
    looks(SYS_setxattr, &[here(0)], Always),
    looks(SYS_lsetxattr, &[here(0)], Never),
    looks(SYS_removexattr, &[here(0)], Always),
    looks(SYS_lremovexattr, &[here(0)], Never),
    makes(looks(SYS_link, &[here(0), here(1)], Never)),
    makes(looks(SYS_linkat, &[at(0), at(2)], If(4, AT_SYMLINK_FOLLOW))),
    changes(SYS_truncate, &[here(0)], Always),
    changes(SYS_unlink, &[here(0)], Never),
    changes(SYS_unlinkat, &[at(0)], Never),
    changes(SYS_rmdir, &[here(0)], Never),
    makes(changes(SYS_rename, &[here(0), here(1)], Never)),
    makes(changes(SYS_renameat, &[at(0), at(2)], Never)),
    makes(changes(SYS_renameat2, &[at(0), at(2)], Never)),
];

/// Calls that remove a directory if it is empty, or put another one in its place: what is in it is input.
pub const REPLACING_CALLS: &[i64] = &[
    SYS_rmdir,
    SYS_unlinkat,
    SYS_rename,
    SYS_renameat,
    SYS_renameat2,
];

/// Calls that open files.
pub const OPEN_CALLS: &[i64] = &[SYS_open, SYS_openat, SYS_openat2, SYS_creat];

/// Calls after which relative paths mean something else.
pub const MOVING_CALLS: &[i64] = &[SYS_chdir, SYS_fchdir, SYS_chroot];

/// Calls that list a directory.
pub const LIST_CALLS: &[i64] = &[SYS_getdents, SYS_getdents64];

/// Calls by which a server is recognised.
pub const SERVER_CALLS: &[i64] = &[SYS_listen, SYS_accept, SYS_accept4];

/// Calls that take bytes from a descriptor, which is their first argument.
pub const READ_CALLS: &[i64] = &[
    SYS_read,
    SYS_readv,
    SYS_pread64,
    SYS_preadv,
    SYS_recvfrom,
    SYS_recvmsg,
];

/// Calls that put bytes into a descriptor, which is their first argument.
pub const WRITE_CALLS: &[i64] = &[
    SYS_write,
    SYS_writev,
    SYS_pwrite64,
    SYS_pwritev,
    SYS_sendto,
    SYS_sendmsg,
];

/// Calls that move bytes between descriptors inside of the kernel.
#[derive(Clone, Copy, Debug)]
pub struct CopyCall {
    pub number: i64,
    pub from: usize,
    pub to: usize,
}

pub const COPY_CALLS: &[CopyCall] = &[
    CopyCall {
        number: SYS_sendfile,
        from: 1,
        to: 0,
    },
    CopyCall {
        number: SYS_copy_file_range,
        from: 0,
        to: 2,
    },
    CopyCall {
        number: SYS_splice,
        from: 0,
        to: 2,
    },
    CopyCall {
        number: SYS_tee,
        from: 0,
        to: 1,
    },
];

/// Further calls that use a descriptor, with the argument that it is: what is done to standard input
/// by any of them shows that the program cares for it.
pub const TOUCHING_CALLS: &[(i64, usize)] = &[
    (SYS_lseek, 0),
    (SYS_fstat, 0),
    (SYS_dup, 0),
    (SYS_dup2, 0),
    (SYS_dup3, 0),
    (SYS_mmap, 4),
    (SYS_ftruncate, 0),
    (SYS_fadvise64, 0),
];

/// Those of them that say that a program cares what its output is.
pub const OUTPUT_CALLS: &[i64] = &[SYS_lseek, SYS_fstat, SYS_ftruncate];

/// The entry for a call that takes paths.
pub fn path_call(number: i64) -> Option<&'static PathCall> {
    PATH_CALLS.iter().find(|call| call.number == number)
}

pub fn copy_call(number: i64) -> Option<&'static CopyCall> {
    COPY_CALLS.iter().find(|call| call.number == number)
}

impl Follow {
    /// Whether a link at the end of the path is followed, given the call's arguments.
    pub fn holds(self, arguments: &[u64; 6]) -> bool {
        let has = |at: usize, flag: i32| arguments[at] as i32 & flag != 0;
        match self {
            Follow::Always => true,
            Follow::Never => false,
            Follow::Unless(at, flag) => !has(at, flag),
            Follow::If(at, flag) => has(at, flag),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_call_is_listed_twice() {
        let mut numbers: Vec<i64> = PATH_CALLS.iter().map(|call| call.number).collect();
        numbers.extend(OPEN_CALLS.iter().chain(LIST_CALLS).chain(SERVER_CALLS));
        numbers.extend(READ_CALLS.iter().chain(WRITE_CALLS));
        numbers.extend(COPY_CALLS.iter().map(|call| call.number));
        numbers.extend(TOUCHING_CALLS.iter().map(|(number, _)| number));
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }

    #[test]
    fn flags_decide_whether_links_are_followed() {
        let stat = path_call(SYS_newfstatat).unwrap();
        assert!(stat.follow.holds(&[0; 6]));
        let flags = [0, 0, 0, AT_SYMLINK_NOFOLLOW as u64, 0, 0];
        assert!(!stat.follow.holds(&flags));
    }
}
