//! The run server: a program that has started, and runs again and again.
//!
//! It is inside of every program that is served: linked into traced ones with the runtime, loaded into others by the
//! dynamic linker ([`preload`]). There it shares a process with code under test, so it takes nothing for granted: system calls are
//! made directly, memory comes from the kernel, and of libc only `fork` is called, which keeps books that matter.
#![cfg_attr(not(test), no_std)]

#[cfg(feature = "preload")]
mod preload;
pub mod processes;
mod server;
pub mod sys;

pub use server::{Fork, parse, serve};

/// A list of C strings, ended by null.
pub type Strings = *mut *const u8;

/// A panic in the server is a defect of Parallax: the engine notices that nobody answers, and does without.
#[cfg(all(feature = "preload", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::exit_now(125)
}
