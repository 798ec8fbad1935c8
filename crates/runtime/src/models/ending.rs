//! `_exit`, which runs no handler that could say how the program ended.

use super::{fix, own, take};
use crate::start;
use parallax_abi::trace::Concretized;

unsafe extern "C" {
    fn _exit(status: i32) -> !;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_m__exit(status: i32) -> ! {
    let [label] = take::<1>(own!(__plx_m__exit));
    fix(label, status as u32 as u64, Concretized::Argument);
    start::exit_event(status);
    // SAFETY: the program's own call.
    unsafe { _exit(status) }
}
