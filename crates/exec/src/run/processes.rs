//! Finding processes through `/proc`.

use std::fs;
use std::path::PathBuf;

/// All processes below `root`, without it.
pub(crate) fn descendants(root: libc::pid_t) -> Vec<libc::pid_t> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        let children = children(pid);
        found.extend(&children);
        open.extend(children);
    }
    found
}

/// The processes that a process has started, oldest first.
pub(crate) fn children(process: libc::pid_t) -> Vec<libc::pid_t> {
    let of_thread = |thread: PathBuf| {
        let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
        let numbers = children.split_ascii_whitespace().map(str::parse);
        numbers.filter_map(Result::ok).collect::<Vec<_>>()
    };
    threads(process).into_iter().flat_map(of_thread).collect()
}

/// Where `/proc` has the threads of a process.
fn threads(process: libc::pid_t) -> Vec<PathBuf> {
    let entries = fs::read_dir(format!("/proc/{process}/task"));
    let entries = entries.into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// Whether a process and all below it wait for something that others must do.
pub(crate) fn are_asleep(process: libc::pid_t) -> bool {
    let is_asleep = |thread: &PathBuf| {
        let status = fs::read_to_string(thread.join("stat")).unwrap_or_default();
        // After the name, which is in brackets and can hold anything.
        let state = status
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.bytes().next());
        matches!(state, Some(b'S' | b'Z' | b'T' | b't' | b'X'))
    };
    let threads = threads(process);
    !threads.is_empty()
        && threads.iter().all(is_asleep)
        && children(process).into_iter().all(are_asleep)
}

/// Kills every member of a session.
pub(super) fn kill_session(session: libc::pid_t) {
    let Ok(entries) = fs::read_dir("/proc") else {
        return;
    };
    for entry in entries.flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // SAFETY: asks for a number, then signals a process of the program's own session.
        unsafe {
            if libc::getsid(pid) == session {
                libc::kill(pid, libc::SIGKILL);
            }
        }
    }
}
