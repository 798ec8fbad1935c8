//! The process between engine and program.
//!
//! It is forked from the engine, which may have threads, so nothing here allocates,
//! locks or panics: only system calls on what [`Plan`] holds. It adopts every
//! orphan below it (`PR_SET_CHILD_SUBREAPER`); when the program has ended, or when the
//! engine closes the control pipe, willingly or by dying, the keeper ends all
//! that is left and reports on the status pipe.

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::RawFd;
use std::ptr;

use super::prepare::Plan;
use super::{Launch, RunError};

/// What the engine hears from the keeper or from the child before it is the program.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) enum Message {
    Failed {
        stage: Stage,
        errno: i32,
    },
    /// The process that is about to be the program; also the number of its session.
    Started {
        program: libc::pid_t,
    },
    Ended {
        /// As from `wait`.
        status: i32,
        cpu_micros: u64,
        leftovers: u32,
    },
}

/// What failed on the way to the program.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) enum Stage {
    Fork,
    Descriptors,
    Directory,
    Execute,
}

impl Message {
    fn send(self, to: RawFd) {
        // SAFETY: plain data; smaller than PIPE_BUF, so written whole or not at all.
        unsafe { libc::write(to, ptr::from_ref(&self).cast(), size_of::<Message>()) };
    }

    /// `None` at the end of the pipe.
    pub fn receive(from: RawFd) -> Option<Message> {
        let mut message = MaybeUninit::<Message>::uninit();
        loop {
            // SAFETY: the buffer has the size that is read.
            let count =
                unsafe { libc::read(from, message.as_mut_ptr().cast(), size_of::<Message>()) };
            if count == size_of::<Message>() as isize {
                // SAFETY: only `send` writes to this pipe, whole messages at a time, and the
                // program never gets the descriptor.
                return Some(unsafe { message.assume_init() });
            }
            if count >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return None;
            }
        }
    }
}

impl Stage {
    pub fn error(self, launch: &Launch, errno: i32) -> RunError {
        let source = io::Error::from_raw_os_error(errno);
        let program = launch.program.clone();
        match (self, errno) {
            (Stage::Fork, _) => RunError::System {
                what: "start a process",
                source,
            },
            (Stage::Descriptors, _) => RunError::System {
                what: "pass descriptors to the program",
                source,
            },
            (Stage::Directory, _) => RunError::Directory {
                path: launch.directory.clone().unwrap_or_default(),
                source,
            },
            (Stage::Execute, libc::ENOEXEC) => RunError::Format(program),
            (Stage::Execute, libc::E2BIG) => RunError::TooLong,
            (Stage::Execute, libc::ENOENT | libc::ENOTDIR) => {
                let path = match &launch.directory {
                    Some(directory) => directory.join(&program),
                    None => program.clone(),
                };
                if path.exists() {
                    RunError::Interpreter(program)
                } else {
                    RunError::NotFound(program)
                }
            }
            (Stage::Execute, _) if program.is_dir() => RunError::IsDirectory(program),
            (Stage::Execute, _) => RunError::Permission { program, source },
        }
    }
}

fn errno() -> i32 {
    // SAFETY: always valid for the calling thread.
    unsafe { *libc::__errno_location() }
}

/// Runs in the forked process and never returns.
///
/// # Safety
/// Only right after `fork`, with a plan whose pointers are still valid.
pub(super) unsafe fn main(plan: &Plan) -> ! {
    // SAFETY: system calls on plain numbers.
    unsafe {
        // Out of the terminal's reach: the engine decides when a run is interrupted.
        libc::setsid();
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        let program = libc::fork();
        if program == 0 {
            child(plan);
        }
        if program < 0 {
            let errno = errno();
            Message::Failed {
                stage: Stage::Fork,
                errno,
            }
            .send(plan.status);
            libc::_exit(1);
        }
        Message::Started { program }.send(plan.status);
        // Held open here, pipes of this run or of others that the engine has under
        // way at the same time would never come to their end.
        close_all_but(plan.control, plan.status);
        let status = wait_for(program, plan.control);
        let leftovers = end_everything(program);
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        let usage = usage.assume_init();
        let micros = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
        Message::Ended {
            status: status.unwrap_or(libc::SIGKILL),
            cpu_micros: micros(usage.ru_utime) + micros(usage.ru_stime),
            leftovers,
        }
        .send(plan.status);
        libc::_exit(0);
    }
}

