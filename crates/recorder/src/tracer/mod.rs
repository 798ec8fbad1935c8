//! Follows a test command and everything that it starts.
//!
//! The whole tree of processes is traced, but only for what every process does once: start, execute, end. Programs under test get
//! a filter when they are executed, so that they also stop where they look at files or move bytes. Nothing in the build
//! tree is replaced: programs keep their file, their name, their parent and their exit status, and whatever happens
//! to us, there is nothing to repair.

mod calls;
mod exec;
mod launch;
mod table;
mod transfer;

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::RecorderError;
use crate::filter::Filter;
use crate::inject::{self, InjectError};
use crate::limits::Limits;
use crate::programs::Programs;
use crate::ptrace::{self, Pid, Until};
use crate::recording::{End, Recording};
use crate::resources::ResourceLimits;
use crate::territory::Territory;

use table::{Pending, Table};

pub use exec::LIMIT_REACHED;
pub use launch::Command;

/// `SIGTRAP` of a stop at a system call.
const CALL_STOP: i32 = libc::SIGTRAP | 0x80;
const SIGNAL_FROM_ELSEWHERE: &str = "gets a signal from another process";
/// How long processes may go on after the test command has ended.
const LINGER: Duration = Duration::from_secs(2);
/// How often is looked whether they have ended.
const PAUSE: Duration = Duration::from_millis(5);

/// What was seen of the test command as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// How the test command ended.
    pub end: Option<End>,
    /// Runs of programs under test that were not recorded, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Processes that the tests left behind and that had to be ended.
    pub ended: u64,
}

/// What the tracer works with.
pub struct Setting<'a> {
    pub programs: Programs,
    pub territory: &'a Territory,
    pub limits: &'a Limits,
    /// Whether to end the tests.
    pub stop: &'a dyn Fn() -> bool,
    /// Whether no more recordings are wanted.
    pub is_full: &'a dyn Fn() -> bool,
    /// Takes every finished recording.
    pub finished: &'a mut dyn FnMut(Recording, End),
}

struct Tracer<'a> {
    setting: Setting<'a>,
    table: Table,
    observed: Observed,
    first: Pid,
    /// What the tests began with.
    usual_limits: ResourceLimits,
}

/// Runs a test command to its end.
pub fn follow(command: &Command, setting: Setting) -> Result<Observed, RecorderError> {
    let first = launch::launch(command)?;
    let mut table = Table::default();
    table.add_first(first);
    let mut tracer = Tracer {
        setting,
        table,
        observed: Observed::default(),
        first,
        usual_limits: ResourceLimits::of(first),
    };
    tracer.run()?;
    Ok(tracer.observed)
}

