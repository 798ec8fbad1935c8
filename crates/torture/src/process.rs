//! Runs a command with a time limit and says what came out, CPU time included.
//!
//! This is deliberately not the engine's runner: what checks the tool should
//! not share its parts.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What a command did.
#[derive(Clone, Debug)]
pub struct Finished {
    pub end: End,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// User and system time of the process and of the children it waited for.
    pub cpu: Duration,
    /// The most memory in bytes that it, or one of these children, had at a time.
    pub memory: u64,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// Killed, with its process group, because its time was over.
    Timeout,
}

impl Finished {
    pub fn success(&self) -> bool {
        self.end == End::Exit(0)
    }
}

/// Runs the command to its end. Its output goes through files, so that no pipe
/// can fill up; a process group of its own makes sure that a timeout ends all of it.
pub fn run(command: &mut Command, timeout: Duration) -> io::Result<Finished> {
    let mut stdout = tempfile::tempfile()?;
    let mut stderr = tempfile::tempfile()?;
    let child = command
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .process_group(0)
        .spawn()?;
    let pid = child.id() as libc::pid_t;
    let deadline = Instant::now() + timeout;
    let mut pause = Duration::from_micros(100);
    let mut timed_out = false;
    let (status, cpu, memory) = loop {
        if let Some(ended) = wait(pid, !timed_out)? {
            break ended;
        }
        if Instant::now() >= deadline {
            // SAFETY: the group is the child's own, and the child is not reaped yet.
            unsafe { libc::kill(-pid, libc::SIGKILL) };
            timed_out = true;
            continue;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let end = match (timed_out, status.code(), status.signal()) {
        (true, ..) => End::Timeout,
        (_, Some(code), _) => End::Exit(code),
        (_, None, signal) => End::Signal(signal.unwrap_or(0)),
    };
    Ok(Finished {
        end,
        stdout: contents(&mut stdout)?,
        stderr: contents(&mut stderr)?,
        cpu,
        memory,
    })
}

/// `wait4`, because the standard library does not give CPU time and memory.
fn wait(pid: libc::pid_t, peek: bool) -> io::Result<Option<(ExitStatus, Duration, u64)>> {
    let mut status = 0;
    // SAFETY: `rusage` is plain data, all zeros is a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    let options = if peek { libc::WNOHANG } else { 0 };
    // SAFETY: both pointers are to live local variables.
    match unsafe { libc::wait4(pid, &mut status, options, &mut usage) } {
        0 => Ok(None),
        -1 => Err(io::Error::last_os_error()),
        _ => {
            let time = |t: libc::timeval| {
                Duration::from_secs(t.tv_sec as u64) + Duration::from_micros(t.tv_usec as u64)
            };
            let cpu = time(usage.ru_utime) + time(usage.ru_stime);
            // The kernel counts it in kilobytes.
            let memory = usage.ru_maxrss as u64 * 1024;
            Ok(Some((ExitStatus::from_raw(status), cpu, memory)))
        }
    }
}

fn contents(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Finished {
        run(
            Command::new("sh").args(["-c", script]),
            Duration::from_millis(500),
        )
        .unwrap()
    }

    #[test]
    fn output_status_and_signal_are_told_apart() {
        let finished = shell("echo out; echo err >&2; exit 3");
        assert_eq!(finished.end, End::Exit(3));
        assert_eq!(finished.stdout, b"out\n");
        assert_eq!(finished.stderr, b"err\n");
        assert_eq!(shell("kill -TERM $$").end, End::Signal(libc::SIGTERM));
    }

    #[test]
    fn a_timeout_ends_the_whole_group() {
        let started = Instant::now();
        assert_eq!(shell("sleep 30 & sleep 30").end, End::Timeout);
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
