//! The file system that a sandboxed program sees. Set up by the first process of the sandbox in its own mount
//! namespace: nothing here allocates.
//!
//! Everything of the machine's is there, read-only and without devices. On top comes one small file system in memory:
//! its directories take the place of the working directory, of the usual places for temporary files and of `/dev`.
//! The engine keeps a descriptor of it, and so can lay out and clear files inside. Programs that
//! live where temporary files do are shown again at their place.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr;

use super::limits::errno;
use super::place::Place;

const OPEN_TREE_CLONE: libc::c_uint = 1;
const OPEN_TREE_CLOEXEC: libc::c_uint = libc::O_CLOEXEC as libc::c_uint;
const MOVE_MOUNT_F_EMPTY_PATH: libc::c_uint = 4;
const MOUNT_ATTR_RDONLY: u64 = 1;
const MOUNT_ATTR_NOSUID: u64 = 2;
const MOUNT_ATTR_NODEV: u64 = 4;

/// The directory of the file system in memory that becomes the working directory.
pub(crate) const WORK: &CStr = c"work";
pub(crate) const WORK_MODE: libc::mode_t = 0o755;
const DEV: &CStr = c"dev";

/// A directory for temporary files.
pub(crate) struct Private {
    pub path: &'static CStr,
    /// The directory of the file system in memory that takes its place.
    pub name: &'static CStr,
    pub mode: libc::mode_t,
}

pub(crate) const PRIVATE: [Private; 4] = [
    Private {
        path: c"/tmp",
        name: c"tmp",
        mode: 0o1777,
    },
    Private {
        path: c"/var/tmp",
        name: c"vartmp",
        mode: 0o1777,
    },
    Private {
        path: c"/run",
        name: c"run",
        mode: 0o755,
    },
    Private {
        path: c"/dev/shm",
        name: c"shm",
        mode: 0o1777,
    },
];

/// Devices that programs need: where they are, and where the mount point for each is made.
const DEVICES: [(&CStr, &CStr); 6] = [
    (c"/dev/null", c"dev/null"),
    (c"/dev/zero", c"dev/zero"),
    (c"/dev/full", c"dev/full"),
    (c"/dev/random", c"dev/random"),
    (c"/dev/urandom", c"dev/urandom"),
    (c"/dev/tty", c"dev/tty"),
];

/// Devices that can be written to.
pub(super) const WRITABLE_DEVICES: [&CStr; 6] = [
    DEVICES[0].0,
    DEVICES[1].0,
    DEVICES[2].0,
    DEVICES[3].0,
    DEVICES[4].0,
    DEVICES[5].0,
];

const LINKS: [(&CStr, &CStr); 4] = [
    (c"/proc/self/fd", c"dev/fd"),
    (c"/proc/self/fd/0", c"dev/stdin"),
    (c"/proc/self/fd/1", c"dev/stdout"),
    (c"/proc/self/fd/2", c"dev/stderr"),
];

/// Paths that a sandbox shows again are limited, because nothing can be allocated.
pub(super) const MAX_SHOWN: usize = 16;

