//! How the engine asks for runs: of a run server inside a program, which forks, and of the
//! sandbox's first process, which executes programs.
//!
//! Over a stream socket. The engine sends a [`Request`] with descriptors attached (standard input, output and
//! error, then those that [`Request::numbers`] names), followed by [`Request::body`] bytes; it gets one
//! [`Reply`] for each [`Kind::Run`]. The body is a sequence of C strings, each in a slot of its own
//! (see [`slot`]): program, working directory, arguments (the program's name first), then the whole environment.
//! The strings are where the program finds them: in traced programs no two of them touch, so that each has bounds. Others
//! get them [packed](Request::packed), as from the kernel.

/// Environment variable that carries the number of a run server's socket, where the runtime is the server.
pub const ENVIRONMENT: &str = "PARALLAX_SERVER";
/// Likewise, where a shared object is that the dynamic linker was told to load by [`PRELOAD`].
pub const PRELOADED: &str = "PARALLAX_PRELOADED";
/// What the dynamic linker loads before a program.
pub const PRELOAD: &str = "LD_PRELOAD";
/// Makes the dynamic linker bind all functions at the start: once in the server, instead of in every run anew.
pub const BIND_NOW: &str = "LD_BIND_NOW";

/// Standard input, output and error.
pub const STREAMS: usize = 3;
/// Pieces of shared memory that a run can get.
pub const MAX_SHARED: usize = 4;
/// Descriptors that a run can get besides its streams; a server has its socket.
pub const MAX_NUMBERS: usize = MAX_SHARED + 1;
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
    /// Not 0: strings of the body lie one behind the other, without slots. Only for servers.
    pub packed: u32,
    /// Not 0: the program has code of ours in its functions, whose frames are larger than those of the plain one.
    pub instrumented: u32,
    /// Not negative: the program is a server, and gets the kernel's counter of process numbers as this descriptor, with the
    /// capability to write there, if they are to be had.
    pub counter: i32,
}

/// Where a server that talks at `socket` finds the counter of process numbers.
pub const fn counter(socket: i32) -> i32 {
    socket - 1
}

/// Number of a server's own process, where it can be chosen: runs begin with 2, as without a server, and come past this one late.
pub const SERVER_PROCESS: u32 = 400;

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
            packed: 0,
            instrumented: 0,
            counter: -1,
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