/// From the second fork to the program.
unsafe fn child(plan: &Plan) -> ! {
    // SAFETY: system calls on plain numbers and on pointers that the plan keeps valid.
    unsafe {
        libc::setsid();
        for (target, fd) in plan.streams.iter().enumerate() {
            if *fd >= 0 && libc::dup2(*fd, target as RawFd) < 0 {
                fail(plan, Stage::Descriptors);
            }
        }
        // Whatever else the engine has open is not the program's business.
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
        for handover in plan.shared {
            if libc::dup2(handover.from, handover.to) < 0 {
                fail(plan, Stage::Descriptors);
            }
        }
        limit_stack(!plan.shared.is_empty());
        no_core();
        be_the_first_to_go();
        keep_addresses();
        reset_signals();
        if !plan.directory.is_null() && libc::chdir(plan.directory) != 0 {
            fail(plan, Stage::Directory);
        }
        libc::execve(plan.program, plan.argv, plan.envp);
        fail(plan, Stage::Execute)
    }
}

unsafe fn fail(plan: &Plan, stage: Stage) -> ! {
    let errno = errno();
    Message::Failed { stage, errno }.send(plan.status);
    // SAFETY: ends this process without running the engine's exit handlers.
    unsafe { libc::_exit(127) }
}

/// With an unlimited stack the kernel puts mappings where the runtime's tables must go. Frames of
/// instrumented functions are larger than plain ones: recursion that the plain program survives must
/// not end the traced one.
pub(crate) unsafe fn limit_stack(is_instrumented: bool) {
    const USUAL: libc::rlim_t = 8 << 20;
    const FRAME_RATIO: libc::rlim_t = 8;
    // The kernel leaves this much room for the stack anyway, so mappings stay where they are.
    const ROOM: libc::rlim_t = 120 << 20;
    // SAFETY: plain structs.
    unsafe {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::getrlimit(libc::RLIMIT_STACK, &mut limit);
        if limit.rlim_cur == libc::RLIM_INFINITY {
            limit.rlim_cur = USUAL;
        }
        if is_instrumented {
            let wanted = limit.rlim_cur.saturating_mul(FRAME_RATIO).min(ROOM);
            limit.rlim_cur = wanted.max(limit.rlim_cur).min(limit.rlim_max);
        }
        libc::setrlimit(libc::RLIMIT_STACK, &limit);
    }
}

/// Equal addresses in every run; where a filter forbids it, the runtime copes.
pub(crate) unsafe fn keep_addresses() {
    // SAFETY: takes effect with the next program image only.
    unsafe {
        let personality = libc::personality(0xffff_ffff);
        if personality >= 0 {
            libc::personality(
                personality as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong,
            );
        }
    }
}

/// A core file per crash helps nobody: crashes are what is looked for.
unsafe fn no_core() {
    // SAFETY: plain structs.
    unsafe {
        let mut limit = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        libc::getrlimit(libc::RLIMIT_CORE, &mut limit);
        limit.rlim_cur = 0;
        libc::setrlimit(libc::RLIMIT_CORE, &limit);
    }
}

/// If memory ends before our own limit notices, the kernel shall choose the program.
pub(crate) unsafe fn be_the_first_to_go() {
    // SAFETY: valid strings; a failure is harmless.
    unsafe {
        let fd = libc::open(
            c"/proc/self/oom_score_adj".as_ptr(),
            libc::O_WRONLY | libc::O_CLOEXEC,
        );
        if fd >= 0 {
            libc::write(fd, c"1000".as_ptr().cast(), 4);
            libc::close(fd);
        }
    }
}

