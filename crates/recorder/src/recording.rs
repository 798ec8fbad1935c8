//! One run of a program under test, while it lasts.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use crate::files::Files;
use crate::limits::Limits;
use crate::proc::{self, Descriptor, Identity, Kind, Position};
use crate::ptrace::Pid;

/// What was known when the program began.
#[derive(Clone, Debug)]
pub struct Start {
    /// Index among the programs under test.
    pub program: usize,
    pub executable: PathBuf,
    /// As in `/proc`: every argument ends with a zero byte.
    pub command_line: Vec<u8>,
    pub environment: Vec<u8>,
    /// The environment that the process which started it once got.
    pub parent_environment: Arc<[u8]>,
    /// Command lines of the processes that led to it, nearest first.
    pub ancestors: Vec<Arc<[u8]>>,
    pub directory: PathBuf,
    pub umask: Option<u32>,
}

/// Bytes up to a limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounded {
    pub bytes: Vec<u8>,
    /// How many more there were.
    pub lost: u64,
}

impl Bounded {
    fn add(&mut self, bytes: &[u8], limit: u64) {
        let room = limit.saturating_sub(self.bytes.len() as u64) as usize;
        let kept = bytes.len().min(room);
        self.bytes.extend_from_slice(&bytes[..kept]);
        self.lost += (bytes.len() - kept) as u64;
    }
}

/// Standard input.
#[derive(Clone, Debug)]
pub enum Stdin {
    Closed,
    /// `/dev/null`.
    Empty,
    /// A file, whose contents are kept when the program first cares.
    File {
        identity: Identity,
        contents: Option<proc::Contents>,
    },
    /// A pipe, socket or terminal: what the program took.
    Stream {
        identity: Identity,
        taken: Bounded,
        /// The program has done what has another answer for a file.
        is_tried: bool,
        /// How often it asked what this is.
        questions: u32,
    },
    Other(&'static str),
}

/// Standard output or standard error.
#[derive(Clone, Debug)]
pub struct Output {
    /// What it is; `None` if it is closed.
    pub descriptor: Option<Descriptor>,
    pub written: Bounded,
    /// Writing has failed because nobody reads any more.
    pub is_broken: bool,
    /// Where writing began, if it is a regular file.
    pub position: Option<Position>,
    /// How often the program asked what it is.
    pub questions: u32,
    /// It did with it what can only be done with a file, or asked where it is in it.
    pub is_used_as_file: bool,
    /// It moved about in it: what comes next need not be written behind what came before.
    pub has_moved: bool,
}

impl Output {
    fn new(process: Pid, number: i32) -> Output {
        let descriptor = proc::descriptor(process, number);
        let is_file = descriptor.is_some_and(|own| own.kind == Kind::Regular);
        Output {
            descriptor,
            written: Bounded::default(),
            is_broken: false,
            position: is_file.then(|| proc::position(process, number)).flatten(),
            questions: 0,
            is_used_as_file: false,
            has_moved: false,
        }
    }

    /// What is written next begins here in the file that `descriptor` of `process` is. What lies between counts as output: whoever
    /// reads the file afterwards finds it there.
    fn go_to(&mut self, process: Pid, descriptor: i32, offset: u64, limits: &Limits) {
        let Some(began) = self.position else {
            return;
        };
        let start = if began.append {
            began.size
        } else {
            began.offset
        };
        let length = offset.saturating_sub(start);
        let known = self.written.bytes.len() as u64;
        if length <= known {
            self.written.bytes.truncate(length as usize);
        } else if self.written.lost == 0 {
            let gap = (length - known).min(limits.output);
            let from = start + known;
            let read = proc::read_descriptor(process, descriptor, from, gap);
            let mut bytes = read.unwrap_or_default().bytes;
            bytes.resize(gap as usize, 0);
            self.written.add(&bytes, limits.output);
        }
    }
}

/// What clients of a server sent.
#[derive(Clone, Debug, Default)]
pub struct Server {
    pub address: Vec<u8>,
    /// The latest connection of each socket.
    by_socket: HashMap<Identity, usize>,
    pub connections: Vec<Connection>,
}

#[derive(Clone, Debug, Default)]
pub struct Connection {
    pub received: Bounded,
    pub sent: Bounded,
    /// How much had been received at each answer.
    pub answers: Vec<u64>,
}

impl Connection {
    fn answer(&mut self, bytes: &[u8], limits: &Limits) {
        let offset = self.received.bytes.len() as u64;
        if self.answers.last() != Some(&offset) {
            self.answers.push(offset);
        }
        self.sent.add(bytes, limits.output);
    }
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exit(i32),
    Signal(i32),
}

/// Where bytes come from or go to, in the eyes of one recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    Stdin,
    Stdout,
    Stderr,
    /// What a client sends.
    Client(usize),
    /// What it is answered.
    Answer(usize),
}

