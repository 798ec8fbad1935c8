//! The thread-local block `__plx_tls`: the calling protocol's fields, followed by
//! a few of the runtime's own.
//!
//! `#[thread_local]` is not available in stable Rust, so the block is laid down
//! in assembly and its address computed by the initial-exec sequence, which works in
//! every kind of executable (linkers relax it to a constant where they can).

use core::arch::{asm, global_asm};
use parallax_abi::tls::Tls;

/// What lies at `__plx_tls`.
#[repr(C)]
pub struct Local {
    pub protocol: Tls,
    /// Kernel's number of this thread, 0 if not asked yet.
    pub thread: u32,
    /// Value of [`crate::lock`]'s fork counter when `thread` was asked.
    pub generation: u32,
    /// Stack address at which this thread entered the slow path.
    pub entered_at: u64,
    /// Highest end of any stack object registered by this thread.
    pub stack_high: u64,
}

global_asm!(
    ".pushsection .tbss,\"awT\",@nobits",
    ".globl __plx_tls",
    ".type __plx_tls,@object",
    ".size __plx_tls, {size}",
    ".balign 64",
    "__plx_tls:",
    ".zero {size}",
    ".popsection",
    size = const size_of::<Local>(),
);

/// This thread's block. A raw pointer, because instrumented code and signal handlers
/// change it at any time.
#[inline(always)]
pub fn local() -> *mut Local {
    let address: *mut Local;
    // SAFETY: computes an address; the thread pointer is set up before any code
    // of ours runs.
    unsafe {
        asm!("mov {0}, qword ptr fs:[0]",
             "add {0}, qword ptr [rip + __plx_tls@GOTTPOFF]",
             out(reg) address, options(pure, nomem, nostack));
    }
    address
}

/// The protocol's part.
#[inline(always)]
pub fn protocol() -> *mut Tls {
    local().cast()
}