/// What failed, and why.
pub(super) type Failure = (&'static str, i32);

fn done(what: &'static str, result: libc::c_long) -> Result<RawFd, Failure> {
    if result < 0 {
        Err((what, errno()))
    } else {
        Ok(result as RawFd)
    }
}

/// Descriptors of what was built.
pub(super) struct Built {
    /// The file system in memory.
    pub memory: RawFd,
    /// Where the kernel keeps the last process number; negative if that is not to be had.
    pub counter: RawFd,
}

/// Builds the file system.
pub(super) unsafe fn build(place: &Place, pids: &CStr) -> Result<Built, Failure> {
    // SAFETY: system calls on valid strings, in a mount namespace of our own.
    unsafe {
        let nothing = ptr::null::<libc::c_char>();
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let root = c"/".as_ptr();
        let made = libc::mount(nothing, root, nothing, private, ptr::null());
        done("make mounts private", made.into())?;

        // Taken before devices are switched off everywhere.
        let devices = DEVICES.map(|(device, _)| clone_tree(libc::AT_FDCWD, device));
        let restricted = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
        set_attributes(c"/", restricted, true).map_err(|e| ("make mounts read-only", e))?;
        let mut shown = [-1; MAX_SHOWN];
        for (tree, path) in shown.iter_mut().zip(&place.shown) {
            *tree = clone_tree(libc::AT_FDCWD, path);
        }

        let memory = memory(place)?;
        let work = clone_tree(memory, WORK);
        let dev = clone_tree(memory, DEV);
        let temporary = PRIVATE
            .each_ref()
            .map(|private| clone_tree(memory, private.name));
        let detached = libc::umount2(place.scratch.as_ptr(), libc::MNT_DETACH);
        done("hide the file system in memory", detached.into())?;

        move_tree(dev, c"/dev").map_err(|e| ("replace /dev", e))?;
        for ((device, _), tree) in DEVICES.iter().zip(devices) {
            // A device that the machine lacks is lacking here. Read-only means that nobody changes its permissions, which are the
            // machine's; what is written to it goes to the device all the same.
            if move_tree(tree, device).is_ok() {
                let done = set_attributes(device, MOUNT_ATTR_RDONLY, false);
                done.map_err(|e| ("replace /dev", e))?;
            }
        }
        for (private, tree) in PRIVATE.iter().zip(temporary) {
            let _ = move_tree(tree, private.path);
        }
        let _ = set_attributes(c"/dev", MOUNT_ATTR_RDONLY, false);

        make_directories(&place.work);
        move_tree(work, &place.work).map_err(|e| ("mount the working directory", e))?;
        for (path, tree) in place.shown.iter().zip(shown) {
            make_directories(path);
            if move_tree(tree, path).is_err() {
                // Not a directory.
                let mode = libc::S_IFREG | 0o755;
                libc::mknod(path.as_ptr(), mode, 0);
                libc::rmdir(path.as_ptr());
                libc::mknod(path.as_ptr(), mode, 0);
                move_tree(tree, path).map_err(|e| ("show the program", e))?;
            }
            libc::close(tree);
        }
        let counter = mount_proc(pids);
        Ok(Built { memory, counter })
    }
}

/// The file system in memory, mounted at the scratch directory, with all its directories.
unsafe fn memory(place: &Place) -> Result<RawFd, Failure> {
    // SAFETY: system calls on valid strings.
    unsafe {
        let flags = libc::MS_NOSUID | libc::MS_NODEV;
        let (target, options) = (place.scratch.as_ptr(), place.options.as_ptr());
        let kind = c"tmpfs".as_ptr();
        let mounted = libc::mount(kind, target, kind, flags, options.cast());
        done("mount a file system in memory", mounted.into())?;
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        let memory = done(
            "open the file system in memory",
            libc::open(target, flags).into(),
        )?;
        libc::umask(0);
        let make = |name: &CStr, mode| {
            let made = libc::mkdirat(memory, name.as_ptr(), mode);
            done("make a directory in memory", made.into()).map(drop)
        };
        make(WORK, WORK_MODE)?;
        make(DEV, 0o755)?;
        make(c"dev/shm", 0o1777)?;
        for private in &PRIVATE {
            make(private.name, private.mode)?;
        }
        for (_, name) in DEVICES {
            libc::mknodat(memory, name.as_ptr(), libc::S_IFREG | 0o666, 0);
        }
        for (target, name) in LINKS {
            libc::symlinkat(target.as_ptr(), memory, name.as_ptr());
        }
        Ok(memory)
    }
}

/// Processes of the sandbox only; how many there can be is written down there. Where a container has covered
/// parts of its own `/proc`, the kernel refuses, and the read-only one of outside stays. Returns the file with the last
/// process number.
unsafe fn mount_proc(pids: &CStr) -> RawFd {
    // SAFETY: system calls on valid strings.
    unsafe {
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        let (kind, target) = (c"proc".as_ptr(), c"/proc".as_ptr());
        if libc::mount(kind, target, kind, flags, ptr::null()) != 0 {
            return -1;
        }
        // Since Linux 6.14 each pid namespace has its own; before, it belongs to others and cannot be written.
        set(c"/proc/sys/kernel/pid_max", pids);
        // Servers get the port that they ask for, even if it is low or was in use just now: the network is all theirs.
        set(c"/proc/sys/net/ipv4/ip_unprivileged_port_start", c"0");
        set(c"/proc/sys/net/ipv4/tcp_max_tw_buckets", c"0");
        // Through a mount of its own: a file that is open for writing would keep the other from becoming read-only.
        let own = clone_tree(libc::AT_FDCWD, c"/proc");
        let _ = set_attributes(c"/proc", MOUNT_ATTR_RDONLY, false);
        let name = c"sys/kernel/ns_last_pid";
        let counter = libc::openat(own, name.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        libc::close(own);
        counter
    }
}

/// Gives a setting of the kernel a value, if it can be changed.
unsafe fn set(setting: &CStr, value: &CStr) {
    // SAFETY: system calls on valid strings.
    unsafe {
        let file = libc::open(setting.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, value.as_ptr().cast(), value.count_bytes());
            libc::close(file);
        }
    }
}

unsafe fn clone_tree(directory: RawFd, path: &CStr) -> RawFd {
    let flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE as libc::c_uint;
    // SAFETY: a valid string.
    unsafe { libc::syscall(libc::SYS_open_tree, directory, path.as_ptr(), flags) as RawFd }
}

unsafe fn move_tree(tree: RawFd, path: &CStr) -> Result<(), i32> {
    // SAFETY: valid strings.
    let moved = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            tree,
            c"".as_ptr(),
            libc::AT_FDCWD,
            path.as_ptr(),
            MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    if moved == 0 { Ok(()) } else { Err(errno()) }
}

unsafe fn set_attributes(path: &CStr, set: u64, recursive: bool) -> Result<(), i32> {
    // What is set, cleared, propagation, user namespace.
    let attributes = [set, 0, 0, 0];
    let flags = if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: a valid string and a local struct of the given size.
    let changed = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    if changed == 0 { Ok(()) } else { Err(errno()) }
}

/// Makes a directory with those above it, where that is possible.
unsafe fn make_directories(path: &CStr) {
    let mut room = [0_u8; libc::PATH_MAX as usize];
    let bytes = path.to_bytes_with_nul();
    let Some(copy) = room.get_mut(..bytes.len()) else {
        return;
    };
    copy.copy_from_slice(bytes);
    for end in 1..bytes.len() {
        if matches!(bytes[end], b'/' | 0) {
            copy[end] = 0;
            // SAFETY: a valid string.
            unsafe { libc::mkdir(copy.as_ptr().cast(), 0o755) };
            copy[end] = bytes[end];
        }
    }
}
