//! The engine's end of a sandbox: starts its first process ([`super::first`]), and talks to it.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use parallax_abi::serve::{Answer, Kind, Request, STREAMS};

use super::first::{self, Plan, STEPS};
use super::landlock;
use super::limits::errno;
use super::mounts::WORK;
use super::place::Place;
use super::{Confinement, Limits, SandboxError};
use crate::wire;

/// The engine's end.
#[derive(Debug)]
pub(crate) struct Init {
    pub process: libc::pid_t,
    pub socket: UnixStream,
    /// The directory that holds the working directory, and in a mount namespace the private directories.
    pub files: OwnedFd,
}

impl Init {
    /// Starts the first process, and waits until it is where it belongs. With `loopback`, programs there can talk to
    /// each other over their own network.
    pub fn start(
        confinement: Confinement,
        place: &Place,
        limits: Limits,
        loopback: bool,
    ) -> Result<Init, SandboxError> {
        let failed = |what| move |source| SandboxError::SetUp { what, source };
        let work = place.directory.join(WORK.to_str().expect("ASCII"));
        match fs::create_dir(&work) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed("make the working directory")(error));
            }
            _ => {}
        }
        let place = Place {
            options: CString::new(format!(
                "mode=755,size={},nr_inodes={}",
                limits.disk_bytes, limits.files
            ))
            .expect("digits"),
            ..place.clone()
        };
        let (socket, other) = UnixStream::pair().map_err(failed("make a socket"))?;
        let other = above_streams(other.into()).map_err(failed("make a socket"))?;
        let plan = Plan {
            confinement,
            place: &place,
            limits,
            // The kernel wants a few hundred numbers of its own.
            pids: CString::new((limits.processes + 400).to_string()).expect("digits"),
            landlock: landlock::version(),
            loopback,
            socket: other.as_raw_fd(),
        };
        let is_apart = matches!(confinement, Confinement::Namespaces { .. });
        let mut flags = 0;
        if is_apart {
            flags = libc::CLONE_NEWUSER
                | libc::CLONE_NEWNS
                | libc::CLONE_NEWPID
                | libc::CLONE_NEWNET
                | libc::CLONE_NEWIPC
                | libc::CLONE_NEWUTS;
        }
        // SAFETY: the new process keeps to what is safe after a fork.
        let process = unsafe { fork_into(flags) };
        if process == 0 {
            // SAFETY: we are the only thread of a freshly forked process.
            unsafe { first::main(&plan) }
        }
        if process < 0 {
            let what = if is_apart {
                "create namespaces"
            } else {
                "start a process"
            };
            return Err(failed(what)(io::Error::last_os_error()));
        }
        drop(other);
        // Ends the process when something goes wrong from here on.
        let files = fs::File::open(&place.directory).map_err(failed("open a directory"))?;
        let mut init = Init {
            process,
            socket,
            files: files.into(),
        };
        if is_apart {
            map_users(process).map_err(failed("map users into a namespace"))?;
        }
        wire::send_word(&init.socket, u32::from(is_apart))
            .map_err(failed("talk to the sandbox"))?;
        let (reply, descriptor) =
            wire::receive_reply(&init.socket).map_err(failed("talk to the sandbox"))?;
        if reply.answer != Answer::Ready as u32 {
            let what = STEPS.get(reply.leftovers as usize).copied();
            let source = io::Error::from_raw_os_error(reply.status);
            return Err(failed(what.unwrap_or("start"))(source));
        }
        if let Some(descriptor) = descriptor {
            init.files = descriptor;
        }
        Ok(init)
    }

    /// A socket of the sandbox's network, of the given family. Only between runs.
    pub fn socket(&self, family: i32) -> Result<OwnedFd, SandboxError> {
        let failed = |source| SandboxError::SetUp {
            what: "get a socket of its network",
            source,
        };
        let request = Request {
            family,
            ..Request::new(Kind::Socket)
        };
        wire::send_request(&self.socket, &request, &[], &[]).map_err(failed)?;
        let (reply, descriptor) = wire::receive_reply(&self.socket).map_err(failed)?;
        descriptor.ok_or_else(|| failed(io::Error::from_raw_os_error(reply.status)))
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        // SAFETY: our own child, which has not been reaped, so its number is still its own.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            while libc::waitpid(self.process, ptr::null_mut(), 0) < 0 && errno() == libc::EINTR {}
        }
    }
}

/// Forks, into new namespaces if asked. Not by libc's `fork`, which takes libc's locks: in a process that was forked
/// while other threads held them, nobody would ever give them back.
unsafe fn fork_into(namespaces: libc::c_int) -> libc::pid_t {
    let flags = namespaces | libc::SIGCHLD;
    // SAFETY: without a stack of its own this is a fork.
    unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) as libc::pid_t }
}

/// A descriptor that does not stand where standard streams belong.
fn above_streams(descriptor: OwnedFd) -> io::Result<OwnedFd> {
    let lowest = STREAMS as libc::c_int;
    // SAFETY: makes a new descriptor, which nobody else owns; the result is checked.
    unsafe {
        let copy = libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, lowest);
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(copy))
    }
}

/// Users and groups have the same numbers inside: all of them if we may, else just our own.
fn map_users(process: libc::pid_t) -> io::Result<()> {
    let file = |name: &str| format!("/proc/{process}/{name}");
    // Needed before groups can be mapped without privileges; old kernels lack it.
    let _ = fs::write(file("setgroups"), "deny");
    // SAFETY: only asks.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    for (name, own) in [("uid_map", user), ("gid_map", group)] {
        let all: String = fs::read_to_string(format!("/proc/self/{name}"))?
            .lines()
            .filter_map(|line| {
                let mut numbers = line.split_ascii_whitespace();
                let (first, count) = (numbers.next()?, numbers.nth(1)?);
                Some(format!("{first} {first} {count}\n"))
            })
            .collect();
        if fs::write(file(name), all).is_err() {
            fs::write(file(name), format!("{own} {own} 1\n"))?;
        }
    }
    Ok(())
}