impl Tracer<'_> {
    fn run(&mut self) -> Result<(), RecorderError> {
        while self.observed.end.is_none() {
            match ptrace::wait(-1, 0) {
                Ok((pid, status)) => self.handle(pid, status),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                Err(error) => return Err(RecorderError::Wait(error)),
            }
            if (self.setting.stop)() {
                self.end_all();
            }
        }
        self.linger();
        Ok(())
    }

    /// Lets processes that outlive the test command end by themselves, then lets them go or ends them.
    fn linger(&mut self) {
        let deadline = Instant::now() + LINGER;
        let mut is_over = false;
        while !self.table.tasks.is_empty() {
            match ptrace::wait(-1, libc::WNOHANG) {
                Ok((0, _)) => std::thread::sleep(PAUSE),
                Ok((pid, status)) => self.handle(pid, status),
                Err(_) => return,
            }
            if !is_over && Instant::now() > deadline {
                is_over = true;
                self.part();
            }
            // Whoever cannot be interrupted (a process in an endless wait inside of the kernel) ends with us.
            if Instant::now() > deadline + LINGER {
                return;
            }
        }
    }

    /// Processes without our filter can go on without us; the others cannot.
    fn part(&mut self) {
        let pids: Vec<Pid> = self.table.tasks.keys().copied().collect();
        for pid in pids {
            let Some((group, process)) = self.table.process_of(pid) else {
                continue;
            };
            if !process.filters.is_empty() {
                self.observed.ended += u64::from(group == pid);
                // SAFETY: a signal to a process that we trace.
                unsafe { libc::kill(group, libc::SIGKILL) };
            } else if ptrace::interrupt(pid).is_ok()
                && ptrace::wait(pid, 0).is_ok_and(|(_, status)| libc::WIFSTOPPED(status))
                && ptrace::detach(pid).is_ok()
            {
                self.table.tasks.remove(&pid);
            }
        }
    }

    fn end_all(&mut self) {
        for group in self.table.processes.keys() {
            // SAFETY: a signal to a process that we trace.
            unsafe { libc::kill(*group, libc::SIGKILL) };
        }
    }

    fn handle(&mut self, pid: Pid, status: i32) {
        if libc::WIFEXITED(status) {
            self.ended(pid, End::Exit(libc::WEXITSTATUS(status)));
        } else if libc::WIFSIGNALED(status) {
            self.ended(pid, End::Signal(libc::WTERMSIG(status)));
        } else if libc::WIFSTOPPED(status) {
            self.stopped(pid, libc::WSTOPSIG(status), status >> 16);
        }
    }

    fn ended(&mut self, pid: Pid, end: End) {
        if let Some(process) = self.table.end(pid) {
            for shared in process.recordings {
                let is_main = |recording: &mut Recording| recording.main == pid;
                let recording = shared.borrow_mut().take_if(is_main);
                if let Some(mut recording) = recording {
                    // The one signal that comes without being announced.
                    if end == End::Signal(libc::SIGKILL) {
                        recording.unsteady.insert(SIGNAL_FROM_ELSEWHERE);
                    }
                    (self.setting.finished)(recording, end);
                }
            }
        }
        if pid == self.first {
            self.observed.end = Some(end);
        }
    }

    fn stopped(&mut self, pid: Pid, signal: i32, event: i32) {
        if !self.table.tasks.contains_key(&pid) {
            self.table.adopt(pid);
        }
        match event {
            0 if signal == CALL_STOP => self.call_ended(pid),
            0 => {
                self.note_signal(pid, signal);
                self.go_on(pid, Until::Event, signal);
            }
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                self.forked(pid, event);
                self.go_on(pid, Until::Event, 0);
            }
            libc::PTRACE_EVENT_EXEC => self.executed(pid),
            libc::PTRACE_EVENT_SECCOMP => self.calls(pid),
            libc::PTRACE_EVENT_STOP => {
                let is_job_control = matches!(
                    signal,
                    libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU
                );
                if is_job_control {
                    let _ = ptrace::listen(pid);
                } else {
                    self.go_on(pid, Until::Event, 0);
                }
            }
            _ => self.go_on(pid, Until::Event, 0),
        }
    }

    /// A process that cannot be resumed has been killed; its end is reported by itself.
    fn go_on(&self, pid: Pid, until: Until, signal: i32) {
        let _ = ptrace::resume(pid, until, signal);
    }

    fn forked(&mut self, pid: Pid, event: i32) {
        let Ok(child) = ptrace::event_message(pid) else {
            return;
        };
        let child = child as Pid;
        let Some(group) = self.table.tasks.get(&pid).map(|task| task.group) else {
            return;
        };
        let is_thread = event == libc::PTRACE_EVENT_CLONE
            && std::fs::exists(format!("/proc/{group}/task/{child}")).unwrap_or(false);
        self.table.announce(child, group, is_thread);
    }

    /// Whether a signal comes from a process that has nothing to do with a recording: how a run goes on after that is not
    /// for the scenario to say.
    fn doubt_signal(&mut self, pid: Pid) {
        let Some(sender) = ptrace::sender(pid) else {
            return;
        };
        let sender = self.table.processes.get(&sender);
        let Some(task) = self.table.tasks.get(&pid) else {
            return;
        };
        let Some(process) = self.table.processes.get(&task.group) else {
            return;
        };
        for shared in &process.recordings {
            let is_own = sender
                .is_some_and(|sender| sender.recordings.iter().any(|of| Rc::ptr_eq(of, shared)));
            if !is_own && let Some(recording) = &mut *shared.borrow_mut() {
                recording.unsteady.insert(SIGNAL_FROM_ELSEWHERE);
            }
        }
    }

    fn note_signal(&mut self, pid: Pid, signal: i32) {
        self.doubt_signal(pid);
        let can_end = matches!(
            signal,
            libc::SIGHUP
                | libc::SIGINT
                | libc::SIGQUIT
                | libc::SIGTERM
                | libc::SIGUSR1
                | libc::SIGUSR2
        );
        if !can_end {
            return;
        }
        if let Some((group, process)) = self.table.process_of(pid) {
            for shared in &process.recordings {
                if let Some(recording) = &mut *shared.borrow_mut()
                    && recording.main == group
                {
                    recording.signal = signal;
                }
            }
        }
    }

    /// A system call that was waited for has ended.
    fn call_ended(&mut self, pid: Pid) {
        let pending = self
            .table
            .tasks
            .get_mut(&pid)
            .and_then(|task| task.pending.take());
        let signal = match pending {
            Some(Pending::Exec(filter)) => match self.install_at_start(pid, filter) {
                Some(signal) => signal,
                // It has ended meanwhile.
                None => return,
            },
            Some(pending) => {
                self.finish_call(pid, pending);
                0
            }
            None => 0,
        };
        self.go_on(pid, Until::Event, signal);
    }

    /// Installs a filter in a program that has just been executed; returns a signal that it is still to get.
    fn install_at_start(&mut self, pid: Pid, filter: Filter) -> Option<i32> {
        match inject::at_start(pid, &filter.program()) {
            Ok(signal) => {
                if let Some((_, process)) = self.table.process_of(pid) {
                    process.filters.push(filter);
                }
                Some(signal)
            }
            Err(InjectError::Elsewhere(status)) => {
                self.handle(pid, status);
                None
            }
            Err(InjectError::System(error)) => {
                self.give_up(pid, &error);
                Some(0)
            }
        }
    }

    /// A program that cannot be watched is not recorded.
    fn give_up(&mut self, pid: Pid, _: &io::Error) {
        self.skip("it could not be watched");
        if let Some((_, process)) = self.table.process_of(pid)
            && let Some(shared) = process.recordings.pop()
        {
            shared.borrow_mut().take();
        }
    }

    fn skip(&mut self, reason: &'static str) {
        *self.observed.skipped.entry(reason).or_default() += 1;
    }

    fn share(recording: Recording) -> table::Shared {
        Rc::new(std::cell::RefCell::new(Some(recording)))
    }
}
