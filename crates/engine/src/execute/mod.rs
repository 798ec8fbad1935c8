//! Runs scenarios: one program, one after the other, each in a sandbox with a working directory of its own.
//!
//! A program that has a run server inside (the traced variant) is started once and forks for every run; others, and
//! those that do not get along with that, are started anew. What comes out is the same.

mod request;
mod scratch;
mod server;
mod snapshot;
mod watch;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component as Part, Path, PathBuf};
use std::time::Duration;

use parallax_abi::serve::{MAX_NUMBERS, Step};
use tempfile::TempDir;

use crate::libraries;
use crate::run::keeper::Stage;
use crate::run::prepare::{VARIABLES, high_descriptor, memory_file};
use crate::run::{End, Launch, Outcome, RunError};
use crate::sandbox::{self, Confinement, Init, Limits, Place, Policy, SandboxError};
use crate::scenario::{Scenario, ktest};
use crate::shared::Shared;
use request::Message;
use scratch::Scratch;
use server::Server;
use snapshot::Snapshot;
use watch::{Bounds, Finished, WatchError, watch};

/// How the program is run, the same for all scenarios.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the program sees as its name; its path if empty.
    pub argv0: OsString,
    /// Wall-clock time of a run.
    pub timeout: Duration,
    /// Memory of all processes of a run together, trace included.
    pub memory: u64,
    /// The environment, without what scenarios add. Locale and time zone are fixed unless they are set here.
    pub environment: Vec<(OsString, OsString)>,
    pub sandbox: Policy,
    /// Other limits of a run.
    pub limits: Limits,
    /// How much of each output stream is kept.
    pub output: usize,
    /// Whether a run server may be used.
    pub server: bool,
    /// Files and directories that the program needs besides itself and its libraries.
    pub readable: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            argv0: OsString::new(),
            timeout: Launch::DEFAULT_TIMEOUT,
            memory: 2 << 30,
            environment: Vec::new(),
            sandbox: Policy::Required,
            limits: Limits::default(),
            output: 1 << 20,
            server: true,
            readable: Vec::new(),
        }
    }
}

