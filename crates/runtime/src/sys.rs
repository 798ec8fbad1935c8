//! Raw system calls: all that the runtime asks of the kernel, without libc.
//!
//! libc's wrappers may be the program's own, may be interposed, set `errno`
//! and are cancellation points; none of that may happen inside the runtime. What the run server needs as well is
//! in [`parallax_serve::sys`].

use core::arch::asm;
pub use parallax_serve::sys::*;

pub const ESRCH: i32 = 3;

pub const MADV_WIPEONFORK: usize = 18;

const S_IFMT: u32 = 0o170_000;
const S_IFREG: u32 = 0o100_000;
const S_IFIFO: u32 = 0o010_000;
const S_IFSOCK: u32 = 0o140_000;

/// Gives memory back.
///
/// # Safety
/// Nothing may use the range any more.
pub unsafe fn unmap(address: usize, size: usize) {
    // SAFETY: passed on to the caller.
    let _ = unsafe { call(11, [address, size, 0, 0, 0, 0]) };
}

/// In place of a directory's descriptor: the working directory.
pub const AT_FDCWD: i32 = -100;

/// What `fstat` says about a descriptor, as far as the runtime cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    pub device: u64,
    pub inode: u64,
    /// Names that the file has; for a directory two more than it has directories.
    pub links: u64,
    pub mode: u32,
    pub size: u64,
}

impl FileStatus {
    pub fn is_regular(&self) -> bool {
        self.mode & S_IFMT == S_IFREG
    }

    pub fn is_socket(&self) -> bool {
        self.mode & S_IFMT == S_IFSOCK
    }

    /// Pipes, with a name or without.
    pub fn is_pipe(&self) -> bool {
        self.mode & S_IFMT == S_IFIFO
    }
}

pub fn fstat(descriptor: i32) -> Result<FileStatus, Errno> {
    status(|buffer| [descriptor as usize, buffer, 0, 0, 0, 0], 5)
}

/// The directory that a descriptor, or [`AT_FDCWD`], stands for.
pub fn directory_status(descriptor: i32) -> Result<FileStatus, Errno> {
    const AT_EMPTY_PATH: usize = 0x1000;
    let path = c"".as_ptr() as usize;
    status(
        |buffer| [descriptor as usize, path, buffer, AT_EMPTY_PATH, 0, 0],
        262,
    )
}

/// A call that fills in a `struct stat` at the address that its arguments are made with.
fn status(arguments: impl Fn(usize) -> [usize; 6], number: usize) -> Result<FileStatus, Errno> {
    let mut buffer = [0u64; 18];
    // SAFETY: the buffer has the size of the kernel's `struct stat`, 144 bytes.
    unsafe { call(number, arguments(buffer.as_mut_ptr() as usize))? };
    Ok(FileStatus {
        device: buffer[0],
        inode: buffer[1],
        links: buffer[2],
        mode: buffer[3] as u32,
        size: buffer[6],
    })
}

/// Type of the file system that a descriptor's file lives in.
pub fn file_system(descriptor: i32) -> Result<u64, Errno> {
    let mut buffer = [0u64; 15];
    // SAFETY: the buffer has the size of the kernel's `struct statfs`, 120 bytes.
    unsafe {
        call(
            138,
            [
                descriptor as usize,
                buffer.as_mut_ptr() as usize,
                0,
                0,
                0,
                0,
            ],
        )?
    };
    Ok(buffer[0])
}

/// An option of a socket that is a number (`SOL_SOCKET` level).
pub fn socket_option(descriptor: i32, option: SocketOption) -> Result<i32, Errno> {
    const SOL_SOCKET: usize = 1;
    let mut value = 0i32;
    let mut size = size_of::<i32>() as u32;
    let (value_at, size_at) = (&raw mut value as usize, &raw mut size as usize);
    // SAFETY: both pointers are to variables of the right size.
    unsafe {
        call(
            55,
            [
                descriptor as usize,
                SOL_SOCKET,
                option as usize,
                value_at,
                size_at,
                0,
            ],
        )?
    };
    Ok(value)
}

/// What can be asked of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketOption {
    /// `SO_TYPE`.
    Type = 3,
    /// `SO_DOMAIN`.
    Domain = 39,
}

/// Present file offset; fails on what cannot seek.
pub fn file_offset(descriptor: i32) -> Result<u64, Errno> {
    const SEEK_CUR: usize = 1;
    // SAFETY: changes nothing.
    unsafe { call(8, [descriptor as usize, 0, SEEK_CUR, 0, 0, 0]) }.map(|offset| offset as u64)
}

/// Writes at an offset, for the one word that must reach a trace which cannot be mapped.
pub fn pwrite(descriptor: i32, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
    let (at, length) = (bytes.as_ptr() as usize, bytes.len());
    // SAFETY: reads only the slice.
    unsafe { call(18, [descriptor as usize, at, length, offset as usize, 0, 0]) }
}

