//! Runs a program once, watched and limited, and ends everything it started.
//!
//! Between the engine and the program stands a *keeper* (see [`keeper`]): a
//! forked process that adopts orphans, so that daemons and background jobs of the
//! program are found and ended, and that notices when the engine itself dies. The program gets a
//! session of its own, so that signals to its process group reach nobody else.

pub(crate) mod keeper;
pub(crate) mod memory;
pub(crate) mod output;
pub(crate) mod prepare;
pub(crate) mod processes;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::shared::Shared;
use keeper::Message;
use output::Collector;
pub use output::{Captured, Output};
use prepare::Prepared;

/// What to run, on which input, within which limits.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    /// What the program sees as its name; the program's path if not given.
    pub argv0: Option<OsString>,
    pub args: Vec<OsString>,
    pub stdin: Stdin,
    pub output: Output,
    /// Working directory; the engine's own if not given.
    pub directory: Option<PathBuf>,
    /// The whole environment; the engine's own if not given.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Wall-clock time.
    pub timeout: Duration,
    /// Memory of all processes together, trace included.
    pub memory: Option<u64>,
}

impl Launch {
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

    /// Runs `program` without arguments and input, output captured, default limits.
    pub fn new(program: impl Into<PathBuf>) -> Launch {
        Launch {
            program: program.into(),
            argv0: None,
            args: Vec::new(),
            stdin: Stdin::Null,
            output: Output::capture(),
            directory: None,
            environment: None,
            timeout: Launch::DEFAULT_TIMEOUT,
            memory: None,
        }
    }
}

/// Where the program's standard input comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// `/dev/null`.
    Null,
    Inherit,
    File(PathBuf),
    /// A regular file with these bytes that exists only in memory.
    Bytes(Vec<u8>),
}

/// How the program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Exit(i32),
    Signal(i32),
    /// It was ended because its time was over.
    Timeout,
    /// It was ended because it used more memory than allowed.
    OutOfMemory,
    /// It was ended because it had more processes than allowed.
    TooManyProcesses,
    /// It was ended because it wrote more than allowed.
    TooMuchOutput,
    /// It was ended, or not even begun, because nobody has time for it any more: a deadline has passed or somebody
    /// cancelled. Says nothing about the program.
    Interrupted,
}

/// What came out of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    pub stdout: Captured,
    pub stderr: Captured,
    pub duration: Duration,
    /// User and system time of all processes.
    pub cpu: Duration,
    /// Processes that outlived the program and were ended.
    pub leftover_processes: u32,
    /// What a server answered to each of its clients.
    pub answers: Vec<Captured>,
}

