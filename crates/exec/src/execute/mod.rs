//! Runs scenarios: one program, one after the other, each in a sandbox with a working directory of its own.
//!
//! A program that can be served is started once and forks for every run ([`serving`]); others, and
//! those that do not get along with that, are started anew. What comes out is the same.

mod environment;
mod files;
mod interface;
mod later;
mod layout;
mod order;
mod pipes;
mod ready;
mod request;
mod scratch;
mod server;
mod serving;
mod snapshot;
mod watch;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use parallax_abi::serve::{MAX_SHARED, Step, UMASK};

use crate::libraries;
use crate::play::Sockets;
use crate::run::keeper::Stage;
use crate::run::prepare::high_descriptor;
use crate::run::{Captured, End, Launch, Outcome, RunError};
use crate::sandbox::{self, Confinement, Init, Place};
use crate::shared::Shared;
use crate::temporary::Temporary;
use environment::Variable;
pub use interface::{ExecuteError, RunOptions, Settings};
pub use later::Later;
pub use layout::lay_out;
use parallax_scenario::{Scenario, Sink};
use pipes::Kept;
use ready::{Run, address_of, relocated};
use request::{Message, Spacing};
use scratch::Scratch;
use server::{Origin, Server};
use serving::Serving;
use snapshot::Snapshot;
use watch::{Bounds, Finished, WatchError};

/// Runs one program on any number of scenarios.
#[derive(Debug)]
pub struct Executor {
    program: PathBuf,
    settings: Settings,
    confinement: Confinement,
    place: Place,
    /// Directories of libraries that the program does not find by itself.
    libraries: Vec<PathBuf>,
    /// Started when first needed, and again when lost.
    cell: Option<Cell>,
    serving: Serving,
    /// Whether the last run wrote more than a pipe holds: then the next one may, too.
    is_eager: bool,
    /// When runs end at the latest.
    until: Option<Instant>,
    /// Removed at the end.
    _scratch: Temporary,
}

/// One run that is asked for.
struct Job<'j> {
    scenario: &'j Scenario,
    /// Without what tells of shared memory.
    environment: Vec<Variable>,
    shared: &'j [Shared<'j>],
    bounds: Bounds,
}

/// A sandbox that is there.
#[derive(Debug)]
struct Cell {
    /// Dropped first: it ends when nobody is at its socket.
    server: Option<Server>,
    init: Init,
    scratch: Scratch,
    /// Whether a program has been there.
    is_used: bool,
    /// Whether its network can be used.
    has_loopback: bool,
    /// Of that network.
    sockets: Sockets,
    kept: Kept,
}

/// What a pipe holds, at least.
const PIPE_BYTES: u64 = 64 << 10;

impl Executor {
    /// Confined as the settings' policy says.
    pub fn new(program: &Path, settings: Settings) -> Result<Executor, ExecuteError> {
        let confinement = sandbox::choose(settings.sandbox)?;
        Executor::confined(program, settings, confinement)
    }

    /// Confined in this very way, whatever the policy.
    pub fn confined(
        program: &Path,
        mut settings: Settings,
        confinement: Confinement,
    ) -> Result<Executor, ExecuteError> {
        let scratch = Temporary::new().map_err(ExecuteError::Scratch)?;
        let program = std::path::absolute(program).map_err(ExecuteError::Scratch)?;
        let serving = Serving::of(&program, &settings);
        let mut readable = readable(&program, &settings);
        if serving.origin() == Some(Origin::Preloaded) {
            readable.extend(server::preloaded().map(Path::to_owned));
        }
        let place = Place::new(confinement, scratch.path(), &readable)?;
        if settings.argv0.is_empty() {
            settings.argv0 = program.clone().into();
        }
        Ok(Executor {
            libraries: libraries::search_path(&program),
            program,
            settings,
            confinement,
            place,
            cell: None,
            serving,
            is_eager: false,
            until: None,
            _scratch: scratch,
        })
    }

    /// From now on no run goes on after that, whatever time it has otherwise: it ends as [`End::Interrupted`].
    pub fn end_by(&mut self, until: Option<Instant>) {
        self.until = until;
    }

    /// The working directory of all runs, as the program sees it: files of a scenario have names relative to it.
    pub fn directory(&self) -> PathBuf {
        self.place.work().to_owned()
    }

    /// What confines the program.
    pub fn confinement(&self) -> Confinement {
        self.confinement
    }

    /// Whether runs come from a run server, as far as is known yet.
    pub fn is_serving(&self) -> bool {
        self.serving.origin().is_some()
    }

    /// Runs the program on the scenario. With shared memory, it can write a trace or counters to it.
    pub fn run(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
        self.run_with(scenario, shared, RunOptions::default())
    }

