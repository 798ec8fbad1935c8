//! What a program is given at its start: arguments, their number, environment variables.

use super::{NO_SOURCE, label_bytes};
use crate::core_state::Core;
use crate::{events, shadow, trace};
use core::ffi::CStr;
use parallax_abi::Op;
use parallax_abi::trace::{Event, EventKind, Source, SourceKind};
use parallax_expr::build;

type Strings = *const *const u8;

/// Start and length of a C string, terminator included.
unsafe fn extent(string: *const u8) -> (u64, u64) {
    // SAFETY: passed on to the caller.
    let bytes = unsafe { CStr::from_ptr(string.cast()) }.to_bytes_with_nul();
    (string as u64, bytes.len() as u64)
}

/// Makes the bytes of all arguments after the program's name symbolic, terminators included.
///
/// # Safety
/// `argv` has `argc` strings.
pub unsafe fn label_arguments(core: &mut Core, argc: usize, argv: Strings) {
    for index in 1..argc {
        let source = trace::add_source(Source {
            kind: SourceKind::Argument as u32,
            index: index as u32,
            ..NO_SOURCE
        });
        if let Some(source) = source {
            // SAFETY: passed on to the caller.
            unsafe {
                let (address, size) = extent(*argv.add(index));
                label_bytes(core, source, 0, address, size);
            }
        }
    }
}

/// Makes the number of arguments symbolic: the null pointer behind the last one at once, `argc` when `main` is
/// called.
///
/// Programs also find the end by the null pointer behind the last argument. It is there exactly as long as
/// there is no further argument, so as an expression it is "is this index less than the number?", 1 or
/// 0: null now, and whatever else it could be, it is not null.
///
/// # Safety
/// `argv` has `argc` strings and a null behind them.
pub unsafe fn label_argument_count(core: &mut Core, argc: usize, argv: Strings) {
    let source = trace::add_source(Source {
        kind: SourceKind::ArgumentCount as u32,
        ..NO_SOURCE
    });
    let (Some(source), Ok(number)) = (source, u32::try_from(argc)) else {
        return;
    };
    let nodes = &mut core.nodes;
    let [low, second, third, high] = number.to_le_bytes();
    let mut label = build::input(nodes, source, 0, low);
    for (offset, byte) in [(1, second), (2, third), (3, high)] {
        let byte = build::input(nodes, source, offset, byte);
        label = build::concat(nodes, byte, label);
    }
    let index = build::constant(nodes, 32, u128::from(number));
    let is_there = build::binary(nodes, Op::Ult, index, label);
    let pointer = build::zext(nodes, is_there, 64);
    trace::event(Event {
        label: size_of::<u32>() as u32,
        context: trace::ROOT_CONTEXT,
        x: source,
        ..trace::new_event(EventKind::Input)
    });
    // SAFETY: passed on to the caller.
    unsafe { shadow::store(argv.add(argc) as u64, 8, pointer) };
    core.inputs.argument_count = label;
}

/// Labels of `argc`, `argv` and `envp` when the program's `main` is called.
pub fn main_labels() -> [u32; 3] {
    let mut label = 0;
    events::with_core(|core| label = core.inputs.argument_count);
    [label, 0, 0]
}

/// Makes the values of the environment variables symbolic that the trace names, if they are set.
///
/// # Safety
/// `envp` is a list of strings that a null ends.
pub unsafe fn label_environment(core: &mut Core, envp: Strings) {
    for name in trace::environment_names() {
        // SAFETY: passed on to the caller.
        let Some((address, size)) = (unsafe { find_value(envp, name) }) else {
            continue;
        };
        let Some(text) = trace::blob(name, 1) else {
            return;
        };
        let source = trace::add_source(Source {
            kind: SourceKind::Environment as u32,
            name: text,
            name_length: name.len() as u32,
            ..NO_SOURCE
        });
        if let Some(source) = source {
            // SAFETY: a string of that size.
            unsafe { label_bytes(core, source, 0, address, size) };
        }
    }
}

/// The value that `getenv` finds: the first of that name. Start and size, terminator included.
unsafe fn find_value(envp: Strings, name: &[u8]) -> Option<(u64, u64)> {
    let mut variable = envp;
    // SAFETY: passed on to the caller.
    unsafe {
        while !(*variable).is_null() {
            let text = CStr::from_ptr((*variable).cast()).to_bytes_with_nul();
            let value = text.strip_prefix(name).and_then(|t| t.strip_prefix(b"="));
            if let Some(value) = value {
                return Some((value.as_ptr() as u64, value.len() as u64));
            }
            variable = variable.add(1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{lock, testing};

    #[test]
    fn the_first_variable_of_a_name_is_the_one_that_counts() {
        let [a, b, c] = [c"AB=x", c"A=1", c"A=22"].map(|text| text.as_ptr().cast::<u8>());
        let list = [a, b, c, core::ptr::null()];
        // SAFETY: a list of C strings ended by null.
        let (first, none) = unsafe {
            (
                find_value(list.as_ptr(), b"A"),
                find_value(list.as_ptr(), b"B"),
            )
        };
        assert_eq!(first, Some((b as u64 + 2, 2)));
        assert_eq!(none, None);
    }

    #[test]
    fn the_null_behind_the_arguments_asks_for_their_number() {
        let _guard = testing::set_up();
        let argv = [c"a".as_ptr().cast::<u8>(), core::ptr::null()];
        let mut core = lock::enter().expect("not inside");
        // SAFETY: one string and a null.
        unsafe { label_argument_count(&mut core, 1, argv.as_ptr()) };
        drop(core);
        let [count, ..] = main_labels();
        assert_eq!((trace::node(count).width, trace::node(count).lo), (32, 1));
        // SAFETY: the array can be read.
        let pointer = unsafe { shadow::load(&raw const argv[1] as u64, 8, 0) };
        assert_eq!(
            (trace::node(pointer).width, trace::node(pointer).lo),
            (64, 0)
        );
    }
}