/// A run of a program under test.
#[derive(Debug)]
pub struct Recording {
    pub main: Pid,
    pub began: Instant,
    pub start: Start,
    pub files: Files,
    pub stdin: Stdin,
    pub stdout: Output,
    pub stderr: Output,
    pub server: Option<Server>,
    /// The last signal from outside that can end a program.
    pub signal: i32,
    /// Whether it executed other programs, or tried to.
    pub has_executed: bool,
    /// Those of them that are under test.
    pub executed: BTreeSet<PathBuf>,
    pub notes: BTreeSet<String>,
    /// Why it may come out otherwise the next time.
    pub unsteady: BTreeSet<&'static str>,
}

impl Recording {
    /// Of a process that has just executed a program under test.
    pub fn new(main: Pid, start: Start) -> Recording {
        Recording {
            main,
            began: Instant::now(),
            start,
            files: Files::default(),
            stdin: stdin(main),
            stdout: Output::new(main, 1),
            stderr: Output::new(main, 2),
            server: None,
            signal: 0,
            has_executed: false,
            executed: BTreeSet::new(),
            notes: BTreeSet::new(),
            unsteady: BTreeSet::new(),
        }
    }

    /// Whether its standard input has to be watched to be known.
    pub fn reads_stream(&self) -> bool {
        matches!(self.stdin, Stdin::Stream { .. })
    }

    /// Where bytes come from that are read from this descriptor, if it is one of interest.
    pub fn source(&self, identity: Identity) -> Option<Channel> {
        if matches!(&self.stdin, Stdin::Stream { identity: stdin, .. } if *stdin == identity) {
            return Some(Channel::Stdin);
        }
        self.connection(identity).map(Channel::Client)
    }

    /// Where bytes go that are written to this descriptor, if it is one of interest.
    pub fn destination(&self, number: i32, identity: Identity) -> Option<Channel> {
        let is = |output: &Output| {
            output
                .descriptor
                .is_some_and(|own| own.identity == identity)
        };
        match (is(&self.stdout), is(&self.stderr)) {
            (true, true) if number == 2 => Some(Channel::Stderr),
            (true, _) => Some(Channel::Stdout),
            (false, true) => Some(Channel::Stderr),
            (false, false) => self.connection(identity).map(Channel::Answer),
        }
    }

    /// The output that this descriptor of `process` is, if it is one.
    pub fn output(&mut self, process: Pid, number: i32) -> Option<&mut Output> {
        let identity = proc::descriptor(process, number)?.identity;
        match self.destination(number, identity)? {
            Channel::Stdout => Some(&mut self.stdout),
            Channel::Stderr => Some(&mut self.stderr),
            _ => None,
        }
    }

    /// What is written through a descriptor of `process` next begins where that stands, if the program moved it.
    pub fn follow(&mut self, process: Pid, number: i32, limits: &Limits) {
        if let Some(output) = self.output(process, number)
            && output.has_moved
            && let Some(now) = proc::position(process, number)
        {
            let offset = if now.append { now.size } else { now.offset };
            output.go_to(process, number, offset, limits);
        }
    }

    fn connection(&self, identity: Identity) -> Option<usize> {
        let server = self.server.as_ref()?;
        server.by_socket.get(&identity).copied()
    }

