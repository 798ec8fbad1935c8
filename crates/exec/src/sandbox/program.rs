//! One request to the first process of a sandbox, in the process that becomes the program.
//!
//! As after any fork of the engine, nothing here allocates, locks or panics.

use std::ffi::CStr;
use std::os::fd::RawFd;
use std::ptr;

use parallax_abi::serve::{Request, STREAMS, Step, slot};

use super::first::{Plan, fail};
use super::landlock::{self, Writable};
use super::limits::{
    errno, forget_capabilities, hand_down_capability, limit_resources, renounce_privileges,
};
use super::mounts::{PRIVATE, WRITABLE_DEVICES};
use super::{Confinement, groups};
use crate::run::keeper;

/// What is executed.
pub(super) struct Run<'a> {
    pub plan: &'a Plan<'a>,
    /// Of process numbers; negative if it is not to be had.
    pub counter: RawFd,
    pub request: Request,
    pub descriptors: &'a [RawFd],
    /// The strings, followed by zeros.
    pub body: *mut u8,
    /// Room for pointers to them.
    pub lists: *mut u8,
}

impl Run<'_> {
    /// Starts the program in a process that has our memory until then, as by `vfork`, but with a stack of its own. This process is a
    /// fork of the engine: copying what it has for each run would cost more than most runs do.
    pub unsafe fn start(&self, stack: *mut u8) -> libc::pid_t {
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
            if self.request.counter >= 0 && self.counter >= 0 {
                libc::dup2(self.counter, self.request.counter);
                hand_down_capability();
            } else {
                forget_capabilities();
            }
            keeper::limit_stack(self.request.instrumented != 0);
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
