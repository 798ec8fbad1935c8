//! System calls about processes, descriptors and sockets.

use crate::sys::{Errno, call};
use core::mem::{MaybeUninit, size_of};
use parallax_abi::serve::{MAX_NUMBERS, STREAMS};

pub const WNOHANG: usize = 1;
pub const SIGKILL: usize = 9;
const EINTR: i32 = 4;

/// Calls until no signal comes in between.
fn uninterrupted(mut attempt: impl FnMut() -> Result<usize, Errno>) -> Result<usize, Errno> {
    loop {
        match attempt() {
            Err(Errno(EINTR)) => {}
            result => return result,
        }
    }
}

pub fn close(descriptor: i32) {
    // SAFETY: the descriptor is the caller's.
    let _ = unsafe { call(3, [descriptor as usize, 0, 0, 0, 0, 0]) };
}

/// Programs that this one executes do not get the descriptor.
pub fn close_on_exec(descriptor: i32) {
    const F_SETFD: usize = 2;
    const FD_CLOEXEC: usize = 1;
    // SAFETY: plain numbers.
    let _ = unsafe { call(72, [descriptor as usize, F_SETFD, FD_CLOEXEC, 0, 0, 0]) };
}

pub fn duplicate(from: i32, to: i32) -> Result<usize, Errno> {
    // SAFETY: plain numbers.
    unsafe { call(33, [from as usize, to as usize, 0, 0, 0, 0]) }
}

/// What permissions new files do not get.
pub fn set_umask(mask: u32) {
    // SAFETY: a plain number.
    let _ = unsafe { call(95, [mask as usize, 0, 0, 0, 0, 0]) };
}

/// Opens a file for reading; `path` ends with NUL.
pub fn open(path: &[u8]) -> Result<i32, Errno> {
    const O_CLOEXEC: usize = 0o2_000_000;
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: a C string.
    unsafe { call(2, [path.as_ptr() as usize, O_CLOEXEC, 0, 0, 0, 0]) }.map(|fd| fd as i32)
}

pub fn read(descriptor: i32, room: &mut [u8]) -> Result<usize, Errno> {
    let (at, length) = (room.as_mut_ptr() as usize, room.len());
    // SAFETY: writes only the slice.
    uninterrupted(|| unsafe { call(0, [descriptor as usize, at, length, 0, 0, 0]) })
}

/// How many threads this process has, if that is to be had.
pub fn thread_count() -> Option<u64> {
    // A directory has two links more than directories in it.
    const LINKS_WITHOUT_THREADS: u64 = 2;
    const NUMBER_OF_LINKS: usize = 2;
    // `struct stat`.
    let mut status = [0u64; 18];
    let (path, at) = (c"/proc/self/task", status.as_mut_ptr() as usize);
    // SAFETY: a C string, and room for what is written.
    unsafe { call(4, [path.as_ptr() as usize, at, 0, 0, 0, 0]) }.ok()?;
    status[NUMBER_OF_LINKS].checked_sub(LINKS_WITHOUT_THREADS)
}

/// How many bytes wait to be read.
pub fn waiting_bytes(descriptor: i32) -> Option<u32> {
    const FIONREAD: usize = 0x541b;
    let mut count = 0u32;
    let at = &raw mut count as usize;
    // SAFETY: writes one int.
    unsafe { call(16, [descriptor as usize, FIONREAD, at, 0, 0, 0]) }.ok()?;
    Some(count)
}

/// Sends the bytes of a plain value, without a signal if nobody listens.
pub fn send<T: Copy>(socket: i32, value: &T) -> Result<usize, Errno> {
    const MSG_NOSIGNAL: usize = 0x4000;
    let at = &raw const *value as usize;
    let length = size_of::<T>();
    // SAFETY: reads only the value.
    uninterrupted(|| unsafe { call(44, [socket as usize, at, length, MSG_NOSIGNAL, 0, 0]) })
}

/// Descriptors that came with a message.
pub struct Received {
    pub descriptors: [i32; STREAMS + MAX_NUMBERS],
    pub count: usize,
}

impl Received {
    pub fn as_slice(&self) -> &[i32] {
        &self.descriptors[..self.count]
    }
}

