//! One run, watched over a socket: output is collected, limits are kept.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parallax_abi::serve::{Answer, Reply, Step};

use super::ExecuteError;
use super::files::OutputTo;
use super::pipes::Kept;
use super::request::Message;
use crate::run::output::wait;
use crate::run::{Captured, End, RunError, memory, processes};
use crate::wire;
use parallax_scenario::Sink;

/// How long the processes of a run may take to end before they are given up.
const ENDING: Duration = Duration::from_secs(2);
/// How often memory, processes and output are looked at.
const INTERVAL: Duration = Duration::from_millis(10);

/// What a run may use.
#[derive(Clone)]
pub(super) struct Bounds {
    pub timeout: Duration,
    /// Whatever time it has, it ends by then.
    pub until: Option<Instant>,
    pub cancel: Option<Arc<AtomicBool>>,
    pub memory: u64,
    pub processes: u32,
    pub output: usize,
    /// What it may write to its standard streams; who writes more is ended.
    pub written: Option<u64>,
    /// Whether output is read as it comes. Otherwise it is left in the pipes until the run ends or it is time to look:
    /// most runs write little, and waking up for each piece costs more than the rest of watching.
    pub eager: bool,
}

impl Bounds {
    /// Whether nobody wants a result any more.
    pub fn is_interrupted(&self) -> bool {
        let flag = self.cancel.as_ref();
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// A run that ended.
pub(super) struct Finished {
    pub reply: Reply,
    pub ended_by_us: Option<End>,
    /// The run did not begin.
    pub failed: Option<(Step, i32)>,
    pub stdout: Captured,
    pub stderr: Captured,
    pub duration: Duration,
    /// What clients heard.
    pub answers: Vec<Captured>,
}

/// Why there is no result.
pub(super) enum WatchError {
    /// Nobody is at the other end any more, or nobody answers: how that was noticed.
    Lost(&'static str),
    Execute(ExecuteError),
}

impl<E: Into<ExecuteError>> From<E> for WatchError {
    fn from(error: E) -> WatchError {
        WatchError::Execute(error.into())
    }
}

/// The program's standard streams.
pub(super) struct Streams<'s> {
    pub stdin: BorrowedFd<'s>,
    /// What standard output and standard error are.
    pub sinks: [&'s Sink; 2],
    /// Those of them that are files.
    pub files: [Option<OutputTo>; 2],
}

/// Asks for a run and waits for its end. `root` is the process below which all of its processes are.
pub(super) fn watch(
    socket: &UnixStream,
    root: libc::pid_t,
    message: &Message,
    streams: &Streams<'_>,
    shared: &[BorrowedFd<'_>],
    bounds: &Bounds,
    kept: &mut Kept,
) -> Result<Finished, WatchError> {
    let system = |what| move |source| RunError::System { what, source };
    // How much more somebody writes until the end comes is chance.
    let most = bounds.written.map_or(usize::MAX, |most| most as usize);
    let limit = bounds.output.min(most);
    let mut pipes = kept.pipes(limit).map_err(system("create a pipe"))?;
    let mut full = None;
    for (number, sink) in streams.sinks.into_iter().enumerate() {
        match sink {
            // Whether a stream is closed is the request's to say.
            Sink::Read | Sink::Closed | Sink::File(_) => {}
            Sink::Full => {
                let device = File::options().write(true).open("/dev/full");
                full = Some(device.map_err(system("open /dev/full"))?);
            }
            Sink::Broken => pipes.collector.stop_reading(number),
        }
    }
    let mut descriptors = vec![streams.stdin];
    for (number, file) in streams.files.iter().enumerate() {
        let full = full
            .as_ref()
            .filter(|_| *streams.sinks[number] == Sink::Full);
        let other = full.map(AsFd::as_fd);
        let other = other.or(file.as_ref().map(OutputTo::descriptor));
        descriptors.push(other.unwrap_or(pipes.writer(number)));
    }
    descriptors.extend_from_slice(shared);
    let started = Instant::now();
    wire::send_request(socket, &message.request, &message.body, &descriptors)
        .map_err(|_| WatchError::Lost("nobody takes requests"))?;
    let collector = &mut pipes.collector;
    let mut ended_by_us: Option<(End, Instant)> = None;
    let over = started + bounds.timeout;
    let mut next_look = started + INTERVAL;
    let mut failed = None;
    let mut is_eager = bounds.eager;
    let reply = loop {
        let now = Instant::now();
        let deadline = match ended_by_us {
            None => bounds.until.map_or(over, |until| until.min(over)),
            Some((_, at)) => at + ENDING,
        };
        let mut wish = None;
        if now >= deadline {
            if ended_by_us.is_some() {
                return Err(WatchError::Lost("a run could not be ended"));
            }
            wish = match now >= over {
                true => Some(End::Timeout),
                false => Some(End::Interrupted),
            };
        } else if ended_by_us.is_none() && bounds.is_interrupted() {
            wish = Some(End::Interrupted);
        } else if ended_by_us.is_none() && now >= next_look {
            next_look = now + INTERVAL;
            wish = excess(root, bounds);
            // Who has written may wait for room to write more.
            is_eager |= collector.read_available() > 0;
        }
        let is_much = bounds.written.is_some_and(|most| collector.total() > most);
        if is_much && ended_by_us.is_none() {
            wish = Some(End::TooMuchOutput);
        }
        if let Some(end) = wish {
            let stop = Message::stop();
            wire::send_request(socket, &stop.request, &[], &[])
                .map_err(|_| WatchError::Lost("nobody is there to end a run"))?;
            ended_by_us = Some((end, now));
            continue;
        }
        let time = deadline.min(next_look) - now;
        if wait(socket.as_fd(), is_eager.then_some(&mut *collector), time)? {
            let (reply, _) = wire::receive_reply(socket)
                .map_err(|_| WatchError::Lost("its first process has ended"))?;
            if reply.answer == Answer::Ended as u32 {
                break reply;
            }
            failed = failed.or_else(|| Some((step(reply.leftovers), reply.status)));
        }
    };
    let duration = started.elapsed();
    let [mut stdout, mut stderr] = collector.take();
    if ended_by_us.is_none() {
        kept.give_back(pipes);
    }
    for (file, captured) in streams.files.iter().zip([&mut stdout, &mut stderr]) {
        if let Some(file) = file {
            *captured = file.written(limit).map_err(system("read output"))?;
        }
    }
    Ok(Finished {
        reply,
        ended_by_us: ended_by_us.map(|(end, _)| end),
        failed,
        stdout,
        stderr,
        duration,
        answers: Vec::new(),
    })
}

/// What a run has too much of.
fn excess(root: libc::pid_t, bounds: &Bounds) -> Option<End> {
    // The processes that serve are not the run's.
    const OURS: usize = 2;
    let descendants = processes::descendants(root);
    if descendants.len() > bounds.processes as usize + OURS {
        return Some(End::TooManyProcesses);
    }
    memory::exceeds(&descendants, bounds.memory).then_some(End::OutOfMemory)
}

fn step(number: u32) -> Step {
    [
        Step::Fork,
        Step::Descriptors,
        Step::Directory,
        Step::Execute,
    ]
    .into_iter()
    .find(|step| *step as u32 == number)
    .unwrap_or(Step::Request)
}
