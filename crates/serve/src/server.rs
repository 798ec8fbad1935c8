//! Serving: waits for requests, forks for each, waits for its end.
//!
//! The child gets the streams, arguments, environment and directory of the request, and goes on to `main` as a program that has
//! just started. The parent waits, ends whatever the child left behind, and reports.
//!
//! Constructors run once, before the first run. A program in which they start threads or read
//! standard input says that it cannot be served.

use core::ffi::CStr;

use parallax_abi::entry::Arguments;
use parallax_abi::serve::{self, Answer, Kind, MAX_BODY, Reply, Request, STREAMS, Step, slot};

use crate::Strings;
use crate::processes::{self as process, Received, SIGKILL};
use crate::sys::{self, Errno};

unsafe extern "C" {
    static mut environ: Strings;
    static mut program_invocation_name: *const u8;
    static mut program_invocation_short_name: *const u8;
}

/// A function of libc's that forks: it keeps books about the process and its thread.
pub type Fork = unsafe extern "C" fn() -> i32;

/// Serves at a socket. Returns in the process of each run, with what its `main` is given.
///
/// # Safety
/// Called where `main` would begin, once.
pub unsafe fn serve(socket: i32, fork: Fork) -> Arguments {
    let answer = |answer: Answer| {
        let answer = answer as u32;
        process::send(
            socket,
            &Reply {
                answer,
                ..Reply::default()
            },
        )
        .is_ok()
    };
    let (true, Some(body)) = (is_suitable(), reserve()) else {
        answer(Answer::Unsuitable);
        sys::exit_now(0)
    };
    process::adopt_orphans();
    if !answer(Answer::Ready) {
        sys::exit_now(0)
    }
    loop {
        let Some((request, received)) = process::receive::<Request>(socket) else {
            sys::exit_now(0)
        };
        if request.kind != Kind::Run as u32 {
            continue;
        }
        let run = Run {
            request,
            received,
            body,
        };
        if !run.read_body(socket) {
            // What follows on the socket cannot be told from requests any more.
            sys::exit_now(0)
        }
        // SAFETY: the body was read whole.
        let strings = unsafe { run.strings() };
        process::number_from_two(serve::counter(socket));
        // SAFETY: this process has one thread, and holds no lock.
        let child = unsafe { fork() };
        if child == 0 {
            // SAFETY: nobody else runs in this process.
            match strings.and_then(|strings| unsafe { run.become_program(socket, strings) }) {
                Ok(arguments) => return arguments,
                Err((step, errno)) => {
                    fail(socket, step, errno);
                    sys::exit_now(127)
                }
            }
        }
        run.close();
        let reply = if child > 0 {
            wait_for(child, socket)
        } else {
            fail(socket, Step::Fork, Errno(-child));
            Reply::default()
        };
        let answer = Answer::Ended as u32;
        if process::send(socket, &Reply { answer, ..reply }).is_err() {
            sys::exit_now(0)
        }
    }
}

fn fail(socket: i32, step: Step, errno: Errno) {
    let reply = Reply {
        answer: Answer::Failed as u32,
        status: errno.0,
        leftovers: step as u32,
        ..Reply::default()
    };
    let _ = process::send(socket, &reply);
}

/// Whether starting a run here is the same as starting the program: no thread but this one, and nothing read
/// from standard input, which is a pipe with one byte.
fn is_suitable() -> bool {
    process::thread_count() == Some(1) && process::waiting_bytes(0).is_none_or(|count| count == 1)
}

/// Where the body of a request is, [`MAX_BODY`] bytes; behind it a zero, then pointers to its strings, of which there are not more
/// than it has bytes. All of it is written before the fork: a page that the child writes to must be copied.
fn reserve() -> Option<usize> {
    let pointers = (MAX_BODY + 3) * size_of::<*const u8>();
    sys::allocate(MAX_BODY + 1 + pointers)
}

/// What failed, and why.
type Failure = (Step, Errno);

/// One request.
struct Run {
    request: Request,
    received: Received,
    /// Where the body is: see [`reserve`].
    body: usize,
}

impl Run {
    fn read_body(&self, socket: i32) -> bool {
        let length = self.request.body as usize;
        if length > MAX_BODY {
            return false;
        }
        // SAFETY: the buffer is our own and longer than that by one.
        let mut rest = unsafe {
            (self.body as *mut u8).add(length).write(0);
            core::slice::from_raw_parts_mut(self.body as *mut u8, length)
        };
        while !rest.is_empty() {
            match process::read(socket, rest) {
                Ok(count) if count > 0 => rest = &mut rest[count..],
                _ => return false,
            }
        }
        true
    }

    fn close(&self) {
        for descriptor in self.received.as_slice() {
            process::close(*descriptor);
        }
    }

    /// In the child: everything that a fresh program has before `main`.
    ///
    /// # Safety
    /// Only this thread is there. The strings are this request's.
    unsafe fn become_program(
        &self,
        socket: i32,
        (directory, arguments): (*const u8, Arguments),
    ) -> Result<Arguments, Failure> {
        process::new_session();
        process::drop_capabilities();
        self.take_descriptors()
            .map_err(|errno| (Step::Descriptors, errno))?;
        process::set_umask(self.request.umask);
        // SAFETY: passed on to the caller.
        unsafe {
            if *directory != 0 {
                process::change_directory(directory).map_err(|errno| (Step::Directory, errno))?;
            }
            environ = arguments.envp;
            set_name(*arguments.argv);
        }
        // Last, because failures are told there.
        process::close(socket);
        process::close(serve::counter(socket));
        Ok(arguments)
    }

