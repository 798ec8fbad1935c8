//! The runtime inside traced programs: keeps a label beside every byte of
//! memory, builds expressions when labelled values meet, and appends them with
//! events to a trace in shared memory.
//!
//! It is linked statically into the program, runs before, in and after it, and shares its
//! process, so it takes nothing for granted: no libc for its own needs (system
//! calls are made directly, memory comes from the kernel), no descriptor but the one it is
//! given, no thread, no signal handler, no output. It decides nothing; the engine outside
//! does the thinking.
//!
//! * `entries` is what instrumented code calls; `models` what takes the place of
//!   libc functions.
//! * `shadow` and `presence` keep labels, `nodes` expressions, `trace` the shared region.
//! * `lock` guards everything that takes more than a store.
//!
//! Models that decide something (string functions, number parsing, stdio) are
//! written in C, in `models/` beside `src/`, and instrumented like the program.
#![cfg_attr(not(test), no_std)]

mod access;
mod arena;
mod buffer;
mod context;
mod core_state;
mod entrance;
pub mod entries;
mod events;
mod global;
mod hash;
mod heap;
mod inputs;
mod lock;
mod loss;
mod map;
mod memo;
pub mod models;
mod nodes;
mod objects;
mod ops;
mod presence;
mod private;
mod server;
mod settled;
mod shadow;
mod stack;
mod start;
mod sys;
mod tables;
#[cfg(test)]
mod testing;
mod tls;
mod trace;

/// A panic in the runtime is a defect of Parallax; the program cannot go on
/// with half-written state.
#[cfg(all(feature = "freestanding", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::abort()
}

// The compiler's support library for 128-bit division names the unwinder's
// personality, although nothing here ever unwinds. Weak, for programs that bring Rust of their own.
#[cfg(all(feature = "freestanding", not(test)))]
core::arch::global_asm!(
    ".pushsection .text.rust_eh_personality,\"ax\",@progbits",
    ".weak rust_eh_personality",
    ".type rust_eh_personality,@function",
    "rust_eh_personality:",
    "ud2",
    ".size rust_eh_personality, . - rust_eh_personality",
    ".popsection",
);