/// Receives a plain value with descriptors; `None` at the end of the stream.
pub fn receive<T: Copy>(socket: i32) -> Option<(T, Received)> {
    const SOL_SOCKET: u32 = 1;
    const SCM_RIGHTS: u32 = 1;
    const MSG_WAITALL: usize = 0x100;
    const HEADER: usize = 16;
    const ROOM: usize = HEADER + (STREAMS + MAX_NUMBERS) * 4;
    let mut value = MaybeUninit::<T>::uninit();
    let mut control = [0u64; ROOM.div_ceil(8)];
    let part = [value.as_mut_ptr() as usize, size_of::<T>()];
    // `struct msghdr`: name, length of it, parts, their count, control, its length, flags.
    let mut message = [0usize; 7];
    message[2] = part.as_ptr() as usize;
    message[3] = 1;
    message[4] = control.as_mut_ptr() as usize;
    message[5] = ROOM;
    let at = message.as_mut_ptr() as usize;
    // SAFETY: the kernel writes the value, the control buffer and the header.
    let count = uninterrupted(|| unsafe { call(47, [socket as usize, at, MSG_WAITALL, 0, 0, 0]) });
    if count != Ok(size_of::<T>()) {
        return None;
    }
    let mut received = Received {
        descriptors: [-1; STREAMS + MAX_NUMBERS],
        count: 0,
    };
    // SAFETY: the kernel wrote the header of the control message, if there is one.
    let (length, kind) = unsafe {
        let control = (&raw const control).cast::<u64>();
        (
            control.read() as usize,
            control.add(1).cast::<[u32; 2]>().read(),
        )
    };
    if message[5] >= HEADER && kind == [SOL_SOCKET, SCM_RIGHTS] {
        received.count = (length.saturating_sub(HEADER) / 4).min(received.descriptors.len());
        // SAFETY: that many numbers follow the header.
        unsafe {
            let numbers = (&raw const control).cast::<i32>().add(HEADER / 4);
            for (index, place) in received.descriptors[..received.count]
                .iter_mut()
                .enumerate()
            {
                *place = numbers.add(index).read();
            }
        }
    }
    // SAFETY: all its bytes were received.
    Some((unsafe { value.assume_init() }, received))
}

/// Waits until one of two descriptors has news, at most so long: which have. A negative descriptor
/// never has any.
pub fn poll(descriptors: [i32; 2], milliseconds: i32) -> [bool; 2] {
    const POLLIN: u64 = 1;
    // `struct pollfd`: number, wanted events, found events.
    let mut list = descriptors.map(|number| u64::from(number as u32) | POLLIN << 32);
    let at = list.as_mut_ptr() as usize;
    // SAFETY: a list of two.
    let _ = unsafe { call(7, [at, list.len(), milliseconds as usize, 0, 0, 0]) };
    list.map(|entry| entry >> 48 != 0)
}

/// A descriptor that becomes readable when the process ends; negative if there is none to be had.
pub fn watch(process: i32) -> i32 {
    // SAFETY: plain numbers.
    let opened = unsafe { call(434, [process as usize, 0, 0, 0, 0, 0]) };
    opened.map_or(-1, |fd| fd as i32)
}

/// A process that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub process: i32,
    pub status: i32,
    pub cpu_micros: u64,
}

/// Buries a child that has ended. `Ok(None)`: none has; an error: there are no children.
pub fn bury() -> Result<Option<Ended>, Errno> {
    let mut status = 0i32;
    let mut usage = [0u64; 18];
    let (at, usage_at) = (&raw mut status as usize, usage.as_mut_ptr() as usize);
    let any = usize::MAX;
    // SAFETY: writes an int and a `struct rusage`.
    let process = uninterrupted(|| unsafe { call(61, [any, at, WNOHANG, usage_at, 0, 0]) })?;
    if process == 0 {
        return Ok(None);
    }
    Ok(Some(Ended {
        process: process as i32,
        status,
        cpu_micros: (usage[0] + usage[2]) * 1_000_000 + usage[1] + usage[3],
    }))
}

/// Signals a process, or a process group if negative.
pub fn kill(process: i32, signal: usize) {
    // SAFETY: plain numbers.
    let _ = unsafe { call(62, [process as isize as usize, signal, 0, 0, 0, 0]) };
}

pub fn new_session() {
    // SAFETY: no arguments.
    let _ = unsafe { call(112, [0; 6]) };
}

/// Changes the working directory.
///
/// # Safety
/// `path` is a C string.
pub unsafe fn change_directory(path: *const u8) -> Result<usize, Errno> {
    // SAFETY: passed on to the caller.
    unsafe { call(80, [path as usize, 0, 0, 0, 0, 0]) }
}

/// The next process is number 2, as that of a program which the sandbox executes. Without effect where it is not allowed.
pub fn number_from_two(counter: i32) {
    let text = b"1";
    let at = text.as_ptr() as usize;
    // SAFETY: reads the text.
    let _ = unsafe { call(18, [counter as usize, at, text.len(), 0, 0, 0]) };
}

/// Gives up all capabilities.
pub fn drop_capabilities() {
    // `struct __user_cap_header_struct` of version 3, and its sets.
    let (header, sets) = ([0x2008_0522u32, 0], [0u32; 6]);
    let at = header.as_ptr() as usize;
    // SAFETY: reads the two.
    let _ = unsafe { call(126, [at, sets.as_ptr() as usize, 0, 0, 0, 0]) };
}

/// Orphans below this process become its children.
pub fn adopt_orphans() {
    const PR_SET_CHILD_SUBREAPER: usize = 36;
    // SAFETY: plain numbers.
    let _ = unsafe { call(157, [PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0]) };
}

/// Sleeps.
pub fn nap(microseconds: u64) {
    let time = [0, microseconds * 1000];
    // SAFETY: reads a `struct timespec`.
    let _ = unsafe { call(35, [time.as_ptr() as usize, 0, 0, 0, 0, 0]) };
}
