//! The first process of a sandbox.
//!
//! It is forked from the engine, which may have threads, so nothing after the fork allocates, locks or panics. It moves
//! into the sandbox, then executes programs as the engine asks ([`serve`]), one at a time; when one has ended it ends all
//! that is left of it. In a pid namespace it is number 1: nobody inside can signal it, and when it ends, so does
//! everything else. It ends when the engine closes the socket, willingly or by dying.

use std::ffi::CString;
use std::os::fd::RawFd;
use std::ptr;

use parallax_abi::serve::{
    Answer, Kind, MAX_BODY, Reply, Request, SERVER_PROCESS, STREAMS, Step, slot,
};

use super::limits::{drop_capabilities, errno};
use super::mounts::{self, Failure};
use super::place::Place;
use super::program::Run;
use super::{Confinement, Limits};
use crate::run::keeper;
use crate::wire;

/// What the new process needs, ready before the fork.
pub(super) struct Plan<'a> {
    pub confinement: Confinement,
    pub place: &'a Place,
    pub limits: Limits,
    pub pids: CString,
    pub landlock: u32,
    pub loopback: bool,
    pub socket: RawFd,
}

/// What can fail in the new process, by number, for the engine's message.
pub(super) const STEPS: [&str; 13] = [
    "start",
    "make mounts private",
    "make mounts read-only",
    "mount a file system in memory",
    "open the file system in memory",
    "make a directory in memory",
    "hide the file system in memory",
    "replace /dev",
    "mount the working directory",
    "show the program",
    "drop capabilities",
    "apply Landlock",
    "bring up the loopback network",
];

unsafe fn report(socket: RawFd, (what, errno): Failure) -> ! {
    let step = STEPS.iter().position(|step| *step == what).unwrap_or(0);
    say_failed(socket, step as u32, errno);
    // SAFETY: ends this process without running the engine's exit handlers.
    unsafe { libc::_exit(1) }
}

/// Runs in the forked process and never returns.
///
/// # Safety
/// Only right after `fork`, with a plan that is still there.
pub(super) unsafe fn main(plan: &Plan<'_>) -> ! {
    // SAFETY: system calls on plain numbers and on what the plan holds.
    unsafe {
        let socket = plan.socket;
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        keeper::close_all_but(socket, socket);
        // Descriptors that come must not take the places that they are meant for.
        for _ in 0..STREAMS {
            libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        }
        keeper::be_the_first_to_go();
        // The engine maps users first.
        let mut go = 0_u32;
        if !wire::receive_word(socket, &mut go) {
            libc::_exit(0);
        }
        let mut files = None;
        let mut counter = -1;
        if let Confinement::Namespaces { .. } = plan.confinement {
            match mounts::build(plan.place, &plan.pids) {
                Ok(built) => {
                    files = Some(built.memory);
                    counter = built.counter;
                }
                Err(failure) => report(socket, failure),
            }
            if plan.loopback && !bring_up_loopback() {
                report(socket, ("bring up the loopback network", errno()));
            }
            if let Err(errno) = drop_capabilities() {
                report(socket, ("drop capabilities", errno));
            }
        }
        libc::chdir(c"/".as_ptr());
        libc::umask(0o022);
        let ready = Reply {
            answer: Answer::Ready as u32,
            ..Reply::default()
        };
        wire::send_plain(socket, &ready, files);
        if let Some(files) = files {
            libc::close(files);
        }
        serve(plan, counter)
    }
}

/// Lets programs of the sandbox, and clients with a socket of its network, talk to each other.
unsafe fn bring_up_loopback() -> bool {
    // SAFETY: system calls on a local struct that begins with the interface's name.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return false;
        }
        let mut interface: libc::ifreq = std::mem::zeroed();
        interface.ifr_name[0] = b'l' as libc::c_char;
        interface.ifr_name[1] = b'o' as libc::c_char;
        interface.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
        let is_up = libc::ioctl(socket, libc::SIOCSIFFLAGS, &raw const interface) == 0;
        libc::close(socket);
        is_up
    }
}

/// For what is done between a request and the program.
const STACK: usize = 256 << 10;