    /// As [`Executor::run`], with what this run needs.
    pub fn run_with(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
        options: RunOptions,
    ) -> Result<Outcome, ExecuteError> {
        if shared.len() > MAX_SHARED {
            return Err(ExecuteError::TooMuchShared(shared.len()));
        }
        let scenario = &*relocated(scenario, self.place.work());
        let given = &self.settings.environment;
        let mut environment = environment::of_run(given, scenario, self.place.work());
        libraries::search_first(&mut environment, &self.libraries);
        let job = Job {
            scenario,
            environment,
            shared,
            bounds: self.bounds(options),
        };
        if job.bounds.is_interrupted() {
            return Ok(interrupted());
        }
        let served = match options.fresh {
            true => None,
            false => self.run_served(&job)?,
        };
        let outcome = match served {
            Some(outcome) => outcome,
            None => self.run_anew(&job)?,
        };
        self.is_eager = outcome.stdout.total.max(outcome.stderr.total) >= PIPE_BYTES;
        Ok(outcome)
    }

    /// What a run did to the place that it shares with others can make the next one fail, and sandboxes can be
    /// lost: once more, in a fresh one.
    fn run_anew(&mut self, job: &Job<'_>) -> Result<Outcome, ExecuteError> {
        let before: Vec<Option<Snapshot>> = job.shared.iter().map(Snapshot::take).collect();
        let was_used = self.is_used();
        match self.run_alone(job) {
            Err(error) if may_be_the_sandbox(&error, was_used) => {
                self.cell = None;
                restore(job.shared, &before)?;
                self.run_alone(job)
            }
            result => result,
        }
    }

    /// Whether there is a sandbox in which a program has been.
    fn is_used(&self) -> bool {
        self.cell.as_ref().is_some_and(|cell| cell.is_used)
    }

    fn message(&self, job: &Job<'_>, spacing: Spacing) -> Result<Message, RunError> {
        let (scenario, shared) = (job.scenario, job.shared);
        let mut environment = job.environment.clone();
        let numbers: Vec<i32> = (0..shared.len() as i32)
            .map(|index| high_descriptor() - index)
            .collect();
        for (shared, number) in shared.iter().zip(&numbers) {
            environment.push((shared.variable.into(), number.to_string().into()));
        }
        let name = scenario.name.as_ref();
        let name = name.map_or(&*self.settings.argv0, |name| name.as_os_str());
        let mut arguments: Vec<&OsStr> = vec![name];
        arguments.extend(scenario.argv.iter().map(|argument| argument.as_os_str()));
        let directory = self.place.work().join(scenario.directory.as_os_str());
        let mut message = Message::new(
            &self.program,
            &directory,
            &arguments,
            &environment,
            &numbers,
            spacing,
        )?;
        message.request.instrumented = u32::from(!shared.is_empty());
        message.request.umask = scenario.umask.unwrap_or(UMASK);
        message.request.closed = u32::from(scenario.closed_stdin)
            | u32::from(scenario.stdout == Sink::Closed) << 1
            | u32::from(scenario.stderr == Sink::Closed) << 2;
        Ok(message)
    }

    /// The sandbox, with the scenario's files in it: another one if runs have left this one so that they cannot be laid out.
    fn prepare(&mut self, scenario: &Scenario) -> Result<&mut Cell, ExecuteError> {
        let was_used = self.is_used();
        if let Err(error) = self.lay_out(scenario) {
            if !may_be_the_sandbox(&error, was_used) {
                return Err(error);
            }
            self.cell = None;
            self.lay_out(scenario)?;
        }
        let cell = self.cell.as_mut().expect("just made");
        cell.is_used = true;
        Ok(cell)
    }

    fn lay_out(&mut self, scenario: &Scenario) -> Result<(), ExecuteError> {
        let needs_network = scenario.listening.is_some();
        if needs_network && !matches!(self.confinement, Confinement::Namespaces { .. }) {
            return Err(ExecuteError::NoNetwork);
        }
        if let Some(cell) = &self.cell
            && needs_network
            && !cell.has_loopback
        {
            self.cell = None;
        }
        if self.cell.is_none() {
            let (place, limits) = (&self.place, self.settings.limits);
            let init = Init::start(self.confinement, place, limits, needs_network)?;
            self.cell = Some(Cell {
                scratch: Scratch::new(&init, &self.place, self.confinement),
                server: None,
                init,
                is_used: false,
                has_loopback: needs_network,
                sockets: Sockets::default(),
                kept: Kept::default(),
            });
        }
        self.supply_sockets(scenario)?;
        let cell = self.cell.as_mut().expect("just made");
        cell.scratch.prepare(&cell.init, scenario)
    }

    /// Sees to it that there are sockets for all clients: the sandbox cannot be asked while it runs something.
    fn supply_sockets(&mut self, scenario: &Scenario) -> Result<(), ExecuteError> {
        let Some(cell) = &mut self.cell else {
            return Ok(());
        };
        let Some(address) = address_of(scenario, &cell.init)? else {
            return Ok(());
        };
        let count = scenario.streams.len();
        if cell.sockets.suffice(&address, count) {
            return Ok(());
        }
        self.end_server();
        match &mut self.cell {
            Some(cell) => Ok(cell.sockets.fetch(&cell.init, &address, count)?),
            None => Err(ExecuteError::Lost("a run server could not be ended")),
        }
    }

