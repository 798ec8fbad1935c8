//! Supplementary groups: a program that gives them up is told that it did.
//!
//! In a user namespace without privileges the call can only fail, and what a program that takes care of its privileges
//! does then is to end: nothing that it is for would ever run. It has no privileges that it could give up, so nothing is lost by
//! letting it go on.

use std::ptr;

/// What the kernel calls this processor.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// Where a filter finds the number of the call and the processor.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;

/// Lets `setgroups` succeed without doing anything. Where the kernel does not filter calls, it goes on failing.
///
/// # Safety
/// Between `fork` and `exec`, after privileges were renounced.
pub(super) unsafe fn pretend_to_set() {
    let step = |code: u32, value: u32, if_true: u8, if_false: u8| libc::sock_filter {
        code: code as u16,
        jt: if_true,
        jf: if_false,
        k: value,
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equals = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let number = libc::SYS_setgroups as u32;
    let mut steps = [
        step(load, ARCHITECTURE_AT, 0, 0),
        step(equals, ARCHITECTURE, 0, 3),
        step(load, NUMBER_AT, 0, 0),
        step(equals, number, 0, 1),
        // With error number 0: success.
        step(answer, libc::SECCOMP_RET_ERRNO, 0, 0),
        step(answer, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the kernel copies the filter, which is on our stack.
    unsafe {
        let filter = libc::SECCOMP_MODE_FILTER;
        libc::prctl(libc::PR_SET_SECCOMP, filter, ptr::from_ref(&program), 0, 0);
    }
}
