//! Losses: precision given up, counted per reason, place and name.

use crate::core_state::Core;
use crate::{hash, trace};
use core::ffi::CStr;
use parallax_abi::trace::LossKind;

/// Counts a loss. The name's text is stored with the first one.
#[cold]
pub fn record(core: &mut Core, kind: LossKind, site: u64, name: &[u8]) {
    if trace::header().is_none() {
        return;
    }
    let key = hash::words(&[kind as u64, site, hash::bytes(name)]);
    let matches = |index: u32| trace::loss_is(index, kind, site, name);
    let index = match core.losses.find(key, matches) {
        Some(index) => index,
        None => {
            let Some(index) = trace::add_loss(kind, site, name) else {
                return;
            };
            core.losses.insert(key, index);
            index
        }
    };
    trace::count_loss(index);
}

/// Bytes of a C string of instrumented code; null is no name.
///
/// # Safety
/// `name` is null or a C string that lives as long as the program.
pub unsafe fn name_of(name: *const u8) -> &'static [u8] {
    if name.is_null() {
        return &[];
    }
    // SAFETY: passed on to the caller.
    unsafe { CStr::from_ptr(name.cast()) }.to_bytes()
}