/// Why a program could not be run. Never used for what the program itself did.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{} does not exist", .0.display())]
    NotFound(PathBuf),
    #[error("{} is a directory", .0.display())]
    IsDirectory(PathBuf),
    /// No execute permission, or a mount option forbids it.
    #[error("{} may not be executed", program.display())]
    Permission {
        program: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Not a program for this machine.
    #[error("{} is not an executable program", .0.display())]
    Format(PathBuf),
    /// The file is there, but the dynamic linker or script interpreter that it names is not.
    #[error("the interpreter that {} asks for does not exist", .0.display())]
    Interpreter(PathBuf),
    #[error("arguments and environment are too long for the kernel")]
    TooLong,
    #[error("an argument or environment variable contains a NUL byte")]
    Nul,
    #[error("cannot change to directory {}", path.display())]
    Directory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot open {} as standard input", path.display())]
    Stdin {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// The machine is out of processes, descriptors or memory.
    #[error("cannot {what}")]
    System {
        what: &'static str,
        #[source]
        source: io::Error,
    },
    /// The watching process disappeared: the program (or somebody) killed it.
    #[error("the process that watches the program was killed")]
    KeeperLost,
}

/// How long the keeper may take to end everything before it is given up.
const ENDING: Duration = Duration::from_secs(10);
/// How often memory use is looked at.
const MEMORY_INTERVAL: Duration = Duration::from_millis(10);

/// Runs the program, which finds the shared memory by descriptors as the ABI says.
pub fn run(launch: &Launch, shared: &[Shared<'_>]) -> Result<Outcome, RunError> {
    let prepared = Prepared::new(launch, shared)?;
    let started = Instant::now();
    let mut watch = Watch::start(launch, prepared)?;
    let mut ended_by_us = None;
    let mut next_memory = started;
    let deadline = started + launch.timeout;
    loop {
        let now = Instant::now();
        let mut wake = match ended_by_us {
            None => deadline,
            Some((_, at)) => at + ENDING,
        };
        if now >= wake {
            match ended_by_us {
                None => {
                    watch.end_program();
                    ended_by_us = Some((End::Timeout, now));
                    continue;
                }
                Some(_) => watch.give_up(),
            }
        }
        if let (None, Some(limit)) = (ended_by_us, launch.memory) {
            if now >= next_memory {
                if memory::exceeds(&processes::descendants(watch.keeper), limit) {
                    watch.end_program();
                    ended_by_us = Some((End::OutOfMemory, now));
                    continue;
                }
                next_memory = now + MEMORY_INTERVAL;
            }
            wake = wake.min(next_memory);
        }
        watch.wait(wake.saturating_duration_since(now))?;
        if watch.finished {
            break;
        }
    }
    let duration = started.elapsed();
    let message = watch.reap();
    let (stdout, stderr) = watch.collector.finish();
    match message {
        Some(Message::Ended {
            status,
            cpu_micros,
            leftovers,
        }) => Ok(Outcome {
            end: match ended_by_us {
                Some((end, _)) => end,
                None if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
                None => End::Exit(libc::WEXITSTATUS(status)),
            },
            stdout,
            stderr,
            duration,
            cpu: Duration::from_micros(cpu_micros),
            leftover_processes: leftovers,
            answers: Vec::new(),
        }),
        Some(Message::Failed { stage, errno }) => Err(stage.error(launch, errno)),
        Some(Message::Started { .. }) | None => {
            // Nobody else is left to end the program; what it detached is out of reach.
            if let Some(session) = watch.session {
                processes::kill_session(session);
            }
            Err(RunError::KeeperLost)
        }
    }
}

/// The engine's side of a running keeper.
struct Watch {
    keeper: libc::pid_t,
    /// Closing it tells the keeper to end everything.
    control: Option<OwnedFd>,
    status: OwnedFd,
    collector: Collector,
    /// The program's session, once it is known.
    session: Option<libc::pid_t>,
    message: Option<Message>,
    /// The keeper has closed its end of the status pipe.
    finished: bool,
    reaped: bool,
}

impl Watch {
    fn start(launch: &Launch, prepared: Prepared) -> Result<Watch, RunError> {
        let system = |what| move |source| RunError::System { what, source };
        let (control_read, control_write) = pipe().map_err(system("create a pipe"))?;
        let (status_read, status_write) = pipe().map_err(system("create a pipe"))?;
        let (collector, stdout, stderr) =
            Collector::new(launch.output).map_err(system("create a pipe"))?;
        let plan = prepared.plan(
            stdout.as_ref(),
            stderr.as_ref(),
            control_read.as_raw_fd(),
            status_write.as_raw_fd(),
        )?;
        // SAFETY: the child only calls functions that are safe after fork, see `keeper`.
        let keeper = unsafe { libc::fork() };
        match keeper {
            -1 => Err(RunError::System {
                what: "start a process",
                source: io::Error::last_os_error(),
            }),
            0 => {
                // SAFETY: we are the only thread of a freshly forked process.
                unsafe { keeper::main(&plan) }
            }
            _ => Ok(Watch {
                keeper,
                control: Some(control_write),
                status: status_read,
                collector,
                session: None,
                message: None,
                finished: false,
                reaped: false,
            }),
        }
    }

    fn end_program(&mut self) {
        self.control = None;
    }

    /// The keeper does not come to an end (a process in uninterruptible sleep).
    fn give_up(&mut self) {
        // SAFETY: the keeper has not been reaped, so its number is still its own.
        unsafe { libc::kill(self.keeper, libc::SIGKILL) };
        self.finished = true;
    }

    /// Waits for output or news from the keeper, at most `time`.
    fn wait(&mut self, time: Duration) -> Result<(), RunError> {
        if output::wait(self.status.as_fd(), Some(&mut self.collector), time)? {
            match Message::receive(self.status.as_raw_fd()) {
                Some(Message::Started { program }) => self.session = Some(program),
                // The first message counts: a failed start is followed by the
                // end of the process that failed to start.
                Some(message) => self.message = self.message.take().or(Some(message)),
                None => self.finished = true,
            }
        }
        Ok(())
    }

    fn reap(&mut self) -> Option<Message> {
        self.control = None;
        let mut status = 0;
        // SAFETY: our own child, not reaped before.
        while unsafe { libc::waitpid(self.keeper, &mut status, 0) } < 0
            && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
        {}
        self.reaped = true;
        self.message.take()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if !self.reaped {
            self.reap();
        }
    }
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((reader.into(), writer.into()))
}
