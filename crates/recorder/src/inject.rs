//! Installs a filter in another process, by making the process do it.
//!
//! Only the process itself can install a filter, and the programs under test are to stay as they are. So a stopped process is
//! given the registers of that call, makes it, and gets its own registers back.

use std::io;

use libc::{sock_filter, sock_fprog};

use crate::memory;
use crate::ptrace::{self, Pid, Registers, Until};

/// The instruction `syscall`.
const SYSCALL: u64 = 0x050f;
const SYSCALL_LENGTH: u64 = 2;
const SET_MODE_FILTER: u64 = 1;
/// Below the stack pointer: past what a function may use without asking (128 bytes), and room enough for the filter.
const BELOW_STACK: u64 = 0x4000;

/// Why a filter could not be installed.
#[derive(Debug, thiserror::Error)]
pub enum InjectError {
    #[error(transparent)]
    System(#[from] io::Error),
    /// The process has ended (or stopped for something else), with this status of `waitpid`.
    #[error("ended while its filter was installed")]
    Elsewhere(i32),
}

/// Installs `filter` in a program that has just been executed and has not run an instruction: it is in the stop at
/// the end of that call. Returns a signal that came meanwhile, to be delivered when the program goes on.
pub fn at_start(pid: Pid, filter: &[sock_filter]) -> Result<i32, InjectError> {
    let before = ptrace::registers(pid)?;
    let word = ptrace::peek(pid, before.rip)?;
    ptrace::poke(pid, before.rip, word & !0xffff | SYSCALL)?;
    let mut registers = arguments(pid, filter, &before)?;
    registers.rax = libc::SYS_seccomp as u64;
    // No system call is being ended any more, so none is restarted.
    registers.orig_rax = u64::MAX;
    ptrace::set_registers(pid, &registers)?;
    let signal = step(pid)?;
    let result = ptrace::call_result(pid)?;
    ptrace::poke(pid, before.rip, word)?;
    ptrace::set_registers(pid, &before)?;
    check(result)?;
    Ok(signal)
}

/// Installs `filter` in a program that is about to make a system call; it will make it again, and be stopped again.
pub fn before_call(pid: Pid, filter: &[sock_filter]) -> Result<(), InjectError> {
    let before = ptrace::registers(pid)?;
    let mut registers = arguments(pid, filter, &before)?;
    registers.orig_rax = libc::SYS_seccomp as u64;
    registers.rax = libc::SYS_seccomp as u64;
    ptrace::set_registers(pid, &registers)?;
    ptrace::resume(pid, Until::CallExit, 0)?;
    let (_, status) = ptrace::wait(pid, 0)?;
    if !libc::WIFSTOPPED(status) || libc::WSTOPSIG(status) != libc::SIGTRAP | 0x80 {
        return Err(InjectError::Elsewhere(status));
    }
    let result = ptrace::call_result(pid)?;
    let again = Registers {
        rip: before.rip - SYSCALL_LENGTH,
        rax: before.orig_rax,
        orig_rax: u64::MAX,
        ..before
    };
    ptrace::set_registers(pid, &again)?;
    check(result)
}

/// Puts the filter into the process's memory, and the call's arguments into registers.
fn arguments(pid: Pid, filter: &[sock_filter], before: &Registers) -> io::Result<Registers> {
    let place = (before.rsp - BELOW_STACK) & !15;
    let mut bytes = vec![0_u8; size_of::<sock_fprog>()];
    let length = filter.len() as u16;
    bytes[..2].copy_from_slice(&length.to_ne_bytes());
    let at = std::mem::offset_of!(sock_fprog, filter);
    let code = place + bytes.len() as u64;
    bytes[at..at + 8].copy_from_slice(&code.to_ne_bytes());
    for op in filter {
        bytes.extend(op.code.to_ne_bytes());
        bytes.extend([op.jt, op.jf]);
        bytes.extend(op.k.to_ne_bytes());
    }
    debug_assert!((bytes.len() as u64) < BELOW_STACK - 128);
    memory::write(pid, place, &bytes)?;
    Ok(Registers {
        rdi: SET_MODE_FILTER,
        rsi: 0,
        rdx: place,
        ..*before
    })
}

/// Executes one instruction. A signal that arrives first is kept for later.
fn step(pid: Pid) -> Result<i32, InjectError> {
    let mut kept = 0;
    loop {
        ptrace::resume(pid, Until::Step, 0)?;
        let (_, status) = ptrace::wait(pid, 0)?;
        if !libc::WIFSTOPPED(status) {
            return Err(InjectError::Elsewhere(status));
        }
        match libc::WSTOPSIG(status) {
            libc::SIGTRAP if status >> 16 == 0 => return Ok(kept),
            _ if status >> 16 != 0 => {}
            signal => kept = signal,
        }
    }
}

fn check(result: i64) -> Result<(), InjectError> {
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(-result as i32).into())
    }
}
