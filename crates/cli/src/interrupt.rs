//! Ctrl-C, and the other ways to ask for an end.
//!
//! At first it ends the process at once. As soon as something begins that can end with what is known, the first signal asks for that,
//! and a second one, for whom it takes too long, ends at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::console;
use crate::exit::Exit;

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Set when somebody asks for an end.
pub fn flag() -> Arc<AtomicBool> {
    ASKED.get_or_init(Arc::default).clone()
}

/// Whether somebody asked for an end.
pub fn is_asked() -> bool {
    ASKED
        .get()
        .is_some_and(|asked| asked.load(Ordering::Relaxed))
}

/// Ctrl-C ends at once, with the documented code. Nothing but the terminal needs tidying up: what runs
/// is ended by its keeper, which sees this process go, and files appear whole or not at all.
pub fn end_at_once() {
    catch(ended, libc::SA_RESTART);
}

/// The first signal asks for an end.
pub fn ask() {
    flag();
    catch(asked, libc::SA_RESTART);
}

/// Likewise, and whoever waits for a child wakes up.
pub fn ask_and_wake() {
    flag();
    catch(asked, 0);
}

/// Ends the process, where nothing is known that could be reported.
pub fn leave() -> ! {
    console::clear();
    console::print_error("ended\n");
    std::process::exit(Exit::Interrupted as i32)
}

extern "C" fn ended(_: libc::c_int) {
    console::clear_at_once();
    // SAFETY: one of the few functions that a signal handler may call.
    unsafe { libc::_exit(Exit::Interrupted as libc::c_int) }
}

extern "C" fn asked(signal: libc::c_int) {
    // To read what was set before is one load.
    let is_second = ASKED
        .get()
        .is_none_or(|asked| asked.swap(true, Ordering::Relaxed));
    if is_second {
        ended(signal);
    }
}

fn catch(handler: extern "C" fn(libc::c_int), flags: libc::c_int) {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: installs a handler that only sets a flag or ends the process.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = flags;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
