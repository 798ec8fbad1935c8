//! The processes and threads that are traced.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use crate::filter::Filter;
use crate::proc;
use crate::ptrace::{Call, Pid};
use crate::recording::{Channel, Recording};

/// A recording as all processes of the recorded program share it; empty when the program has ended.
pub type Shared = Rc<RefCell<Option<Recording>>>;

/// What a thread's system call is waited for.
#[derive(Debug)]
pub enum Pending {
    /// The end of an exec: then the filters are installed.
    Exec(Filter),
    /// Bytes that were read or written, for these recordings.
    Transfer {
        call: Call,
        takers: Vec<(Shared, Channel)>,
    },
    /// Bytes copied from a file to an output, from this offset on.
    Copy {
        from: i32,
        offset: u64,
        takers: Vec<(Shared, Channel)>,
    },
    /// A server's new connection.
    Accept,
}

#[derive(Debug)]
pub struct Task {
    /// The process that the thread belongs to.
    pub group: Pid,
    pub pending: Option<Pending>,
    /// Whoever made it has said so.
    is_announced: bool,
}

impl Task {
    fn new(group: Pid, is_announced: bool) -> Task {
        Task {
            group,
            pending: None,
            is_announced,
        }
    }
}

#[derive(Debug)]
pub struct Process {
    pub parent: Pid,
    /// The recorded programs that it is part of, outermost first.
    pub recordings: Vec<Shared>,
    pub filters: Vec<Filter>,
    /// The working directory, as long as it is known.
    pub directory: Option<Rc<PathBuf>>,
    /// Read when first asked for: most processes are never asked about.
    command_line: Option<Arc<[u8]>>,
    environment: Option<Arc<[u8]>>,
}

impl Process {
    pub fn new(parent: Pid) -> Process {
        Process {
            parent,
            recordings: Vec::new(),
            filters: Vec::new(),
            directory: None,
            command_line: None,
            environment: None,
        }
    }

    /// A new process begins as a copy of its parent.
    pub fn child(&self, parent: Pid) -> Process {
        let is_live = |shared: &&Shared| shared.borrow().is_some();
        Process {
            parent,
            recordings: self.recordings.iter().filter(is_live).cloned().collect(),
            filters: self.filters.clone(),
            directory: self.directory.clone(),
            command_line: self.command_line.clone(),
            environment: self.environment.clone(),
        }
    }

    /// It has become another program.
    pub fn forget_program(&mut self) {
        self.command_line = None;
        self.environment = None;
    }

    pub fn is_recorded(&self) -> bool {
        self.recordings
            .iter()
            .any(|shared| shared.borrow().is_some())
    }

    pub fn command_line(&mut self, pid: Pid) -> Arc<[u8]> {
        self.command_line
            .get_or_insert_with(|| proc::command_line(pid).into())
            .clone()
    }

    pub fn environment(&mut self, pid: Pid) -> Arc<[u8]> {
        self.environment
            .get_or_insert_with(|| proc::environment(pid).into())
            .clone()
    }

    pub fn directory(&mut self, pid: Pid) -> Option<Rc<PathBuf>> {
        if self.directory.is_none() {
            self.directory = proc::working_directory(pid).map(Rc::new);
        }
        self.directory.clone()
    }
}

/// All threads, and the processes that they make up.
#[derive(Debug, Default)]
pub struct Table {
    pub tasks: HashMap<Pid, Task>,
    pub processes: HashMap<Pid, Process>,
    /// Those that ended before they were announced. What is waited for comes newest first, so a child that is killed at once
    /// ends before we hear of it. Taken in after its end it would stay for ever, and whoever gets its number next would be taken for it:
    /// for a process that has a filter.
    ended_early: HashSet<Pid>,
}

impl Table {
    /// Takes a process in that nobody of ours started.
    pub fn add_first(&mut self, pid: Pid) {
        self.processes.insert(pid, Process::new(0));
        self.tasks.insert(pid, Task::new(pid, true));
    }

    /// A process with the number `parent` says that it has a new child or thread.
    pub fn announce(&mut self, pid: Pid, parent: Pid, is_thread: bool) {
        if self.ended_early.remove(&pid) {
            return;
        }
        match self.tasks.get_mut(&pid) {
            Some(task) => task.is_announced = true,
            None => self.add(pid, parent, is_thread, true),
        }
    }

    fn add(&mut self, pid: Pid, parent: Pid, is_thread: bool, is_announced: bool) {
        let group = if is_thread { parent } else { pid };
        self.tasks.insert(pid, Task::new(group, is_announced));
        if !is_thread {
            let process = match self.processes.get(&parent) {
                Some(process) => process.child(parent),
                None => Process::new(parent),
            };
            self.processes.insert(pid, process);
        }
    }

    /// A process that stopped before we heard who started it.
    pub fn adopt(&mut self, pid: Pid) {
        // Its number may be that of another one whose announcement never came.
        self.ended_early.remove(&pid);
        if let Some(status) = proc::status(pid) {
            let is_thread = status.group != pid;
            let parent = if is_thread {
                status.group
            } else {
                status.parent
            };
            self.add(pid, parent, is_thread, false);
        }
    }

    /// A thread has ended; with the last one of its process, the process.
    pub fn end(&mut self, pid: Pid) -> Option<Process> {
        let task = self.tasks.remove(&pid);
        if task.as_ref().is_none_or(|task| !task.is_announced) {
            self.ended_early.insert(pid);
        }
        match task?.group == pid {
            true => self.processes.remove(&pid),
            false => None,
        }
    }

    /// A process has become another program: only the thread with its own number is left.
    pub fn keep_only_leader(&mut self, group: Pid) {
        self.tasks
            .retain(|pid, task| task.group != group || *pid == group);
        self.tasks
            .entry(group)
            .or_insert_with(|| Task::new(group, true));
    }

    pub fn process_of(&mut self, pid: Pid) -> Option<(Pid, &mut Process)> {
        let group = self.tasks.get(&pid)?.group;
        Some((group, self.processes.get_mut(&group)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: Pid = 1_000_000_001;
    const CHILD: Pid = 1_000_000_002;

    fn with_parent() -> Table {
        let mut table = Table::default();
        table.add_first(PARENT);
        let parent = table.processes.get_mut(&PARENT).unwrap();
        parent.filters.push(Filter::Files);
        table
    }

    #[test]
    fn a_child_begins_with_the_filters_of_its_parent() {
        let mut table = with_parent();
        table.announce(CHILD, PARENT, false);
        assert_eq!(table.processes[&CHILD].filters, [Filter::Files]);
        assert!(table.end(CHILD).is_some());
        assert!(!table.processes.contains_key(&CHILD));
    }

    #[test]
    fn a_child_that_ends_before_it_is_announced_leaves_nothing_behind() {
        let mut table = with_parent();
        assert!(table.end(CHILD).is_none());
        table.announce(CHILD, PARENT, false);
        assert!(!table.tasks.contains_key(&CHILD) && !table.processes.contains_key(&CHILD));
        // The same when it stopped before that.
        table.add(CHILD, PARENT, false, false);
        assert!(table.end(CHILD).is_some());
        table.announce(CHILD, PARENT, false);
        assert!(!table.processes.contains_key(&CHILD));
        // The next one with its number is taken in as any other.
        table.announce(CHILD, PARENT, false);
        assert!(table.processes.contains_key(&CHILD));
    }
}
