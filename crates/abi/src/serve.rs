//! How the engine asks for runs: of a run server inside a traced program, which forks, and of the
//! sandbox's first process, which executes programs.
//!
//! Over a stream socket. The engine sends a [`Request`] with descriptors attached (standard input, output and
//! error, then those that [`Request::numbers`] names), followed by [`Request::body`] bytes; it gets one
//! [`Reply`] for each [`Kind::Run`]. The body is a sequence of C strings, each in a slot of its own
//! (see [`slot`]): program, working directory, arguments (the program's name first), then the whole environment.
//! The strings are where the program finds them, so no two of them touch.

/// Environment variable that carries the number of a run server's socket.
pub const ENVIRONMENT: &str = "PARALLAX_SERVER";

/// Standard input, output and error.
pub const STREAMS: usize = 3;
/// Descriptors that a run can get besides its streams.
pub const MAX_NUMBERS: usize = 4;
/// Longer bodies are refused.
pub const MAX_BODY: usize = 8 << 20;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Run = 1,
    /// Ends the run that is under way; its reply still comes. Nothing if there is none.
    Stop = 2,
    /// Of the sandbox, between runs: a stream socket of its network, in a reply [`Answer::Ready`];
    /// [`Request::family`] says which.
    Socket = 3,
}

/// What programs find as their `umask`, unless a request says otherwise.
pub const UMASK: u32 = 0o022;

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Request {
    /// A [`Kind`].
    pub kind: u32,
    /// Bytes of the body.
    pub body: u32,
    /// Strings of the body that are arguments.
    pub arguments: u32,
    /// Strings of the body that are environment variables.
    pub variables: u32,
    /// Numbers that the descriptors after the streams get in the run; unused ones are negative.
    pub numbers: [i32; MAX_NUMBERS],
    /// The run's `umask`.
    pub umask: u32,
    /// Bit N: the program finds standard stream N closed, whatever descriptor came for it.
    pub closed: u32,
    /// Address family of the socket that is asked for.
    pub family: i32,
}

impl Request {
    /// One that asks for nothing particular.
    pub const fn new(kind: Kind) -> Request {
        Request {
            kind: kind as u32,
            body: 0,
            arguments: 0,
            variables: 0,
            numbers: [-1; MAX_NUMBERS],
            umask: UMASK,
            closed: 0,
            family: 0,
        }
    }
}

/// What a [`Reply`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Answer {
    /// The first reply: runs can be asked for.
    Ready = 1,
    /// The first and only reply: this program cannot be served, because it has threads or has read input before `main`.
    Unsuitable = 2,
    Ended = 3,
    /// The run did not begin: `status` is an error number, `leftovers` a [`Step`].
    Failed = 4,
}

/// What failed on the way to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    Request = 1,
    Fork = 2,
    Descriptors = 3,
    Directory = 4,
    Execute = 5,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Reply {
    /// An [`Answer`].
    pub answer: u32,
    /// As from `wait`.
    pub status: i32,
    /// User and system time of all processes of the run that ended.
    pub cpu_micros: u64,
    /// Processes that outlived the program and were ended.
    pub leftovers: u32,
    pub padding: u32,
}

/// Room that a string of `length` bytes, terminator included, takes in a body: at least one byte more,
/// so that the end of one is never the start of another.
pub const fn slot(length: usize) -> usize {
    (length + 16) & !15
}
