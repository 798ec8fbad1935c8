//! Starting a run server: the program itself, which then forks for each run. Traced programs have the server inside; into
//! others that start as C programs do, the dynamic linker loads it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use object::{Architecture, Object, ObjectSymbol};
use parallax_abi::entry::symbol;
use parallax_abi::serve::{self, Answer, MAX_SHARED};
use parallax_bundle::Bundle;

use super::environment::{self, Variable};
use super::request::{Message, Spacing};
use crate::run::RunError;
use crate::run::prepare::high_descriptor;
use crate::sandbox::Init;
use crate::shared::Shared;
use crate::wire;

/// How long a server may take to start.
const START: Duration = Duration::from_secs(10);
/// How long the sandbox may take to end it.
const END: Duration = Duration::from_secs(5);

/// How often somebody looks whether it is wanted any more.
const LOOK: Duration = Duration::from_millis(50);

/// Where a program's server comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is linked into the program: those that are traced, and whose `main` was captured.
    Inside,
    /// The dynamic linker loads it.
    Preloaded,
}

impl Origin {
    /// How a program can be served, if it can.
    pub fn of(program: &Path) -> Option<Origin> {
        let file = File::open(program).ok()?;
        // What runs as somebody else is started without what the environment asks for.
        const OTHERS: u32 = libc::S_ISUID | libc::S_ISGID;
        let is_ours = file.metadata().ok()?.permissions().mode() & OTHERS == 0;
        // SAFETY: a program that changes while it is read gives nonsense names, which harm nobody.
        let bytes = unsafe { memmap2::Mmap::map(&file) }.ok()?;
        let object = object::File::parse(&*bytes).ok()?;
        let mut is_traced = false;
        for found in object.symbols().filter(ObjectSymbol::is_definition) {
            match found.name() {
                Ok(symbol::MAIN) => return Some(Origin::Inside),
                Ok(symbol::ENTER) => is_traced = true,
                _ => {}
            }
        }
        let mut imports = object.dynamic_symbols();
        let asks = imports.any(|found| found.is_undefined() && found.name() == Ok(START_UP));
        let is_for_us = object.architecture() == Architecture::X86_64 && object.is_64();
        // Traced programs whose `main` was not captured would take the server's start for their own.
        let is_possible = asks && is_ours && is_for_us && !is_traced && preloaded().is_some();
        is_possible.then_some(Origin::Preloaded)
    }

    /// How its runs find their strings.
    pub fn spacing(self) -> Spacing {
        match self {
            Origin::Inside => Spacing::Slots,
            Origin::Preloaded => Spacing::Packed,
        }
    }
}

/// What the C start-up code calls, and the preloaded server is found by.
const START_UP: &str = "__libc_start_main";

/// The shared object that serves; `None` if it could not be unpacked, or not to where the dynamic linker can be told of it.
pub(super) fn preloaded() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    let find = || {
        let path = Bundle::unpack().ok()?.server();
        let text = path.as_os_str().as_bytes();
        let is_one_word = !text.iter().any(|byte| matches!(byte, b' ' | b':'));
        is_one_word.then_some(path)
    };
    PATH.get_or_init(find).as_deref()
}

/// A program that waits for requests.
#[derive(Debug)]
pub(super) struct Server {
    pub socket: UnixStream,
    /// The shared memory that it was started with.
    shared: Vec<(u64, u64)>,
    /// What was read before it was ready.
    read: Vec<Variable>,
}

/// What is served, and how.
pub(super) struct Start<'s> {
    pub origin: Origin,
    pub program: &'s Path,
    pub directory: &'s Path,
    pub argv0: &'s OsStr,
    pub environment: &'s [Variable],
    /// What the first run will have. Counters are attached once, before `main`: a preloaded server
    /// serves runs that have the same.
    pub shared: &'s [Shared<'s>],
}

