//! A process has become another program: is it one to record?

use std::path::PathBuf;

use super::Tracer;
use super::table::Pending;
use crate::filter::Filter;
use crate::proc;
use crate::programs;
use crate::ptrace::{self, Pid, Until};
use crate::recording::{Recording, Start};

/// Why a run is not recorded when there are enough.
pub const LIMIT_REACHED: &str = "the limit of scenarios was reached";

/// How many ancestors are asked which test this is.
const MOST_ANCESTORS: usize = 24;

impl Tracer<'_> {
    pub(super) fn executed(&mut self, pid: Pid) {
        self.table.keep_only_leader(pid);
        if let Some(task) = self.table.tasks.get_mut(&pid) {
            task.pending = None;
        }
        let Some((_, process)) = self.table.process_of(pid) else {
            return self.go_on(pid, Until::Event, 0);
        };
        process.forget_program();
        for shared in &process.recordings {
            if let Some(recording) = &mut *shared.borrow_mut() {
                recording.has_executed = true;
            }
        }
        let Some((path, metadata)) = proc::executable(pid) else {
            return self.go_on(pid, Until::Event, 0);
        };
        let program = self.setting.programs.find(&path, &metadata);
        if program.is_some() {
            self.each(pid, |recording, _, _| {
                recording.executed.insert(path.clone());
            });
        }
        if programs::is_tracer(&path) && self.leave_to_tracer(pid) {
            return;
        }
        match program {
            Some(program) => self.begin(pid, program, path),
            None => self.go_on(pid, Until::Event, 0),
        }
    }

    /// A debugger must be able to trace the programs that it runs: nobody can be traced twice.
    fn leave_to_tracer(&mut self, pid: Pid) -> bool {
        let can_leave = match self.table.process_of(pid) {
            Some((_, process)) => process.filters.is_empty() && pid != self.first,
            None => false,
        };
        if !can_leave || ptrace::detach(pid).is_err() {
            return false;
        }
        self.table.tasks.remove(&pid);
        self.table.processes.remove(&pid);
        self.skip("a debugger ran it");
        true
    }

    /// Begins to record, if that is possible.
    fn begin(&mut self, pid: Pid, program: usize, executable: PathBuf) {
        let start = match self.start(pid, program, executable) {
            Ok(start) => start,
            Err(reason) => {
                self.skip(reason);
                return self.go_on(pid, Until::Event, 0);
            }
        };
        let mut recording = Recording::new(pid, start);
        if !self.usual_limits.hold_for(pid) {
            recording
                .unsteady
                .insert("runs under limits (ulimit) of its own");
        }
        let filter = match recording.reads_stream() {
            true => Filter::FilesAndReads,
            false => Filter::Files,
        };
        let Some((_, process)) = self.table.process_of(pid) else {
            return self.go_on(pid, Until::Event, 0);
        };
        process.recordings.push(Tracer::share(recording));
        let is_enough = |own: &Filter| *own == filter || *own == Filter::FilesAndReads;
        if process.filters.iter().any(is_enough) {
            return self.go_on(pid, Until::Event, 0);
        }
        if let Some(task) = self.table.tasks.get_mut(&pid) {
            task.pending = Some(Pending::Exec(filter));
        }
        self.go_on(pid, Until::CallExit, 0);
    }

    fn start(
        &mut self,
        pid: Pid,
        program: usize,
        executable: PathBuf,
    ) -> Result<Start, &'static str> {
        if (self.setting.is_full)() {
            return Err(LIMIT_REACHED);
        }
        let command_line = proc::command_line(pid);
        if programs::mentions_tracer(&command_line) {
            return Err("it runs a debugger");
        }
        let Some((_, process)) = self.table.process_of(pid) else {
            return Err("it could not be watched");
        };
        // Not watched until now, it may have moved.
        process.directory = None;
        let Some(directory) = process.directory(pid) else {
            return Err("its working directory is gone");
        };
        let parent = process.parent;
        let mut ancestors = Vec::new();
        let mut next = parent;
        while let Some(ancestor) = self.table.processes.get_mut(&next) {
            ancestors.push(ancestor.command_line(next));
            next = ancestor.parent;
            if ancestors.len() == MOST_ANCESTORS {
                break;
            }
        }
        let parent_environment = match self.table.processes.get_mut(&parent) {
            Some(process) => process.environment(parent),
            None => Vec::new().into(),
        };
        Ok(Start {
            program,
            executable,
            command_line,
            environment: proc::environment(pid),
            parent_environment,
            ancestors,
            directory: directory.to_path_buf(),
            umask: proc::status(pid).and_then(|status| status.umask),
        })
    }
}
