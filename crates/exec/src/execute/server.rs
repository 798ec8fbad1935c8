//! Starting a run server: the program itself, which then forks for each run.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use object::{Object, ObjectSymbol};
use parallax_abi::entry::symbol;
use parallax_abi::serve::{self, Answer, MAX_NUMBERS};

use super::request::Message;
use crate::run::RunError;
use crate::run::prepare::high_descriptor;
use crate::sandbox::Init;
use crate::wire;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(10);
/// How long the sandbox may take to end it.
const END: Duration = Duration::from_secs(5);

/// A program that waits for requests.
#[derive(Debug)]
pub(super) struct Server {
    pub socket: UnixStream,
}

/// Whether the program has a server inside: those that are traced, and whose `main` was captured.
pub(super) fn is_possible(program: &Path) -> bool {
    let find = || {
        let file = File::open(program).ok()?;
        // SAFETY: a program that changes while it is read gives nonsense names, which harm nobody.
        let bytes = unsafe { memmap2::Mmap::map(&file) }.ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        let found = object
            .symbols()
            .any(|found| found.is_definition() && found.name() == Ok(symbol::MAIN));
        Some(found)
    };
    find().unwrap_or(false)
}

impl Server {
    /// Starts the program as a server inside the sandbox; `None` if it cannot be one.
    pub fn start(
        init: &Init,
        program: &Path,
        directory: &Path,
        argv0: &OsStr,
        environment: &[(OsString, OsString)],
    ) -> Result<Option<Server>, RunError> {
        let system = |what| move |source| RunError::System { what, source };
        let (socket, other) = UnixStream::pair().map_err(system("make a socket"))?;
        // Below the numbers that shared memory gets in runs.
        let number = high_descriptor() - MAX_NUMBERS as i32;
        let mut environment = environment.to_vec();
        environment.push((serve::ENVIRONMENT.into(), number.to_string().into()));
        // The dynamic linker binds all functions at once, in the server, instead of those that are called in every
        // run anew. Runs have an environment of their own and do not see it.
        environment.push(("LD_BIND_NOW".into(), "1".into()));
        let message = Message::new(program, directory, &[argv0], &environment, &[number])?;
        // One byte: if it is gone when `main` would begin, the program has read it.
        let (stdin, mut writer) = io::pipe().map_err(system("create a pipe"))?;
        writer.write_all(b"\n").map_err(system("write to a pipe"))?;
        let null = File::options()
            .write(true)
            .open("/dev/null")
            .map_err(system("open /dev/null"))?;
        let descriptors: [BorrowedFd<'_>; 4] =
            [stdin.as_fd(), null.as_fd(), null.as_fd(), other.as_fd()];
        wire::send_request(&init.socket, &message.request, &message.body, &descriptors)
            .map_err(system("talk to the sandbox"))?;
        drop((other, writer));
        let server = Server { socket };
        let is_ready = wait_readable(&server.socket, START)
            && wire::receive_reply(&server.socket)
                .is_ok_and(|(reply, _)| reply.answer == Answer::Ready as u32);
        if is_ready {
            return Ok(Some(server));
        }
        server.end(init);
        Ok(None)
    }

    /// Ends the server, so that the sandbox can be used otherwise; whether it can.
    pub fn end(self, init: &Init) -> bool {
        let stop = Message::stop();
        if wire::send_request(&init.socket, &stop.request, &[], &[]).is_err() {
            return false;
        }
        // The sandbox reports the end of the server once, perhaps after saying that it could not start.
        while wait_readable(&init.socket, END) {
            match wire::receive_reply(&init.socket) {
                Ok((reply, _)) if reply.answer == Answer::Ended as u32 => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

fn wait_readable(socket: &UnixStream, time: Duration) -> bool {
    let mut polled = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        // SAFETY: one valid entry.
        let ready = unsafe { libc::poll(&mut polled, 1, time.as_millis() as libc::c_int) };
        if ready >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return ready > 0;
        }
    }
}
