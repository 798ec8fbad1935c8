//! One connection to a server, never blocking for long.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use super::address::Address;
use crate::run::Captured;

pub(super) struct Connection {
    socket: File,
    is_open: bool,
    limit: usize,
    answer: Captured,
}

/// What came of waiting.
pub(super) enum Progress {
    /// So many bytes.
    Sent(usize),
    Received,
    Nothing,
    /// The server is gone, or has nothing more to say.
    Closed,
}

impl Connection {
    /// Of a socket that does not block.
    pub fn new(socket: OwnedFd, limit: usize) -> Connection {
        Connection {
            socket: socket.into(),
            is_open: false,
            limit,
            answer: Captured::default(),
        }
    }

    /// Whether somebody is there.
    pub fn connect(&mut self, address: &Address) -> bool {
        let Some(bytes) = address.encode() else {
            return false;
        };
        let socket = self.socket.as_raw_fd();
        // SAFETY: an address of the given length.
        let done = unsafe { libc::connect(socket, bytes.as_ptr().cast(), bytes.len() as u32) };
        self.is_open = done == 0 || self.is_established();
        self.is_open
    }

    /// Over the loopback network a connection is there at once, or refused; a full queue makes it wait.
    fn is_established(&self) -> bool {
        if io::Error::last_os_error().raw_os_error() != Some(libc::EINPROGRESS) {
            return false;
        }
        const WAIT: Duration = Duration::from_millis(100);
        if self.poll(libc::POLLOUT, WAIT) == 0 {
            return false;
        }
        let mut error: libc::c_int = 0;
        let mut size = size_of_val(&error) as libc::socklen_t;
        // SAFETY: writes one number.
        let asked = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_ERROR,
                (&raw mut error).cast(),
                &mut size,
            )
        };
        asked == 0 && error == 0
    }

    fn poll(&self, events: libc::c_short, time: Duration) -> libc::c_short {
        let mut polled = libc::pollfd {
            fd: self.socket.as_raw_fd(),
            events,
            revents: 0,
        };
        let time = libc::timespec {
            tv_sec: time.as_secs() as libc::time_t,
            tv_nsec: time.subsec_nanos().into(),
        };
        // SAFETY: one valid entry.
        let ready = unsafe { libc::ppoll(&mut polled, 1, &time, std::ptr::null()) };
        if ready > 0 { polled.revents } else { 0 }
    }

    /// Receives, or else sends, as far as that goes within the time.
    pub fn exchange(&mut self, bytes: &[u8], time: Duration) -> Progress {
        if !self.is_open {
            return Progress::Closed;
        }
        let sending = if bytes.is_empty() { 0 } else { libc::POLLOUT };
        let ready = self.poll(libc::POLLIN | sending, time);
        if ready & (libc::POLLIN | libc::POLLHUP | libc::POLLERR) != 0 {
            return self.receive();
        }
        if ready & libc::POLLOUT == 0 {
            return Progress::Nothing;
        }
        let (socket, flags) = (self.socket.as_raw_fd(), libc::MSG_NOSIGNAL);
        // SAFETY: reads only the slice.
        let sent = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), flags) };
        match usize::try_from(sent) {
            Ok(count) => Progress::Sent(count),
            Err(_) if is_temporary(&io::Error::last_os_error()) => Progress::Nothing,
            Err(_) => self.close(),
        }
    }

    fn receive(&mut self) -> Progress {
        let mut buffer = [0; 16 << 10];
        match self.socket.read(&mut buffer) {
            Ok(0) => self.close(),
            Ok(count) => {
                let room = self.limit - self.answer.bytes.len();
                let kept = &buffer[..count.min(room)];
                self.answer.bytes.extend_from_slice(kept);
                self.answer.total += count as u64;
                Progress::Received
            }
            Err(error) if is_temporary(&error) => Progress::Nothing,
            Err(_) => self.close(),
        }
    }

    fn close(&mut self) -> Progress {
        self.is_open = false;
        Progress::Closed
    }

    /// Says that nothing more will be sent. Not to a server that has closed already: its end of the connection would then
    /// be kept for a minute, and its port with it.
    pub fn finish(&mut self) {
        if self.is_open {
            // SAFETY: our own socket.
            unsafe { libc::shutdown(self.socket.as_raw_fd(), libc::SHUT_WR) };
        }
    }

    /// Ends the connection when the socket is closed, at once: the next run finds the server's port free. What was
    /// answered, and the socket.
    pub fn end(self) -> (Captured, OwnedFd) {
        let at_once = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        // SAFETY: a local struct of the given size.
        unsafe {
            libc::setsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_LINGER,
                (&raw const at_once).cast(),
                size_of_val(&at_once) as libc::socklen_t,
            );
        }
        (self.answer, self.socket.into())
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
    )
}
