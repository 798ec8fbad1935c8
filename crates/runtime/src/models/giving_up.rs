//! What models in C say when they give up precision, or when a length decides how much is written.

use super::program_site;
use crate::ops::Operand;
use crate::{access, events, loss, shadow, trace};
use parallax_abi::trace::{Concretized, LossKind};

/// Labels went into a function that takes no note of them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_lose(function: *const u8) {
    // SAFETY: the name is a C string of the model.
    let name = unsafe { loss::name_of(function) };
    events::note_loss(LossKind::Call, name, program_site());
}

/// A labelled length, of a range that is about to be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_length(place: *const u8, length: *const u64) {
    if !trace::active() {
        return;
    }
    // SAFETY: the model's own variable.
    let (label, value) = unsafe {
        (
            shadow::load(length as u64, size_of::<u64>() as u64, 0),
            *length,
        )
    };
    access::range(place as u64, 0, value, label, true, program_site());
}

/// Fixes an integer variable, of at most eight bytes, to its present value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_fix(variable: *mut u8, size: u64) {
    if !trace::active() {
        return;
    }
    // SAFETY: the model's own variable.
    unsafe {
        let label = shadow::load(variable as u64, size, 0);
        if label != 0 {
            let mut bytes = [0; 8];
            bytes[..size as usize]
                .copy_from_slice(core::slice::from_raw_parts(variable, size as usize));
            let operand = Operand::new(label, u64::from_le_bytes(bytes), 0);
            access::concretize(operand, Concretized::Argument as u8, program_site());
        }
        shadow::clear(variable as u64, size);
    }
}