impl Start<'_> {
    fn message(&self) -> Result<Message, RunError> {
        let mut environment = self.environment.to_vec();
        // Below the numbers that shared memory gets in runs.
        let number = high_descriptor() - MAX_SHARED as i32;
        let mut numbers = vec![number];
        let is_preloaded = self.origin == Origin::Preloaded;
        let mut set = |name: &str, value: OsString| environment.push((name.into(), value));
        if is_preloaded {
            set(serve::PRELOADED, number.to_string().into());
            let path = preloaded().map_or(OsStr::new(""), Path::as_os_str);
            set(serve::PRELOAD, path.to_owned());
            for (index, shared) in self.shared.iter().enumerate() {
                let number = high_descriptor() - index as i32;
                numbers.push(number);
                set(shared.variable, number.to_string().into());
            }
        } else {
            set(serve::ENVIRONMENT, number.to_string().into());
        }
        // Runs have an environment of their own and do not see it.
        set(serve::BIND_NOW, "1".into());
        let mut message = Message::new(
            self.program,
            self.directory,
            &[self.argv0],
            &environment,
            &numbers,
            Spacing::Slots,
        )?;
        message.request.instrumented = u32::from(!is_preloaded || !self.shared.is_empty());
        message.request.counter = serve::counter(number);
        Ok(message)
    }
}

impl Server {
    /// Starts the program as a server inside the sandbox; `None` if it cannot be one, or if nobody wants it any more.
    pub fn start(
        init: &Init,
        start: &Start<'_>,
        is_wanted: impl Fn() -> bool,
    ) -> Result<Option<Server>, RunError> {
        let system = |what| move |source| RunError::System { what, source };
        let (socket, other) = UnixStream::pair().map_err(system("make a socket"))?;
        let message = start.message()?;
        // One byte: if it is gone when `main` would begin, the program has read it.
        let (stdin, mut writer) = io::pipe().map_err(system("create a pipe"))?;
        writer.write_all(b"\n").map_err(system("write to a pipe"))?;
        let (reader, output) = io::pipe().map_err(system("create a pipe"))?;
        let mut descriptors: Vec<BorrowedFd<'_>> =
            vec![stdin.as_fd(), output.as_fd(), output.as_fd(), other.as_fd()];
        let mut shared = Vec::new();
        if start.origin == Origin::Preloaded {
            descriptors.extend(start.shared.iter().map(|shared| shared.descriptor));
            shared = start.shared.iter().map(Shared::identity).collect();
        }
        wire::send_request(&init.socket, &message.request, &message.body, &descriptors)
            .map_err(system("talk to the sandbox"))?;
        drop((other, writer, output));
        let read = environment::read_at_start(start.environment);
        let server = Server {
            socket,
            shared,
            read: read.cloned().collect(),
        };
        let until = Instant::now() + START;
        let mut has_news = false;
        while !has_news && is_wanted() && Instant::now() < until {
            has_news = wait_readable(&server.socket, LOOK);
        }
        let is_ready = has_news
            && wire::receive_reply(&server.socket)
                .is_ok_and(|(reply, _)| reply.answer == Answer::Ready as u32);
        // What constructors print belongs to every run.
        if is_ready && !is_readable(reader.as_fd()) {
            return Ok(Some(server));
        }
        server.end(init);
        Ok(None)
    }

    /// Whether runs with this environment and shared memory can be asked for.
    pub fn fits(&self, origin: Origin, environment: &[Variable], shared: &[Shared<'_>]) -> bool {
        if !environment::read_at_start(environment).eq(&self.read) {
            return false;
        }
        origin == Origin::Inside
            || shared
                .iter()
                .map(Shared::identity)
                .eq(self.shared.iter().copied())
    }

    /// Ends the server, so that the sandbox can be used otherwise; whether it can.
    pub fn end(self, init: &Init) -> bool {
        let stop = Message::stop();
        if wire::send_request(&init.socket, &stop.request, &[], &[]).is_err() {
            return false;
        }
        // The sandbox reports the end of the server once, perhaps after saying that it could not start.
        while wait_readable(&init.socket, END) {
            match wire::receive_reply(&init.socket) {
                Ok((reply, _)) if reply.answer == Answer::Ended as u32 => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

/// Whether there is something to be read.
fn is_readable(pipe: BorrowedFd<'_>) -> bool {
    let mut count: libc::c_int = 0;
    // SAFETY: writes one int.
    let asked = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    asked != 0 || count > 0
}

fn wait_readable(socket: &UnixStream, time: Duration) -> bool {
    let mut polled = libc::pollfd {
        fd: socket.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    loop {
        // SAFETY: one valid entry.
        let ready = unsafe { libc::poll(&mut polled, 1, time.as_millis() as libc::c_int) };
        if ready >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return ready > 0;
        }
    }
}