    /// Puts the descriptors of the request where they belong. Numbers are chosen by the engine so that none
    /// of them is in use here.
    fn take_descriptors(&self) -> Result<(), Errno> {
        let numbers = self
            .request
            .numbers
            .into_iter()
            .take_while(|number| *number >= 0);
        let targets = (0..STREAMS as i32).chain(numbers);
        for (descriptor, target) in self.received.as_slice().iter().zip(targets) {
            process::duplicate(*descriptor, target)?;
        }
        self.close();
        for stream in 0..STREAMS as i32 {
            if self.request.closed & 1 << stream != 0 {
                process::close(stream);
            }
        }
        Ok(())
    }

    /// Directory, arguments and environment, as lists of pointers into the body, which come behind it.
    ///
    /// # Safety
    /// The body has been read.
    unsafe fn strings(&self) -> Result<(*const u8, Arguments), Failure> {
        const EINVAL: i32 = 22;
        let (arguments, variables) = (
            self.request.arguments as usize,
            self.request.variables as usize,
        );
        let end = self.body + self.request.body as usize;
        let is_packed = self.request.packed != 0;
        let mut at = self.body;
        let mut next = || {
            if at >= end {
                return Err((Step::Request, Errno(EINVAL)));
            }
            let string = at as *const u8;
            // SAFETY: the engine ends every string, and behind the body there is a zero.
            let length = unsafe { CStr::from_ptr(string.cast()) }.count_bytes() + 1;
            at += if is_packed { length } else { slot(length) };
            Ok(string)
        };
        let _program = next()?;
        let directory = next()?;
        let argv = (end + 1).next_multiple_of(align_of::<*const u8>()) as Strings;
        // SAFETY: there is room for a pointer to each string that was found, and for the nulls at the ends.
        unsafe {
            for index in 0..arguments {
                *argv.add(index) = next()?;
            }
            *argv.add(arguments) = core::ptr::null();
            let envp = argv.add(arguments + 1);
            for index in 0..variables {
                *envp.add(index) = next()?;
            }
            *envp.add(variables) = core::ptr::null();
            let argc = arguments as i32;
            Ok((directory, Arguments { argc, argv, envp }))
        }
    }
}

/// libc's idea of the program's name.
unsafe fn set_name(name: *const u8) {
    if name.is_null() {
        return;
    }
    // SAFETY: a C string that stays; nobody else runs.
    unsafe {
        let text = CStr::from_ptr(name.cast()).to_bytes();
        let short = text
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |at| at + 1);
        program_invocation_name = name;
        program_invocation_short_name = name.add(short);
    }
}

/// Waits until the run has ended, or the engine wants an end; then ends what is left of it.
fn wait_for(child: i32, socket: i32) -> Reply {
    const BURIAL_MILLISECONDS: i32 = 50;
    let watched = process::watch(child);
    // Without a descriptor of the process short naps must do.
    let patience = if watched < 0 { 1 } else { BURIAL_MILLISECONDS };
    let mut reply = Reply {
        status: SIGKILL as i32,
        ..Reply::default()
    };
    let mut has_ended = false;
    while !has_ended {
        let [is_asked, _] = process::poll([socket, watched], patience);
        while let Ok(Some(ended)) = process::bury() {
            reply.cpu_micros += ended.cpu_micros;
            if ended.process == child {
                reply.status = ended.status;
                has_ended = true;
            }
        }
        // The engine asks for an end by a request, or by closing the socket.
        if !has_ended && is_asked {
            let _ = process::receive::<Request>(socket);
            break;
        }
    }
    if watched >= 0 {
        process::close(watched);
    }
    end_everything(child, &mut reply);
    reply
}

/// Kills all descendants, however they detached themselves.
fn end_everything(child: i32, reply: &mut Reply) {
    // More rounds than any nesting of processes; who cannot be ended that way is left to the
    // sandbox, which ends with us.
    const ROUNDS: u32 = 2000;
    for round in 0..ROUNDS {
        loop {
            match process::bury() {
                Err(_) => return,
                Ok(None) => break,
                Ok(Some(ended)) => {
                    reply.cpu_micros += ended.cpu_micros;
                    reply.leftovers += u32::from(ended.process != child);
                }
            }
        }
        // The child may be buried already; its group keeps its number as long as members live.
        process::kill(-child, SIGKILL);
        kill_children();
        process::nap(if round < 100 { 100 } else { 1000 });
    }
    sys::exit_now(1)
}

fn kill_children() {
    let Ok(list) = process::open(b"/proc/thread-self/children\0") else {
        return;
    };
    let mut buffer = [0; 4096];
    let mut number = 0i32;
    while let Ok(count) = process::read(list, &mut buffer)
        && count > 0
    {
        for byte in &buffer[..count] {
            if byte.is_ascii_digit() {
                number = number.wrapping_mul(10).wrapping_add((byte - b'0').into());
            } else {
                if number > 1 {
                    process::kill(number, SIGKILL);
                }
                number = 0;
            }
        }
    }
    process::close(list);
}

/// The socket that the environment names.
pub fn parse(value: &[u8]) -> Option<i32> {
    let number = core::str::from_utf8(value).ok()?.parse::<i32>().ok()?;
    (number >= 0).then_some(number)
}
