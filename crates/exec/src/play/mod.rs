//! Plays the clients of a server.
//!
//! The server runs in a network of its own, where nobody else is. Connections are made one after the other, in the order in which the
//! recorded ones were accepted; each sends what was recorded, waits where the recorded client waited for an answer, and ends when
//! the server has nothing more to say. Then the server gets the signal that ended it in the recording.
//!
//! Nothing says how long an answer is. A server that has answered and sleeps is taken to wait for its client: that is seen
//! from its processes, so that a slow (traced) server is waited for and a fast one is not kept waiting.
//!
//! Connections are reset when they end, so that the port is free for the next run.

mod address;
mod connection;
mod sockets;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use address::{Address, AddressError};
use connection::{Connection, Progress};
pub(crate) use sockets::Sockets;

use crate::run::Captured;
use crate::run::processes::{are_asleep, children};
use parallax_scenario::{Bytes, Listening};

/// Between two looks.
const NAP: Duration = Duration::from_micros(500);
/// A server that sleeps this long without an answer is not going to give one.
const PATIENCE: Duration = Duration::from_millis(30);
/// A server that sleeps this long and does not listen is not going to.
const DEAF: Duration = Duration::from_millis(250);
/// A server that is busy this long after its last client is ended all the same.
const BUSY: Duration = Duration::from_secs(1);

/// The clients of one run.
pub(crate) struct Clients<'c> {
    pub listening: &'c Listening,
    pub streams: &'c [Bytes],
    pub address: Address,
    /// One for each stream, of the server's network.
    pub sockets: Vec<OwnedFd>,
    /// The process below which all of the run's are.
    pub root: libc::pid_t,
    /// How many processes there are between `root` and the server.
    pub between: usize,
    /// How much of each answer is kept.
    pub limit: usize,
}

impl Clients<'_> {
    /// Plays all connections, then ends the server. Ends early when `is_over`.
    pub fn play(self, is_over: &AtomicBool) -> Played {
        let mut played = Played {
            family: self.address.family(),
            ..Played::default()
        };
        let mut is_deaf = false;
        for (index, socket) in self.sockets.into_iter().enumerate() {
            let pauses = self.listening.pauses.get(index).map_or(&[][..], |p| p);
            let watch = Watch {
                root: self.root,
                between: self.between,
                is_over,
            };
            let mut connection = Connection::new(socket, self.limit);
            is_deaf = is_deaf || !watch.connect(&mut connection, &self.address);
            if !is_deaf {
                watch.converse(&mut connection, &self.streams[index], pauses);
            }
            let (answer, socket) = connection.end();
            played.answers.push(answer);
            played.sockets.push(socket);
        }
        let watch = Watch {
            root: self.root,
            between: self.between,
            is_over,
        };
        watch.wait_until_asleep();
        if let (signal @ 1.., Some(server)) = (self.listening.end, watch.server())
            && !is_over.load(Ordering::Relaxed)
        {
            // SAFETY: signals a process of the sandbox.
            unsafe { libc::kill(server, signal) };
        }
        played
    }
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Played {
    /// What the server said to each client.
    pub answers: Vec<Captured>,
    /// For use in another run.
    pub sockets: Vec<OwnedFd>,
    pub family: i32,
}

/// The server, seen from outside.
struct Watch<'w> {
    root: libc::pid_t,
    between: usize,
    is_over: &'w AtomicBool,
}

impl Watch<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn server(&self) -> Option<libc::pid_t> {
        let mut process = self.root;
        for _ in 0..=self.between {
            process = *children(process).first()?;
        }
        Some(process)
    }

    /// Whether all of the server's processes wait for something.
    fn is_asleep(&self) -> bool {
        self.server().is_some_and(are_asleep)
    }

    /// Until that is so twice in a row: between two short sleeps a server looks idle, too. One that never sleeps is not
    /// waited for.
    fn wait_until_asleep(&self) {
        let started = Instant::now();
        let mut looks = 0;
        while looks < 2 && !self.is_over() && started.elapsed() < BUSY {
            looks = if self.is_asleep() { looks + 1 } else { 0 };
            thread::sleep(NAP);
        }
    }

    /// Tries until the server listens, or sleeps without listening there: inputs can tell it another address.
    fn connect(&self, connection: &mut Connection, address: &Address) -> bool {
        let mut asleep_since: Option<Instant> = None;
        while !self.is_over() {
            if connection.connect(address) {
                return true;
            }
            asleep_since = match self.is_asleep() {
                true => asleep_since.or_else(|| Some(Instant::now())),
                false => None,
            };
            if asleep_since.is_some_and(|since| since.elapsed() >= DEAF) {
                return false;
            }
            thread::sleep(NAP);
        }
        false
    }

    /// Sends everything, with its pauses, and hears the server out.
    fn converse(&self, connection: &mut Connection, bytes: &[u8], pauses: &[u64]) {
        let mut from = 0;
        let ends = pauses.iter().map(|pause| *pause as usize);
        for end in ends.filter(|end| *end < bytes.len()) {
            if end > from {
                self.send(connection, &bytes[from..end]);
                self.listen(connection);
                from = end;
            }
        }
        self.send(connection, &bytes[from..]);
        self.listen(connection);
        connection.finish();
        self.listen(connection);
    }

    fn send(&self, connection: &mut Connection, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over() {
            match connection.exchange(bytes, NAP) {
                Progress::Sent(count) => bytes = &bytes[count..],
                Progress::Received | Progress::Nothing => {}
                Progress::Closed => return,
            }
        }
    }

    /// Takes in the answer until the server waits again, or closes the connection.
    fn listen(&self, connection: &mut Connection) {
        let mut has_answered = false;
        let mut asleep_since: Option<Instant> = None;
        let mut looks = 0;
        while !self.is_over() {
            match connection.exchange(&[], NAP) {
                Progress::Closed => return,
                Progress::Received => {
                    has_answered = true;
                    (asleep_since, looks) = (None, 0);
                    continue;
                }
                Progress::Sent(_) | Progress::Nothing => {}
            }
            if !self.is_asleep() {
                (asleep_since, looks) = (None, 0);
                continue;
            }
            looks += 1;
            let since = *asleep_since.get_or_insert_with(Instant::now);
            if has_answered && looks >= 2 || since.elapsed() >= PATIENCE {
                return;
            }
        }
        // A server that has ended may have answered just before.
        while matches!(connection.exchange(&[], Duration::ZERO), Progress::Received) {}
    }
}