/// Reads at an offset.
pub fn pread(descriptor: i32, bytes: &mut [u8], offset: u64) -> Result<usize, Errno> {
    let (at, length) = (bytes.as_mut_ptr() as usize, bytes.len());
    // SAFETY: writes only the slice.
    unsafe { call(17, [descriptor as usize, at, length, offset as usize, 0, 0]) }
}

/// Reads a symbolic link; `path` ends with NUL.
pub fn readlink<'a>(path: &[u8], buffer: &'a mut [u8]) -> Option<&'a [u8]> {
    debug_assert_eq!(path.last(), Some(&0));
    let (at, room) = (buffer.as_mut_ptr() as usize, buffer.len());
    // SAFETY: writes only into the buffer.
    let length = unsafe { call(89, [path.as_ptr() as usize, at, room, 0, 0, 0]) }.ok()?;
    Some(&buffer[..length])
}

pub fn process_id() -> u32 {
    // SAFETY: no arguments.
    unsafe { call(39, [0; 6]) }.unwrap_or(0) as u32
}

pub fn thread_id() -> u32 {
    // SAFETY: no arguments.
    unsafe { call(186, [0; 6]) }.unwrap_or(0) as u32
}

/// Whether a thread of a process is gone.
pub fn thread_is_gone(process: u32, thread: u32) -> bool {
    // SAFETY: signal 0 only asks.
    let asked = unsafe { call(234, [process as usize, thread as usize, 0, 0, 0, 0]) };
    asked == Err(Errno(ESRCH))
}

/// Whether this thread is running on its alternate signal stack.
pub fn is_on_signal_stack() -> bool {
    const SS_ONSTACK: u64 = 1;
    let mut stack = [0u64; 3];
    // SAFETY: the array is a `stack_t`; its second word holds the flags.
    let asked = unsafe { call(131, [0, stack.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    asked.is_ok() && stack[1] & SS_ONSTACK != 0
}

pub fn yield_now() {
    // SAFETY: no arguments.
    let _ = unsafe { call(24, [0; 6]) };
}

/// Switches address randomisation off for the next program image.
pub fn stop_randomizing() -> bool {
    const ASK: usize = 0xffff_ffff;
    const ADDR_NO_RANDOMIZE: usize = 0x004_0000;
    // SAFETY: takes effect with the next exec only.
    unsafe {
        let Ok(now) = call(135, [ASK, 0, 0, 0, 0, 0]) else {
            return false;
        };
        call(135, [now | ADDR_NO_RANDOMIZE, 0, 0, 0, 0, 0]).is_ok()
    }
}

/// Lowers an unlimited soft limit of the stack to a finite one, because an
/// unlimited stack turns the address space upside down.
pub fn limit_stack() {
    const RLIMIT_STACK: usize = 3;
    const FINITE: u64 = 8 << 20;
    let mut limits = [0u64; 2];
    let at = limits.as_mut_ptr() as usize;
    // SAFETY: the arrays are `struct rlimit64`s.
    unsafe {
        if call(302, [0, RLIMIT_STACK, 0, at, 0, 0]).is_ok() && limits[0] == u64::MAX {
            let finite = [FINITE, limits[1]];
            let _ = call(302, [0, RLIMIT_STACK, finite.as_ptr() as usize, 0, 0, 0]);
        }
    }
}

/// Replaces the program; returns only on failure.
///
/// # Safety
/// The pointers are those of `execve`.
pub unsafe fn execve(path: *const u8, argv: *const *const u8, envp: *const *const u8) -> Errno {
    // SAFETY: passed on to the caller.
    match unsafe { call(59, [path as usize, argv as usize, envp as usize, 0, 0, 0]) } {
        Ok(_) => Errno(0),
        Err(errno) => errno,
    }
}

/// Ends the process by SIGABRT, as `abort` would.
#[cfg(all(feature = "freestanding", not(test)))]
pub fn abort() -> ! {
    const SIGABRT: usize = 6;
    // SAFETY: a signal to this very thread.
    let _ = unsafe {
        let (process, thread) = (process_id() as usize, thread_id() as usize);
        call(234, [process, thread, SIGABRT, 0, 0, 0])
    };
    exit_now(134)
}

/// Whether valgrind executes this process. It recognises a sequence of instructions that does
/// nothing on the machine itself.
pub fn is_under_valgrind() -> bool {
    const RUNNING_ON_VALGRIND: usize = 0x1001;
    let request = [RUNNING_ON_VALGRIND, 0, 0, 0, 0, 0];
    let mut answer = 0usize;
    // SAFETY: the rotations add up to whole turns and the exchange is with itself: without
    // valgrind only the flags change.
    unsafe {
        asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            inout("rdx") answer,
            in("rax") request.as_ptr(),
        );
    }
    answer != 0
}
