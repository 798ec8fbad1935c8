//! Runs that come from a server: when one is started, and what happens when it is lost.
//!
//! | program or run | what happens |
//! |---|---|
//! | constructors start a thread, read standard input or print | the server says so (the engine notices output); every run is a fresh process |
//! | static, script, setuid, no call of `__libc_start_main` | never served |
//! | does not start as a server (a sanitizer that must be loaded first) | fresh processes |
//! | sets what is read before `main` (`LD_*`, `MALLOC_*`, `*SAN_OPTIONS` …) | gets a server that was started with it; with `LD_PRELOAD`, a fresh process |
//! | kills its server | repeated in a fresh process; after three of those in short order no server is started any more |
//! | is the first run of an executor | a preloaded server starts with the second run |
//!
//! A served program has the same process number as a fresh one: the sandbox gives the server the one capability that it takes to choose it, which the child
//! drops first. It sees other contents of `/proc/self/cmdline` and `/proc/self/environ`, another parent, and libraries at other addresses; its constructors saw the
//! server's arguments and environment. So plain builds confirm what is reported in fresh processes.

use std::path::Path;

use super::ready::Run;
use super::server::{Origin, Server, Start};
use super::snapshot::Snapshot;
use super::watch::WatchError;
use super::{ExecuteError, Executor, Job, Settings, environment, outcome, restore};
use crate::run::Outcome;
use crate::shared::Shared;

/// After so many servers were lost, none is started any more.
const MAX_LOST: u32 = 3;
/// A server that has served so many runs has proved its worth: when it is lost, that was the run's doing.
const ENOUGH_RUNS: u32 = 64;

/// Whether runs come from a server.
#[derive(Debug)]
pub(super) enum Serving {
    Allowed {
        origin: Origin,
        /// So many have been lost, one soon after the other.
        lost: u32,
        /// Runs of the present one.
        runs: u32,
        /// Whether a server would have paid off: one that is loaded into a program costs more than one run without.
        is_worth_it: bool,
    },
    Never,
}

impl Serving {
    pub fn of(program: &Path, settings: &Settings) -> Serving {
        let origin = settings.server.then(|| Origin::of(program)).flatten();
        match origin {
            Some(origin) => Serving::Allowed {
                origin,
                lost: 0,
                runs: 0,
                is_worth_it: origin == Origin::Inside,
            },
            None => Serving::Never,
        }
    }

    /// Where servers come from, if there are any.
    pub fn origin(&self) -> Option<Origin> {
        match self {
            Serving::Allowed { origin, .. } => Some(*origin),
            Serving::Never => None,
        }
    }
}

impl Executor {
    /// A run by the server; `None` if there is none, or none any more.
    pub(super) fn run_served(&mut self, job: &Job<'_>) -> Result<Option<Outcome>, ExecuteError> {
        let Serving::Allowed {
            origin,
            is_worth_it,
            ..
        } = &mut self.serving
        else {
            return Ok(None);
        };
        let origin = *origin;
        if !std::mem::replace(is_worth_it, true) {
            return Ok(None);
        }
        if environment::is_in_the_way(&job.environment) {
            return Ok(None);
        }
        let message = self.message(job, origin.spacing())?;
        if let Some(server) = self.cell.as_ref().and_then(|cell| cell.server.as_ref())
            && !server.fits(origin, &job.environment, job.shared)
        {
            self.end_server();
        }
        self.prepare(job.scenario)?;
        let cell = self.cell.as_mut().expect("just prepared");
        if cell.server.is_none() {
            let start = Start {
                origin,
                program: &self.program,
                directory: self.place.work(),
                argv0: &self.settings.argv0,
                environment: &environment::of_server(&self.settings.environment, &job.environment),
                shared: job.shared,
            };
            let is_wanted = || !job.bounds.is_interrupted();
            cell.server = Server::start(&cell.init, &start, is_wanted)?;
        }
        let Some(server) = &cell.server else {
            if !job.bounds.is_interrupted() {
                self.serving = Serving::Never;
            }
            return Ok(None);
        };
        let before: Vec<Option<Snapshot>> = job.shared.iter().map(Snapshot::take).collect();
        let run = Run {
            init: &cell.init,
            server: Some(server),
            message: &message,
            scenario: job.scenario,
            shared: job.shared,
        };
        match run.watch(&job.bounds, &mut cell.sockets, &mut cell.kept) {
            Ok(finished) => match finished.failed {
                None => {
                    if let Serving::Allowed { runs, .. } = &mut self.serving {
                        *runs += 1;
                    }
                    Ok(Some(outcome(finished)))
                }
                // Started anew it may go better, and will else say why.
                Some(_) => self.lose_server(job.shared, &before).map(|()| None),
            },
            Err(WatchError::Lost(_)) => self.lose_server(job.shared, &before).map(|()| None),
            Err(WatchError::Execute(error)) => Err(error),
        }
    }

    /// The server was killed, or does not answer: the run must be repeated without it.
    fn lose_server(
        &mut self,
        shared: &[Shared<'_>],
        before: &[Option<Snapshot>],
    ) -> Result<(), ExecuteError> {
        self.end_server();
        if let Serving::Allowed { lost, runs, .. } = &mut self.serving {
            *lost = if *runs < ENOUGH_RUNS { *lost + 1 } else { 1 };
            *runs = 0;
            if *lost == MAX_LOST {
                self.serving = Serving::Never;
            }
        }
        restore(shared, before)
    }

    pub(super) fn end_server(&mut self) {
        if let Some(cell) = &mut self.cell
            && let Some(server) = cell.server.take()
            && !server.end(&cell.init)
        {
            self.cell = None;
        }
    }
}
