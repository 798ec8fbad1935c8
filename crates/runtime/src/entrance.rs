//! Between the C start-up code and the program's `main`.
//!
//! The traced variant's `main` is a few lines of C that call [`__plx_enter`], then the program's own
//! `main`, which is called otherwise there: what `main` is given can be exchanged, and its arguments can carry labels.

use crate::{events, inputs, server, tls, trace};
use parallax_abi::entry::Arguments;

/// The program's `main`, as an address.
type Main = *const ();

/// The last word about what `main` is given.
///
/// # Safety
/// Called once, by our own `main`, with its arguments.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_enter(arguments: *mut Arguments, main: Main) {
    // SAFETY: the caller's own variable.
    unsafe {
        if let Some(others) = server::serve() {
            arguments.write(others);
        }
    }
    if trace::active() {
        pass_labels(inputs::main_labels(), main);
    }
}

/// What `main` returned becomes the exit status: a value that is put out, by no function of the program's own.
#[unsafe(no_mangle)]
pub extern "C" fn __plx_leave(main: Main) {
    let protocol = tls::protocol();
    // SAFETY: this thread's own block.
    let (returned, result) = unsafe { ((*protocol).returned, (*protocol).result[0]) };
    if trace::active() && returned == main as u64 {
        events::output(result, 0, 0);
    }
}

/// Leaves labels of `argc`, `argv` and `envp` for `main`, as every instrumented caller does.
fn pass_labels(labels: [u32; 3], main: Main) {
    if labels == [0; 3] {
        return;
    }
    let protocol = tls::protocol();
    // SAFETY: this thread's own block.
    unsafe {
        let arguments = (&raw mut (*protocol).args).cast::<[u32; 3]>();
        arguments.write(labels);
        (*protocol).callee = main as u64;
    }
}