/// Why a scenario could not be run.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError {
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error("cannot use the scratch directory")]
    Scratch(#[source] io::Error),
    #[error("cannot lay out the scenario's file {}", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Only files below the working directory are the scenario's.
    #[error("the scenario's file {} is not below its working directory", .0.display())]
    Outside(PathBuf),
    /// Somebody killed its first process, or it does not answer. The next run gets another one.
    #[error("the sandbox was lost: {0}")]
    Lost(&'static str),
    /// More than a run can be given.
    #[error("{0} pieces of shared memory are too many")]
    TooMuchShared(usize),
}

/// Runs one program on any number of scenarios.
#[derive(Debug)]
pub struct Executor {
    program: PathBuf,
    settings: Settings,
    confinement: Confinement,
    place: Place,
    /// Started when first needed, and again when lost.
    cell: Option<Cell>,
    serving: Serving,
    /// Removed at the end.
    _scratch: TempDir,
}

/// A sandbox that is there.
#[derive(Debug)]
struct Cell {
    /// Dropped first: it ends when nobody is at its socket.
    server: Option<Server>,
    init: Init,
    scratch: Scratch,
}

/// Whether runs come from a server.
#[derive(Debug)]
enum Serving {
    /// So many have been lost.
    Allowed {
        lost: u32,
    },
    Never,
}

/// After so many servers were lost, none is started any more.
const MAX_LOST_SERVERS: u32 = 3;

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
        let scratch = TempDir::with_prefix("parallax-").map_err(ExecuteError::Scratch)?;
        let program = std::path::absolute(program).map_err(ExecuteError::Scratch)?;
        let readable = readable(&program, &settings);
        let place = Place::new(confinement, scratch.path(), &readable)?;
        fix(
            &mut settings.environment,
            &["LC_ALL", "LANG", "LC_"],
            "LC_ALL",
            "C",
        );
        fix(&mut settings.environment, &["TZ"], "TZ", "UTC0");
        if settings.argv0.is_empty() {
            settings.argv0 = program.clone().into();
        }
        let serving = if settings.server && server::is_possible(&program) {
            Serving::Allowed { lost: 0 }
        } else {
            Serving::Never
        };
        Ok(Executor {
            program,
            settings,
            confinement,
            place,
            cell: None,
            serving,
            _scratch: scratch,
        })
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
        matches!(self.serving, Serving::Allowed { .. })
    }

    /// Runs the program on the scenario. With shared memory, it can write a trace or counters to it.
    pub fn run(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
        if shared.len() > MAX_NUMBERS {
            return Err(ExecuteError::TooMuchShared(shared.len()));
        }
        let message = self.message(scenario, shared)?;
        if let Some(outcome) = self.run_served(&message, scenario, shared)? {
            return Ok(outcome);
        }
        // What a run did to the place that it shares with others can make the next one fail, and sandboxes can be
        // lost: once more, in a fresh one.
        let before: Vec<Option<Snapshot>> = shared.iter().map(Snapshot::take).collect();
        match self.run_alone(&message, scenario, shared) {
            Err(ExecuteError::Run(RunError::Directory { .. }) | ExecuteError::Lost(_)) => {
                self.cell = None;
                restore(shared, &before)?;
                self.run_alone(&message, scenario, shared)
            }
            result => result,
        }
    }

    fn message(&self, scenario: &Scenario, shared: &[Shared<'_>]) -> Result<Message, RunError> {
        let mut environment = self.settings.environment.clone();
        environment.retain(|(name, _)| !VARIABLES.iter().any(|variable| name == variable));
        for (name, value) in &scenario.env {
            let known = environment
                .iter_mut()
                .find(|(other, _)| other == name.as_os_str());
            match known {
                Some((_, old)) => *old = value.to_os_string(),
                None => environment.push((name.to_os_string(), value.to_os_string())),
            }
        }
        if let Some((name, _)) = ktest::layout(scenario) {
            environment.retain(|(name, _)| name != ktest::VARIABLE);
            environment.push((ktest::VARIABLE.into(), self.place.work().join(name).into()));
        }
        let numbers: Vec<i32> = (0..shared.len() as i32)
            .map(|index| high_descriptor() - index)
            .collect();
        for (shared, number) in shared.iter().zip(&numbers) {
            environment.push((shared.variable.into(), number.to_string().into()));
        }
        let mut arguments: Vec<&OsStr> = vec![&self.settings.argv0];
        arguments.extend(scenario.argv.iter().map(|argument| argument.as_os_str()));
        Message::new(
            &self.program,
            self.place.work(),
            &arguments,
            &environment,
            &numbers,
        )
    }

    /// The sandbox, with the scenario's files in it.
    fn prepare(&mut self, scenario: &Scenario) -> Result<&mut Cell, ExecuteError> {
        if self.cell.is_none() {
            let init = Init::start(self.confinement, &self.place, self.settings.limits)?;
            self.cell = Some(Cell {
                scratch: Scratch::new(&init, &self.place, self.confinement),
                server: None,
                init,
            });
        }
        let cell = self.cell.as_mut().expect("just made");
        cell.scratch.prepare(&cell.init, scenario)?;
        Ok(cell)
    }

    /// A run by the server; `None` if there is none, or none any more.
    fn run_served(
        &mut self,
        message: &Message,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Option<Outcome>, ExecuteError> {
        let Serving::Allowed { lost } = self.serving else {
            return Ok(None);
        };
        let bounds = self.bounds();
        self.prepare(scenario)?;
        let cell = self.cell.as_mut().expect("just prepared");
        if cell.server.is_none() {
            cell.server = Server::start(
                &cell.init,
                &self.program,
                self.place.work(),
                &self.settings.argv0,
                &self.settings.environment,
            )?;
        }
        let Some(server) = &cell.server else {
            self.serving = Serving::Never;
            return Ok(None);
        };
        let before: Vec<Option<Snapshot>> = shared.iter().map(Snapshot::take).collect();
        let root = cell.init.process;
        match run_on(&server.socket, root, message, scenario, shared, &bounds) {
            Ok(finished) => match finished.failed {
                None => Ok(Some(outcome(finished))),
                // Started anew it may go better, and will else say why.
                Some(_) => self.lose_server(lost, shared, &before).map(|()| None),
            },
            Err(WatchError::Lost(_)) => self.lose_server(lost, shared, &before).map(|()| None),
            Err(WatchError::Run(error)) => Err(error.into()),
        }
    }

    /// The server was killed, or does not answer: the run must be repeated without it.
    fn lose_server(
        &mut self,
        lost: u32,
        shared: &[Shared<'_>],
        before: &[Option<Snapshot>],
    ) -> Result<(), ExecuteError> {
        self.end_server();
        self.serving = match lost + 1 {
            MAX_LOST_SERVERS => Serving::Never,
            lost => Serving::Allowed { lost },
        };
        restore(shared, before)
    }

    fn end_server(&mut self) {
        if let Some(cell) = &mut self.cell
            && let Some(server) = cell.server.take()
            && !server.end(&cell.init)
        {
            self.cell = None;
        }
    }

    /// A run of a fresh process.
    fn run_alone(
        &mut self,
        message: &Message,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
        self.end_server();
        let bounds = self.bounds();
        let cell = self.prepare(scenario)?;
        let (socket, root) = (&cell.init.socket, cell.init.process);
        match run_on(socket, root, message, scenario, shared, &bounds) {
            Ok(finished) => match finished.failed {
                None => Ok(outcome(finished)),
                Some((step, errno)) => Err(self.failure(step, errno).into()),
            },
            Err(WatchError::Lost(how)) => {
                self.cell = None;
                Err(ExecuteError::Lost(how))
            }
            Err(WatchError::Run(error)) => Err(error.into()),
        }
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            timeout: self.settings.timeout,
            memory: self.settings.memory,
            processes: self.settings.limits.processes,
            output: self.settings.output,
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

/// Makes shared memory what it was before a run that must be repeated.
fn restore(shared: &[Shared<'_>], before: &[Option<Snapshot>]) -> Result<(), ExecuteError> {
    let mut pairs = shared.iter().zip(before);
    if pairs.all(|(memory, before)| before.as_ref().is_some_and(|b| b.restore(memory))) {
        Ok(())
    } else {
        Err(ExecuteError::Lost("a run left its trace half written"))
    }
}

fn run_on(
    socket: &std::os::unix::net::UnixStream,
    root: libc::pid_t,
    message: &Message,
    scenario: &Scenario,
    shared: &[Shared<'_>],
    bounds: &Bounds,
) -> Result<Finished, WatchError> {
    let stdin = memory_file(&scenario.stdin).map_err(|source| RunError::System {
        what: "keep standard input in memory",
        source,
    })?;
    let memory: Vec<BorrowedFd<'_>> = shared.iter().map(|shared| shared.descriptor).collect();
    watch(socket, root, message, stdin.as_fd(), &memory, bounds)
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
    }
}

/// Gives a variable a value, unless one whose name begins like these is there.
fn fix(environment: &mut Vec<(OsString, OsString)>, known: &[&str], name: &str, value: &str) {
    let is_there = environment.iter().any(|(other, _)| {
        known
            .iter()
            .any(|known| other.as_bytes().starts_with(known.as_bytes()))
    });
    if !is_there {
        environment.push((name.into(), value.into()));
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

/// Writes the scenario's files below `directory`.
pub fn lay_out(directory: &Path, scenario: &Scenario) -> Result<(), ExecuteError> {
    for (name, contents) in &scenario.files {
        let path = Path::new(name.as_os_str());
        let is_inside = path
            .components()
            .all(|part| matches!(part, Part::Normal(_) | Part::CurDir))
            && !path.as_os_str().as_bytes().is_empty();
        if !is_inside {
            return Err(ExecuteError::Outside(path.to_owned()));
        }
        let full = directory.join(path);
        let written = match full.parent() {
            Some(parent) if parent != directory => fs::create_dir_all(parent),
            _ => Ok(()),
        }
        .and_then(|()| fs::write(&full, &contents.0));
        written.map_err(|source| ExecuteError::File {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(())
}