    /// Bytes went through a channel.
    pub fn transfer(&mut self, channel: Channel, bytes: &[u8], limits: &Limits) {
        match channel {
            Channel::Stdin => {
                if let Stdin::Stream { taken, .. } = &mut self.stdin {
                    taken.add(bytes, limits.stdin);
                }
            }
            Channel::Stdout => self.stdout.written.add(bytes, limits.output),
            Channel::Stderr => self.stderr.written.add(bytes, limits.output),
            Channel::Client(number) => {
                if let Some(server) = &mut self.server {
                    server.connections[number].received.add(bytes, limits.stdin);
                }
            }
            Channel::Answer(number) => {
                if let Some(server) = &mut self.server {
                    server.connections[number].answer(bytes, limits);
                }
            }
        }
    }

    /// Nobody reads what goes through a channel.
    pub fn break_off(&mut self, channel: Channel) {
        match channel {
            Channel::Stdout => self.stdout.is_broken = true,
            Channel::Stderr => self.stderr.is_broken = true,
            Channel::Stdin | Channel::Client(_) | Channel::Answer(_) => {}
        }
    }

    /// The program listens at this address, or accepts from a socket that does.
    pub fn listen(&mut self, address: Vec<u8>) {
        match &self.server {
            Some(server) if server.address != address => {
                self.notes.insert(format!(
                    "listens at {} as well: a scenario has one address",
                    String::from_utf8_lossy(&address)
                ));
            }
            Some(_) => {}
            None => {
                self.server = Some(Server {
                    address,
                    ..Server::default()
                });
            }
        }
    }

    /// A server accepted a client through this socket.
    pub fn accept(&mut self, socket: Identity) {
        if let Some(server) = &mut self.server {
            server.by_socket.insert(socket, server.connections.len());
            server.connections.push(Connection::default());
        }
    }

    /// The program asks what descriptor 0 of `process` is (or moves in it, if `is_move`): a pipe answers otherwise than a file.
    pub fn question_stdin(&mut self, process: Pid, is_move: bool) {
        if let Stdin::Stream {
            identity,
            is_tried,
            questions,
            ..
        } = &mut self.stdin
            && proc::descriptor(process, 0)
                .is_some_and(|now| now.identity == *identity && now.kind == Kind::Stream)
        {
            *is_tried |= is_move;
            *questions += 1;
        }
    }

    /// The program does something with descriptor 0 of `process`: if that is a file, its contents are input.
    pub fn touch_stdin(&mut self, process: Pid, limits: &Limits) {
        let Stdin::File { identity, contents } = &mut self.stdin else {
            return;
        };
        if contents.is_some() {
            return;
        }
        if proc::descriptor(process, 0).is_none_or(|now| now.identity != *identity) {
            return;
        }
        let offset = proc::offset(process, 0);
        match proc::read_descriptor(process, 0, offset, limits.stdin) {
            Ok(read) => *contents = Some(read),
            Err(error) => {
                *contents = Some(proc::Contents::default());
                let note = format!("standard input could not be read: {error}");
                self.notes.insert(note);
            }
        }
    }
}

fn stdin(process: Pid) -> Stdin {
    let Some(Descriptor { identity, kind }) = proc::descriptor(process, 0) else {
        return Stdin::Closed;
    };
    const NULL: u64 = libc::makedev(1, 3);
    let is_terminal = |device: u64| matches!(libc::major(device), 4 | 5 | 136..=143);
    match kind {
        Kind::Regular => Stdin::File {
            identity,
            contents: None,
        },
        Kind::Stream => Stdin::Stream {
            identity,
            taken: Bounded::default(),
            is_tried: false,
            questions: 0,
        },
        Kind::Device(NULL) => Stdin::Empty,
        Kind::Device(device) if is_terminal(device) => Stdin::Stream {
            identity,
            taken: Bounded::default(),
            is_tried: false,
            questions: 0,
        },
        Kind::Device(_) => Stdin::Other("a device"),
        Kind::Directory => Stdin::Other("a directory"),
        Kind::Other => Stdin::Other("neither file nor pipe"),
    }
}
