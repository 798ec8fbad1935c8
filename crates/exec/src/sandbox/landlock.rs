//! Landlock: the kernel's file access rules that any process can lay upon itself. Called between `fork` and
//! `exec`: nothing here allocates.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr;

use super::limits::errno;

/// From this version on files can be renamed from one directory into another.
pub(super) const RENAMES: u32 = 2;
const TRUNCATION: u32 = 3;
const NETWORK: u32 = 4;
const SCOPES: u32 = 6;

const WRITE_FILE: u64 = 1 << 1;
/// Removing and making, of all kinds.
const CHANGE_DIRECTORY: u64 = 0x1ff << 4;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
/// Binding to and connecting to TCP ports.
const TCP: u64 = 3;
/// Abstract sockets and signals: only among ourselves.
const SCOPED: u64 = 3;

#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

/// What this kernel has; 0 if nothing.
pub(super) fn version() -> u32 {
    const ASK_VERSION: libc::c_uint = 1;
    // SAFETY: only asks.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::null::<Ruleset>(),
            0_usize,
            ASK_VERSION,
        )
    };
    u32::try_from(version).unwrap_or(0)
}

/// What a process may still write to.
pub(super) struct Writable<'a> {
    pub directories: &'a [&'a CStr],
    pub files: &'a [&'a CStr],
    /// Whether TCP, signals to others and abstract sockets are forbidden too.
    pub alone: bool,
}

/// Forbids this process, and what comes of it, to write anywhere else.
pub(super) unsafe fn restrict(version: u32, writable: &Writable<'_>) -> Result<(), i32> {
    let from = |first: u32, bits: u64| if version >= first { bits } else { 0 };
    let to_file = WRITE_FILE | from(TRUNCATION, TRUNCATE);
    let to_directory = to_file | CHANGE_DIRECTORY | from(RENAMES, REFER);
    let alone = |first: u32, bits: u64| if writable.alone { from(first, bits) } else { 0 };
    let ruleset = Ruleset {
        files: to_directory,
        network: alone(NETWORK, TCP),
        scoped: alone(SCOPES, SCOPED),
    };
    // Older kernels know a shorter struct.
    let size = match version {
        0..NETWORK => 8_usize,
        NETWORK..SCOPES => 16,
        _ => 24,
    };
    // SAFETY: system calls on local structs.
    unsafe {
        let rules = libc::syscall(
            libc::SYS_landlock_create_ruleset,
            ptr::from_ref(&ruleset),
            size,
            0,
        ) as RawFd;
        if rules < 0 {
            return Err(errno());
        }
        for directory in writable.directories {
            allow(rules, directory, to_directory);
        }
        for file in writable.files {
            allow(rules, file, to_file);
        }
        let restricted = libc::syscall(libc::SYS_landlock_restrict_self, rules, 0);
        let result = if restricted == 0 {
            Ok(())
        } else {
            Err(errno())
        };
        libc::close(rules);
        result
    }
}

/// A path that does not exist needs no rule.
unsafe fn allow(rules: RawFd, path: &CStr, allowed: u64) {
    const PATH_BENEATH: libc::c_int = 1;
    // SAFETY: system calls on a valid string and a local struct.
    unsafe {
        let parent = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if parent >= 0 {
            let rule = Beneath { allowed, parent };
            let rule = ptr::from_ref(&rule);
            libc::syscall(libc::SYS_landlock_add_rule, rules, PATH_BENEATH, rule, 0);
            libc::close(parent);
        }
    }
}
