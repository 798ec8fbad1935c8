//! Models of libc functions that move data about: what instrumented code calls in
//! their place.
//!
//! A model follows the calling protocol of `parallax_abi::tls` like any
//! instrumented function: it takes its arguments' labels, calls the real
//! function, and hands back the result's label. It never does more than the
//! real function, and leaves `errno` as that left it.
//!
//! `-static` programs that define an allocator of their own need care: a strong reference
//! to one of libc's rarer allocation functions would pull in libc's whole
//! allocator. Those are referenced weakly (see [`weak`]); a program that uses one has it.
#![allow(clippy::missing_safety_doc)]

mod allocate;
mod declared;
mod ending;
mod giving_up;
mod mapping;
mod memory;
mod names;
mod reading;
mod signals;
mod sockets;
mod streams;

pub use mapping::Mapping;

use crate::ops::Operand;
use crate::{access, tls};
use parallax_abi::tls::{MAX_ARGS, MODEL_FRAME};
use parallax_abi::trace::Concretized;

/// Address of a function, as the protocol compares it.
macro_rules! own {
    ($function:path) => {
        $function as *const () as u64
    };
}
pub(crate) use own;

/// A function that may be absent, as a function pointer: `weak!("name", fn type)`. To be used in an
/// unsafe block: the type must be the function's own.
macro_rules! weak {
    ($name:literal, $type:ty) => {{
        let address: usize;
        // Reads a word that the linker filled in.
        core::arch::asm!(
            concat!(".weak ", $name),
            concat!("mov {0}, qword ptr [rip + ", $name, "@GOTPCREL]"),
            out(reg) address,
            options(pure, readonly, nostack, preserves_flags)
        );
        core::mem::transmute::<usize, Option<$type>>(address)
    }};
}
pub(crate) use weak;

/// Labels of the first `N` arguments, if the caller passed any to this model.
#[inline(always)]
fn take<const N: usize>(own: u64) -> [u32; N] {
    let protocol = tls::protocol();
    let mut labels = [0; N];
    const { assert!(N <= MAX_ARGS) };
    // SAFETY: this thread's own block.
    unsafe {
        (*protocol).returned = 0;
        if (*protocol).callee == own {
            (*protocol).callee = 0;
            labels = (&raw const (*protocol).args).cast::<[u32; N]>().read();
        }
    }
    labels
}

/// Hands the result's label to the caller. To be called last: the real function may
/// have called back into instrumented code.
#[inline(always)]
fn give(own: u64, label: u32) {
    let protocol = tls::protocol();
    // SAFETY: this thread's own block.
    unsafe {
        (*protocol).callee = 0;
        (*protocol).result[0] = label;
        (*protocol).returned = if label == 0 { 0 } else { own };
    }
}

/// Site of the call that led here, as the caller noted it; 0 if it was not instrumented.
fn call_site() -> u64 {
    // SAFETY: the protocol keeps `frame` null or pointing to a live frame.
    unsafe {
        let frame = (*tls::protocol()).frame;
        if frame.is_null() {
            0
        } else {
            (*frame).call_site
        }
    }
}

/// Site of the program's call that led here through any number of models; 0 if there is none.
fn program_site() -> u64 {
    // SAFETY: the protocol keeps `frame` null or pointing to a live chain.
    unsafe {
        let mut frame = (*tls::protocol()).frame;
        while !frame.is_null() && (*frame).kind == MODEL_FRAME {
            frame = (*frame).previous;
        }
        if frame.is_null() {
            0
        } else {
            (*frame).call_site
        }
    }
}

/// Fixes an argument that only counts with its concrete value.
fn fix(label: u32, value: u64, reason: Concretized) {
    if label != 0 {
        access::concretize(Operand::new(label, value, 0), reason as u8, call_site());
    }
}

/// Logs and fixes the symbolic length of what is written to `to`.
fn fix_length(label: u32, length: usize, to: *const u8) {
    if label != 0 {
        access::range(to as u64, 0, length as u64, label, true, call_site());
        fix(label, length as u64, Concretized::Length);
    }
}
