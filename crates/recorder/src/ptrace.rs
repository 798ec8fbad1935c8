//! The few requests of ptrace(2) that are needed, with errors as `io::Error`.
//!
//! All of them must come from the thread that seized the process: the kernel ties tracees to a thread.

use std::io;
use std::mem::MaybeUninit;

pub use libc::pid_t as Pid;

/// What every process is seized with; its children inherit it.
///
/// `EXITKILL`, because a process with our filter whose tracer is gone gets `ENOSYS` from half of its system calls: a
/// test suite that ends is better than one that tests something else.
const OPTIONS: libc::c_int = libc::PTRACE_O_TRACESYSGOOD
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_EXITKILL;

fn request(request: libc::c_uint, pid: Pid, address: usize, data: usize) -> io::Result<()> {
    // SAFETY: the requests below take numbers, or addresses of objects that outlive the call.
    match unsafe { libc::ptrace(request, pid, address, data) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Begins to trace a process without stopping it.
pub fn seize(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, pid, 0, OPTIONS as usize)
}

/// How a stopped process goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// The next event.
    Event,
    /// The end of the system call that it is in, at the latest.
    CallExit,
    /// One instruction later.
    Step,
}

/// Lets a stopped process go on, delivering `signal` unless it is 0.
pub fn resume(pid: Pid, until: Until, signal: i32) -> io::Result<()> {
    let how = match until {
        Until::Event => libc::PTRACE_CONT,
        Until::CallExit => libc::PTRACE_SYSCALL,
        Until::Step => libc::PTRACE_SINGLESTEP,
    };
    request(how, pid, 0, signal as usize)
}

/// Leaves a process in the stop that job control put it into, but hears of what wakes it.
pub fn listen(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_LISTEN, pid, 0, 0)
}

/// Makes a running process stop.
pub fn interrupt(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_INTERRUPT, pid, 0, 0)
}

/// Ends tracing of a stopped process.
pub fn detach(pid: Pid) -> io::Result<()> {
    request(libc::PTRACE_DETACH, pid, 0, 0)
}

/// What an event is about: the new process of a fork, the former thread of an exec.
pub fn event_message(pid: Pid) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    let address = &raw mut message as usize;
    request(libc::PTRACE_GETEVENTMSG, pid, 0, address)?;
    Ok(message)
}

/// The process that sent the signal with which a process has stopped; `None` if the kernel did.
pub fn sender(pid: Pid) -> Option<Pid> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let address = info.as_mut_ptr() as usize;
    request(libc::PTRACE_GETSIGINFO, pid, 0, address).ok()?;
    // SAFETY: the call succeeded and filled it in; the number is there for the signals that processes send.
    unsafe {
        let info = info.assume_init();
        matches!(
            info.si_code,
            libc::SI_USER | libc::SI_TKILL | libc::SI_QUEUE
        )
        .then(|| info.si_pid())
    }
}

pub type Registers = libc::user_regs_struct;

pub fn registers(pid: Pid) -> io::Result<Registers> {
    let mut registers = MaybeUninit::<Registers>::uninit();
    let address = registers.as_mut_ptr() as usize;
    request(libc::PTRACE_GETREGS, pid, 0, address)?;
    // SAFETY: the call succeeded and filled it in.
    Ok(unsafe { registers.assume_init() })
}

pub fn set_registers(pid: Pid, registers: &Registers) -> io::Result<()> {
    let address = registers as *const Registers as usize;
    request(libc::PTRACE_SETREGS, pid, 0, address)
}

/// A word of the process's memory, also where the process itself may only execute.
pub fn peek(pid: Pid, address: u64) -> io::Result<u64> {
    let mut word: libc::c_long = 0;
    // The raw call, unlike libc's function, stores the word and returns only success or failure.
    // SAFETY: `word` is valid for the call.
    let result = unsafe {
        let data = &raw mut word;
        libc::syscall(
            libc::SYS_ptrace,
            libc::PTRACE_PEEKTEXT as libc::c_long,
            libc::c_long::from(pid),
            address,
            data,
        )
    };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(word as u64),
    }
}

pub fn poke(pid: Pid, address: u64, word: u64) -> io::Result<()> {
    request(libc::PTRACE_POKETEXT, pid, address as usize, word as usize)
}

/// A system call that a process is about to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub number: i64,
    pub arguments: [u64; 6],
}

impl Call {
    /// An argument that is a descriptor.
    pub fn descriptor(&self, at: usize) -> i32 {
        self.arguments[at] as i32
    }
}

/// The call at which the filter stopped a process.
pub fn call(pid: Pid) -> io::Result<Call> {
    let registers = registers(pid)?;
    Ok(Call {
        number: registers.orig_rax as i64,
        arguments: [
            registers.rdi,
            registers.rsi,
            registers.rdx,
            registers.r10,
            registers.r8,
            registers.r9,
        ],
    })
}

/// What a call that has ended returned: negative is an error.
pub fn call_result(pid: Pid) -> io::Result<i64> {
    Ok(registers(pid)?.rax as i64)
}

/// Waits for `pid` (−1: any that this thread traces or started).
pub fn wait(pid: Pid, flags: i32) -> io::Result<(Pid, i32)> {
    let mut status = 0;
    // SAFETY: `status` is valid for the call.
    let found =
        unsafe { libc::waitpid(pid, &mut status, flags | libc::__WALL | libc::__WNOTHREAD) };
    match found {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok((found, status)),
    }
}
