//! Requests and replies over a socket ([`serve`]), with descriptors attached.
//!
//! What takes plain descriptor numbers is also used between `fork` and `exec` and does not allocate.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use parallax_abi::serve::{MAX_NUMBERS, Reply, Request, STREAMS};

/// Descriptors that one message can carry.
pub(crate) const MAX_DESCRIPTORS: usize = STREAMS + MAX_NUMBERS;

const CONTROL_BYTES: usize =
    // SAFETY: computes a number.
    unsafe { libc::CMSG_SPACE((MAX_DESCRIPTORS * size_of::<RawFd>()) as u32) } as usize;

#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// Sends parts of one message, with descriptors; how much of it was sent.
fn send_message(socket: RawFd, parts: &mut [libc::iovec], descriptors: &[RawFd]) -> isize {
    let mut control = Control([0; CONTROL_BYTES]);
    let bytes = size_of_val(descriptors);
    // SAFETY: the control buffer has room for as many descriptors as a message may carry; everything that the
    // header points to lives until the call returns.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = parts.as_mut_ptr();
        message.msg_iovlen = parts.len();
        if !descriptors.is_empty() && descriptors.len() <= MAX_DESCRIPTORS {
            message.msg_control = control.0.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(bytes as u32) as usize;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(bytes as u32) as usize;
            let data = libc::CMSG_DATA(header);
            ptr::copy_nonoverlapping(descriptors.as_ptr().cast(), data, bytes);
        }
        loop {
            let sent = libc::sendmsg(socket, &message, libc::MSG_NOSIGNAL);
            if sent >= 0 || *libc::__errno_location() != libc::EINTR {
                return sent;
            }
        }
    }
}

/// Receives exactly `length` bytes and the descriptors that come with them; false at the end of the stream.
fn receive_message(
    socket: RawFd,
    to: *mut u8,
    length: usize,
    descriptors: &mut [RawFd; MAX_DESCRIPTORS],
) -> bool {
    *descriptors = [-1; MAX_DESCRIPTORS];
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec {
        iov_base: to.cast(),
        iov_len: length,
    };
    // SAFETY: as in `send_message`; the caller's buffer is `length` long.
    unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = CONTROL_BYTES;
        let received = loop {
            let flags = libc::MSG_WAITALL | libc::MSG_CMSG_CLOEXEC;
            let received = libc::recvmsg(socket, &mut message, flags);
            if received >= 0 || *libc::__errno_location() != libc::EINTR {
                break received;
            }
        };
        if received != length as isize {
            return false;
        }
        let header = libc::CMSG_FIRSTHDR(&message);
        if !header.is_null() && (*header).cmsg_type == libc::SCM_RIGHTS {
            let bytes = (*header).cmsg_len - libc::CMSG_LEN(0) as usize;
            let bytes = bytes.min(size_of_val(descriptors));
            let data = libc::CMSG_DATA(header);
            ptr::copy_nonoverlapping(data, descriptors.as_mut_ptr().cast(), bytes);
        }
        true
    }
}

fn part_of<T>(value: &T) -> libc::iovec {
    libc::iovec {
        iov_base: ptr::from_ref(value).cast_mut().cast(),
        iov_len: size_of::<T>(),
    }
}

/// Sends a reply, perhaps with a descriptor.
pub(crate) fn send_plain(socket: RawFd, reply: &Reply, descriptor: Option<RawFd>) -> bool {
    let sent = send_message(socket, &mut [part_of(reply)], descriptor.as_slice());
    sent == size_of::<Reply>() as isize
}

pub(crate) fn receive_request(
    socket: RawFd,
    request: &mut Request,
    descriptors: &mut [RawFd; MAX_DESCRIPTORS],
) -> bool {
    let to = ptr::from_mut(request).cast();
    receive_message(socket, to, size_of::<Request>(), descriptors)
}

/// # Safety
/// `to` has room for `length` bytes.
pub(crate) unsafe fn receive_bytes(socket: RawFd, to: *mut u8, length: usize) -> bool {
    length == 0 || receive_message(socket, to, length, &mut [-1; MAX_DESCRIPTORS])
}

pub(crate) fn receive_word(socket: RawFd, word: &mut u32) -> bool {
    let to = ptr::from_mut(word).cast();
    receive_message(socket, to, size_of::<u32>(), &mut [-1; MAX_DESCRIPTORS])
}

fn checked(sent: isize, expected: usize) -> io::Result<()> {
    match usize::try_from(sent) {
        Ok(count) if count == expected => Ok(()),
        Ok(_) => Err(io::ErrorKind::WriteZero.into()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

pub(crate) fn send_word(socket: &UnixStream, word: u32) -> io::Result<()> {
    let sent = send_message(socket.as_raw_fd(), &mut [part_of(&word)], &[]);
    checked(sent, size_of::<u32>())
}

/// Sends a request with its body and descriptors.
pub(crate) fn send_request(
    socket: &UnixStream,
    request: &Request,
    body: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut numbers = [-1; MAX_DESCRIPTORS];
    for (number, descriptor) in numbers.iter_mut().zip(descriptors) {
        *number = descriptor.as_raw_fd();
    }
    let rest = libc::iovec {
        iov_base: body.as_ptr().cast_mut().cast(),
        iov_len: body.len(),
    };
    let numbers = &numbers[..descriptors.len()];
    let sent = send_message(socket.as_raw_fd(), &mut [part_of(request), rest], numbers);
    checked(sent, size_of::<Request>() + body.len())
}

/// Receives a reply; the end of the stream is an error.
pub(crate) fn receive_reply(socket: &UnixStream) -> io::Result<(Reply, Option<OwnedFd>)> {
    let mut reply = MaybeUninit::<Reply>::uninit();
    let mut descriptors = [-1; MAX_DESCRIPTORS];
    let to = reply.as_mut_ptr().cast();
    if !receive_message(socket.as_raw_fd(), to, size_of::<Reply>(), &mut descriptors) {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    // SAFETY: the kernel made the descriptors for us; nobody else knows them.
    let own = |fd: RawFd| unsafe { OwnedFd::from_raw_fd(fd) };
    let mut owned = descriptors.into_iter().filter(|fd| *fd >= 0).map(own);
    // SAFETY: all its bytes were received, and any bytes are a reply.
    Ok((unsafe { reply.assume_init() }, owned.next()))
}
