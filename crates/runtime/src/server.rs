//! The run server inside a traced program ([`parallax_serve`]).
//!
//! Asked by the environment ([`serve::ENVIRONMENT`]), the runtime does not let the program's `main` begin but
//! serves. The process of each run attaches its trace as a program that has just started does, and goes on to `main`.

use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use parallax_abi::entry::Arguments;
use parallax_abi::serve;
pub use parallax_serve::parse;

/// The variable's name, for start-up.
pub const ENVIRONMENT: &str = serve::ENVIRONMENT;

unsafe extern "C" {
    fn fork() -> i32;
}

const NONE: i32 = -1;
/// The socket to serve on.
static SOCKET: AtomicI32 = AtomicI32::new(NONE);

/// Remembers that this process is to serve, from here on until it does.
pub fn prepare(socket: i32) {
    SOCKET.store(socket, Relaxed);
}

/// Whether this process is to serve, and has not begun.
#[inline(always)]
pub fn is_waiting() -> bool {
    SOCKET.load(Relaxed) != NONE
}

/// Serves, if this process is to. Returns in the process of each run, with what its `main` is given.
///
/// # Safety
/// Called by `main`, before the program's own.
pub unsafe fn serve() -> Option<Arguments> {
    let socket = SOCKET.swap(NONE, Relaxed);
    if socket == NONE {
        return None;
    }
    // SAFETY: passed on to the caller.
    unsafe {
        let arguments = parallax_serve::serve(socket, fork);
        crate::start::begin_run(&arguments);
        Some(arguments)
    }
}