/// The Rust runtime ignores SIGPIPE; programs expect the default. The mask of the
/// forking thread is inherited too.
pub(crate) unsafe fn reset_signals() {
    // SAFETY: plain structs.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

pub(crate) unsafe fn close_all_but(one: RawFd, other: RawFd) {
    let (low, high) = (one.min(other), one.max(other));
    let close = |from: RawFd, to: RawFd| {
        if from <= to {
            // SAFETY: these descriptors are not used in this process any more.
            unsafe { libc::syscall(libc::SYS_close_range, from, to, 0) };
        }
    };
    close(0, low - 1);
    close(low + 1, high - 1);
    close(high + 1, RawFd::MAX);
}

/// Waits until the program has ended (its status) or the engine wants an end (`None`).
/// Orphans that end meanwhile are buried.
pub(crate) unsafe fn wait_for(program: libc::pid_t, control: RawFd) -> Option<i32> {
    const BURIAL_MILLIS: libc::c_int = 50;
    // SAFETY: system calls on plain numbers and local buffers.
    unsafe {
        let pidfd = libc::syscall(libc::SYS_pidfd_open, program, 0) as RawFd;
        let mut polled = [control, pidfd].map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        // Without pidfd (old kernel, filter) short naps must do.
        let millis = if pidfd < 0 { 1 } else { BURIAL_MILLIS };
        let status = 'waiting: loop {
            libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, millis);
            loop {
                let mut status = 0;
                let pid = libc::waitpid(-1, &mut status, libc::WNOHANG);
                if pid == program {
                    break 'waiting Some(status);
                }
                if pid <= 0 {
                    break;
                }
            }
            if polled[0].revents != 0 {
                break None;
            }
        };
        // Whoever keeps one program after the other must not run out of descriptors.
        if pidfd >= 0 {
            libc::close(pidfd);
        }
        status
    }
}

/// Kills all descendants, however they detached themselves; returns how many processes
/// other than the program there were.
pub(crate) unsafe fn end_everything(program: libc::pid_t) -> u32 {
    // More rounds than any nesting of processes; only a process that cannot be
    // killed (uninterruptible sleep, other user) gets that far.
    const ROUNDS: u32 = 2000;
    let mut others = 0;
    for round in 0..ROUNDS {
        // SAFETY: system calls on plain numbers and local buffers.
        unsafe {
            // The program may be buried already; its group keeps its number as long as members live.
            libc::kill(-program, libc::SIGKILL);
            kill_children();
            loop {
                let pid = libc::waitpid(-1, ptr::null_mut(), libc::WNOHANG);
                if pid < 0 {
                    return others;
                }
                if pid == 0 {
                    break;
                }
                if pid != program {
                    others += 1;
                }
            }
            // Grandchildren become children as their parents die.
            libc::usleep(if round < 100 { 100 } else { 1000 });
        }
    }
    others
}

unsafe fn kill_children() {
    // SAFETY: valid strings and a local buffer.
    unsafe {
        let fd = libc::open(
            c"/proc/thread-self/children".as_ptr(),
            libc::O_RDONLY | libc::O_CLOEXEC,
        );
        if fd < 0 {
            return;
        }
        let mut buffer = [0_u8; 4096];
        let mut pid: libc::pid_t = 0;
        loop {
            let count = libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len());
            if count <= 0 {
                break;
            }
            for byte in buffer.iter().take(count as usize) {
                if byte.is_ascii_digit() {
                    pid = pid.wrapping_mul(10).wrapping_add((byte - b'0').into());
                } else {
                    if pid > 1 {
                        libc::kill(pid, libc::SIGKILL);
                    }
                    pid = 0;
                }
            }
        }
        libc::close(fd);
    }
}
