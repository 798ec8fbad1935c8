//! A run that is ready to begin: the program, its input, and the clients that it may have.

use std::borrow::Cow;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::ExecuteError;
use super::files;
use super::pipes::Kept;
use super::request::Message;
use super::scratch;
use super::server::Server;
use super::watch::{Bounds, Finished, Streams, WatchError, watch};
use crate::play::{Address, AddressError, Clients, Sockets};
use crate::run::RunError;
use crate::run::prepare::full_pipe;
use crate::sandbox::Init;
use crate::shared::Shared;
use parallax_scenario::{Scenario, WORK};

/// One run that is ready to begin.
pub(super) struct Run<'r> {
    pub init: &'r Init,
    /// Who is asked for it, if not the sandbox.
    pub server: Option<&'r Server>,
    pub message: &'r Message,
    pub scenario: &'r Scenario,
    pub shared: &'r [Shared<'r>],
}

impl Run<'_> {
    /// Runs the program, with clients if it is a server, and waits for its end.
    pub fn watch(
        &self,
        bounds: &Bounds,
        sockets: &mut Sockets,
        kept: &mut Kept,
    ) -> Result<Finished, WatchError> {
        let bytes = &self.scenario.stdin;
        let piped = match self.scenario.piped_stdin {
            true => full_pipe(bytes),
            false => Ok(None),
        };
        let stdin = piped.and_then(|pipe| pipe.map_or_else(|| kept.stdin.holding(bytes), Ok));
        let stdin = stdin.map_err(|source| RunError::System {
            what: "keep standard input in memory",
            source,
        })?;
        let shared = self.shared.iter().map(|shared| shared.descriptor);
        let shared: Vec<BorrowedFd<'_>> = shared.collect();
        let socket = self
            .server
            .map_or(&self.init.socket, |server| &server.socket);
        let root = self.init.process;
        let scenario = self.scenario;
        let streams = Streams {
            stdin: stdin.as_fd(),
            sinks: [&scenario.stdout, &scenario.stderr],
            files: files::open_all(scenario, &scratch::work(self.init))?,
        };
        let mut run = || watch(socket, root, self.message, &streams, &shared, bounds, kept);
        let Some(clients) = self.clients(bounds.output, sockets)? else {
            return run();
        };
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let playing = scope.spawn(|| clients.play(&is_over));
            let finished = run();
            is_over.store(true, Ordering::Relaxed);
            let played = playing.join().unwrap_or_default();
            sockets.give_back(played.family, played.sockets);
            finished.map(|finished| Finished {
                answers: played.answers,
                ..finished
            })
        })
    }

    fn clients(
        &self,
        limit: usize,
        sockets: &mut Sockets,
    ) -> Result<Option<Clients<'_>>, ExecuteError> {
        let Some(listening) = &self.scenario.listening else {
            return Ok(None);
        };
        let Some(address) = address_of(self.scenario, self.init)? else {
            return Ok(None);
        };
        let streams = &self.scenario.streams;
        Ok(Some(Clients {
            listening,
            streams,
            sockets: sockets
                .take(&address, streams.len())
                .map_err(ExecuteError::Scratch)?,
            address,
            root: self.init.process,
            between: usize::from(self.server.is_some()),
            limit,
        }))
    }
}

/// Where a scenario's server listens, seen from outside of the sandbox.
pub(super) fn address_of(
    scenario: &Scenario,
    init: &Init,
) -> Result<Option<Address>, AddressError> {
    let Some(listening) = &scenario.listening else {
        return Ok(None);
    };
    let (files, work) = scratch::roots(init);
    let start = work.join(scenario.directory.as_os_str());
    Address::parse(&listening.address, &files, &start).map(Some)
}

/// The scenario with the paths of its files where they are in this sandbox, if that is not the usual place.
pub(super) fn relocated<'s>(scenario: &'s Scenario, work: &Path) -> Cow<'s, Scenario> {
    if work == Path::new(WORK) {
        return Cow::Borrowed(scenario);
    }
    let mut moved = scenario.clone();
    let texts = moved.argv.iter_mut().chain(moved.env.values_mut());
    for text in texts.chain(moved.links.values_mut()) {
        text.0 = replaced(text, WORK.as_bytes(), work.as_os_str().as_bytes());
    }
    Cow::Owned(moved)
}

fn replaced(text: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(from) {
            result.extend(to);
            rest = after;
        } else {
            result.push(*first);
            rest = others;
        }
    }
    result
}
