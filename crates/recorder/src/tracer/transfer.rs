//! What goes through descriptors: which recordings take it, and the bytes.

use super::Tracer;
use super::table::{Pending, Shared};
use crate::limits::Limits;
use crate::memory;
use crate::proc::{self, Kind};
use crate::ptrace::{Call, Pid, Until};
use crate::recording::{Channel, Recording};

impl Tracer<'_> {
    /// The recordings for which a descriptor is a channel, as `which` says.
    fn takers(
        &self,
        group: Pid,
        which: impl Fn(&Recording) -> Option<Channel>,
    ) -> Vec<(Shared, Channel)> {
        let Some(process) = self.table.processes.get(&group) else {
            return Vec::new();
        };
        let channel = |shared: &Shared| {
            let channel = which(shared.borrow().as_ref()?)?;
            Some((shared.clone(), channel))
        };
        process.recordings.iter().filter_map(channel).collect()
    }

    pub(super) fn wait_for_end(&mut self, pid: Pid, pending: Pending) -> Until {
        if let Some(task) = self.table.tasks.get_mut(&pid) {
            task.pending = Some(pending);
        }
        Until::CallExit
    }

    pub(super) fn read(&mut self, pid: Pid, group: Pid, call: &Call) -> Until {
        let number = call.descriptor(0);
        if number == 0 {
            self.touch(group);
        }
        let flags = match call.number {
            libc::SYS_recvfrom => call.arguments[3],
            libc::SYS_recvmsg => call.arguments[2],
            _ => 0,
        };
        // Bytes that are only looked at are read later.
        if flags as i32 & libc::MSG_PEEK != 0 {
            return Until::Event;
        }
        let Some(descriptor) = proc::descriptor(group, number) else {
            return Until::Event;
        };
        let takers = self.takers(group, |recording| recording.source(descriptor.identity));
        if takers.is_empty() {
            return Until::Event;
        }
        self.wait_for_end(
            pid,
            Pending::Transfer {
                call: *call,
                takers,
            },
        )
    }

    pub(super) fn write(&mut self, pid: Pid, group: Pid, call: &Call) -> Until {
        let number = call.descriptor(0);
        let Some(descriptor) = proc::descriptor(group, number) else {
            return Until::Event;
        };
        let takers = self.takers(group, |recording| {
            recording.destination(number, descriptor.identity)
        });
        if takers.is_empty() {
            return Until::Event;
        }
        // Files take everything, so there is no need to wait for the end.
        if descriptor.kind == Kind::Regular
            && let Some(length) = requested(pid, call)
        {
            self.each(group, |recording, _, limits| {
                recording.follow(group, number, limits);
            });
            self.transfer(pid, call, length, &takers);
            return Until::Event;
        }
        self.wait_for_end(
            pid,
            Pending::Transfer {
                call: *call,
                takers,
            },
        )
    }

    pub(super) fn copy(&mut self, pid: Pid, group: Pid, call: &Call, from: i32, to: i32) -> Until {
        if from == 0 {
            self.touch(group);
        }
        let Some(target) = proc::descriptor(group, to) else {
            return Until::Event;
        };
        let takers = self.takers(group, |recording| {
            recording.destination(to, target.identity)
        });
        let source = proc::descriptor(group, from);
        let is_stream = |recording: &Recording| recording.source(source?.identity);
        if !self.takers(group, is_stream).is_empty() {
            self.note(
                group,
                "takes input inside of the kernel (splice): it is not recorded",
            );
        }
        if takers.is_empty() {
            return Until::Event;
        }
        // What works between files does not with pipes.
        if call.number == libc::SYS_copy_file_range {
            self.use_as_file(group, to);
        }
        if source.is_none_or(|source| source.kind != Kind::Regular) {
            self.note(
                group,
                "writes output inside of the kernel (splice): it is not recorded",
            );
            return Until::Event;
        }
        let pointer = match call.number {
            libc::SYS_sendfile => call.arguments[2],
            _ => call.arguments[1],
        };
        let given = memory::read(pid, pointer, 8).ok();
        let given = given.and_then(|bytes| Some(u64::from_ne_bytes(*bytes.first_chunk()?)));
        let offset = match pointer {
            0 => proc::offset(group, from),
            _ => given.unwrap_or(0),
        };
        self.wait_for_end(
            pid,
            Pending::Copy {
                from,
                offset,
                takers,
            },
        )
    }

    /// Takes the bytes of a call out of the memory of the process that made it.
    pub(super) fn transfer(
        &mut self,
        pid: Pid,
        call: &Call,
        length: usize,
        takers: &[(Shared, Channel)],
    ) {
        let (address, count) = (call.arguments[1], call.arguments[2] as usize);
        let bytes = match call.number {
            libc::SYS_readv | libc::SYS_preadv | libc::SYS_writev | libc::SYS_pwritev => {
                memory::read_vector(pid, address, count, length)
            }
            libc::SYS_recvmsg | libc::SYS_sendmsg => memory::message_vector(pid, address)
                .and_then(|(vector, count)| memory::read_vector(pid, vector, count, length)),
            _ => memory::read(pid, address, length),
        };
        match bytes {
            Ok(bytes) => deliver(takers, &bytes, self.setting.limits),
            Err(error) => {
                for (shared, _) in takers {
                    if let Some(recording) = &mut *shared.borrow_mut() {
                        let note = format!("bytes could not be read from its memory: {error}");
                        recording.notes.insert(note);
                    }
                }
            }
        }
    }
}

/// How many bytes a call is asked to write.
fn requested(pid: Pid, call: &Call) -> Option<usize> {
    let count = call.arguments[2] as usize;
    match call.number {
        libc::SYS_write | libc::SYS_pwrite64 => Some(count),
        libc::SYS_writev | libc::SYS_pwritev => {
            memory::vector_length(pid, call.arguments[1], count).ok()
        }
        _ => None,
    }
}

pub(super) fn deliver(takers: &[(Shared, Channel)], bytes: &[u8], limits: &Limits) {
    for (shared, channel) in takers {
        if let Some(recording) = &mut *shared.borrow_mut() {
            recording.transfer(*channel, bytes, limits);
        }
    }
}
