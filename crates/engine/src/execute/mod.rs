//! Runs scenarios: one program, one after the other, each in a sandbox with a working directory of its own.
//!
//! A program that has a run server inside (the traced variant) is started once and forks for every run; others, and
//! those that do not get along with that, are started anew. What comes out is the same.

mod files;
mod later;
mod layout;
mod order;
mod ready;
mod request;
mod scratch;
mod server;
mod snapshot;
mod watch;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use parallax_abi::serve::{MAX_NUMBERS, Step, UMASK};

use crate::libraries;
use crate::play::{AddressError, Sockets};
use crate::run::keeper::Stage;
use crate::run::prepare::{VARIABLES, high_descriptor};
use crate::run::{End, Launch, Outcome, RunError};
use crate::sandbox::{self, Confinement, Init, Limits, Place, Policy, SandboxError};
use crate::scenario::{Bytes, Scenario, Sink, ktest};
use crate::shared::Shared;
use crate::temporary::Temporary;
pub use later::Later;
pub use layout::lay_out;
use ready::{Run, address_of, relocated};
use request::Message;
use scratch::Scratch;
use server::Server;
use snapshot::Snapshot;
use watch::{Bounds, Finished, WatchError};

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
    /// What a run may write to its standard streams before it is ended; no limit but that of time if nothing.
    pub written: Option<u64>,
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
            written: None,
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
    #[error("{} cannot be laid out: it is not below the scenario's root, or behind one of its links", .0.display())]
    Outside(PathBuf),
    /// Somebody killed its first process, or it does not answer. The next run gets another one.
    #[error("the sandbox was lost: {0}")]
    Lost(&'static str),
    /// Servers and their clients need a network that nobody else is in.
    #[error("a server is run only in a network namespace, and there are none here")]
    NoNetwork,
    #[error(transparent)]
    Address(#[from] AddressError),
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
    /// Whether the last run wrote more than a pipe holds: then the next one may, too.
    is_eager: bool,
    /// When runs end at the latest.
    until: Option<Instant>,
    /// Removed at the end.
    _scratch: Temporary,
}

/// A sandbox that is there.
#[derive(Debug)]
struct Cell {
    /// Dropped first: it ends when nobody is at its socket.
    server: Option<Server>,
    init: Init,
    scratch: Scratch,
    /// Whether its network can be used.
    has_loopback: bool,
    /// Of that network.
    sockets: Sockets,
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

/// What a pipe holds, at least.
const PIPE_BYTES: u64 = 64 << 10;
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
        let scratch = Temporary::new().map_err(ExecuteError::Scratch)?;
        let program = std::path::absolute(program).map_err(ExecuteError::Scratch)?;
        let readable = readable(&program, &settings);
        let place = Place::new(confinement, scratch.path(), &readable)?;
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
            is_eager: false,
            until: None,
            _scratch: scratch,
        })
    }

    /// From now on no run goes on after that, whatever time it has otherwise.
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
        let scenario = &*relocated(scenario, self.place.work());
        let outcome = self.run_somehow(scenario, shared)?;
        self.is_eager = outcome.stdout.total.max(outcome.stderr.total) >= PIPE_BYTES;
        Ok(outcome)
    }

    fn run_somehow(
        &mut self,
        scenario: &Scenario,
        shared: &[Shared<'_>],
    ) -> Result<Outcome, ExecuteError> {
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
        match &scenario.env_order {
            None => fix_environment(&mut environment),
            Some(names) => {
                let variable = |name: &Bytes| {
                    let value = scenario.env.get(name)?;
                    Some((name.to_os_string(), value.to_os_string()))
                };
                environment = names.iter().filter_map(variable).collect();
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
        )?;
        message.request.umask = scenario.umask.unwrap_or(UMASK);
        message.request.closed = u32::from(scenario.closed_stdin)
            | u32::from(scenario.stdout == Sink::Closed) << 1
            | u32::from(scenario.stderr == Sink::Closed) << 2;
        Ok(message)
    }

    /// The sandbox, with the scenario's files in it.
    fn prepare(&mut self, scenario: &Scenario) -> Result<&mut Cell, ExecuteError> {
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
                has_loopback: needs_network,
                sockets: Sockets::default(),
            });
        }
        self.supply_sockets(scenario)?;
        let cell = self.cell.as_mut().expect("just made");
        cell.scratch.prepare(&cell.init, scenario)?;
        Ok(cell)
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
            let mut environment = self.settings.environment.clone();
            fix_environment(&mut environment);
            cell.server = Server::start(
                &cell.init,
                &self.program,
                self.place.work(),
                &self.settings.argv0,
                &environment,
            )?;
        }
        let Some(server) = &cell.server else {
            self.serving = Serving::Never;
            return Ok(None);
        };
        let before: Vec<Option<Snapshot>> = shared.iter().map(Snapshot::take).collect();
        let run = Run {
            init: &cell.init,
            server: Some(server),
            message,
            scenario,
            shared,
        };
        match run.watch(&bounds, &mut cell.sockets) {
            Ok(finished) => match finished.failed {
                None => Ok(Some(outcome(finished))),
                // Started anew it may go better, and will else say why.
                Some(_) => self.lose_server(lost, shared, &before).map(|()| None),
            },
            Err(WatchError::Lost(_)) => self.lose_server(lost, shared, &before).map(|()| None),
            Err(WatchError::Execute(error)) => Err(error),
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
        let run = Run {
            init: &cell.init,
            server: None,
            message,
            scenario,
            shared,
        };
        match run.watch(&bounds, &mut cell.sockets) {
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

    fn bounds(&self) -> Bounds {
        let left = self
            .until
            .map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = self.settings.timeout;
        Bounds {
            timeout: left.map_or(timeout, |left| left.min(timeout)),
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

/// Locale and time zone of all runs, unless something else was asked for. Plain `C`: a byte is a character there, whatever
/// locales a machine has, and test suites that compare messages use it.
fn fix_environment(environment: &mut Vec<(OsString, OsString)>) {
    fix(environment, &["LC_", "LANG"], "LC_ALL", "C");
    // Where that is the machine's own time zone, programs need not be told, and do as they do without a variable.
    if !*IS_UTC {
        fix(environment, &["TZ"], "TZ", "UTC0");
    }
}

/// Whether local time is UTC on this machine.
static IS_UTC: LazyLock<bool> = LazyLock::new(|| {
    // SAFETY: plain data, filled in by the call.
    let here = unsafe {
        let (now, mut local) = (0, std::mem::zeroed());
        libc::localtime_r(&now, &mut local);
        local
    };
    let own = std::env::var_os("TZ").is_some();
    let file = std::fs::canonicalize("/etc/localtime");
    let names_utc = file.is_ok_and(|path| path.ends_with("UTC") || path.ends_with("UCT"));
    !own && here.tm_gmtoff == 0 && (names_utc || !Path::new("/etc/localtime").exists())
});

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