/// Executes programs as the engine asks. `counter` is where the kernel keeps the last process number, if it is
/// to be had.
unsafe fn serve(plan: &Plan<'_>, counter: RawFd) -> ! {
    let socket = plan.socket;
    // SAFETY: system calls on plain numbers and own memory.
    unsafe {
        let body = reserve(MAX_BODY + slot(0));
        let lists = reserve(2 * MAX_BODY / slot(0) * size_of::<*const libc::c_char>());
        let stack = reserve(STACK).add(STACK);
        loop {
            let mut request = Request::new(Kind::Stop);
            let mut descriptors = [-1; wire::MAX_DESCRIPTORS];
            if !wire::receive_request(socket, &mut request, &mut descriptors) {
                libc::_exit(0);
            }
            if request.kind == Kind::Socket as u32 {
                give_socket(socket, request.family);
                continue;
            }
            if request.kind != Kind::Run as u32 {
                continue;
            }
            let length = request.body as usize;
            if length > MAX_BODY || !wire::receive_bytes(socket, body.cast(), length) {
                libc::_exit(0);
            }
            let before = cpu_micros();
            let is_server = request.counter >= 0;
            number_from(counter, if is_server { SERVER } else { FIRST });
            let run = Run {
                plan,
                counter,
                request,
                descriptors: &descriptors,
                body,
                lists,
            };
            let program = run.start(stack);
            for descriptor in descriptors.into_iter().filter(|fd| *fd >= 0) {
                libc::close(descriptor);
            }
            let mut reply = Reply {
                answer: Answer::Ended as u32,
                ..Reply::default()
            };
            if program < 0 {
                fail(socket, Step::Fork, errno());
            } else {
                let status = keeper::wait_for(program, socket);
                if status.is_none() {
                    // The request to stop, or the end of the engine.
                    wire::receive_request(socket, &mut request, &mut descriptors);
                }
                reply.status = status.unwrap_or(libc::SIGKILL);
                reply.leftovers = keeper::end_everything(program);
                reply.cpu_micros = cpu_micros() - before;
            }
            if !wire::send_plain(socket, &reply, None) {
                libc::_exit(0);
            }
        }
    }
}

/// What comes before the number of a program, which is 2.
const FIRST: &[u8] = b"1";
/// What comes before the number of a server.
const SERVER: &[u8] = b"399";
const _: () = assert!(SERVER_PROCESS == 400);

/// The next process has the number after this one, as in every run before: programs print their number. Where the kernel does
/// not allow that, numbers go on.
unsafe fn number_from(counter: RawFd, last: &[u8]) {
    if counter >= 0 {
        // SAFETY: writes the slice.
        unsafe { libc::pwrite(counter, last.as_ptr().cast(), last.len(), 0) };
    }
}

/// Sends a socket that belongs to the sandbox's network, wherever it is used.
unsafe fn give_socket(socket: RawFd, family: i32) {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: system calls on plain numbers.
    unsafe {
        let made = libc::socket(family, kind, 0);
        if made < 0 {
            return fail(socket, Step::Descriptors, errno());
        }
        let reply = Reply {
            answer: Answer::Ready as u32,
            ..Reply::default()
        };
        wire::send_plain(socket, &reply, Some(made));
        libc::close(made);
    }
}

/// Fresh zeroed memory, used only as far as it is needed.
unsafe fn reserve(bytes: usize) -> *mut u8 {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the kernel picks an address that is free.
    unsafe {
        let memory = libc::mmap(ptr::null_mut(), bytes, access, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            libc::_exit(1);
        }
        memory.cast()
    }
}

unsafe fn cpu_micros() -> u64 {
    // SAFETY: plain data, filled in by the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        micros(usage.ru_utime) + micros(usage.ru_stime)
    }
}

/// Tells the engine that a step to a program failed.
pub(super) fn fail(socket: RawFd, step: Step, errno: i32) {
    say_failed(socket, step as u32, errno);
}

fn say_failed(socket: RawFd, step: u32, errno: i32) {
    let reply = Reply {
        answer: Answer::Failed as u32,
        status: errno,
        leftovers: step,
        ..Reply::default()
    };
    wire::send_plain(socket, &reply, None);
}
