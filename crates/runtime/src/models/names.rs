//! Names of files that are made of input: what the models in C (`models/name.c`) need to know about the
//! run, and how they say that an answer of the system rests on the name.
//!
//! The event for such an answer ([`Concretized::Answer`]) is a constraint of the path but not an alternative: nobody knows what the system would
//! say to another name. The same holds for everything else that is passed to the system.

use super::program_site;
use crate::{access, events, inputs, nodes, shadow, trace};
use parallax_abi::trace::Concretized;
use parallax_expr::build;

/// The names of the files that the run was given, one after the other: the one behind `previous`, the
/// first for null; null behind the last.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_given_name(previous: *const u8) -> *const u8 {
    let names = trace::given_names();
    let start = match previous.is_null() {
        true => 0,
        false => {
            let at = (previous as usize).wrapping_sub(names.as_ptr() as usize);
            let rest = names.get(at..).unwrap_or(&[]);
            let length = rest.iter().position(|byte| *byte == 0);
            at + length.unwrap_or(rest.len()) + 1
        }
    };
    // Only text with an end is a C string.
    match names.get(start..) {
        Some(rest) if rest.contains(&0) => rest.as_ptr(),
        _ => core::ptr::null(),
    }
}

/// Whether names relative to a directory's descriptor are relative to where the run started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_is_start(directory: i32) -> u32 {
    let mut is_start = false;
    events::with_core(|core| is_start = inputs::is_start(core, directory));
    is_start.into()
}

/// An answer rests on these bytes as they are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_keep(address: *const u8, size: usize) {
    if !trace::active() {
        return;
    }
    let site = program_site();
    for at in 0..size {
        // SAFETY: the model's own memory, or the program's that it was given.
        unsafe {
            let byte = address.add(at);
            let label = shadow::load(byte as u64, 1, site);
            if label != 0 {
                let value = (*byte).into();
                events::with_core(|core| {
                    access::fix(core, label, value, Concretized::Answer, site);
                });
            }
        }
    }
}

/// An answer rests on none of these bytes being `value`, which none is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __plx_keep_apart(address: *const u8, size: usize, value: u8) {
    if !trace::active() {
        return;
    }
    let site = program_site();
    for at in 0..size {
        // SAFETY: as `__plx_keep`.
        let label = unsafe { shadow::load(address.add(at) as u64, 1, site) };
        if label == 0 {
            continue;
        }
        events::with_core(|core| {
            let value = build::constant(&mut core.nodes, 8, value.into());
            let is_value = build::eq(&mut core.nodes, label, value);
            let is_value = nodes::finish(core, is_value, site);
            if is_value != 0 {
                access::fix(core, is_value, 0, Concretized::Answer, site);
            }
        });
    }
}
