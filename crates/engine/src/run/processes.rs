//! Finding processes through `/proc`.

use std::fs;

/// All processes below `root`, without it.
pub(crate) fn descendants(root: libc::pid_t) -> Vec<libc::pid_t> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
            continue;
        };
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_ascii_whitespace() {
                if let Ok(child) = child.parse() {
                    found.push(child);
                    open.push(child);
                }
            }
        }
    }
    found
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
