//! An SMT-LIB program as a child that may hang, die, eat memory or talk nonsense.
//!
//! Everything that is read and written goes through threads of its own, so that no behaviour of the child can
//! block the caller beyond its deadline. The child has its own process group, which is killed as a whole.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

/// What the program prints after each answer.
const END: &str = "parallax-end-of-answer";
/// An answer longer than this is none.
const MAX_ANSWER: usize = 16 << 20;
const MAX_LINE: u64 = 4 << 20;

/// Why there was no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    #[error("cannot start {0}")]
    Start(String),
    #[error("no answer in time")]
    Hangs,
    #[error("ended ({0})")]
    Ended(String),
    #[error("said too much")]
    Endless,
    #[error("not understood: {0}")]
    Nonsense(String),
}

/// A running program.
pub(crate) struct Process {
    child: Child,
    input: Sender<String>,
    output: Receiver<String>,
    /// Questions asked so far.
    pub asked: u32,
}

impl Process {
    /// Starts the program with at most `memory` bytes of address space.
    pub fn start(command: &[String], memory: u64) -> Result<Process, Failure> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(Failure::Start("nothing".to_owned()));
        };
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0);
        let cannot = |error: std::io::Error| Failure::Start(format!("{program}: {error}"));
        let mut child = command.spawn().map_err(cannot)?;
        // From outside, since a process that does something of its own before it executes the program has to be forked: with our
        // memory that takes milliseconds.
        let limit = libc::rlimit {
            rlim_cur: memory,
            rlim_max: memory,
        };
        // SAFETY: a valid structure, and the number of a child that has not been waited for. If it is gone already, reading finds out.
        unsafe {
            let number = child.id() as libc::pid_t;
            libc::prlimit(number, libc::RLIMIT_AS, &limit, std::ptr::null_mut());
        }
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::Start(format!("{program}: no pipes")));
        };
        let (input, to_write) = mpsc::channel::<String>();
        let (read, output) = mpsc::channel::<String>();
        std::thread::spawn(move || {
            for text in to_write {
                // A child that is gone shows itself by the end of its output.
                if stdin
                    .write_all(text.as_bytes())
                    .and_then(|()| stdin.flush())
                    .is_err()
                {
                    return;
                }
            }
        });
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            loop {
                let mut line = Vec::new();
                match reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {
                        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                        if read.send(line).is_err() {
                            return;
                        }
                    }
                }
            }
        });
        Ok(Process {
            child,
            input,
            output,
            asked: 0,
        })
    }

    /// Sends commands and waits for everything that is printed in reply.
    pub fn ask(&mut self, commands: &str, time: Duration) -> Result<String, Failure> {
        self.asked += 1;
        let deadline = Instant::now() + time;
        // A closed channel means that the child is gone, which reading finds out too.
        let _ = self.input.send(format!("{commands}(echo \"{END}\")\n"));
        let mut answer = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(line) if line.trim_matches('"') == END => return Ok(answer),
                Ok(line) => {
                    answer.push_str(&line);
                    answer.push('\n');
                    if answer.len() > MAX_ANSWER {
                        return Err(Failure::Endless);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(Failure::Hangs),
                Err(RecvTimeoutError::Disconnected) => {
                    self.kill();
                    let status = self.child.wait();
                    let how = status.map_or_else(|e| e.to_string(), |status| status.to_string());
                    return Err(Failure::Ended(how));
                }
            }
        }
    }

    fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // SAFETY: plain system call. The child has not been waited for, so its number is still
            // its own and that of the group that it leads.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}
