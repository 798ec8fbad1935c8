//! What the system calls of recorded programs say.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Tracer;
use super::table::{Pending, Shared};
use super::transfer::deliver;
use crate::calls::{
    LIST_CALLS, MOVING_CALLS, OPEN_CALLS, PathArgument, READ_CALLS, REPLACING_CALLS, WRITE_CALLS,
    copy_call, path_call,
};
use crate::files::{Interest, Look, Viewer};
use crate::filter::Filter;
use crate::inject::{self, InjectError};
use crate::limits::Limits;
use crate::memory;
use crate::proc;
use crate::ptrace::{self, Call, Pid, Until};
use crate::recording::Recording;
use crate::territory::Territory;

/// Paths that are standard input by another name.
const STDIN_PATHS: [&str; 3] = ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];
/// Likewise, of outputs.
const OUTPUT_PATHS: [(&str, i32); 6] = [
    ("/dev/stdout", 1),
    ("/dev/fd/1", 1),
    ("/proc/self/fd/1", 1),
    ("/dev/stderr", 2),
    ("/dev/fd/2", 2),
    ("/proc/self/fd/2", 2),
];

impl Tracer<'_> {
    /// A process is about to make a call that its filter stops.
    pub(super) fn calls(&mut self, pid: Pid) {
        let until = match ptrace::call(pid) {
            Ok(call) => self.call(pid, &call),
            Err(_) => Some(Until::Event),
        };
        if let Some(until) = until {
            self.go_on(pid, until, 0);
        }
    }

    /// `None`: the process has gone on already, or has ended.
    fn call(&mut self, pid: Pid, call: &Call) -> Option<Until> {
        let (group, process) = self.table.process_of(pid)?;
        let moves = MOVING_CALLS.contains(&call.number);
        if !process.is_recorded() {
            if moves {
                process.directory = None;
            }
            return Some(Until::Event);
        }
        let number = call.number;
        let mut until = Until::Event;
        if number == libc::SYS_chroot {
            self.note(
                group,
                "changes its root directory: what it finds there is not recorded",
            );
        } else if number == libc::SYS_newfstatat
            && call.arguments[3] as i32 & libc::AT_EMPTY_PATH != 0
        {
            self.touch_stream(group, call);
        } else if OPEN_CALLS.contains(&number) {
            self.open(pid, call);
        } else if let Some(known) = path_call(number) {
            let interest = match number {
                libc::SYS_execve | libc::SYS_execveat => {
                    self.each(group, |recording, _, _| recording.has_executed = true);
                    Interest::Execute
                }
                libc::SYS_statfs => {
                    self.doubt(group, "asks how full a file system is");
                    Interest::Glance
                }
                _ => Interest::Glance,
            };
            let look = Look {
                interest,
                follow: known.follow.holds(&call.arguments),
                changes: known.changes,
                creates: known.creates,
            };
            for path in known.paths {
                self.look(pid, call, *path, look);
            }
            if REPLACING_CALLS.contains(&number)
                && let Some(last) = known.paths.last()
                && let Some(path) = self.path(pid, call, *last)
            {
                self.list(group, &path);
            }
        } else if LIST_CALLS.contains(&number) {
            if let Some(path) = proc::path_of_descriptor(group, call.descriptor(0)) {
                self.list(group, &path);
            }
        } else if READ_CALLS.contains(&number) {
            until = self.read(pid, group, call);
        } else if WRITE_CALLS.contains(&number) {
            until = self.write(pid, group, call);
        } else if let Some(copy) = copy_call(number) {
            let (from, to) = (call.descriptor(copy.from), call.descriptor(copy.to));
            until = self.copy(pid, group, call, from, to);
        } else if number == libc::SYS_kill {
            self.kill(group, call.arguments[0] as Pid);
        } else if number == libc::SYS_listen {
            return self.listen(pid, group, call);
        } else if matches!(number, libc::SYS_accept | libc::SYS_accept4) {
            return self.accept(pid, group, call);
        } else {
            self.touch_stream(group, call);
        }
        if moves && let Some((_, process)) = self.table.process_of(pid) {
            process.directory = None;
        }
        Some(until)
    }

    /// Calls `action` for every recording that a process is part of.
    pub(super) fn each(
        &mut self,
        group: Pid,
        mut action: impl FnMut(&mut Recording, &Territory, &Limits),
    ) {
        let Some(process) = self.table.processes.get(&group) else {
            return;
        };
        for shared in &process.recordings {
            if let Some(recording) = &mut *shared.borrow_mut() {
                action(recording, self.setting.territory, self.setting.limits);
            }
        }
    }

    pub(super) fn note(&mut self, group: Pid, note: &str) {
        self.each(group, |recording, _, _| {
            recording.notes.insert(note.to_owned());
        });
    }

    /// What the program does may come out otherwise the next time.
    fn doubt(&mut self, group: Pid, reason: &'static str) {
        self.each(group, |recording, _, _| {
            recording.unsteady.insert(reason);
        });
    }

    /// A process is about to send a signal.
    fn kill(&mut self, group: Pid, target: Pid) {
        // 0 is its own group of processes, which it shares with whoever started it.
        let leader = match target {
            0 => return,
            -1 => None,
            _ => self.table.processes.get(&target.abs()),
        };
        let is_own = |shared: &Shared| {
            leader.is_some_and(|leader| leader.recordings.iter().any(|of| Rc::ptr_eq(of, shared)))
        };
        if let Some(process) = self.table.processes.get(&group) {
            for shared in &process.recordings {
                if !is_own(shared)
                    && let Some(recording) = &mut *shared.borrow_mut()
                {
                    recording.unsteady.insert("signals processes of others");
                }
            }
        }
    }

    /// Something is asked of, or done to, the standard stream that is a call's first argument.
    fn touch_stream(&mut self, group: Pid, call: &Call) {
        let number = call.descriptor(0);
        let is_move = call.number == libc::SYS_lseek;
        let is_question = matches!(call.number, libc::SYS_newfstatat | libc::SYS_fstat);
        if !matches!(number, 1 | 2) {
            if number == 0 && (is_move || is_question) {
                self.each(group, |recording, _, _| {
                    recording.question_stdin(group, is_move);
                });
            }
            return self.touch(group);
        }
        self.each(group, |recording, _, _| {
            let Some(output) = recording.output(group, number) else {
                return;
            };
            output.questions += u32::from(is_question);
            output.is_used_as_file |= !is_question;
            let stays = call.arguments[1] == 0 && call.arguments[2] as i32 == libc::SEEK_CUR;
            output.has_moved |= is_move && !stays;
        });
    }

    pub(super) fn use_as_file(&mut self, group: Pid, number: i32) {
        self.each(group, |recording, _, _| {
            if let Some(output) = recording.output(group, number) {
                output.is_used_as_file = true;
            }
        });
    }

    pub(super) fn touch(&mut self, group: Pid) {
        self.each(group, |recording, _, limits| {
            recording.touch_stdin(group, limits);
        });
    }

    /// The absolute path that an argument names.
    fn path(&mut self, pid: Pid, call: &Call, argument: PathArgument) -> Option<PathBuf> {
        let text = memory::read_path(pid, call.arguments[argument.path]).ok()?;
        if text.is_empty() {
            return None;
        }
        let path = PathBuf::from(OsString::from_vec(text));
        if path.is_absolute() {
            return Some(path);
        }
        let (group, process) = self.table.process_of(pid)?;
        let directory = argument.directory.map(|at| call.descriptor(at));
        match directory {
            None | Some(libc::AT_FDCWD) => Some(process.directory(group)?.join(path)),
            Some(descriptor) => Some(proc::path_of_descriptor(group, descriptor)?.join(path)),
        }
    }

    fn look(&mut self, pid: Pid, call: &Call, argument: PathArgument, look: Look) {
        if let Some(path) = self.path(pid, call, argument) {
            // A link with a slash behind it means what it leads to.
            let text = path.as_os_str().as_bytes();
            let is_directory = text.ends_with(b"/") || text.ends_with(b"/.");
            let follow = look.follow || is_directory;
            self.look_at(pid, &path, Look { follow, ..look });
        }
    }

    fn look_at(&mut self, pid: Pid, path: &Path, look: Look) {
        let Some((group, _)) = self.table.process_of(pid) else {
            return;
        };
        if STDIN_PATHS.iter().any(|stdin| path == Path::new(stdin)) {
            return self.touch(group);
        }
        if let Some((_, number)) = OUTPUT_PATHS
            .iter()
            .find(|(output, _)| path == Path::new(output))
        {
            return self.use_as_file(group, *number);
        }
        self.each(group, |recording, territory, limits| {
            let viewer = Viewer {
                territory,
                limits,
                start: &recording.start.directory,
            };
            recording.files.look(&viewer, path, look);
        });
    }

    fn open(&mut self, pid: Pid, call: &Call) {
        let argument = |directory: Option<usize>| PathArgument {
            directory,
            path: directory.map_or(0, |at| at + 1),
        };
        let (argument, flags) = match call.number {
            libc::SYS_open => (argument(None), call.arguments[1] as i32),
            libc::SYS_creat => (
                argument(None),
                libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC,
            ),
            libc::SYS_openat => (argument(Some(0)), call.arguments[2] as i32),
            _ => {
                // The flags are the first member of a structure.
                let flags = memory::read(pid, call.arguments[2], 8).unwrap_or_default();
                let flags = flags
                    .first_chunk()
                    .map_or(0, |word| u64::from_ne_bytes(*word));
                (argument(Some(0)), flags as i32)
            }
        };
        let is_only_path = flags & libc::O_PATH != 0;
        let mode = flags & libc::O_ACCMODE;
        // What is only written (a log) is not read through this descriptor.
        let is_read = mode != libc::O_WRONLY && !is_only_path;
        let is_written = mode != libc::O_RDONLY || flags & libc::O_TRUNC != 0;
        let look = Look {
            interest: match is_read {
                true => Interest::Open,
                false => Interest::Glance,
            },
            follow: flags & libc::O_NOFOLLOW == 0,
            changes: is_written && !is_only_path,
            creates: flags & libc::O_CREAT != 0,
        };
        self.look(pid, call, argument, look);
    }

    fn list(&mut self, group: Pid, directory: &Path) {
        self.each(group, |recording, territory, limits| {
            let viewer = Viewer {
                territory,
                limits,
                start: &recording.start.directory,
            };
            recording.files.list(&viewer, directory);
        });
    }

    /// A call that was waited for has ended.
    pub(super) fn finish_call(&mut self, pid: Pid, pending: Pending) {
        let Ok(result) = ptrace::call_result(pid) else {
            return;
        };
        let Some((group, _)) = self.table.process_of(pid) else {
            return;
        };
        match pending {
            Pending::Transfer { call, takers } if result > 0 => {
                self.transfer(pid, &call, result as usize, &takers);
            }
            Pending::Transfer { takers, .. } if result == -i64::from(libc::EPIPE) => {
                for (shared, channel) in takers {
                    if let Some(recording) = &mut *shared.borrow_mut() {
                        recording.break_off(channel);
                    }
                }
            }
            Pending::Copy {
                from,
                offset,
                takers,
            } if result > 0 => {
                let read = proc::read_descriptor(group, from, offset, result as u64);
                deliver(
                    &takers,
                    &read.unwrap_or_default().bytes,
                    self.setting.limits,
                );
            }
            Pending::Accept if result >= 0 => {
                if let Some(socket) = proc::descriptor(group, result as i32) {
                    self.each(group, |recording, _, _| recording.accept(socket.identity));
                }
            }
            _ => {}
        }
    }

    fn listen(&mut self, pid: Pid, group: Pid, call: &Call) -> Option<Until> {
        let address = proc::socket_address(group, call.descriptor(0));
        self.each(group, |recording, _, _| {
            if let Some(address) = &address {
                recording.listen(address.clone());
            }
        });
        self.watch_connections(pid)
    }

    fn accept(&mut self, pid: Pid, group: Pid, call: &Call) -> Option<Until> {
        // A socket that somebody else made listen.
        let address = proc::socket_address(group, call.descriptor(0));
        self.each(group, |recording, _, _| {
            if recording.server.is_none()
                && let Some(address) = &address
            {
                recording.listen(address.clone());
                let note = format!(
                    "inherited the socket that it listens at, as descriptor {}",
                    call.descriptor(0)
                );
                recording.notes.insert(note);
            }
        });
        match self.watch_connections(pid)? {
            Until::CallExit => Some(self.wait_for_end(pid, Pending::Accept)),
            until => Some(until),
        }
    }

    /// Makes sure that a server's reading and writing is watched. When it has to be installed, the process makes its call once more:
    /// [`Until::Event`]. Otherwise the call can go on: [`Until::CallExit`].
    fn watch_connections(&mut self, pid: Pid) -> Option<Until> {
        let (_, process) = self.table.process_of(pid)?;
        if process.filters.contains(&Filter::Connections) {
            return Some(Until::CallExit);
        }
        match inject::before_call(pid, &Filter::Connections.program()) {
            Ok(()) => {
                process.filters.push(Filter::Connections);
                Some(Until::Event)
            }
            Err(InjectError::Elsewhere(status)) => {
                self.handle(pid, status);
                None
            }
            Err(InjectError::System(error)) => {
                // Not tried again: the call might never be made.
                process.filters.push(Filter::Connections);
                let group = self.table.tasks.get(&pid)?.group;
                self.note(
                    group,
                    &format!("its connections could not be watched: {error}"),
                );
                Some(Until::Event)
            }
        }
    }
}
