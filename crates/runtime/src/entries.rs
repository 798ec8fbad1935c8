//! The entry points that instrumented code calls, as the table in
//! `parallax_abi::entry` lists them. Each one only hands on to its module.
//!
//! All of them are unsafe for the same reason: pointers and labels come from
//! instrumented code, which passes what the table says.
#![allow(clippy::missing_safety_doc)]

use crate::events::{self, VaList};
use crate::ops::{self, Operand};
use crate::{access, loss, shadow, stack};
use parallax_abi::entry::Global;
use parallax_abi::trace::{EventKind, LossKind};

type Pointer = *mut u8;

/// Defines exported functions, all of them unsafe and with the C calling convention.
macro_rules! export {
    ($($name:ident($($parameter:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(#[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($parameter: $type),*) $(-> $result)? {
            // SAFETY: instrumented code keeps to the table of entry points.
            #[allow(unused_unsafe)]
            unsafe { $body }
        })*
    };
}

export! {
    __plx_load(address: Pointer, size: u64, site: u64) -> u32 {
        shadow::load(address as u64, size, site)
    }
    __plx_peek(address: Pointer, size: u64) -> u32 {
        u32::from(shadow::peek(address as u64, size))
    }
    __plx_store(address: Pointer, size: u64, label: u32) {
        shadow::store(address as u64, size, label)
    }
    __plx_clear(address: Pointer, size: u64) {
        shadow::clear(address as u64, size)
    }
    __plx_copy(to: Pointer, from: Pointer, size: u64) {
        shadow::copy(to as u64, from as u64, size)
    }
    __plx_fill(address: Pointer, size: u64, label: u32) {
        shadow::fill(address as u64, size, label)
    }
    __plx_unary(code: u64, la: u32, lo: u64, hi: u64, site: u64) -> u32 {
        ops::unary(code, Operand::new(la, lo, hi), site)
    }
    __plx_binary(code: u64, la: u32, lb: u32, a: u64, b: u64, site: u64) -> u32 {
        ops::binary(code, la, lb, a, b, site)
    }
    __plx_binary_wide(
        code: u64, la: u32, lb: u32, alo: u64, ahi: u64, blo: u64, bhi: u64, site: u64
    ) -> u32 {
        ops::binary_wide(code, Operand::new(la, alo, ahi), Operand::new(lb, blo, bhi), site)
    }
    __plx_ite(code: u64, lc: u32, la: u32, lb: u32, c: u64, a: u64, b: u64, site: u64) -> u32 {
        let (c, a, b) = (Operand::new(lc, c, 0), Operand::new(la, a, 0), Operand::new(lb, b, 0));
        ops::ite(code, c, a, b, site)
    }
    __plx_branch(label: u32, taken: u32, site: u64) {
        events::branch(EventKind::Branch, label, taken, site)
    }
    __plx_select(label: u32, taken: u32, site: u64) {
        events::branch(EventKind::Select, label, taken, site)
    }
    __plx_switch(label: u32, value: u64, site: u64) {
        events::switch(label, value, site)
    }
    __plx_indirect_call(label: u32, target: Pointer, site: u64) {
        events::indirect_call(label, target as u64, site)
    }
    __plx_address(base: Pointer, lbase: u32, offset: u64, loffset: u32, site: u64) -> u32 {
        access::address(base as u64, lbase, offset, loffset, site)
    }
    __plx_symbolic_load(laddress: u32, address: Pointer, size: u64, site: u64) -> u32 {
        access::load(laddress, address as u64, size, site)
    }
    __plx_symbolic_store(laddress: u32, address: Pointer, size: u64, site: u64) {
        access::store(laddress, address as u64, size, site)
    }
    __plx_range(
        place: Pointer, lplace: u32, length: u64, llength: u32, written: u32, site: u64
    ) {
        access::range(place as u64, lplace, length, llength, written != 0, site)
    }
    __plx_format(format: Pointer, site: u64) {
        access::format(format as u64, site)
    }
    __plx_access(site: u64) {
        access::concrete(site)
    }
    __plx_concretize(label: u32, lo: u64, hi: u64, reason: u32, site: u64) {
        access::concretize(Operand::new(label, lo, hi), reason as u8, site)
    }
    __plx_output(label: u32, argument: u64, site: u64) {
        events::output(label, argument as u32, site)
    }
    __plx_give_up(label: u32, site: u64) {
        events::give_up(label, site)
    }
    __plx_alloca(address: Pointer, size: u64) {
        stack::begin(address as u64, size)
    }
    __plx_va_start(list: Pointer, labels: Pointer, overflow_bytes: u64) {
        events::va_start(list.cast::<VaList>(), labels.cast::<u32>(), overflow_bytes)
    }
    __plx_offer(pointer: Pointer, callee: Pointer) {
        events::offer(pointer as u64, callee as u64)
    }
    __plx_untaken(name: Pointer, count: u64, site: u64) {
        events::untaken(loss::name_of(name), count, site)
    }
    __plx_loss(kind: u32, name: Pointer, site: u64) {
        events::note_loss(LossKind::from_number(kind).unwrap_or(LossKind::Instruction), loss::name_of(name), site)
    }
    __plx_module(globals: Pointer, count: u64) {
        let globals = globals.cast::<Global>().cast_const();
        events::with_books(|core| core.objects.add_module(globals, count as usize))
    }
}

/// Rust's name for a type of the table.
macro_rules! type_named {
    (void) => {
        ()
    };
    (ptr) => {
        Pointer
    };
    ($other:ident) => {
        $other
    };
}

/// Compiles only if each entry of the table is defined above with its signature.
macro_rules! check {
    ($($(#[$doc:meta])* $constant:ident = $symbol:ident($($parameter:ident: $type:ident),*) -> $result:ident;)*) => {
        $(const _: unsafe extern "C" fn($(type_named!($type)),*) -> type_named!($result) = $symbol;)*
    };
}
parallax_abi::runtime_entries!(check);
