//! Instruments one bitcode file: `instrument IN.bc OUT.bc`. For looking at what the pass does.
#![allow(clippy::print_stderr)]

use std::ffi::CString;

use llvm_sys::bit_writer::LLVMWriteBitcodeToFile;
use llvm_sys::core::*;
use parallax_instrument::{Mode, instrument, read_module};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, input, output] = arguments.as_slice() else {
        eprintln!("usage: instrument IN.bc OUT.bc");
        std::process::exit(2);
    };
    let output = CString::new(output.as_str()).expect("no NUL in arguments");
    unsafe {
        let context = LLVMContextCreate();
        let module = read_module(context, input.as_ref()).unwrap_or_else(|error| panic!("{error}"));
        let result = instrument(module, Mode::Traced);
        LLVMWriteBitcodeToFile(module, output.as_ptr());
        if let Err(error) = result {
            eprintln!("{error}");
            std::process::exit(1);
        }
    }
}