    /// A run of a fresh process.
    fn run_alone(&mut self, job: &Job<'_>) -> Result<Outcome, ExecuteError> {
        self.end_server();
        let message = &self.message(job, Spacing::Slots)?;
        let cell = self.prepare(job.scenario)?;
        let run = Run {
            init: &cell.init,
            server: None,
            message,
            scenario: job.scenario,
            shared: job.shared,
        };
        match run.watch(&job.bounds, &mut cell.sockets, &mut cell.kept) {
            Ok(finished) => match finished.failed {
                None => Ok(outcome(finished)),
                Some((step, errno)) => Err(self.failure(step, errno).into()),
            },
            Err(WatchError::Lost(how)) => {
                self.cell = None;
                Err(ExecuteError::Lost(how))
            }
            Err(WatchError::Execute(error)) => Err(error),
        }
    }

    fn bounds(&self, options: RunOptions) -> Bounds {
        let timeout = self.settings.timeout;
        Bounds {
            timeout: options.timeout.map_or(timeout, |less| less.min(timeout)),
            until: self.until,
            cancel: self.settings.cancel.clone(),
            memory: self.settings.memory,
            processes: self.settings.limits.processes,
            output: self.settings.output,
            written: self.settings.written,
            eager: self.is_eager,
        }
    }

    fn failure(&self, step: Step, errno: i32) -> RunError {
        let launch = Launch {
            directory: Some(self.directory()),
            ..Launch::new(&self.program)
        };
        let stage = match step {
            Step::Request | Step::Fork => Stage::Fork,
            Step::Descriptors => Stage::Descriptors,
            Step::Directory => Stage::Directory,
            Step::Execute => Stage::Execute,
        };
        stage.error(&launch, errno)
    }
}

impl Drop for Executor {
    /// Ends the server before its sandbox: killed together with it, nobody would wait for it, and its processor time
    /// would count nowhere.
    fn drop(&mut self) {
        self.end_server();
    }
}

/// Makes shared memory what it was before a run that must be repeated.
fn restore(shared: &[Shared<'_>], before: &[Option<Snapshot>]) -> Result<(), ExecuteError> {
    let mut pairs = shared.iter().zip(before);
    if pairs.all(|(memory, before)| before.as_ref().is_some_and(|b| b.restore(memory))) {
        Ok(())
    } else {
        Err(ExecuteError::Lost("a run left its trace half written"))
    }
}

/// Whether an error may be due to what earlier runs did to the sandbox; otherwise a fresh one would not help.
fn may_be_the_sandbox(error: &ExecuteError, was_used: bool) -> bool {
    use std::io::ErrorKind;
    match error {
        ExecuteError::Lost(_) | ExecuteError::Run(RunError::Directory { .. }) => true,
        ExecuteError::Run(RunError::Nul | RunError::TooLong | RunError::Format(_)) => false,
        // What contradicts itself, such as a file below another one.
        ExecuteError::File { source, .. } => {
            let own = [
                ErrorKind::NotADirectory,
                ErrorKind::IsADirectory,
                ErrorKind::AlreadyExists,
                ErrorKind::InvalidInput,
                ErrorKind::InvalidFilename,
            ];
            was_used && !own.contains(&source.kind())
        }
        ExecuteError::Run(_) | ExecuteError::Scratch(_) | ExecuteError::Sandbox(_) => was_used,
        ExecuteError::Outside(_)
        | ExecuteError::NoNetwork
        | ExecuteError::Address(_)
        | ExecuteError::TooMuchShared(_) => false,
    }
}

/// Of a run that was not begun.
fn interrupted() -> Outcome {
    Outcome {
        end: End::Interrupted,
        stdout: Captured::default(),
        stderr: Captured::default(),
        duration: Duration::ZERO,
        cpu: Duration::ZERO,
        leftover_processes: 0,
        answers: Vec::new(),
    }
}

fn outcome(finished: Finished) -> Outcome {
    let status = finished.reply.status;
    Outcome {
        end: match finished.ended_by_us {
            Some(end) => end,
            None if libc::WIFSIGNALED(status) => End::Signal(libc::WTERMSIG(status)),
            None => End::Exit(libc::WEXITSTATUS(status)),
        },
        stdout: finished.stdout,
        stderr: finished.stderr,
        duration: finished.duration,
        cpu: Duration::from_micros(finished.reply.cpu_micros),
        leftover_processes: finished.reply.leftovers,
        answers: finished.answers,
    }
}

/// What the program must find at its path: itself, with what lies beside it, and its libraries.
fn readable(program: &Path, settings: &Settings) -> Vec<PathBuf> {
    let mut readable = settings.readable.clone();
    for file in [program.to_owned()]
        .into_iter()
        .chain(libraries::needed(program))
    {
        readable.extend(file.parent().map(Path::to_owned));
        readable.push(file);
    }
    readable.retain(|path| path.exists());
    readable
}
