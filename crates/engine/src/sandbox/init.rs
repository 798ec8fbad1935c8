//! The first process of a sandbox, and the engine's end of it.
//!
//! It is forked from the engine, which may have threads, so nothing after the fork allocates, locks or panics. It moves
//! into the sandbox, then executes programs as the engine asks ([`serve`]), one at a time; when one has ended it ends all
//! that is left of it. In a pid namespace it is number 1: nobody inside can signal it, and when it ends, so does
//! everything else. It ends when the engine closes the socket, willingly or by dying.

use std::ffi::{CStr, CString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::ptr;

use parallax_abi::serve::{Answer, Kind, MAX_BODY, Reply, Request, STREAMS, Step, slot};

use super::groups;
use super::landlock::{self, Writable};
use super::limits::{drop_capabilities, errno, limit_resources, renounce_privileges};
use super::mounts::{self, Failure, PRIVATE, WORK, WRITABLE_DEVICES};
use super::place::Place;
use super::{Confinement, Limits, SandboxError};
use crate::run::keeper;
use crate::wire;

/// The engine's end.
#[derive(Debug)]
pub(crate) struct Init {
    pub process: libc::pid_t,
    pub socket: UnixStream,
    /// The directory that holds the working directory, and in a mount namespace the private directories.
    pub files: OwnedFd,
}

/// What the new process needs, ready before the fork.
struct Plan<'a> {
    confinement: Confinement,
    place: &'a Place,
    limits: Limits,
    pids: CString,
    landlock: u32,
    loopback: bool,
    socket: RawFd,
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
            unsafe { main(&plan) }
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
}

impl Init {
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

/// What can fail in the new process, by number, for the engine's message.
const STEPS: [&str; 13] = [
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
    let reply = Reply {
        answer: Answer::Failed as u32,
        status: errno,
        leftovers: step as u32,
        ..Reply::default()
    };
    wire::send_plain(socket, &reply, None);
    // SAFETY: ends this process without running the engine's exit handlers.
    unsafe { libc::_exit(1) }
}

/// Runs in the forked process and never returns.
///
/// # Safety
/// Only right after `fork`, with a plan that is still there.
unsafe fn main(plan: &Plan<'_>) -> ! {
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
            number_from_two(counter);
            let run = Run {
                plan,
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

/// The next process is number 2, as in every run before: programs print their number. Where the kernel does not
/// allow that, numbers go on.
unsafe fn number_from_two(counter: RawFd) {
    if counter >= 0 {
        // SAFETY: a valid string.
        unsafe { libc::pwrite(counter, c"1".as_ptr().cast(), 1, 0) };
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

fn fail(socket: RawFd, step: Step, errno: i32) {
    let reply = Reply {
        answer: Answer::Failed as u32,
        status: errno,
        leftovers: step as u32,
        ..Reply::default()
    };
    wire::send_plain(socket, &reply, None);
}

/// One request, in the process that becomes the program.
struct Run<'a> {
    plan: &'a Plan<'a>,
    request: Request,
    descriptors: &'a [RawFd],
    body: *mut u8,
    lists: *mut u8,
}

impl Run<'_> {
    /// Starts the program in a process that has our memory until then, as by `vfork`, but with a stack of its own. This process is a
    /// fork of the engine: copying what it has for each run would cost more than most runs do.
    unsafe fn start(&self, stack: *mut u8) -> libc::pid_t {
        extern "C" fn become_program(run: *mut libc::c_void) -> libc::c_int {
            // SAFETY: our caller waits, and what it passed stays where it is until then.
            unsafe {
                let run = &*run.cast::<Run<'_>>();
                let (step, errno) = run.execute();
                fail(run.plan.socket, step, errno);
                libc::_exit(127)
            }
        }
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let this = ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the stack is nobody else's; the new process writes only to it and to the lists, which are made anew for each run.
        unsafe { libc::clone(become_program, stack.cast(), flags, this) }
    }

    /// Returns only on failure.
    unsafe fn execute(&self) -> (Step, i32) {
        // SAFETY: system calls on plain numbers and on strings of the body, which are ended.
        unsafe {
            libc::setsid();
            let numbers = self
                .request
                .numbers
                .into_iter()
                .take_while(|number| *number >= 0);
            let targets = (0..STREAMS as RawFd).chain(numbers);
            let pairs = || self.descriptors.iter().copied().zip(targets.clone());
            for (descriptor, target) in pairs() {
                if descriptor < 0 || libc::dup2(descriptor, target) < 0 {
                    return (Step::Descriptors, errno());
                }
            }
            for (descriptor, _) in pairs() {
                libc::close(descriptor);
            }
            keeper::limit_stack(self.request.numbers[0] >= 0);
            self.confine();
            keeper::reset_signals();
            keeper::keep_addresses();
            let strings = self.strings();
            if *strings.directory != 0 && libc::chdir(strings.directory) != 0 {
                return (Step::Directory, errno());
            }
            libc::fcntl(self.plan.socket, libc::F_SETFD, libc::FD_CLOEXEC);
            libc::umask(self.request.umask as libc::mode_t);
            for stream in 0..STREAMS as RawFd {
                // Last, so that nothing else gets its number.
                if self.request.closed & 1 << stream != 0 {
                    libc::close(stream);
                }
            }
            libc::execve(strings.program, strings.argv, strings.envp);
            (Step::Execute, errno())
        }
    }

    unsafe fn confine(&self) {
        let plan = self.plan;
        let is_apart = matches!(plan.confinement, Confinement::Namespaces { .. });
        // SAFETY: as `execute`.
        unsafe {
            limit_resources(&plan.limits, is_apart);
            renounce_privileges();
            if is_apart {
                groups::pretend_to_set();
            }
            let uses_landlock = match plan.confinement {
                Confinement::Namespaces { landlock } => landlock,
                Confinement::Landlock => true,
                Confinement::Nothing => return,
            };
            if !uses_landlock {
                return;
            }
            let work: &CStr = &plan.place.work;
            let [a, b, c, d] = PRIVATE.map(|private| private.path);
            let directories = if is_apart {
                [work, a, b, c, d]
            } else {
                [work; 5]
            };
            let writable = Writable {
                directories: &directories,
                files: &WRITABLE_DEVICES,
                alone: !is_apart,
            };
            if let Err(errno) = landlock::restrict(plan.landlock, &writable) {
                fail(plan.socket, Step::Descriptors, errno);
                libc::_exit(127);
            }
        }
    }

    /// Pointers to the strings of the body.
    unsafe fn strings(&self) -> Strings {
        let mut at = self.body as *const libc::c_char;
        let mut next = || {
            let string = at;
            // SAFETY: the body is followed by zeros.
            unsafe { at = at.add(slot(CStr::from_ptr(string).count_bytes() + 1)) };
            string
        };
        let (program, directory) = (next(), next());
        let argv = self.lists.cast::<*const libc::c_char>();
        // SAFETY: there is room for as many pointers as a body can have strings, and for the nulls behind.
        unsafe {
            let arguments = self.request.arguments as usize;
            for index in 0..arguments {
                argv.add(index).write(next());
            }
            argv.add(arguments).write(ptr::null());
            let envp = argv.add(arguments + 1);
            let variables = self.request.variables as usize;
            for index in 0..variables {
                envp.add(index).write(next());
            }
            // The last run's may still be there.
            envp.add(variables).write(ptr::null());
            Strings {
                program,
                directory,
                argv,
                envp,
            }
        }
    }
}

struct Strings {
    program: *const libc::c_char,
    directory: *const libc::c_char,
    argv: *const *const libc::c_char,
    envp: *const *const libc::c_char,
}
